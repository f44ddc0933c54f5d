// The answer to a client whose request was read: it becomes a Connection, or is
// told why not. For whoever decides: a ServerOpening at once, a host's door on
// another loop.
#ifndef PARLOR_TRANSPORTS_STREAM_SERVER_ANSWER_H_
#define PARLOR_TRANSPORTS_STREAM_SERVER_ANSWER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/codec.h"
#include "stream/handshake.h"
#include "stream/stream_loop.h"

namespace parlor::stream {

// What a server's end is made of until it is a Connection.
struct ServerParts {
  std::unique_ptr<ByteStream> stream;
  std::unique_ptr<ServerHandshake> handshake;
  std::unique_ptr<Codec> codec;
};

// After kRequest: accepts with `protocol`, which was offered or is empty.
// `unread`, what came behind the request, is copied. Takes the stream and the
// codec and leaves the handshake, whose request may still be wanted.
std::unique_ptr<Connection> AcceptClient(StreamLoop& loop,
                                         const StreamOptions& options,
                                         ServerParts& parts,
                                         std::string_view protocol,
                                         std::span<const std::byte> unread);

// After kRequest or kFailed: says `refusal`, a status that IsRefusal, and ends
// the stream, which the loop takes over (Drain, for options.linger_ms). Leaves
// the rest.
void RefuseClient(StreamLoop& loop, const StreamOptions& options,
                  ServerParts& parts, const Refusal& refusal);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_SERVER_ANSWER_H_
