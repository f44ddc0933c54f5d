// Which handshake and which codec each transport is made of.
#ifndef PARLOR_TRANSPORTS_STREAM_PARTS_H_
#define PARLOR_TRANSPORTS_STREAM_PARTS_H_

#include <memory>
#include <string_view>

#include "parlor/entropy.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/codec.h"
#include "stream/server_answer.h"
#include "stream/stream_connection.h"
#include "stream/websocket_codec.h"

namespace parlor::stream {

std::unique_ptr<Codec> MakeServerCodec(NetTransport transport,
                                       const StreamOptions& options);
ServerParts MakeServerParts(NetTransport transport,
                            const StreamOptions& options,
                            std::unique_ptr<ByteStream> stream);

// `authority` is the host that a WebSocket's request names; `keys` outlives the
// connection.
struct ClientNeeds {
  const Request& request;
  std::string_view authority;
  Entropy& entropy;
  MaskKeys& keys;
};
ClientStart MakeClientStart(NetTransport transport,
                            const StreamOptions& options,
                            std::unique_ptr<ByteStream> stream,
                            const ClientNeeds& needs);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_PARTS_H_
