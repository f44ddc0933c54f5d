#include "stream/server_answer.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"
#include "stream/segments.h"
#include "stream/stream_connection.h"
#include "stream/stream_loop.h"

namespace parlor::stream {

std::unique_ptr<Connection> AcceptClient(StreamLoop& loop,
                                         const StreamOptions& options,
                                         ServerParts& parts,
                                         std::string_view protocol,
                                         std::span<const std::byte> unread) {
  std::string answer = parts.handshake->Accept(protocol);
  parts.codec->set_lanes_marked(parts.handshake->lanes_marked());
  return MakeServerConnection(loop, options,
                              {.stream = std::move(parts.stream),
                               .codec = std::move(parts.codec),
                               .answer = std::move(answer),
                               .unread = unread});
}

void RefuseClient(StreamLoop& loop, const StreamOptions& options,
                  ServerParts& parts, const Refusal& refusal) {
  Segments answer(loop.segments());
  answer.Append(AsBytes(parts.handshake->Refuse(refusal)));
  loop.Drain(std::move(parts.stream), std::move(answer),
             loop.now() + options.linger_ms * kMillisecond);
}

}  // namespace parlor::stream
