// A host: what world.h says of it, from the inside.
#ifndef PARLOR_HOST_SIM_HOST_IMPL_H_
#define PARLOR_HOST_SIM_HOST_IMPL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "parlor/host/memory_room_store.h"
#include "parlor/host/server.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "sim/sim_stream.h"

namespace parlor::sim {

class HostProcess;

struct Host::Impl {
  // `opts` are valid (ToServerOptions). `network`, and links that clients come
  // by, outlive it; connections to it may, too, and are lost. A process runs
  // from here on. What is secret, and what its rooms draw, comes from the
  // executor's generator.
  Impl(Network& to, const HostOptions& opts, std::string called);
  ~Impl();

  // Where it is reached, by whole messages and by bytes. A process or none: it
  // is the machine that clients come to.
  Endpoint& endpoint() { return endpoint_; }
  StreamPort& web_port() { return web_port_; }
  StreamPort& tcp_port() { return tcp_port_; }

  // Numeric, one a link, since each client's machine has its own: in the order
  // in which links were first asked for.
  std::string AddressOf(const Link& link);

  void Start();
  void CrashNow(Crash how);

  Network& network;
  const std::string name;
  const host::ServerOptions options;
  const bool keeps_matches;
  host::MemoryRoomStore store;
  std::unique_ptr<HostProcess> process;  // null: crashed

 private:
  Random random_;
  std::map<const Link*, std::uint32_t> addresses_;
  Endpoint endpoint_;
  StreamPort web_port_;
  StreamPort tcp_port_;
};

// A host's options as the server's that it is like.
host::ServerOptions ToServerOptions(const HostOptions& options);

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_HOST_IMPL_H_
