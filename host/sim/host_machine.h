// HostMachine: a machine that hosts rooms, and the process on it. Class Host of
// world.h is one; what it says of its verbs is not said again here.
#ifndef PARLOR_HOST_SIM_HOST_MACHINE_H_
#define PARLOR_HOST_SIM_HOST_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "parlor/close_reason.h"
#include "parlor/host/memory_room_store.h"
#include "parlor/host/server.h"
#include "parlor/hosted_room.h"
#include "parlor/lockstep/room.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "sim/host_process.h"
#include "sim/sim_stream.h"

namespace parlor::sim {

class HostMachine {
 public:
  // A process runs from here on. Options that are not valid stop the program.
  // `network`, and the links that clients come by, outlive it; the clients'
  // ends of connections do not. Secrets, and what rooms draw, come from the
  // executor's generator.
  HostMachine(Network& network, const HostOptions& options, std::string name);
  ~HostMachine();
  HostMachine(const HostMachine&) = delete;
  HostMachine& operator=(const HostMachine&) = delete;

  const std::string& name() const { return endpoint_.name(); }

  // Where it is reached, by whole messages and by bytes; with a process and
  // without.
  Endpoint& endpoint() { return endpoint_; }
  StreamPort& web_port() { return web_port_; }
  StreamPort& tcp_port() { return tcp_port_; }

  bool running() const { return process_ != nullptr && !process_->ended(); }
  bool stopped() const { return process_ != nullptr && process_->ended(); }
  void Drain();
  void Stop(CloseReason reason);
  void CrashNow(Host::Crash how);
  void Start();

  const lockstep::Room* FindRoom(std::uint32_t number) const;
  const HostedRoom* FindPlayRoom(std::string_view key) const;
  host::ServerFigures figures() const;

  // ---- For the process.

  Network& network() const { return network_; }
  const host::ServerOptions& options() const { return options_; }
  // Null: no matches are kept.
  host::MemoryRoomStore* store() { return keeps_matches_ ? &store_ : nullptr; }
  // Null: nothing is recorded.
  host::RoomRecords* records() { return records_.get(); }
  // Numeric, one a link, since each client's machine has its own: by the order
  // in which they were first asked for.
  std::string AddressOf(const Link& link);
  // Nobody listens.
  void ShutPorts();

 private:
  // There is one, or the program stops and says what was asked of it.
  void RequireProcess(const char* verb) const;

  Network& network_;
  const host::ServerOptions options_;
  const bool keeps_matches_;
  const std::shared_ptr<host::RoomRecords> records_;
  host::MemoryRoomStore store_;
  Random random_;
  std::map<const Link*, std::uint32_t> addresses_;
  Endpoint endpoint_;
  StreamPort web_port_;
  StreamPort tcp_port_;
  std::unique_ptr<HostProcess> process_;  // null: it crashed
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_HOST_MACHINE_H_
