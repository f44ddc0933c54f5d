// A client at the door, in virtual time: let in, refused, too slow, gone, and
// how it hears of that; with the WebSocket handshake as the one there is.
#include "stream/server_opening.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/executor.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/stream_connection.h"
#include "stream/websocket_codec.h"
#include "stream/websocket_handshake.h"
#include "support/memory_stream.h"
#include "support/raw_client.h"
#include "support/seed.h"

namespace parlor::stream {
namespace {

using test::RawClient;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kHead =
    "GET /room/3?players=2 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: x, y\r\n\r\n";

// What either end of a connection heard.
class Heard final : public ConnectionHandler {
 public:
  void OnOpen(TimePoint, Connection&) override { log.emplace_back("open"); }
  void OnMessage(TimePoint, Connection&, Lane lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    log.push_back((lane == Lane::kState ? "state " : "message ") +
                  std::string(AsText(bytes)));
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    log.push_back("close " + std::to_string(event.code) + ' ' +
                  std::to_string(event.refusal));
  }

  std::vector<std::string> log;
};

class ServerOpeningTest : public ::testing::Test, public ServerOpening::Owner {
 protected:
  // One client's stream, the other end of which is at the door.
  std::unique_ptr<ByteStream> Knock(std::size_t piece_bytes_max = SIZE_MAX) {
    test::MemoryStreamPair pair =
        test::MakeMemoryStreams(executor_, client_loop_, server_loop_,
                                {.piece_bytes_max = piece_bytes_max});
    opening_ = std::make_unique<ServerOpening>(
        server_loop_, options_,
        ServerOpening::Parts{
            .stream = std::move(pair.second),
            .handshake = MakeWebSocketServerHandshake(),
            .codec = MakeWebSocketServerCodec(options_.message_bytes_max)},
        *this);
    return std::move(pair.first);
  }

  Verdict OnKnock(const ServerOpening& opening,
                  const Request& request) override {
    EXPECT_EQ(&opening, opening_.get());
    log_.push_back("knock " + request.target);
    return verdict_;
  }
  void OnConnection(const ServerOpening& opening, const Request& request,
                    std::unique_ptr<Connection> connection) override {
    EXPECT_EQ(&opening, opening_.get());
    log_.push_back("connection " + request.target);
    connection_ = std::move(connection);
    connection_->SetHandler(&heard_);
  }
  void OnDone(ServerOpening& opening) override {
    EXPECT_EQ(&opening, opening_.get());
    log_.emplace_back("done");
    if (destroy_when_done_) opening_ = nullptr;
  }

  void RunFor(std::int64_t ms) { executor_.RunFor(ms * kMillisecond); }

  // First what the others live on.
  Executor executor_{1};
  test::VirtualLoop client_loop_{executor_};
  test::VirtualLoop server_loop_{executor_};
  SeededEntropy entropy_{2};
  MaskKeys keys_{entropy_};
  StreamOptions options_;
  Verdict verdict_{.refusal = {}, .protocol = "y"};
  bool destroy_when_done_ = true;
  std::vector<std::string> log_;
  Heard heard_;
  std::unique_ptr<ServerOpening> opening_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(ServerOpeningTest, LetsAClientIn) {
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{9}}) {
    SCOPED_TRACE(piece);
    log_.clear();
    heard_.log.clear();
    Heard client_heard;
    const std::unique_ptr<Connection> client = MakeClientConnection(
        client_loop_, options_,
        {.stream = Knock(piece),
         .codec = MakeWebSocketClientCodec(options_.message_bytes_max, keys_),
         .handshake =
             MakeWebSocketClientHandshake({.target = "/room/3?players=2",
                                           .protocols = {"x", "y"},
                                           .origin = {}},
                                          "a", entropy_)},
        &client_heard);
    RunFor(100);
    EXPECT_THAT(log_, ElementsAre("knock /room/3?players=2",
                                  "connection /room/3?players=2", "done"));
    EXPECT_EQ(opening_, nullptr);
    EXPECT_THAT(client_heard.log, ElementsAre("open"));

    // Both ends mark lanes: our client offered to.
    client->Send(Lane::kState, MessageKind::kText, AsBytes("a"));
    connection_->Send(Lane::kState, MessageKind::kText, AsBytes("b"));
    RunFor(100);
    EXPECT_THAT(heard_.log, ElementsAre("open", "state a"));
    EXPECT_THAT(client_heard.log, ElementsAre("open", "state b"));
    connection_ = nullptr;
    RunFor(100);
    EXPECT_THAT(client_heard.log,
                ElementsAre("open", "state b", "close 1006 0"));
  }
}

// What came behind the head, in the same read, is the connection's.
TEST_F(ServerOpeningTest, UnreadBytesAreTheConnections) {
  RawClient client(Knock());
  // A masked text frame "hi", with a mask of zeros, and half of another.
  const std::string_view frames("\x81\x82\0\0\0\0hi\x81\x82\0", 11);
  client.Say(std::string(kHead) + std::string(frames));
  RunFor(100);
  EXPECT_THAT(client.heard(), StartsWith("HTTP/1.1 101 "));
  EXPECT_THAT(heard_.log, ElementsAre("open", "message hi"));
  client.Say(std::string_view("\0\0\0ho", 5));
  RunFor(100);
  EXPECT_THAT(heard_.log, ElementsAre("open", "message hi", "message ho"));
}

TEST_F(ServerOpeningTest, RefusesAClient) {
  verdict_.refusal = {.status = 429, .retry_after_s = 3};
  Heard client_heard;
  const std::unique_ptr<Connection> client = MakeClientConnection(
      client_loop_, options_,
      {.stream = Knock(3),
       .codec = MakeWebSocketClientCodec(options_.message_bytes_max, keys_),
       .handshake = MakeWebSocketClientHandshake(
           {.target = "/", .protocols = {"x"}, .origin = {}}, "a", entropy_)},
      &client_heard);
  RunFor(100);
  EXPECT_THAT(log_, ElementsAre("knock /", "done"));
  EXPECT_THAT(client_heard.log, ElementsAre("close 1006 429"));
  EXPECT_EQ(server_loop_.draining(), 0u);
}

// The whole answer and then the end, though the client never stops talking.
TEST_F(ServerOpeningTest, ARefusalArrivesWhole) {
  verdict_.refusal = {.status = 429, .retry_after_s = 3};
  RawClient client(Knock());
  client.Say(std::string(kHead) + std::string(10'000, 'x'));
  RunFor(10);
  client.Say(std::string(10'000, 'x'));
  RunFor(10);
  EXPECT_EQ(client.heard(),
            "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n"
            "Retry-After: 3\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.ended(), IoStatus::kEnd);
  EXPECT_THAT(log_, ElementsAre("knock /room/3?players=2", "done"));
  // It does not end its side: there is a limit to that.
  EXPECT_EQ(server_loop_.draining(), 1u);
  RunFor(options_.linger_ms);
  EXPECT_EQ(server_loop_.draining(), 0u);
}

TEST_F(ServerOpeningTest, ABadHeadIsAnsweredAndNobodyAsked) {
  RawClient client(Knock());
  client.Say("POST / HTTP/1.1\r\nHost: a\r\n\r\n");
  RunFor(10);
  EXPECT_EQ(client.heard(),
            "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n"
            "Allow: GET\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.ended(), IoStatus::kEnd);
  client.End();
  RunFor(10);
  EXPECT_EQ(server_loop_.draining(), 0u);
  EXPECT_THAT(log_, ElementsAre("done"));
}

// The whole head has the time there is, and a byte now and then gains none.
TEST_F(ServerOpeningTest, ASlowClientIsCutOff) {
  RawClient client(Knock());
  const std::int64_t steps = 10;
  for (std::int64_t i = 1; i < steps; ++i) {
    RunFor(options_.handshake_ms / steps);
    client.Say(kHead.substr(static_cast<std::size_t>(i), 1));
  }
  RunFor(options_.handshake_ms / steps - 1);
  EXPECT_THAT(log_, IsEmpty());
  EXPECT_EQ(client.ended(), IoStatus::kOk);
  RunFor(1);
  EXPECT_THAT(log_, ElementsAre("done"));
  EXPECT_EQ(client.ended(), IoStatus::kLost);
  EXPECT_EQ(client.heard(), "");
}

// Its head came in time, in more pieces than one read takes.
TEST_F(ServerOpeningTest, ALateLoopLetsInWhoAskedInTime) {
  RawClient client(Knock(16));
  server_loop_.StallUntil(executor_.now() +
                          2 * options_.handshake_ms * kMillisecond);
  RunFor(options_.handshake_ms - 1);
  client.Say(kHead);
  RunFor(options_.handshake_ms + 1);
  EXPECT_THAT(log_, ElementsAre("knock /room/3?players=2",
                                "connection /room/3?players=2", "done"));
}

TEST_F(ServerOpeningTest, ALateLoopCutsOffWhoDidNotAskInTime) {
  RawClient client(Knock(16));
  server_loop_.StallUntil(executor_.now() +
                          2 * options_.handshake_ms * kMillisecond);
  client.Say(kHead.substr(0, kHead.size() - 1));
  RunFor(2 * options_.handshake_ms);
  EXPECT_THAT(log_, ElementsAre("done"));
}

// Done is done, whenever its owner destroys it.
TEST_F(ServerOpeningTest, NothingComesBehindDone) {
  destroy_when_done_ = false;
  RawClient client(Knock());
  client.Say(kHead);
  RunFor(options_.handshake_ms + 1000);
  EXPECT_THAT(log_, ElementsAre("knock /room/3?players=2",
                                "connection /room/3?players=2", "done"));
  opening_ = nullptr;
  RunFor(100);
  EXPECT_TRUE(connection_->is_open());
}

TEST_F(ServerOpeningTest, AClientThatEndsOrVanishesIsNone) {
  const std::vector<std::function<void(RawClient&)>> ways = {
      [](RawClient& client) { client.End(); },
      [](RawClient& client) { client.Vanish(); },
      [](RawClient& client) {
        client.Say(kHead.substr(0, 20));
        client.End();
      },
      [](RawClient& client) {
        client.Say(kHead.substr(0, kHead.size() - 1));
        client.Vanish();
      },
  };
  for (const auto& way : ways) {
    log_.clear();
    RawClient client(Knock());
    way(client);
    RunFor(10);
    EXPECT_THAT(log_, ElementsAre("done"));
    EXPECT_EQ(client.heard(), "");
  }
}

// Refused clients that stay hold a descriptor each.
TEST_F(ServerOpeningTest, OfTooManyWhoWereRefusedTheOldestIsDropped) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 1'025; ++i) {
    clients.push_back(std::make_unique<RawClient>(Knock()));
    clients.back()->Say("no request\r\n\r\n");
    RunFor(1);
  }
  EXPECT_EQ(server_loop_.draining(), 1'024u);
}

TEST_F(ServerOpeningTest, DestroyingItCutsTheClientOff) {
  RawClient client(Knock());
  client.Say(kHead.substr(0, 20));
  RunFor(10);
  opening_ = nullptr;
  RunFor(10);
  EXPECT_EQ(client.ended(), IoStatus::kLost);
  EXPECT_THAT(log_, IsEmpty());
}

}  // namespace
}  // namespace parlor::stream
