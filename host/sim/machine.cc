#include "sim/machine.h"

#include <memory>
#include <string>
#include <utility>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "sim/sim_stream.h"
#include "stream/parts.h"
#include "stream/stream_connection.h"

namespace parlor::sim {

Machine::Machine(Network& network, Endpoint::Turn turn,
                 const StreamOptions& options, std::string name)
    : options_(options),
      endpoint_(network, turn, options, std::move(name)),
      loop_(network.executor()),
      entropy_(network.executor().random().Next64()),
      keys_(entropy_) {}

std::unique_ptr<Connection> Machine::Connect(Link& link, const HostDoors& host,
                                             Via via, const Hello& hello,
                                             ConnectionHandler* handler) {
  if (via == Via::kMessages) {
    return endpoint_.Connect(link, host.messages, hello, handler);
  }
  const bool tcp = via == Via::kTcp;
  const Request request = RequestForRoom(hello);
  stream::ClientStart start = stream::MakeClientStart(
      tcp ? NetTransport::kTcp : NetTransport::kWebSocket, options_,
      ConnectStream(link, loop_, tcp ? host.tcp : host.web),
      {.request = request,
       .authority = "host",
       .entropy = entropy_,
       .keys = keys_});
  return stream::MakeClientConnection(loop_, options_, std::move(start),
                                      handler);
}

void Machine::StallUntil(TimePoint until) {
  endpoint_.StallUntil(until);
  loop_.StallUntil(until);
}

}  // namespace parlor::sim
