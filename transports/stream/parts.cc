#include "stream/parts.h"

#include <memory>
#include <utility>

#include "parlor/transports/net_listener.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/codec.h"
#include "stream/length_framing.h"
#include "stream/server_answer.h"
#include "stream/stream_connection.h"
#include "stream/tcp_handshake.h"
#include "stream/websocket_codec.h"
#include "stream/websocket_handshake.h"

namespace parlor::stream {

std::unique_ptr<Codec> MakeServerCodec(NetTransport transport,
                                       const StreamOptions& options) {
  return transport == NetTransport::kTcp
             ? MakeLengthFraming(options.message_bytes_max)
             : MakeWebSocketServerCodec(options.message_bytes_max);
}

ServerParts MakeServerParts(NetTransport transport,
                            const StreamOptions& options,
                            std::unique_ptr<ByteStream> stream) {
  return {.stream = std::move(stream),
          .handshake = transport == NetTransport::kTcp
                           ? MakeTcpServerHandshake()
                           : MakeWebSocketServerHandshake(),
          .codec = MakeServerCodec(transport, options)};
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
