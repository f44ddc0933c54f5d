#include "parlor/sim/world.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/check_text.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/client_impl.h"
#include "sim/host_impl.h"
#include "sim/sync_check.h"
#include "sim/time_ahead.h"
#include "sim/world_impl.h"

namespace parlor::sim {

World::World(const WorldOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
World::~World() = default;

Host& World::AddHost(const HostOptions& options) {
  const std::string name = "host " + std::to_string(impl_->hosts.size());
  impl_->recorder.AddMachine(name);
  impl_->hosts.push_back(
      std::unique_ptr<Host>(new Host(std::make_unique<Host::Impl>(
          impl_->network, impl_->recorder, options, name))));
  return *impl_->hosts.back();
}

Client& World::AddClient(lockstep::Game& game, const ClientOptions& options) {
  return AddClient(game, impl_->options.network, options);
}

Client& World::AddClient(lockstep::Game& game, const Conditions& network,
                         const ClientOptions& options) {
  const std::string name = "client " + std::to_string(impl_->clients.size());
  impl_->RequireUnused(game, name);
  impl_->recorder.AddMachine(name);
  impl_->clients.push_back(
      std::unique_ptr<Client>(new Client(std::make_unique<Client::Impl>(
          impl_->network, impl_->recorder, game, network, options, name))));
  Client& client = *impl_->clients.back();
  impl_->machines.push_back(&client.impl());
  return client;
}

Client& World::client(std::size_t index) {
  PARLOR_CHECK(index < impl_->clients.size());
  return *impl_->clients[index];
}
std::size_t World::clients() const { return impl_->clients.size(); }
Host& World::host(std::size_t index) {
  PARLOR_CHECK(index < impl_->hosts.size());
  return *impl_->hosts[index];
}

std::unique_ptr<Connection> World::Connect(Host& host, const Hello& hello,
                                           Via via,
                                           ConnectionHandler* handler) {
  Host::Impl& to = *host.impl_;
  PARLOR_CHECK_TEXT(&to.network() == &impl_->network,
                    "Connect: " + to.name() + " is of another world");
  Link& link = impl_->LinkOfStrangers(host);
  return impl_->strangers->Connect(
      link, {to.endpoint(), to.web_port(), to.tcp_port()}, via, hello, handler);
}

TimePoint World::now() const { return impl_->executor.now(); }

void World::RunFor(Duration time) {
  CheckTimeAhead(time, "RunFor");
  impl_->RunUntil([] { return false; }, now() + time);
}

absl::Status World::RunUntil(const std::function<bool()>& done,
                             Duration at_most) {
  PARLOR_CHECK_TEXT(done != nullptr, "RunUntil: there is no function");
  CheckTimeAhead(at_most, "RunUntil");
  if (impl_->RunUntil(done, now() + at_most)) return absl::OkStatus();
  return impl_->NotYet(at_most);
}

absl::Status World::RunUntilFrame(std::uint32_t frame, Duration at_most) {
  const absl::Status status =
      RunUntil([this, frame] { return impl_->AllAt(frame); }, at_most);
  return impl_->UnlessNobody(impl_->AnyClientPlays(), status);
}

absl::Status World::RunUntilHealed(Duration at_most) {
  for (ClientMachine::Impl* machine : impl_->machines) machine->link.Heal();
  const std::vector<std::uint64_t> before = impl_->Progress();
  const absl::Status status = RunUntil(
      [this, &before] { return impl_->AllConnected(before); }, at_most);
  return impl_->UnlessNobody(impl_->AnyPlays(), status);
}

absl::Status World::CheckInSync() const {
  for (const std::vector<SyncMember>& match : impl_->Matches()) {
    if (absl::Status status = CheckSync(match); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::uint64_t World::digest() const { return impl_->network.digest(); }
std::uint64_t World::seed() const { return impl_->options.seed; }

void World::Record(std::size_t events_max) {
  impl_->recorder.Start(events_max);
}
std::string World::TraceText() const { return impl_->recorder.Text(); }
std::string World::TraceSvg() const { return impl_->recorder.Svg(); }

Executor& World::executor() { return impl_->executor; }
Network& World::network() { return impl_->network; }

}  // namespace parlor::sim
