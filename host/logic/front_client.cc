#include "logic/front_client.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logic/front.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "logic/http_body.h"
#include "logic/numeric_address.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/connector.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "stream/byte_stream.h"
#include "stream/handshake.h"
#include "stream/http_head.h"
#include "stream/http_reply.h"
#include "stream/stream_loop.h"
#include "stream/tcp_handshake.h"
#include "stream/websocket_handshake.h"

namespace parlor::host {
namespace {

namespace http_status = stream::http_status;
using stream::HttpHead;
using stream::HttpReply;
using stream::HttpRequestHead;
using stream::IoResult;
using stream::IoStatus;
using stream::ServerHandshake;

constexpr std::uint16_t kOk = 200;
constexpr std::uint16_t kContentTooLarge = 413;
constexpr std::uint16_t kUnavailable = 503;

// RFC 9110 section 10.1.1.
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kForwardedFor = "X-Forwarded-For";

enum class Page : std::uint8_t { kHealth, kInvite, kRoom, kNone };

// The query does not choose the page.
Page PageOf(std::string_view target, std::string_view base_path) {
  std::string_view path = target.substr(0, target.find('?'));
  if (!path.starts_with(base_path)) return Page::kNone;
  path.remove_prefix(base_path.size());
  if (path == "/healthz") return Page::kHealth;
  if (path == "/invite") return Page::kInvite;
  const bool is_room = path.starts_with("/room/") || path.starts_with("/play/");
  return is_room ? Page::kRoom : Page::kNone;
}

Request RequestOf(const HttpRequestHead& head) {
  Request request{.target = std::string(head.target())};
  for (const std::string_view protocol : head.List("Sec-WebSocket-Protocol")) {
    request.protocols.emplace_back(protocol);
  }
  return request;
}

std::string HealthJson(const HostFigures& figures, bool draining) {
  std::string json = draining ? R"({"ok":false)" : R"({"ok":true)";
  json.append(",\"rooms\":").append(std::to_string(figures.rooms));
  json.append(",\"players\":").append(std::to_string(figures.players));
  json.append(",\"uptime\":").append(std::to_string(figures.uptime_s));
  return json.append("}");
}

}  // namespace

FrontClient::FrontClient(Front& front,
                         std::unique_ptr<stream::ByteStream> stream,
                         const std::optional<NumericAddress>& peer,
                         NetTransport transport)
    : LoopMember(front.loop_),
      front_(front),
      stream_(std::move(stream)),
      peer_(peer),
      transport_(transport),
      address_(peer ? Address::Of(*peer) : Address::Unknown()),
      out_(loop().segments()) {
  if (transport == NetTransport::kTcp) {
    hello_ = stream::MakeTcpServerHandshake();
  } else {
    head_ = std::make_unique<HttpRequestHead>();
  }
  SetDeadline(front_.options_.stream.handshake_ms);
  stream_->SetEvents(this);
  stream_->WantRead(true);
}

FrontClient::~FrontClient() {
  if (asked_) front_.StopWaiting(asked_->number);
  if (stream_ != nullptr) stream_->Reset();
}

bool FrontClient::IsProxy() const {
  return transport_ == NetTransport::kWebSocket && peer_ &&
         front_.gate_.proxies().Has(*peer_);
}

void FrontClient::SetDeadline(std::int64_t ms) {
  deadline_ = loop().now() + ms * kMillisecond;
  // Or it is set when the answers are taken.
  if (!blocked_) SetAlarm(deadline_);
}

// Time is up, by a loop that may not have been turned for a while: what came in
// time is there to be read, and counts; so does what can be written.
void FrontClient::OnAlarm() {
  if (blocked_) {
    if (Flush() && blocked_) CutOff();
    return;
  }
  if (asked_) {
    if (deadline_ <= loop().now()) OnAnswer(PassAnswer::kFailed);
    return;
  }
  // Each turn of this takes a byte at least of what is bounded, or moves the
  // deadline.
  while (deadline_ <= loop().now()) {
    const Step step = Receive();
    if (step == Step::kNothing) return TimeUp();
    if (step == Step::kGone || blocked_) return;
  }
}

void FrontClient::TimeUp() {
  // Silence between two requests is no fault.
  if (head_ == nullptr && hello_ == nullptr) return End({});
  CutOff();
}

FrontClient::Step FrontClient::Receive() {
  static_assert(kFrontReadBytes <= stream::kLeastReadBytes);
  const std::span<std::byte> buffer =
      loop().read_buffer().first(kFrontReadBytes);
  const IoResult result = stream_->Read(buffer);
  switch (result.status) {
    case IoStatus::kOk:
      break;
    case IoStatus::kBlocked:
      return Step::kNothing;
    case IoStatus::kEnd:
      // Nobody asked for anything that is not answered: the same.
      TimeUp();
      return Step::kGone;
    case IoStatus::kLost:
      CutOff();
      return Step::kGone;
  }
  return TakeAll(buffer.first(result.bytes)) ? Step::kTaken : Step::kGone;
}

bool FrontClient::TakeAll(std::span<std::byte> input) {
  while (!input.empty() && !asked_) {
    if (!Take(input)) return false;
  }
  unread_.assign(input.begin(), input.end());
  return Flush();
}

bool FrontClient::Take(std::span<std::byte>& input) {
  if (hello_ != nullptr) return TakeHello(input);
  return body_ ? TakeBody(input) : TakeHead(input);
}

bool FrontClient::TakeHello(std::span<std::byte>& input) {
  switch (hello_->Feed(input)) {
    case ServerHandshake::Progress::kMore:
      return true;
    case ServerHandshake::Progress::kFailed:
      End(hello_->Refuse({.status = hello_->failure()}));
      return false;
    case ServerHandshake::Progress::kRequest:
      break;
  }
  const Refusal refusal = front_.gate_.CheckPath(hello_->request());
  if (refusal.status != 0) {
    End(hello_->Refuse(refusal));
    return false;
  }
  return Decide(std::exchange(hello_, nullptr), input);
}

bool FrontClient::TakeHead(std::span<std::byte>& input) {
  if (head_ == nullptr) {
    head_ = std::make_unique<HttpRequestHead>();
    SetDeadline(front_.options_.stream.handshake_ms);
  }
  switch (head_->Feed(input)) {
    case HttpHead::Progress::kMore:
      return true;
    case HttpHead::Progress::kFailed:
      return Fail(head_->failure());
    case HttpHead::Progress::kDone:
      break;
  }
  FindClient();
  return OnRequest(input);
}

void FrontClient::FindClient() {
  address_ = front_.gate_.proxies().ClientOf(peer_, head_->List(kForwardedFor));
  front_.CountFor(*this, address_);
}

bool FrontClient::OnRequest(std::span<std::byte>& input) {
  const Page page = PageOf(head_->target(), front_.options_.base_path);
  if (page == Page::kRoom) return OnRoomRequest(input);
  const std::string_view method = head_->method();
  if (!stream::IsKnownMethod(method)) {
    return Reply({.status = http_status::kNotImplemented});
  }
  switch (page) {
    case Page::kHealth:
      if (method == "GET" || method == "HEAD") return TellHealth();
      return ReplyNotAllowed("GET, HEAD");
    case Page::kInvite:
      if (method == "POST") return ExpectBody(input);
      return ReplyNotAllowed("POST");
    case Page::kRoom:
    case Page::kNone:
      break;
  }
  return Reply({.status = http_status::kNotFound});
}

bool FrontClient::ReplyNotAllowed(std::string_view allow) {
  return Reply({.status = http_status::kMethodNotAllowed,
                .headers = {{"Allow", std::string(allow)}}});
}

bool FrontClient::TellHealth() {
  const bool draining = front_.gate_.draining();
  const std::string json =
      HealthJson(front_.ports_.Figures(loop().now()), draining);
  return Reply({.status = draining ? kUnavailable : kOk,
                .headers = {{"Cache-Control", "no-store"}},
                .content_type = kJson,
                .body = json});
}

bool FrontClient::ExpectBody(std::span<std::byte>& input) {
  const auto length =
      head_->chunked() ? std::nullopt : std::optional(head_->content_length());
  body_.emplace(length, kInviteBodyMax);
  SetDeadline(front_.options_.body_ms);
  if (!TakeBody(input)) return false;
  // It is still to come, and its client may be waiting for this.
  if (body_ && !asked_ && head_->ListHas("Expect", "100-continue")) {
    out_.Append(AsBytes(kContinue));
  }
  return true;
}

bool FrontClient::TakeBody(std::span<std::byte>& input) {
  switch (body_->Feed(input)) {
    case HttpBody::Progress::kMore:
      return true;
    case HttpBody::Progress::kTooLarge:
      return Fail(kContentTooLarge);
    case HttpBody::Progress::kBad:
      return Fail(http_status::kBadRequest);
    case HttpBody::Progress::kDone:
      break;
  }
  return AnswerInvite();
}

bool FrontClient::AnswerInvite() {
  const Gate::InviteAnswer answer = front_.gate_.CheckInvite(
      loop().now(), body_->text(), head_->Find("Origin"), address_);
  return answer.ask ? Ask(*answer.ask, {}) : TellInvite(answer);
}

bool FrontClient::TellInvite(const Gate::InviteAnswer& answer) {
  HttpReply reply{.status = answer.status,
                  .headers = {{"Cache-Control", "no-store"}},
                  .body = answer.body,
                  .retry_after_s = answer.retry_after_s};
  if (!answer.body.empty()) reply.content_type = kJson;
  if (!answer.allow_origin.empty()) {
    reply.headers.push_back(
        {"Access-Control-Allow-Origin", answer.allow_origin});
    reply.headers.push_back({"Vary", "Origin"});
  }
  return Reply(std::move(reply));
}

// The path comes first, then whether it is an upgrade (contract).
bool FrontClient::OnRoomRequest(std::span<const std::byte> unread) {
  const Refusal refusal = front_.gate_.CheckPath(RequestOf(*head_));
  auto handshake = stream::MakeWebSocketServerHandshake(std::move(head_));
  if (refusal.status != 0) {
    End(handshake->Refuse(refusal));
    return false;
  }
  std::span<std::byte> nothing;
  if (handshake->Feed(nothing) == ServerHandshake::Progress::kFailed) {
    End(handshake->Refuse({.status = handshake->failure()}));
    return false;
  }
  return Decide(std::move(handshake), unread);
}

bool FrontClient::Decide(std::unique_ptr<ServerHandshake> handshake,
                         std::span<const std::byte> unread) {
  Hello hello;
  const Gate::JoinAnswer answer = front_.gate_.CheckJoin(
      loop().now(), handshake->request(), address_, &hello);
  if (answer.refusal.status != 0) {
    End(handshake->Refuse(answer.refusal));
    return false;
  }
  if (answer.ask) {
    return Ask(*answer.ask,
               {.hello = std::move(hello), .handshake = std::move(handshake)});
  }
  Admit(std::move(handshake), std::move(hello), unread);
  return false;
}

bool FrontClient::Ask(const PassUse& use, Asked asked) {
  asked_ = std::move(asked);
  asked_->number = front_.Ask(*this, use);
  if (asked_->number == 0) return Answer(PassAnswer::kFailed);
  stream_->WantRead(false);
  SetDeadline(front_.options_.store_ms);
  return true;
}

void FrontClient::OnAnswer(PassAnswer answer) {
  if (!Answer(answer)) return;
  if (!blocked_) stream_->WantRead(true);
  std::vector<std::byte> unread = std::move(unread_);
  TakeAll(unread);
}

bool FrontClient::Answer(PassAnswer answer) {
  Asked asked = *std::exchange(asked_, std::nullopt);
  front_.StopWaiting(asked.number);
  if (asked.handshake == nullptr) {
    return TellInvite(front_.gate_.FinishInvite(
        loop().now(), answer, head_->Find("Origin"), address_));
  }
  const Refusal refusal =
      front_.gate_.FinishJoin(loop().now(), answer, asked.hello, address_);
  if (refusal.status != 0) {
    End(asked.handshake->Refuse(refusal));
  } else {
    Admit(std::move(asked.handshake), std::move(asked.hello), unread_);
  }
  return false;
}

void FrontClient::Admit(std::unique_ptr<ServerHandshake> handshake, Hello hello,
                        std::span<const std::byte> unread) {
  if (!Flush()) return;
  // It pipelined requests, and the room's answer would overtake theirs: it may
  // try again once it has read them.
  if (blocked_) return End({});
  std::unique_ptr<stream::ParkedStream> parked = stream_->Park();
  stream_ = nullptr;
  front_.Admit(*this, {.hello = std::move(hello),
                       .address = address_,
                       .transport = transport_,
                       .stream = std::move(parked),
                       .handshake = std::move(handshake),
                       .unread = {unread.begin(), unread.end()}});
}

bool FrontClient::Reply(HttpReply reply) {
  // A body that nobody asked for is not read.
  reply.close =
      head_->ListHas("Connection", "close") || (head_->has_body() && !body_);
  reply.head_only = head_->method() == "HEAD";
  const std::string text = stream::FormatHttpReply(reply);
  if (reply.close) {
    End(text);
    return false;
  }
  out_.Append(AsBytes(text));
  head_ = nullptr;
  body_.reset();
  if (IsProxy()) front_.CountFor(*this, std::nullopt);
  SetDeadline(front_.options_.idle_ms);
  return true;
}

// Where the next request would begin is not known.
bool FrontClient::Fail(std::uint16_t status) {
  End(stream::FormatHttpReply({.status = status}));
  return false;
}

bool FrontClient::Flush() {
  switch (out_.WriteTo(*stream_)) {
    case IoStatus::kOk:
      if (std::exchange(blocked_, false)) {
        if (!asked_) stream_->WantRead(true);
        SetAlarm(deadline_);
      }
      return true;
    case IoStatus::kBlocked:
      if (!std::exchange(blocked_, true)) {
        stream_->WantRead(false);
        SetAlarm(loop().now() + front_.options_.body_ms * kMillisecond);
      }
      stream_->WantWrite();
      return true;
    case IoStatus::kEnd:  // of reading only
    case IoStatus::kLost:
      break;
  }
  CutOff();
  return false;
}

void FrontClient::End(std::string_view last) {
  out_.Append(AsBytes(last));
  const std::int64_t linger_ms = front_.options_.stream.linger_ms;
  loop().Drain(std::exchange(stream_, nullptr), std::move(out_),
               loop().now() + linger_ms * kMillisecond);
  front_.Drop(*this);
}

void FrontClient::CutOff() { front_.Drop(*this); }

}  // namespace parlor::host
