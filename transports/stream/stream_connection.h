// StreamConnection: a parlor::Connection over any ByteStream with any Codec.
// Lanes, limits, liveness and closing are here, once for WebSocket, TCP, either
// with TLS, and the simulator.
//
// One thread: that of its loop, which outlives it.
#ifndef PARLOR_TRANSPORTS_STREAM_STREAM_CONNECTION_H_
#define PARLOR_TRANSPORTS_STREAM_STREAM_CONNECTION_H_

#include <memory>
#include <span>
#include <string>

#include "parlor/connection.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/codec.h"
#include "stream/handshake.h"
#include "stream/stream_loop.h"

namespace parlor::stream {

// The server's end: open from birth. `answer` is what accepts the client, and
// `unread` what the client sent behind its request, which is copied.
struct ServerStart {
  std::unique_ptr<ByteStream> stream;
  std::unique_ptr<Codec> codec;
  std::string answer;
  std::span<const std::byte> unread;
};
std::unique_ptr<Connection> MakeServerConnection(StreamLoop& loop,
                                                 const StreamOptions& options,
                                                 ServerStart start);

// The client's end: open once the server has accepted. The stream may still be
// connecting.
struct ClientStart {
  std::unique_ptr<ByteStream> stream;
  std::unique_ptr<Codec> codec;
  std::unique_ptr<ClientHandshake> handshake;
};
std::unique_ptr<Connection> MakeClientConnection(StreamLoop& loop,
                                                 const StreamOptions& options,
                                                 ClientStart start,
                                                 ConnectionHandler* handler);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_STREAM_CONNECTION_H_
