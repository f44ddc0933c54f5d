#include "sim/world_impl.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/check_text.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "sim/client_impl.h"
#include "sim/client_machine.h"
#include "sim/host_impl.h"
#include "sim/machine.h"
#include "sim/sync_check.h"
#include "sim/watched_game.h"

namespace parlor::sim {
namespace {

// Events of one instant: more of them, and they only make each other.
constexpr std::size_t kEventsAtOnceMax = 10'000'000;

// "12.5 s".
std::string SecondsText(Duration time) {
  std::string text = std::to_string(time / kSecond);
  const auto tenths = time % kSecond / (100 * kMillisecond);
  if (tenths != 0) text += "." + std::to_string(tenths);
  return text + " s";
}

}  // namespace

World::Impl::Impl(const WorldOptions& opts)
    : options(opts), executor(opts.seed, opts.ties), network(executor) {}

World::Impl::~Impl() {
  for (ClientMachine::Impl* machine : machines) machine->EndProcess();
  hosts.clear();
  // Streams that a machine ends in order are its own until they are, and go by
  // links.
  strangers.reset();
}

bool World::Impl::RunUntil(const std::function<bool()>& done, TimePoint limit) {
  PARLOR_CHECK_TEXT(!std::exchange(running, true),
                    "a world is run by an event or a condition of its own");
  const bool is_done = Run(done, limit);
  running = false;
  return is_done;
}

bool World::Impl::Run(const std::function<bool()>& done, TimePoint limit) {
  std::size_t at_once = 0;
  while (!done()) {
    const TimePoint before = executor.now();
    if (!executor.RunNext(limit)) {
      executor.RunUntil(limit);
      return false;
    }
    at_once = executor.now() == before ? at_once + 1 : 0;
    PARLOR_CHECK(at_once < kEventsAtOnceMax);
  }
  return true;
}

absl::Status World::Impl::NotYet(Duration waited) const {
  return MakeStatus(absl::StatusCode::kDeadlineExceeded,
                    "not within " + SecondsText(waited) + ":\n" + Describe());
}

std::string World::Impl::Describe() const {
  std::string text;
  for (const ClientMachine::Impl* machine : machines) {
    text += "  " + machine->Describe() + "\n";
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const Host& host = *hosts[i];
    text += "  host " + std::to_string(i) + ": ";
    if (host.stopped()) {
      text += "stopped\n";
    } else if (!host.running()) {
      text += "down\n";
    } else {
      text += std::to_string(host.rooms()) + " rooms, " +
              std::to_string(host.players()) + " players\n";
    }
  }
  return text;
}

void World::Impl::RequireUnused(const lockstep::Game& game,
                                const std::string& name) const {
  for (const auto& other : clients) {
    const Client::Impl& c = other->impl();
    PARLOR_CHECK_TEXT(c.crashed || &c.watched.game() != &game || c.ended(),
                      name + ": its game is that of " + c.name + " too");
  }
}

absl::Status World::Impl::UnlessNobody(bool plays,
                                       const absl::Status& status) const {
  if (!status.ok() || plays) return status;
  return MakeStatus(absl::StatusCode::kFailedPrecondition,
                    "nobody plays:\n" + Describe());
}

bool World::Impl::AnyClientPlays() const {
  return std::ranges::any_of(
      clients, [](const auto& client) { return client->impl().plays(); });
}

bool World::Impl::AnyPlays() const {
  return std::ranges::any_of(machines, &ClientMachine::Impl::plays);
}

bool World::Impl::AllAt(std::uint32_t frame) const {
  for (std::size_t i = 0; i < clients.size(); ++i) {
    if (client(i).plays() && client(i).peer->frame() < frame) return false;
  }
  return true;
}

std::vector<std::uint64_t> World::Impl::Progress() const {
  std::vector<std::uint64_t> progress;
  progress.reserve(machines.size());
  for (const ClientMachine::Impl* machine : machines) {
    progress.push_back(machine->progress());
  }
  return progress;
}

bool World::Impl::AllConnected(const std::vector<std::uint64_t>& before) const {
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const std::uint64_t then = i < before.size() ? before[i] : 0;
    if (machines[i]->plays() && !machines[i]->IsHealed(then)) return false;
  }
  return true;
}

std::vector<std::vector<SyncMember>> World::Impl::Matches() const {
  // A room's next match has another seed.
  using Key = std::tuple<std::size_t, std::uint32_t, std::uint32_t>;
  std::map<Key, std::vector<SyncMember>> matches;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const Client::Impl& c = client(i);
    if (!c.watched.match()) continue;
    matches[{IndexOf(*c.host), c.room, c.watched.match()->seed}].push_back(
        {&c.watched, c.name, c.options.fresh_game});
  }
  std::vector<std::vector<SyncMember>> all;
  all.reserve(matches.size());
  for (auto& [key, members] : matches) all.push_back(std::move(members));
  return all;
}

std::size_t World::Impl::IndexOf(const Host& host) const {
  const auto found =
      std::find_if(hosts.begin(), hosts.end(),
                   [&host](const auto& other) { return other.get() == &host; });
  PARLOR_CHECK(found != hosts.end());
  return static_cast<std::size_t>(found - hosts.begin());
}

Link& World::Impl::LinkOfStrangers(Host& host) {
  if (strangers == nullptr) {
    strangers = std::make_unique<Machine>(network, Endpoint::Turn::kEvents,
                                          StreamOptions{}, "strangers");
    recorder.AddMachine("strangers");
  }
  const std::size_t index = IndexOf(host);
  std::unique_ptr<Link>& link = stranger_links[index];
  if (link == nullptr) {
    link = std::make_unique<Link>(network, options.network, "strangers");
    recorder.SetEnds(*link, "strangers", "host " + std::to_string(index));
  }
  return *link;
}

}  // namespace parlor::sim
