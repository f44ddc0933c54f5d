#include "stream/websocket_handshake.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/entropy.h"
#include "parlor/transports/request.h"
#include "stream/handshake.h"
#include "stream/http_head.h"
#include "stream/http_reply.h"

namespace parlor::stream {
namespace {

constexpr std::string_view kUpgrade = "Upgrade";
constexpr std::string_view kConnection = "Connection";
constexpr std::string_view kWebSocket = "websocket";
constexpr std::string_view kAccept = "Sec-WebSocket-Accept";
constexpr std::string_view kExtensions = "Sec-WebSocket-Extensions";
constexpr std::string_view kKey = "Sec-WebSocket-Key";
constexpr std::string_view kProtocol = "Sec-WebSocket-Protocol";
constexpr std::string_view kVersion = "Sec-WebSocket-Version";
constexpr std::string_view kVersionSpoken = "13";
constexpr std::string_view kLanes = "parlor-lanes";

// RFC 6455 section 4.1.
constexpr std::size_t kKeyBytes = 16;

std::string Base64(std::span<const std::byte> bytes) {
  const std::string_view text = AsText(bytes);
  return absl::Base64Escape(absl::string_view(text.data(), text.size()));
}

// The decoder takes spaces, missing padding and stray bits; what it makes is
// held against what a strict one would have been given.
bool IsKey(std::string_view text) {
  std::string bytes;
  return absl::Base64Unescape(absl::string_view(text.data(), text.size()),
                              &bytes) &&
         bytes.size() == kKeyBytes && Base64(AsBytes(bytes)) == text;
}

// RFC 6455 section 4.2.2, item 5.4. SHA-1 guards nothing here: it shows that
// the other side knows what a WebSocket is.
std::string AcceptValue(std::string_view key) {
  std::string text(key);
  text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  PARLOR_CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size,
                          EVP_sha1(), nullptr) == 1);
  return Base64(std::as_bytes(std::span(digest).first(size)));
}

// One extension of an offer: a name and parameters, "name; a; b=1; c=\"2\"".
// A quoted value must be a token as well (RFC 6455 section 9.1), so a quote
// cannot hide a comma or a semicolon.
bool IsExtension(std::string_view text) {
  std::size_t semicolon = std::min(text.find(';'), text.size());
  if (!IsHttpToken(TrimHttpSpace(text.substr(0, semicolon)))) return false;
  while (semicolon < text.size()) {
    text.remove_prefix(semicolon + 1);
    semicolon = std::min(text.find(';'), text.size());
    const std::string_view parameter = TrimHttpSpace(text.substr(0, semicolon));
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    if (!IsHttpToken(parameter.substr(0, equals))) return false;
    if (equals == parameter.size()) continue;
    std::string_view value = parameter.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (!IsHttpToken(value)) return false;
  }
  return true;
}

class WebSocketServerHandshake final : public ServerHandshake {
 public:
  explicit WebSocketServerHandshake(std::unique_ptr<HttpRequestHead> head)
      : head_(std::move(head)) {}

  // A head that is whole takes nothing and says so.
  Progress Feed(std::span<std::byte>& input) override {
    switch (head_->Feed(input)) {
      case HttpHead::Progress::kMore:
        return Progress::kMore;
      case HttpHead::Progress::kFailed:
        failure_ = head_->failure();
        break;
      case HttpHead::Progress::kDone:
        failure_ = Read();
        break;
    }
    return failure_ == 0 ? Progress::kRequest : Progress::kFailed;
  }

  const Request& request() const override { return request_; }
  std::uint16_t failure() const override { return failure_; }
  bool lanes_marked() const override { return lanes_marked_; }

  std::string Accept(std::string_view protocol) override {
    PARLOR_CHECK(protocol.empty() || IsOffered(protocol, request_.protocols));
    std::string head = "HTTP/1.1 101 Switching Protocols\r\n";
    AppendHttpHeader(head, kUpgrade, kWebSocket);
    AppendHttpHeader(head, kConnection, kUpgrade);
    AppendHttpHeader(head, kAccept, AcceptValue(*head_->Find(kKey)));
    if (!protocol.empty()) AppendHttpHeader(head, kProtocol, protocol);
    if (lanes_marked_) AppendHttpHeader(head, kExtensions, kLanes);
    return head += "\r\n";
  }

  std::string Refuse(const Refusal& refusal) override {
    PARLOR_CHECK(IsRefusal(refusal.status));
    HttpReply reply{.status = refusal.status,
                    .retry_after_s = refusal.retry_after_s};
    if (refusal.status == http_status::kUpgradeRequired) {
      reply.upgrade = kWebSocket;
      // RFC 6455 section 4.2.2 item 4.
      reply.headers.push_back(
          {std::string(kVersion), std::string(kVersionSpoken)});
    }
    if (refusal.status == http_status::kMethodNotAllowed) {
      reply.headers.push_back({"Allow", "GET"});
    }
    return FormatHttpReply(reply);
  }

 private:
  // 0, or how the head fails.
  std::uint16_t Read() {
    if (!IsKnownMethod(head_->method())) return http_status::kNotImplemented;
    if (head_->method() != "GET") return http_status::kMethodNotAllowed;
    if (!head_->ListHas(kUpgrade, kWebSocket) ||
        !head_->ListHas(kConnection, kUpgrade)) {
      return http_status::kUpgradeRequired;
    }
    if (head_->has_body()) return http_status::kBadRequest;
    if (head_->Find(kVersion) != kVersionSpoken)
      return http_status::kUpgradeRequired;
    const auto key = head_->Find(kKey);
    if (!key || !IsKey(*key)) return http_status::kBadRequest;
    return AreDistinctTokens(head_->List(kProtocol)) && ReadExtensions()
               ? TakeRequest()
               : http_status::kBadRequest;
  }

  bool ReadExtensions() {
    const std::vector<std::string_view> offers = head_->List(kExtensions);
    // With parameters it is none that we know.
    lanes_marked_ =
        std::find(offers.begin(), offers.end(), kLanes) != offers.end();
    return std::all_of(offers.begin(), offers.end(), IsExtension);
  }

  std::uint16_t TakeRequest() {
    request_.target = head_->target();
    for (const std::string_view protocol : head_->List(kProtocol)) {
      request_.protocols.emplace_back(protocol);
    }
    if (const auto origin = head_->Find("Origin")) request_.origin = *origin;
    return 0;
  }

  const std::unique_ptr<HttpRequestHead> head_;
  Request request_;
  std::uint16_t failure_ = 0;
  bool lanes_marked_ = false;
};

class WebSocketClientHandshake final : public ClientHandshake {
 public:
  WebSocketClientHandshake(const Request& request, std::string_view authority,
                           Entropy& entropy)
      : offered_(request.protocols) {
    // A CR or LF in here would be a request of somebody else's making.
    PARLOR_CHECK(IsHttpTarget(request.target) && IsHttpAuthority(authority));
    PARLOR_CHECK(AreDistinctTokens({offered_.begin(), offered_.end()}));
    std::array<std::byte, kKeyBytes> key_bytes{};
    entropy.Fill(key_bytes);
    const std::string key = Base64(key_bytes);
    accept_ = AcceptValue(key);

    hello_ = "GET " + request.target + " HTTP/1.1\r\n";
    AppendHttpHeader(hello_, "Host", authority);
    AppendHttpHeader(hello_, kUpgrade, kWebSocket);
    AppendHttpHeader(hello_, kConnection, kUpgrade);
    AppendHttpHeader(hello_, kKey, key);
    AppendHttpHeader(hello_, kVersion, kVersionSpoken);
    std::string protocols;
    for (const std::string& protocol : offered_) {
      if (!protocols.empty()) protocols += ", ";
      protocols += protocol;
    }
    if (!protocols.empty()) AppendHttpHeader(hello_, kProtocol, protocols);
    AppendHttpHeader(hello_, kExtensions, kLanes);
    hello_ += "\r\n";
  }

  std::string_view hello() const override { return hello_; }
  std::uint16_t refusal() const override { return refusal_; }
  bool lanes_marked() const override { return lanes_marked_; }

  Progress Feed(std::span<std::byte>& input) override {
    switch (head_.Feed(input)) {
      case HttpHead::Progress::kMore:
        return Progress::kMore;
      case HttpHead::Progress::kFailed:
        return Progress::kFailed;
      case HttpHead::Progress::kDone:
        break;
    }
    if (IsRefusal(head_.status())) {
      refusal_ = head_.status();
      return Progress::kRefused;
    }
    return IsAccepted() ? Progress::kOpen : Progress::kFailed;
  }

 private:
  // RFC 6455 section 4.1, what the client must validate.
  bool IsAccepted() {
    if (head_.status() != 101 || head_.has_body()) return false;
    const auto upgrade = head_.Find(kUpgrade);
    if (!upgrade || !EqualsIgnoringCase(*upgrade, kWebSocket)) return false;
    if (!head_.ListHas(kConnection, kUpgrade)) return false;
    if (head_.Find(kAccept) != accept_) return false;
    const auto protocol = head_.Find(kProtocol);
    if (protocol.has_value() == offered_.empty()) return false;
    if (protocol && !IsOffered(*protocol, offered_)) return false;
    const std::vector<std::string_view> extensions = head_.List(kExtensions);
    if (extensions.size() > 1) return false;
    lanes_marked_ = extensions.size() == 1;
    return !lanes_marked_ || extensions.front() == kLanes;
  }

  const std::vector<std::string> offered_;
  std::string hello_;
  std::string accept_;
  HttpResponseHead head_;
  std::uint16_t refusal_ = 0;
  bool lanes_marked_ = false;
};

}  // namespace

std::unique_ptr<ServerHandshake> MakeWebSocketServerHandshake() {
  return MakeWebSocketServerHandshake(std::make_unique<HttpRequestHead>());
}

std::unique_ptr<ServerHandshake> MakeWebSocketServerHandshake(
    std::unique_ptr<HttpRequestHead> head) {
  return std::make_unique<WebSocketServerHandshake>(std::move(head));
}

std::unique_ptr<ClientHandshake> MakeWebSocketClientHandshake(
    const Request& request, std::string_view authority, Entropy& entropy) {
  return std::make_unique<WebSocketClientHandshake>(request, authority,
                                                    entropy);
}

}  // namespace parlor::stream
