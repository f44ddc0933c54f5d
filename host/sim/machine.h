// Machine: where a client's connections live, at either level, and how it
// opens them.
#ifndef PARLOR_HOST_SIM_MACHINE_H_
#define PARLOR_HOST_SIM_MACHINE_H_

#include <memory>
#include <string>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"
#include "sim/sim_stream.h"
#include "sim/virtual_loop.h"
#include "stream/websocket_codec.h"

namespace parlor::sim {

// Where a host listens.
struct HostDoors {
  Endpoint& messages;
  StreamPort& web;
  StreamPort& tcp;
};

class Machine {
 public:
  // `options` are valid. Its connections die before it.
  Machine(Network& network, Endpoint::Turn turn, const StreamOptions& options,
          std::string name);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // As Connector::Connect, by `link`.
  std::unique_ptr<Connection> Connect(Link& link, const HostDoors& host,
                                      Via via, const Hello& hello,
                                      ConnectionHandler* handler);

  // Its turns, and the level of bytes.
  VirtualLoop& loop() { return loop_; }
  // The level of messages, where that is polled.
  void Poll() { endpoint_.Poll(); }

  void StallUntil(TimePoint until);

 private:
  const StreamOptions options_;
  Endpoint endpoint_;
  VirtualLoop loop_;
  SeededEntropy entropy_;  // of handshakes and masks
  stream::MaskKeys keys_;
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_MACHINE_H_
