// A fuzzer's bytes are heads of HTTP requests and responses, and answers to a
// WebSocket handshake. Whatever they are, nothing may assert, and:
//  - the result does not depend on how the bytes were cut, nor on what is
//    behind a head;
//  - a head that is taken, written again from what was read, reads the same;
//  - what the server lets in keeps to what it promises, its answer satisfies
//    our client, and a request for a room comes back from what was read of it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/transports/request.h"
#include "stream/handshake.h"
#include "stream/http_head.h"
#include "stream/websocket_handshake.h"

namespace parlor::stream {
namespace {

// The key of RFC 6455 section 1.3, so that inputs can hold the answer to it.
class RfcEntropy final : public Entropy {
 public:
  void Fill(std::span<std::byte> out) override {
    const auto bytes = AsBytes("the sample nonce");
    PARLOR_CHECK(out.size() == bytes.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
  }
};

// Feeds until the side has enough; returns how much it took.
template <typename Side, typename Progress>
std::size_t Feed(Side& side, std::string_view text, std::size_t piece,
                 Progress* progress) {
  std::vector<std::byte> bytes(AsBytes(text).begin(), AsBytes(text).end());
  std::size_t at = 0;
  *progress = Progress::kMore;
  while (*progress == Progress::kMore && at < bytes.size()) {
    const std::size_t size = std::min(piece, bytes.size() - at);
    std::span<std::byte> input = std::span(bytes).subspan(at, size);
    *progress = side.Feed(input);
    PARLOR_CHECK(*progress != Progress::kMore || input.empty());
    at += size - input.size();
  }
  return at;
}

std::string StartLine(const HttpRequestHead& head) {
  return std::string(head.method()) + ' ' + std::string(head.target()) +
         " HTTP/1.1\r\n";
}
std::string StartLine(const HttpResponseHead& head) {
  return "HTTP/1.1 " + std::to_string(head.status()) + " \r\n";
}

template <typename Head>
std::string Write(const Head& head) {
  std::string text = StartLine(head);
  for (std::size_t i = 0; i < head.header_count(); ++i) {
    text += std::string(head.header_name(i)) + ": " +
            std::string(head.header_value(i)) + "\r\n";
  }
  return text + "\r\n";
}

template <typename Head>
void CheckHead(std::string_view text) {
  Head whole;
  Head bytewise;
  HttpHead::Progress progress{};
  HttpHead::Progress progress_bytewise{};
  const std::size_t taken = Feed(whole, text, SIZE_MAX, &progress);
  PARLOR_CHECK(taken == Feed(bytewise, text, 1, &progress_bytewise));
  PARLOR_CHECK(progress == progress_bytewise);
  PARLOR_CHECK(whole.failure() == bytewise.failure());
  PARLOR_CHECK(taken <= kHttpHeadBytesMax);
  PARLOR_CHECK((progress == HttpHead::Progress::kFailed) ==
               (whole.failure() != 0));
  if (progress != HttpHead::Progress::kDone) return;

  const std::string written = Write(whole);
  PARLOR_CHECK(written == Write(bytewise));
  PARLOR_CHECK(whole.header_count() <= kHttpHeadersMax);
  // "a:b" became "a: b", so a head at the limit may be above it now.
  if (written.size() > kHttpHeadBytesMax) return;
  Head again;
  PARLOR_CHECK(Feed(again, written, SIZE_MAX, &progress) == written.size());
  PARLOR_CHECK(progress == HttpHead::Progress::kDone);
  PARLOR_CHECK(Write(again) == written);
  PARLOR_CHECK(again.chunked() == whole.chunked());
  PARLOR_CHECK(again.content_length() == whole.content_length());
}

// What a host reads of a request, said again, is read the same.
void CheckRoomRequest(const Request& request) {
  Hello hello{.room = 7, .players = -7};
  if (ParseRoomRequest(request, "", &hello) != 0) {
    PARLOR_CHECK(hello.room == 7 && hello.players == -7);
    return;
  }
  PARLOR_CHECK(hello.players > 0);
  Hello again;
  PARLOR_CHECK(ParseRoomRequest(RequestForRoom(hello), "", &again) == 0);
  PARLOR_CHECK(again.room == hello.room && again.players == hello.players);
  PARLOR_CHECK(again.access == hello.access && again.device == hello.device);
  PARLOR_CHECK(again.resume == hello.resume);
}

void CheckPlayRequest(const Request& request) {
  Hello hello{.play = "?"};
  if (ParsePlayRequest(request, "", &hello) != 0) {
    PARLOR_CHECK(hello.play == "?");
    return;
  }
  PARLOR_CHECK(IsPlayKey(hello.play) && hello.identity.empty());
  Hello again;
  PARLOR_CHECK(ParsePlayRequest(RequestForRoom(hello), "", &again) == 0);
  PARLOR_CHECK(again.play == hello.play && again.access == hello.access);
  PARLOR_CHECK(again.device == hello.device);
}

void CheckServer(std::string_view text) {
  auto whole = MakeWebSocketServerHandshake();
  auto bytewise = MakeWebSocketServerHandshake();
  ServerHandshake::Progress progress{};
  ServerHandshake::Progress progress_bytewise{};
  PARLOR_CHECK(Feed(*whole, text, SIZE_MAX, &progress) ==
               Feed(*bytewise, text, 1, &progress_bytewise));
  PARLOR_CHECK(progress == progress_bytewise);
  PARLOR_CHECK(whole->failure() == bytewise->failure());
  if (progress == ServerHandshake::Progress::kMore) return;
  if (progress == ServerHandshake::Progress::kFailed) {
    CheckHead<HttpResponseHead>(whole->Refuse({.status = whole->failure()}));
    return;
  }
  const Request& request = whole->request();
  const std::string protocol =
      request.protocols.empty() ? "" : request.protocols.back();
  const std::string answer = whole->Accept(protocol);
  PARLOR_CHECK(answer == bytewise->Accept(protocol));
  HttpResponseHead head;
  HttpHead::Progress read{};
  PARLOR_CHECK(Feed(head, answer, SIZE_MAX, &read) == answer.size());
  PARLOR_CHECK(read == HttpHead::Progress::kDone && head.status() == 101);
  PARLOR_CHECK(head.Find("Sec-WebSocket-Protocol").value_or("") == protocol);
  PARLOR_CHECK(head.Find("Sec-WebSocket-Extensions").has_value() ==
               whole->lanes_marked());

  CheckRoomRequest(request);
  CheckPlayRequest(request);

  // Our client may say all that was read; what it says is understood.
  RfcEntropy entropy;
  auto client = MakeWebSocketClientHandshake(request, "a", entropy);
  if (client->hello().size() > kHttpHeadBytesMax) return;
  auto server = MakeWebSocketServerHandshake();
  Feed(*server, client->hello(), SIZE_MAX, &progress);
  PARLOR_CHECK(progress == ServerHandshake::Progress::kRequest);
  PARLOR_CHECK(server->request().target == request.target);
  PARLOR_CHECK(server->request().protocols == request.protocols);
  ClientHandshake::Progress answered{};
  Feed(*client, server->Accept(protocol), SIZE_MAX, &answered);
  PARLOR_CHECK(answered == ClientHandshake::Progress::kOpen);
  PARLOR_CHECK(client->lanes_marked());
}

void CheckClient(std::string_view text) {
  const Request request{
      .target = "/", .protocols = {"a", "b"}, .origin = std::nullopt};
  RfcEntropy entropy;
  auto whole = MakeWebSocketClientHandshake(request, "a", entropy);
  auto bytewise = MakeWebSocketClientHandshake(request, "a", entropy);
  ClientHandshake::Progress progress{};
  ClientHandshake::Progress progress_bytewise{};
  PARLOR_CHECK(Feed(*whole, text, SIZE_MAX, &progress) ==
               Feed(*bytewise, text, 1, &progress_bytewise));
  PARLOR_CHECK(progress == progress_bytewise);
  PARLOR_CHECK(whole->refusal() == bytewise->refusal());
  PARLOR_CHECK(whole->lanes_marked() == bytewise->lanes_marked());
  PARLOR_CHECK((progress == ClientHandshake::Progress::kRefused) ==
               (whole->refusal() >= 300 && whole->refusal() <= 599));
}

}  // namespace
}  // namespace parlor::stream

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text =
      parlor::AsText(std::as_bytes(std::span(data, size)));
  parlor::stream::CheckHead<parlor::stream::HttpRequestHead>(text);
  parlor::stream::CheckHead<parlor::stream::HttpResponseHead>(text);
  parlor::stream::CheckServer(text);
  parlor::stream::CheckClient(text);
  return 0;
}
