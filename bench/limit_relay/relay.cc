#include "limit_relay/relay.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <string_view>
#include <utility>

#include "parlor/byte_io.h"

namespace parlor::bench {
namespace {

constexpr std::size_t kEventsMax = 1'024;  // of a turn
constexpr int kAcceptsMax = 64;            // of a turn
// What a client that does not read may leave here.
constexpr std::size_t kOutBytesMax = 1024 * 1024;

std::int64_t NowNs() {
  constexpr std::int64_t kNsInSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsInSecond + now.tv_nsec;
}

std::string Failure(std::string_view what) {
  return std::string(what) + ": " + std::strerror(errno);
}

}  // namespace

Relay::~Relay() {
  for (const auto& [socket, owned] : sockets_) close(socket->fd);
  if (epoll_ >= 0) close(epoll_);
  if (listener_ >= 0) close(listener_);
}

std::string Relay::Listen(std::uint16_t port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) return Failure("socket");
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof(address);
  auto* const bare = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, bare, size) != 0) return Failure("bind");
  if (listen(listener_, SOMAXCONN) != 0) return Failure("listen");
  if (getsockname(listener_, bare, &size) != 0) return Failure("getsockname");
  port_ = ntohs(address.sin_port);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return Failure("epoll_create1");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // a socket's is never null
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) != 0) {
    return Failure("epoll_ctl");
  }
  return {};
}

std::string Relay::Run() {
  std::vector<epoll_event> events(kEventsMax);
  while (true) {
    const int count = epoll_wait(epoll_, events.data(),
                                 static_cast<int>(events.size()), WaitMs());
    if (count < 0 && errno != EINTR) return Failure("epoll_wait");
    if (gather_ns_ > 0) now_ns_ = NowNs();
    for (int i = 0; i < count; ++i) {
      auto* const socket = static_cast<Socket*>(events[i].data.ptr);
      if (socket == nullptr) {
        Accept();
        continue;
      }
      if (socket->fd < 0) continue;  // closed in this turn
      if ((events[i].events & EPOLLOUT) != 0) Write(*socket);
      if (socket->fd >= 0 && (events[i].events & ~EPOLLOUT) != 0) {
        Read(*socket);
      }
    }
    ReleaseOverdue();
    WriteDirty();
    closed_.clear();
  }
}

bool Relay::Watch(Socket& socket, unsigned events, int operation) const {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &socket;
  return epoll_ctl(epoll_, operation, socket.fd, &event) == 0;
}

void Relay::Accept() {
  for (int i = 0; i < kAcceptsMax; ++i) {
    const int fd =
        accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    auto socket = std::make_unique<Socket>();
    socket->fd = fd;
    if (!Watch(*socket, EPOLLIN, EPOLL_CTL_ADD)) {
      close(fd);
      continue;
    }
    Socket* const key = socket.get();
    sockets_.emplace(key, std::move(socket));
  }
}

void Relay::Read(Socket& socket) {
  const std::size_t before = socket.in.size();
  std::copy(socket.in.begin(), socket.in.end(), buffer_.begin());
  const ssize_t got =
      recv(socket.fd, buffer_.data() + before, buffer_.size() - before, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    Close(socket);
    return;
  }
  const auto input =
      std::span(buffer_).first(before + static_cast<std::size_t>(got));
  const auto rest = input.subspan(Take(socket, input));
  if (socket.fd >= 0) socket.in.assign(rest.begin(), rest.end());
}

std::size_t Relay::Take(Socket& socket, std::span<std::byte> input) {
  std::size_t taken = socket.open ? 0 : TakeUpgrade(socket, input);
  while (socket.open && !socket.closing) {
    Frame frame;
    const ReadResult result = ReadFrame(input.subspan(taken), frame);
    if (result == ReadResult::kMore) return taken;
    if (result == ReadResult::kBad) {
      Close(socket);
      break;
    }
    TakeFrame(socket, frame);
    taken += frame.size;
  }
  // Of one that is over nothing is kept.
  return socket.fd < 0 || socket.closing ? input.size() : taken;
}

std::size_t Relay::TakeUpgrade(Socket& socket,
                               std::span<const std::byte> input) {
  Upgrade upgrade;
  const ReadResult result = ReadUpgrade(AsText(input), upgrade);
  if (result == ReadResult::kMore) return 0;
  const auto seating = ParseTarget(upgrade.target);
  if (result == ReadResult::kWhole && seating) {
    socket.room = rooms_.Join(*seating, socket);
  }
  if (socket.room == nullptr) {
    Close(socket);
    return 0;
  }
  socket.open = true;
  socket.seat = socket.room->seats.size() - 1;
  const auto answer = AsBytes(upgrade.answer);
  socket.out.insert(socket.out.end(), answer.begin(), answer.end());
  MarkDirty(socket);
  if (!socket.room->started()) return upgrade.size;
  for (Socket* const member : socket.room->seats) {
    if (member == nullptr) continue;
    const MessageBytes welcome =
        Welcome(seating->room, member->seat, seating->players);
    Send(*member, Opcode::kBinary, std::as_bytes(std::span(welcome)));
    MarkDirty(*member);
  }
  return upgrade.size;
}

void Relay::TakeFrame(Socket& socket, const Frame& frame) {
  switch (frame.opcode) {
    case Opcode::kBinary:
      if (frame.payload.size() != kMessageBytes) {
        Close(socket);
      } else if (IsInput(frame.payload.data()) && socket.room->started()) {
        TakeInput(socket, frame.payload);
      }
      return;
    case Opcode::kPing:
      Send(socket, Opcode::kPong, frame.payload);
      MarkDirty(socket);
      return;
    case Opcode::kPong:
      return;
    case Opcode::kClose:
      Send(socket, Opcode::kClose, frame.payload);
      socket.closing = true;
      MarkDirty(socket);
      return;
  }
}

void Relay::TakeInput(Socket& socket, std::span<const std::byte> payload) {
  const Room<Socket>& room = *socket.room;
  const MessageBytes relayed = Relayed(payload.data(), socket.seat);
  for (Socket* const member : room.seats) {
    if (member == nullptr || member == &socket) continue;
    Send(*member, Opcode::kBinary, std::as_bytes(std::span(relayed)));
    if (gather_ns_ > 0) {
      Keep(*member);
    } else {
      MarkDirty(*member);
    }
  }
  if (gather_ns_ == 0) return;
  socket.frame =
      std::max<std::int64_t>(socket.frame, InputFrame(payload.data()));
  ReleaseComplete(room);
}

void Relay::Send(Socket& socket, Opcode opcode,
                 std::span<const std::byte> payload) {
  socket.out.push_back(FirstByte(opcode));
  socket.out.push_back(static_cast<std::byte>(payload.size()));
  socket.out.insert(socket.out.end(), payload.begin(), payload.end());
}

void Relay::MarkDirty(Socket& socket) {
  socket.held = false;
  if (socket.dirty) return;
  socket.dirty = true;
  dirty_.push_back(&socket);
}

void Relay::Write(Socket& socket) {
  const ssize_t sent = send(socket.fd, socket.out.data(), socket.out.size(),
                            MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN) {
    Close(socket);
    return;
  }
  socket.out.erase(socket.out.begin(),
                   socket.out.begin() + std::max<ssize_t>(sent, 0));
  const bool blocked = !socket.out.empty();
  if (blocked != socket.blocked) {
    socket.blocked = blocked;
    Watch(socket, blocked ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
  }
  if (socket.out.size() > kOutBytesMax || (socket.closing && !blocked)) {
    Close(socket);
  }
}

void Relay::WriteDirty() {
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    Socket& socket = *dirty_[i];
    socket.dirty = false;
    if (socket.fd < 0 || socket.out.empty()) continue;
    if (socket.blocked && socket.out.size() <= kOutBytesMax) continue;
    Write(socket);  // which may close it, and so make others dirty
  }
  dirty_.clear();
}

void Relay::Close(Socket& socket) {
  close(socket.fd);
  socket.fd = -1;
  socket.open = false;
  if (gather_ns_ > 0) {
    std::erase_if(holds_,
                  [&](const Hold& hold) { return hold.socket == &socket; });
  }
  if (socket.room != nullptr) {
    Room<Socket>& room = *std::exchange(socket.room, nullptr);
    const bool last =
        std::count(room.seats.begin(), room.seats.end(), nullptr) + 1 ==
        static_cast<std::ptrdiff_t>(room.seats.size());
    rooms_.Leave(room, socket.seat);
    if (!last && gather_ns_ > 0) ReleaseComplete(room);
  }
  const auto at = sockets_.find(&socket);
  closed_.push_back(std::move(at->second));
  sockets_.erase(at);
}

void Relay::Keep(Socket& socket) {
  if (socket.held || socket.dirty) return;
  socket.held = true;
  socket.held_ns = now_ns_;
  holds_.push_back({.since_ns = now_ns_, .socket = &socket});
}

void Relay::ReleaseComplete(const Room<Socket>& room) {
  // The lowest of all, and the lowest of all but that seat.
  const Socket* last = nullptr;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t second = least;
  for (const Socket* const member : room.seats) {
    if (member == nullptr) continue;
    if (member->frame < least) {
      second = std::exchange(least, member->frame);
      last = member;
    } else {
      second = std::min(second, member->frame);
    }
  }
  for (Socket* const member : room.seats) {
    if (member == nullptr) continue;
    const std::int64_t complete = member == last ? second : least;
    if (complete <= member->complete) continue;
    member->complete = complete;
    if (member->held) MarkDirty(*member);
  }
}

void Relay::ReleaseOverdue() {
  while (!holds_.empty()) {
    const auto [since_ns, socket] = holds_.front();
    const bool waits = socket->held && socket->held_ns == since_ns;
    if (waits && now_ns_ - since_ns < gather_ns_) return;
    holds_.pop_front();
    if (waits) MarkDirty(*socket);
  }
}

int Relay::WaitMs() {
  if (holds_.empty()) return -1;
  const std::int64_t left = holds_.front().since_ns + gather_ns_ - now_ns_;
  return static_cast<int>(
      std::max<std::int64_t>(0, (left + kNsInMs - 1) / kNsInMs));
}

}  // namespace parlor::bench
