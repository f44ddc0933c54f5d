#include "leak_visitor.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "support/socket_address.h"
#include "support/websocket_frames.h"

namespace parlor::test {
namespace {

constexpr timeval kPatience{.tv_sec = 20, .tv_usec = 0};

std::uint32_t Parsed(const std::string& address) {
  in_addr parsed{};
  PARLOR_CHECK(inet_pton(AF_INET, address.c_str(), &parsed) == 1);
  return ntohl(parsed.s_addr);
}

}  // namespace

std::optional<lockstep::Message> LeakMessage::lockstep() const {
  if (type != 2 || payload.size() != lockstep::kMessageSize) {
    return std::nullopt;
  }
  return lockstep::Decode(AsBytes(payload).first<lockstep::kMessageSize>());
}

LeakVisitor::LeakVisitor(const LeakDoor& door, const std::string& address,
                         Port port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_in from = SocketAddress(Parsed(address), 0);
  const sockaddr_in to =
      Loopback(port == Port::kWeb ? door.port : door.tcp_port);
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  PARLOR_CHECK(bind(socket_, Plain(from), sizeof(from)) == 0);
  if (connect(socket_, Plain(to), sizeof(to)) != 0) {
    ADD_FAILURE() << "nobody listens";
    return;
  }
  if (!door.tls) return;
  context_.reset(SSL_CTX_new(TLS_client_method()));
  // Who the host is does not matter here.
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_NONE, nullptr);
  tls_.reset(SSL_new(context_.get()));
  SSL_set_fd(tls_.get(), socket_);
  EXPECT_EQ(SSL_connect(tls_.get()), 1);
}

LeakVisitor::~LeakVisitor() {
  tls_.reset();
  if (socket_ >= 0) close(socket_);
}

bool LeakVisitor::Send(std::string_view bytes) {
  const int size = static_cast<int>(bytes.size());
  if (tls_ != nullptr) return SSL_write(tls_.get(), bytes.data(), size) == size;
  return send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == size;
}

void LeakVisitor::SendFrame(unsigned first, std::string_view payload) {
  std::vector<std::byte> wire;
  AppendFrame(wire, Reader::kServer, first, AsBytes(payload));
  Send(AsText(wire));
}

void LeakVisitor::SendLockstep(const lockstep::Message& message) {
  SendFrame(0x82, AsText(lockstep::Encode(message)));
}

bool LeakVisitor::Read() {
  std::array<char, 16'384> bytes;
  errno = 0;
  const auto got =
      tls_ != nullptr
          ? SSL_read(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
          : recv(socket_, bytes.data(), bytes.size(), 0);
  if (got > 0) {
    in_.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
  }
  const bool waited = errno == EAGAIN || errno == EWOULDBLOCK;
  EXPECT_FALSE(got < 0 && waited) << "the host says nothing";
  return false;
}

bool LeakVisitor::Fill(std::size_t bytes) {
  while (in_.size() < bytes) {
    if (!Read()) return false;
  }
  return true;
}

std::string LeakVisitor::Take(std::size_t bytes) {
  std::string taken = in_.substr(0, bytes);
  in_.erase(0, bytes);
  return taken;
}

std::string LeakVisitor::ReadToEnd() {
  while (Read()) {
  }
  return std::exchange(in_, {});
}

std::string LeakVisitor::ReadHead() {
  constexpr std::string_view kEnd = "\r\n\r\n";
  std::size_t at = in_.find(kEnd);
  while (at == std::string::npos) {
    if (!Read()) return {};
    at = in_.find(kEnd);
  }
  return Take(at + kEnd.size());
}

// A host's are not masked, and none here has more than 125 bytes.
std::optional<LeakMessage> LeakVisitor::ReadFrame() {
  if (!Fill(2)) return std::nullopt;
  const auto first = static_cast<unsigned char>(in_[0]);
  const auto size = static_cast<unsigned char>(in_[1]);
  EXPECT_LT(size, 126);
  if (!Fill(2u + size)) return std::nullopt;
  Take(2);
  return LeakMessage{.type = first & 15u, .payload = Take(size)};
}

// TCP.md: a type, and three bytes of length.
std::optional<LeakMessage> LeakVisitor::ReadRecord() {
  if (!Fill(4)) return std::nullopt;
  const auto byte = [this](std::size_t at) {
    return std::size_t{static_cast<unsigned char>(in_[at])};
  };
  const std::size_t size = byte(1) | byte(2) << 8 | byte(3) << 16;
  const auto type = static_cast<unsigned>(byte(0));
  if (!Fill(4 + size)) return std::nullopt;
  Take(4);
  return LeakMessage{.type = type & 0x7fu, .payload = Take(size)};
}

void LeakVisitor::Reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  tls_.reset();
  close(std::exchange(socket_, -1));
}

}  // namespace parlor::test
