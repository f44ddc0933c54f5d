#include "load/client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "load/clock.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connector.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "parlor/transports/request.h"
#include "stream/websocket_handshake.h"

namespace parlor::load {
namespace {

using stream::FrameType;

// Above what any server of lockstep rooms has to say, so that what is wrong
// about a message is told by who knows what was expected.
constexpr std::size_t kMessageBytesMax = 4'096;
// A server that pings and does not read.
constexpr std::size_t kUnsentBytesMax = 64 * 1'024;

std::string SystemText(int error) {
  return std::error_code(error, std::generic_category()).message();
}

absl::Status Unavailable(std::string_view text) {
  return MakeStatus(absl::StatusCode::kUnavailable, text);
}

void Allow(int socket, int level, int option) {
  const int on = 1;
  PARLOR_CHECK(setsockopt(socket, level, option, &on, sizeof(on)) == 0);
}

// For connect(2) and bind(2).
const sockaddr* Plain(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// What a newcomer can do about it, behind the sentence.
std::string_view RefusalAdvice(std::uint16_t status) {
  switch (status) {
    case 403:
      return ": this program brings no code: start parlor-host with --open";
    case 400:
    case 404:
      return ": start parlor-host with more --rooms and --seats";
    case 409:
      return ": the room was opened for another number of players; is another "
             "run in it?";
    case 429:
      return ": too many joins from one address: raise parlor-host's "
             "--join-rate and --room-join-rate, or use --addresses";
    case 503:
      return ": the server is full or ends: raise parlor-host's --connections";
    default:
      return "";
  }
}

std::string_view CloseAdvice(CloseCode code) {
  switch (code) {
    case close_code::kPolicy:
      return ": raise parlor-host's --message-rate and --message-burst";
    case close_code::kRoomFull:
      return ": is another run in the room?";
    default:
      return "";
  }
}

}  // namespace

std::string Client::Name() const {
  std::string name = "room " + std::to_string(place_.room);
  if (seat >= 0) name += ", seat " + std::to_string(seat);
  return name + ": ";
}

absl::Status Client::Lost(std::string_view what) const {
  return Unavailable(Name().append(what));
}

absl::Status Client::Refused(std::uint16_t status) const {
  return Lost("the server refused with HTTP " + std::to_string(status) +
              std::string(RefusalAdvice(status)));
}

absl::Status Client::ClosedBy(const stream::Incoming& close) const {
  std::string text =
      "the server closed the connection with " + std::to_string(close.code);
  if (!close.bytes.empty()) text += " (" + Printable(AsText(close.bytes)) + ")";
  return Lost(text.append(CloseAdvice(close.code)));
}

absl::Status Client::Connect(const ClientPlace& place, int epoll,
                             Entropy& entropy, stream::MaskKeys& keys) {
  place_ = place;
  keys_ = &keys;
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return Lost("no socket: " + SystemText(errno));
  Allow(socket_, IPPROTO_TCP, TCP_NODELAY);
  if (place.from.s_addr != 0) {
    // The port is chosen by connect then, who knows the other end: thousands
    // of sockets may share one.
    Allow(socket_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr = place.from;
    if (bind(socket_, Plain(from), sizeof(from)) != 0) {
      return Lost("its address cannot be used: " + SystemText(errno));
    }
  }
  std::array<char, INET_ADDRSTRLEN> address{};
  inet_ntop(AF_INET, &place.server.sin_addr, address.data(), address.size());
  handshake_ = stream::MakeWebSocketClientHandshake(
      RequestForRoom({.room = place.room, .players = place.players}),
      std::string(address.data()) + ":" +
          std::to_string(ntohs(place.server.sin_port)),
      entropy);
  if (connect(socket_, Plain(place.server), sizeof(place.server)) != 0 &&
      errno != EINPROGRESS) {
    return Lost("connecting: " + SystemText(errno));
  }
  epoll_event event = Interest(/*input=*/true);
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket_, &event) != 0) {
    return Lost("epoll: " + SystemText(errno));
  }
  return absl::OkStatus();
}

epoll_event Client::Interest(bool input) {
  epoll_event event{};
  event.events = EPOLLOUT | EPOLLRDHUP | EPOLLET;
  if (input) event.events |= EPOLLIN;
  event.data.ptr = this;
  return event;
}

void Client::WakeForInput(int epoll, bool wake) {
  if (closed()) return;
  // What is there already is told anew by this.
  epoll_event event = Interest(wake);
  PARLOR_CHECK(epoll_ctl(epoll, EPOLL_CTL_MOD, socket_, &event) == 0);
}

absl::Status Client::OnConnected() {
  int error = 0;
  socklen_t size = sizeof(error);
  PARLOR_CHECK(getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) == 0);
  if (error != 0) {
    return Lost("connecting: " + SystemText(error) +
                (error == ECONNREFUSED ? ": is the server running?" : ""));
  }
  connected_ = true;
  return Write(AsBytes(handshake_->hello()));
}

absl::Status Client::OnEvent(std::uint32_t epoll_events,
                             std::span<std::byte> buffer,
                             ClientEvents& events) {
  return EndUnlessOk(Handle(epoll_events, buffer, events));
}

absl::Status Client::OnTurn(std::span<std::byte> buffer, ClientEvents& events) {
  return EndUnlessOk(Read(/*to_the_end=*/false, buffer, events));
}

absl::Status Client::EndUnlessOk(absl::Status status) {
  if (status.ok()) return status;
  // Neither handshake nor codec may be fed after what they refused.
  Close();
  return leaving_ ? absl::OkStatus() : status;
}

absl::Status Client::Handle(std::uint32_t epoll_events,
                            std::span<std::byte> buffer, ClientEvents& events) {
  constexpr std::uint32_t kEnds = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if (closed()) return absl::OkStatus();
  if (!connected_) {
    if ((epoll_events & (EPOLLOUT | kEnds)) == 0) return absl::OkStatus();
    absl::Status status = OnConnected();
    if (!status.ok()) return status;
  }
  if ((epoll_events & EPOLLOUT) != 0 && blocked()) {
    absl::Status status = Flush(events);
    if (!status.ok()) return status;
  }
  if ((epoll_events & (EPOLLIN | kEnds)) == 0) return absl::OkStatus();
  return Read((epoll_events & kEnds) != 0, buffer, events);
}

absl::Status Client::Read(bool to_the_end, std::span<std::byte> buffer,
                          ClientEvents& events) {
  while (!closed()) {
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return absl::OkStatus();
    if (got <= 0) {
      return Lost(got == 0 ? "the server ended the connection without a word"
                           : "the connection was lost: " + SystemText(errno));
    }
    const auto size = static_cast<std::size_t>(got);
    absl::Status status = Feed(buffer.first(size), events);
    if (!status.ok()) return status;
    // It was all there is: the next byte is an edge.
    if (size < buffer.size() && !to_the_end) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status Client::FeedHandshake(std::span<std::byte>& input) {
  using Progress = stream::ClientHandshake::Progress;
  switch (handshake_->Feed(input)) {
    case Progress::kMore:
      return absl::OkStatus();
    case Progress::kRefused:
      return Refused(handshake_->refusal());
    case Progress::kFailed:
      return Lost(
          "the server's answer is no WebSocket handshake, or does not "
          "choose the subprotocol " +
          std::string(kLockstepProtocol));
    case Progress::kOpen:
      break;
  }
  codec_ = stream::MakeWebSocketClientCodec(kMessageBytesMax, *keys_);
  codec_->set_lanes_marked(handshake_->lanes_marked());
  handshake_.reset();
  return absl::OkStatus();
}

absl::Status Client::Feed(std::span<std::byte> input, ClientEvents& events) {
  using Kind = stream::Incoming::Kind;
  const std::int64_t now_ns = NowNs();
  if (handshake_ != nullptr) {
    absl::Status status = FeedHandshake(input);
    if (!status.ok() || codec_ == nullptr) return status;
  }
  while (true) {
    const stream::Incoming incoming = codec_->Next(input);
    absl::Status status;
    switch (incoming.kind) {
      case Kind::kNothing:
        return absl::OkStatus();
      case Kind::kMessage:
        if (leaving_) break;
        status =
            events.OnMessage(*this, incoming.message, incoming.bytes, now_ns);
        break;
      case Kind::kPing:
        if (!leaving_) status = Pong(incoming.bytes);
        break;
      case Kind::kPong:
        break;
      case Kind::kClose:
        return ClosedBy(incoming);
      case Kind::kError:
        return MakeStatus(absl::StatusCode::kDataLoss,
                          Name() +
                              "what the server sent is no WebSocket "
                              "frame: " +
                              std::string(Describe(incoming.error).text));
    }
    if (!status.ok()) return status;
  }
}

void Client::AppendFrame(FrameType type, std::span<const std::byte> payload,
                         std::vector<std::byte>& out) {
  std::array<std::byte, stream::kHeaderMax> header;
  const std::size_t header_size =
      codec_->WriteHeader(type, Lane::kReliable, payload.size(), header);
  out.insert(out.end(), header.begin(),
             header.begin() + static_cast<std::ptrdiff_t>(header_size));
  const std::size_t begin = out.size();
  out.insert(out.end(), payload.begin(), payload.end());
  codec_->Mask(std::span(out).subspan(begin), 0);
}

absl::Status Client::Write(std::span<const std::byte> frames) {
  std::size_t sent = 0;
  while (!blocked() && sent < frames.size()) {
    const ssize_t put =
        send(socket_, frames.data() + sent, frames.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) break;
    if (put < 0) return Lost("the connection was lost: " + SystemText(errno));
    sent += static_cast<std::size_t>(put);
  }
  if (unsent_.size() + frames.size() - sent > kUnsentBytesMax) {
    return Lost("the server does not read what is sent to it");
  }
  unsent_.insert(unsent_.end(),
                 frames.begin() + static_cast<std::ptrdiff_t>(sent),
                 frames.end());
  return absl::OkStatus();
}

absl::Status Client::Flush(ClientEvents& events) {
  std::vector<std::byte> again;
  again.swap(unsent_);
  absl::Status status = Write(again);
  if (!status.ok() || blocked() || !open() || leaving_) return status;
  return events.OnWritable(*this);
}

absl::Status Client::Pong(std::span<const std::byte> payload) {
  std::vector<std::byte> frame;
  AppendFrame(FrameType::kPong, payload, frame);
  return Write(frame);
}

void Client::Leave() {
  if (closed()) return;
  leaving_ = true;
  if (!open()) return Close();
  std::array<std::byte, stream::kControlBytesMax> payload;
  const std::size_t size = codec_->WriteClose(close_code::kNormal, "", payload);
  std::vector<std::byte> frame;
  AppendFrame(FrameType::kClose, std::span(payload).first(size), frame);
  if (!Write(frame).ok()) Close();
}

void Client::Close() {
  if (!closed()) close(std::exchange(socket_, -1));
}

}  // namespace parlor::load
