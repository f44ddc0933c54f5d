// Handover: a client that the gate let in, on its way from the front's thread
// to its room's: the socket, what was read of it and not used, and the
// handshake that is still to be answered.
#ifndef PARLOR_HOST_LOGIC_HANDOVER_H_
#define PARLOR_HOST_LOGIC_HANDOVER_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "parlor/connector.h"
#include "parlor/host/address.h"
#include "parlor/transports/net_listener.h"
#include "stream/byte_stream.h"
#include "stream/handshake.h"

namespace parlor::host {

struct Handover {
  Hello hello;
  Address address;
  NetTransport transport = NetTransport::kWebSocket;  // chooses the codec
  std::unique_ptr<stream::ParkedStream> stream;
  // kRequest was reached: Accept or Refuse is next.
  std::unique_ptr<stream::ServerHandshake> handshake;
  std::vector<std::byte> unread;  // behind the request
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_HANDOVER_H_
