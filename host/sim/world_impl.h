// A world: what world.h says of it, from the inside.
#ifndef PARLOR_HOST_SIM_WORLD_IMPL_H_
#define PARLOR_HOST_SIM_WORLD_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "parlor/executor.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/client_impl.h"
#include "sim/client_machine.h"
#include "sim/machine.h"
#include "sim/recorder.h"
#include "sim/sync_check.h"

namespace parlor::sim {

struct World::Impl {
  explicit Impl(const WorldOptions& opts);
  // In the order that connections, links and endpoints ask for.
  ~Impl();

  // The events of up to `limit`, until `done`; false: it is not. Not in one of
  // them, nor in `done`.
  bool RunUntil(const std::function<bool()>& done, TimePoint limit);
  // The same, wherever it is called.
  bool Run(const std::function<bool()>& done, TimePoint limit);
  absl::Status NotYet(Duration waited) const;
  // What each client, player and host does, one a line.
  std::string Describe() const;

  Client::Impl& client(std::size_t index) const {
    return clients[index]->impl();
  }
  // No client that may yet play has `game`; else the program stops.
  void RequireUnused(const lockstep::Game& game, const std::string& name) const;
  bool AnyClientPlays() const;
  bool AnyPlays() const;
  // `status`, or, where that is OK and nobody plays, who does what.
  absl::Status UnlessNobody(bool plays, const absl::Status& status) const;
  bool AllAt(std::uint32_t frame) const;
  // How far each machine has got.
  std::vector<std::uint64_t> Progress() const;
  // All who play are connected, and nobody waits for one who is not. `before`
  // is some earlier Progress(), beyond which all have got; machines that were
  // added since had got nowhere.
  bool AllConnected(const std::vector<std::uint64_t>& before) const;

  // Those that were in one match, match by match.
  std::vector<std::vector<SyncMember>> Matches() const;

  // `host` is one of the world's.
  std::size_t IndexOf(const Host& host) const;

  // The way of all strangers to `host`, from the one machine they have.
  Link& LinkOfStrangers(Host& host);

  const WorldOptions options;
  bool running = false;  // RunUntil is
  Executor executor;
  Network network;
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<std::unique_ptr<Client>> clients;
  // A build without parlor::authority has none, and does not know the class.
  std::vector<std::shared_ptr<Player>> players;
  std::vector<ClientMachine::Impl*> machines;  // of both, as they were added
  std::unique_ptr<Machine> strangers;          // once there are some
  std::map<std::size_t, std::unique_ptr<Link>> stranger_links;  // by host
  Recorder recorder{network};
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_WORLD_IMPL_H_
