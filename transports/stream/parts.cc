#include "stream/parts.h"

#include <memory>
#include <utility>

#include "parlor/transports/net_listener.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/length_framing.h"
#include "stream/server_opening.h"
#include "stream/stream_connection.h"
#include "stream/tcp_handshake.h"
#include "stream/websocket_codec.h"
#include "stream/websocket_handshake.h"

namespace parlor::stream {

ServerOpening::Parts MakeServerParts(NetTransport transport,
                                     const StreamOptions& options,
                                     std::unique_ptr<ByteStream> stream) {
  ServerOpening::Parts parts;
  parts.stream = std::move(stream);
  if (transport == NetTransport::kTcp) {
    parts.handshake = MakeTcpServerHandshake();
    parts.codec = MakeLengthFraming(options.message_bytes_max);
  } else {
    parts.handshake = MakeWebSocketServerHandshake();
    parts.codec = MakeWebSocketServerCodec(options.message_bytes_max);
  }
  return parts;
}

ClientStart MakeClientStart(NetTransport transport,
                            const StreamOptions& options,
                            std::unique_ptr<ByteStream> stream,
                            const ClientNeeds& needs) {
  ClientStart start;
  start.stream = std::move(stream);
  if (transport == NetTransport::kTcp) {
    start.handshake = MakeTcpClientHandshake(needs.request);
    start.codec = MakeLengthFraming(options.message_bytes_max);
  } else {
    start.handshake = MakeWebSocketClientHandshake(
        needs.request, needs.authority, needs.entropy);
    start.codec =
        MakeWebSocketClientCodec(options.message_bytes_max, needs.keys);
  }
  return start;
}

}  // namespace parlor::stream
