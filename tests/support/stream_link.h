// StreamConnections over byte streams in virtual time, under the conformance
// suite: the real handshakes, codecs and connections, without a socket.
#ifndef PARLOR_TESTS_SUPPORT_STREAM_LINK_H_
#define PARLOR_TESTS_SUPPORT_STREAM_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/executor.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "stream/parts.h"
#include "stream/server_opening.h"
#include "stream/stream_connection.h"
#include "stream/tls_stream.h"
#include "stream/websocket_codec.h"
#include "support/connection_conformance.h"
#include "support/local_tls.h"
#include "support/memory_stream.h"
#include "support/quiet_stream.h"

namespace parlor::test {

enum class Tls : bool { kNo, kYes };

// The bytes of the stream move in pieces of 1 to `kPieceMax`.
template <NetTransport kTransport, Tls kTls, First kFirst,
          std::size_t kPieceMax>
class StreamLink final : public stream::ServerOpening::Owner {
 public:
  static constexpr std::uint64_t kRandomRuns =
      kPieceMax == 1 || kTls == Tls::kYes ? 100 : 2'000;

  explicit StreamLink(std::uint64_t seed)
      : entropy_(seed),
        executor_(seed, Executor::Ties::kShuffled),
        client_loop_(executor_),
        server_loop_(executor_),
        keys_(entropy_) {}

  ConformanceEnds Connect(const ConformanceOptions& options,
                          ConnectionHandler* first, ConnectionHandler* second) {
    const StreamOptions stream = QuietStream(options);
    ConformanceEnds ends;
    ends.first = Open(stream, kFirst == First::kClient ? first : second);
    ends.second = std::move(accepted_);
    ends.second->SetHandler(kFirst == First::kClient ? second : first);
    if (kFirst == First::kServer) std::swap(ends.first, ends.second);
    return ends;
  }

  bool Step() { return executor_.RunNext(executor_.now()); }
  void Settle() { executor_.RunUntil(executor_.now(), 10'000'000); }
  void Advance(Duration time) { executor_.RunFor(time); }

  Verdict OnKnock(const stream::ServerOpening&, const Request&) override {
    return {.refusal = {}, .protocol = kLockstepProtocol};
  }
  void OnConnection(const stream::ServerOpening&, const Request&,
                    std::unique_ptr<Connection> connection) override {
    accepted_ = std::move(connection);
  }
  void OnDone(stream::ServerOpening&) override { opening_.reset(); }

 private:
  std::unique_ptr<Connection> Open(const StreamOptions& options,
                                   ConnectionHandler* handler) {
    MemoryStreamOptions memory;
    memory.piece_bytes_max = kPieceMax;
    MemoryStreamPair streams =
        MakeMemoryStreams(executor_, client_loop_, server_loop_, memory);
    if (kTls == Tls::kYes) {
      streams.first = stream::MakeTlsClientStream(
          client_loop_, std::move(streams.first),
          SharedLocalTls().client.context(), "localhost");
      streams.second =
          stream::MakeTlsServerStream(server_loop_, std::move(streams.second),
                                      SharedLocalTls().server.context());
    }
    opening_ = std::make_unique<stream::ServerOpening>(
        server_loop_, options,
        stream::MakeServerParts(kTransport, options, std::move(streams.second)),
        *this);
    const Request request = RequestForRoom({.room = 0, .players = 2});
    std::unique_ptr<Connection> client = stream::MakeClientConnection(
        client_loop_, options,
        stream::MakeClientStart(kTransport, options, std::move(streams.first),
                                {.request = request,
                                 .authority = "test",
                                 .entropy = entropy_,
                                 .keys = keys_}),
        handler);
    while (accepted_ == nullptr) PARLOR_CHECK(Step());
    return client;
  }

  SeededEntropy entropy_;
  Executor executor_;
  VirtualLoop client_loop_, server_loop_;
  stream::MaskKeys keys_;
  std::unique_ptr<stream::ServerOpening> opening_;
  std::unique_ptr<Connection> accepted_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_STREAM_LINK_H_
