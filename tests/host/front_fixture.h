// A front in virtual time, over streams in memory, and what HTTP is made of.
#ifndef PARLOR_TESTS_HOST_FRONT_FIXTURE_H_
#define PARLOR_TESTS_HOST_FRONT_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "logic/front.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "parlor/byte_io.h"
#include "parlor/executor.h"
#include "parlor/host/access_store.h"
#include "parlor/host/gate_options.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "stream/byte_stream.h"
#include "stream/tcp_handshake.h"
#include "support/memory_stream.h"
#include "support/raw_client.h"

namespace parlor::host {

inline constexpr std::string_view kCode = "GOODCODE42";
inline constexpr std::int64_t kWallSeconds = 1'800'000'000;

inline std::string Http(std::string_view start, std::string_view headers = "",
                        std::string_view body = "") {
  std::string text(start);
  text.append(" HTTP/1.1\r\nHost: a\r\n").append(headers).append("\r\n");
  return text.append(body);
}

inline std::string Post(std::string_view body, std::string_view headers = "") {
  std::string all = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return Http("POST /invite", all.append(headers), body);
}

inline std::string Chunked(std::string_view wire) {
  return Http("POST /invite", "Transfer-Encoding: chunked\r\n", wire);
}

inline constexpr std::string_view kUpgrade =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

inline std::string Join(std::string_view target,
                        std::string_view more_protocols = "",
                        std::string_view headers = "") {
  std::string all(kUpgrade);
  all.append("Sec-WebSocket-Protocol: fizlet-rooms, invite.goodcode42");
  all.append(more_protocols).append("\r\n").append(headers);
  return Http(std::string("GET ").append(target), all);
}

inline std::string Answer(std::string_view status,
                          std::string_view headers = "",
                          std::string_view body = "") {
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\n").append(headers);
  text.append("Content-Length: ").append(std::to_string(body.size()));
  return text.append("\r\n\r\n").append(body);
}

inline constexpr std::string_view kClose = "Connection: close\r\n";
inline constexpr std::string_view kJsonHeaders =
    "Cache-Control: no-store\r\nContent-Type: application/json\r\n";

inline std::string Json(std::string_view status, std::string_view json,
                        std::string_view first_headers = "") {
  return Answer(status, std::string(first_headers).append(kJsonHeaders), json);
}

inline const std::string kHealth = Http("GET /healthz");
inline const std::string kHealthy =
    Json("200 OK", R"({"ok":true,"rooms":3,"players":7,"uptime":99})");

// Errors that end the connection.
inline std::string Last(std::string_view status,
                        std::string_view headers = "") {
  return Answer(status, std::string(kClose).append(headers));
}

inline std::string TextOf(std::span<const std::byte> bytes) {
  return std::string(AsText(bytes));
}

// Everything that is left to read of a stream.
inline std::string ReadAll(stream::ByteStream& stream) {
  std::vector<std::byte> buffer(1'000);
  std::string text;
  for (;;) {
    const stream::IoResult result = stream.Read(buffer);
    if (result.status != stream::IoStatus::kOk) return text;
    text += AsText(std::span(buffer).first(result.bytes));
  }
}

inline std::string TcpHello(const Request& request) {
  return std::string(stream::MakeTcpClientHandshake(request)->hello());
}

inline Request RoomRequest(std::string_view target) {
  return {.target = std::string(target),
          .protocols = {"fizlet-rooms", "invite.goodcode42", "resume.1f"}};
}

class FrontTest : public ::testing::Test, public Front::Ports {
 protected:
  FrontTest() {
    gate_options_.codes = {std::string(kCode)};
    options_.body_ms = 7'000;  // no other time
    Make();
  }

  // Anew, with the options as they are.
  void Make() {
    front_ = nullptr;
    gate_ = std::make_unique<Gate>(
        gate_options_,
        GateRooms{.rooms = 10,
                  .seats = 4,
                  .base_path = options_.base_path,
                  .play = {{.key = "club"}, {.key = "park", .open = true}}},
        [] { return kWallSeconds; });
    front_ = std::make_unique<Front>(loop_, options_, *gate_, *this);
  }

  std::unique_ptr<test::RawClient> Connect(
      std::string_view address = "192.0.2.1",
      NetTransport transport = NetTransport::kWebSocket) {
    test::MemoryStreamPair pair =
        test::MakeMemoryStreams(executor_, client_loop_, loop_, memory_);
    const auto stream = std::make_shared<std::unique_ptr<stream::ByteStream>>(
        std::move(pair.second));
    loop_.Post([this, stream, address = std::string(address), transport] {
      front_->OnAccept(std::move(*stream), address, transport);
    });
    auto client = std::make_unique<test::RawClient>(std::move(pair.first));
    Run();
    return client;
  }

  void HandOver(Handover handover) override {
    handovers_.push_back(std::move(handover));
  }
  HostFigures Figures(TimePoint) override { return figures_; }
  void AskStore(const PassUse& use,
                std::function<void(PassAnswer)> answer) override {
    asked_.push_back({use, std::move(answer)});
  }

  void Run() { RunFor(0); }
  void RunFor(std::int64_t ms) { executor_.RunFor(ms * kMillisecond); }

  // Of one whose rates are not used up.
  std::string NextAddress() {
    ++addresses_;
    return "10.0." + std::to_string(addresses_ / 256) + '.' +
           std::to_string(addresses_ % 256);
  }

  // What a client hears that says `text` and no more.
  std::string Ask(std::string_view text) {
    const auto client = Connect();
    client->Say(text);
    Run();
    return client->heard();
  }

  // First what the others live on.
  Executor executor_{1};
  test::VirtualLoop client_loop_{executor_};
  test::VirtualLoop shard_loop_{executor_};
  test::VirtualLoop loop_{executor_};
  test::MemoryStreamOptions memory_;
  FrontOptions options_;
  GateOptions gate_options_;
  HostFigures figures_{.rooms = 3, .players = 7, .uptime_s = 99};
  std::vector<Handover> handovers_;
  struct Question {
    PassUse use;
    std::function<void(PassAnswer)> answer;
  };
  std::vector<Question> asked_;
  int addresses_ = 0;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Front> front_;
};

}  // namespace parlor::host

#endif  // PARLOR_TESTS_HOST_FRONT_FIXTURE_H_
