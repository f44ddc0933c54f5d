#include "support/attack.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "support/open_files.h"
#include "support/socket_address.h"
#include "support/websocket_frames.h"

namespace parlor::test {
namespace {

constexpr int kEventsPerTurn = 64;
constexpr std::size_t kCatchUpSockets = 32;  // opened in one turn

}  // namespace

Attack::Attack(AttackPlan plan)
    : plan_(std::move(plan)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      all_(plan_.sockets) {
  PARLOR_CHECK(epoll_ >= 0 && plan_.sockets > 0);
  AllowManyOpenFiles();
  for (One& one : all_) one.first = plan_.first;
  // So that telling takes nothing from the heap.
  for (const int answer : {0,    101,  200,  400,  403,  404,  408,  409,
                           413,  429,  431,  501,  503,  1000, 1001, 1002,
                           1007, 1008, 1009, 1011, 1012, 4000, 4001, 4002}) {
    figures_.answers[answer] = 0;
  }
}

Attack::~Attack() {
  for (One& one : all_) Close(one);
  close(epoll_);
}

void Attack::Turn(TimePoint now) {
  if (begin_ == TimePoint::min()) begin_ = now;
  const auto due = std::min<std::uint64_t>(
      plan_.opened_max,
      static_cast<std::uint64_t>(
          std::chrono::duration<double>(now - begin_).count() *
          static_cast<double>(plan_.per_second)));
  for (std::size_t i = 0;
       i < kCatchUpSockets && figures_.opened < due && open_ < all_.size();
       ++i) {
    while (all_[next_open_].descriptor >= 0) {
      next_open_ = (next_open_ + 1) % all_.size();
    }
    Open(all_[next_open_], now);
  }

  std::array<epoll_event, kEventsPerTurn> events;
  const int count = epoll_wait(epoll_, events.data(), kEventsPerTurn, 0);
  for (int i = 0; i < count; ++i) {
    One& one = all_[events[static_cast<std::size_t>(i)].data.u64];
    one.connected = true;
    if (one.descriptor >= 0) Hear(one);
  }

  for (std::size_t i = 0; i < std::min(plan_.per_turn, all_.size()); ++i) {
    One& one = all_[next_speech_];
    next_speech_ = (next_speech_ + 1) % all_.size();
    if (one.descriptor >= 0 && one.connected && !Say(one, now)) Ended(one);
  }
}

void Attack::Open(One& one, TimePoint now) {
  std::string first = std::move(one.first);
  one = {};
  one.first = std::move(first);
  WriteFirst(one);
  one.next = now;
  one.descriptor =
      socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  PARLOR_CHECK(one.descriptor >= 0);
  if (plan_.receive_bytes > 0) {
    setsockopt(one.descriptor, SOL_SOCKET, SO_RCVBUF, &plan_.receive_bytes,
               sizeof(plan_.receive_bytes));
  }
  // The port is picked by connect: each address has them all.
  const int on = 1;
  setsockopt(one.descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on,
             sizeof(on));
  const sockaddr_in from =
      SocketAddress(0x7f010001u + addresses_used_++ % plan_.addresses, 0);
  PARLOR_CHECK(bind(one.descriptor, Plain(from), sizeof(from)) == 0);
  const sockaddr_in to = Loopback(plan_.port);
  if (connect(one.descriptor, Plain(to), sizeof(to)) != 0 &&
      errno != EINPROGRESS) {
    return Close(one);  // the next will do
  }
  ++figures_.opened;
  ++open_;
  // Edges: who never reads hears of it once, and of the end.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = static_cast<std::uint64_t>(&one - all_.data());
  PARLOR_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, one.descriptor, &event) == 0);
}

void Attack::WriteFirst(One& one) {
  std::uint64_t number = figures_.opened / plan_.per_number;
  for (std::size_t i = plan_.first.size(); i-- > 0;) {
    if (plan_.first[i] == '#') {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      one.first[i] = "0123456789abcdef"[random_ >> 60];
    } else if (plan_.first[i] == '@') {
      one.first[i] = static_cast<char>('0' + number % 10);
      number /= 10;
    }
  }
}

void Attack::Close(One& one) {
  if (one.descriptor < 0) return;
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(one.descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(std::exchange(one.descriptor, -1));
}

void Attack::Ended(One& one) {
  if (!one.told) Tell(one, 0);
  ++figures_.ended;
  --open_;
  Close(one);
}

void Attack::Tell(One& one, int answer) {
  one.told = true;
  ++figures_.answers[answer];
}

void Attack::Hear(One& one) {
  while (plan_.reads) {
    if (one.heard_size == one.heard.size()) one.heard_size = 0;  // long since
    const ssize_t got = recv(one.descriptor, one.heard.data() + one.heard_size,
                             one.heard.size() - one.heard_size, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return Ended(one);
    one.heard_size += static_cast<std::size_t>(got);
    Understand(one);
  }
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(one.descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) Ended(one);
}

// An answer's status; and behind 101 the frames, whose headers and lengths are
// as a server writes short ones.
void Attack::Understand(One& one) {
  std::string_view text(one.heard.data(), one.heard_size);
  if (!one.upgraded) {
    if (one.told || !text.starts_with("HTTP/1.1 ") || text.size() < 12) return;
    int status = 0;
    std::from_chars(text.data() + 9, text.data() + 12, status);
    if (status != 101) return Tell(one, status);
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) return;
    one.upgraded = true;
    text.remove_prefix(end + 4);
  }
  while (text.size() >= 2) {
    const std::size_t size = static_cast<unsigned char>(text[1]);
    if (text.size() < 2 + size) break;
    UnderstandFrame(one, text.substr(0, 2 + size));
    text.remove_prefix(2 + size);
  }
  std::copy(text.begin(), text.end(), one.heard.begin());
  one.heard_size = text.size();
}

void Attack::UnderstandFrame(One& one, std::string_view frame) {
  const auto at = [frame](std::size_t i) {
    return static_cast<unsigned char>(frame[i]);
  };
  if (at(0) == 0x88 && frame.size() >= 4 && !one.told) {
    Tell(one, at(2) << 8 | at(3));
  }
  if (at(0) == 0x82 && frame.size() == 2 + lockstep::kMessageSize &&
      at(2) == static_cast<unsigned>(lockstep::Kind::kWelcome) &&
      !std::exchange(one.seated, true)) {
    ++figures_.seated;
    if (!plan_.farewell.empty()) Write(one, plan_.farewell);
  }
}

// False: the connection is over.
bool Attack::Say(One& one, TimePoint now) {
  if (one.said < one.first.size()) {
    if (now < one.next) return true;
    one.next = now + plan_.drip;
    std::string_view rest = std::string_view(one.first).substr(one.said);
    if (plan_.drip > Duration::zero()) rest = rest.substr(0, 1);
    one.said += Write(one, rest);
    if (one.said < one.first.size()) return true;
    return !plan_.leaves;
  }
  for (std::size_t said = 0;
       !plan_.again.empty() && said < plan_.again_bytes_max;) {
    const std::string_view rest =
        std::string_view(plan_.again).substr(one.again);
    const std::size_t wrote = Write(one, rest);
    if (wrote == 0) break;
    said += wrote;
    one.again = (one.again + wrote) % plan_.again.size();
  }
  return true;
}

// Errors show when it hears.
std::size_t Attack::Write(One& one, std::string_view text) {
  const ssize_t wrote =
      send(one.descriptor, text.data(), text.size(), MSG_NOSIGNAL);
  if (wrote <= 0) return 0;
  figures_.bytes_said += static_cast<std::size_t>(wrote);
  return static_cast<std::size_t>(wrote);
}

std::string ClientFrame(int opcode, std::string_view payload) {
  std::vector<std::byte> frame;
  AppendFrame(frame, Reader::kServer, 0x80U | static_cast<unsigned>(opcode),
              AsBytes(payload));
  return std::string(AsText(frame));
}

}  // namespace parlor::test
