// A client's machine and a server's on a simulated network, with the real
// handshakes, codecs and connections over its streams.
#ifndef PARLOR_TESTS_SUPPORT_STREAM_NET_H_
#define PARLOR_TESTS_SUPPORT_STREAM_NET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/executor.h"
#include "parlor/sim/network.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "sim/sim_stream.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"
#include "stream/parts.h"
#include "stream/server_opening.h"
#include "stream/stream_connection.h"
#include "stream/tls_stream.h"
#include "stream/websocket_codec.h"
#include "support/local_tls.h"

namespace parlor::test {

enum class Tls : bool { kNo, kYes };

struct StreamNetOptions {
  NetTransport transport = NetTransport::kWebSocket;
  Tls tls = Tls::kNo;
  std::size_t piece_bytes_max = SIZE_MAX;  // bytes move in pieces of 1 to this
  sim::Conditions conditions = sim::kPerfect;
};

class StreamNet final : private stream::ServerOpening::Owner {
 public:
  StreamNet(std::uint64_t seed, const StreamNetOptions& options)
      : options_(options),
        entropy_(seed),
        executor_(seed, Executor::Ties::kShuffled),
        network_(executor_),
        link_(network_, options.conditions, "link"),
        client_loop_(executor_),
        server_loop_(executor_),
        keys_(entropy_) {}

  Executor& executor() { return executor_; }
  sim::Network& network() { return network_; }
  sim::Link& link() { return link_; }

  // A client that the server lets in, one at a time.
  std::unique_ptr<Connection> Call(const StreamOptions& stream,
                                   ConnectionHandler* handler) {
    port_.Listen(server_loop_,
                 [this, stream](const sim::Link&,
                                std::unique_ptr<stream::ByteStream> accepted) {
                   Serve(stream, std::move(accepted));
                 });
    std::unique_ptr<stream::ByteStream> under =
        sim::ConnectStream(link_, client_loop_, port_);
    sim::SetPieces(*under, options_.piece_bytes_max);
    if (options_.tls == Tls::kYes) {
      under = stream::MakeTlsClientStream(client_loop_, std::move(under),
                                          SharedLocalTls().client.context(),
                                          "localhost");
    }
    const Request request = RequestForRoom({.room = 0, .players = 2});
    return stream::MakeClientConnection(
        client_loop_, stream,
        stream::MakeClientStart(options_.transport, stream, std::move(under),
                                {.request = request,
                                 .authority = "test",
                                 .entropy = entropy_,
                                 .keys = keys_}),
        handler);
  }

  // The server's end, once there is one; null before, and for its second call.
  std::unique_ptr<Connection> TakeAccepted() { return std::move(accepted_); }
  // Whether the server is still waiting for what a client wants.
  bool opening() const { return opening_ != nullptr; }

 private:
  void Serve(const StreamOptions& stream,
             std::unique_ptr<stream::ByteStream> under) {
    sim::SetPieces(*under, options_.piece_bytes_max);
    if (options_.tls == Tls::kYes) {
      under = stream::MakeTlsServerStream(server_loop_, std::move(under),
                                          SharedLocalTls().server.context());
    }
    Owner& owner = *this;
    opening_ = std::make_unique<stream::ServerOpening>(
        server_loop_, stream,
        stream::MakeServerParts(options_.transport, stream, std::move(under)),
        owner);
  }
  Verdict OnKnock(const stream::ServerOpening&, const Request&) override {
    return {.refusal = {}, .protocol = kLockstepProtocol};
  }
  void OnConnection(const stream::ServerOpening&, const Request&,
                    std::unique_ptr<Connection> connection) override {
    accepted_ = std::move(connection);
  }
  void OnDone(stream::ServerOpening&) override { opening_.reset(); }

  const StreamNetOptions options_;
  SeededEntropy entropy_;
  Executor executor_;
  sim::Network network_;
  sim::Link link_;
  sim::StreamPort port_;
  sim::VirtualLoop client_loop_, server_loop_;
  stream::MaskKeys keys_;
  std::unique_ptr<stream::ServerOpening> opening_;
  std::unique_ptr<Connection> accepted_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_STREAM_NET_H_
