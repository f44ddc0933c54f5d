// Plain blocking TCP sockets on loopback, to be the other end of what is
// tested: one that keeps no rules but its test's.
#ifndef PARLOR_TESTS_SUPPORT_RAW_SOCKET_H_
#define PARLOR_TESTS_SUPPORT_RAW_SOCKET_H_

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "support/socket_address.h"

namespace parlor::test {

class RawSocket {
 public:
  RawSocket() = default;
  explicit RawSocket(int descriptor) : descriptor_(descriptor) {}
  RawSocket(RawSocket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RawSocket& operator=(RawSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~RawSocket() { Close(); }

  // Connected to `port`, or invalid.
  static RawSocket Connect(std::uint16_t port) {
    RawSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in to = Loopback(port);
    if (connect(socket.descriptor_, Plain(to), sizeof(to)) != 0) {
      socket.Close();
    }
    return socket;
  }

  // Listens on a port that the system picks.
  static RawSocket Listen() {
    RawSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in at = Loopback(0);
    if (bind(socket.descriptor_, Plain(at), sizeof(at)) != 0 ||
        listen(socket.descriptor_, 8) != 0) {
      socket.Close();
    }
    return socket;
  }

  bool valid() const { return descriptor_ >= 0; }

  std::uint16_t port() const {
    sockaddr_in at{};
    socklen_t size = sizeof(at);
    getsockname(descriptor_, reinterpret_cast<sockaddr*>(&at), &size);
    return ntohs(at.sin_port);
  }

  RawSocket Accept() {
    return RawSocket(accept(descriptor_, nullptr, nullptr));
  }

  // Waits for up to `wait_ms`.
  bool Readable(int wait_ms = 0) const {
    pollfd entry{.fd = descriptor_, .events = POLLIN, .revents = 0};
    return poll(&entry, 1, wait_ms) > 0;
  }

  bool Send(std::string_view bytes) {
    return send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }

  // As much as the system takes now; how much that was.
  std::size_t SendSome(std::string_view bytes) {
    const ssize_t sent = send(descriptor_, bytes.data(), bytes.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent > 0 ? static_cast<std::size_t>(sent) : 0;
  }

  // What is there now, appended to `into`: false once the peer has ended, and
  // then error() says how (0: it said so).
  bool Receive(std::string& into) {
    while (Readable()) {
      std::array<char, 65536> buffer;
      const ssize_t got = recv(descriptor_, buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        error_ = got == 0 ? 0 : errno;
        return false;
      }
      into.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return true;
  }
  int error() const { return error_; }

  // Ends with a reset.
  void Reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    Close();
  }
  void ReceiveAtMost(int bytes) {
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  }
  void EndWrite() { shutdown(descriptor_, SHUT_WR); }
  void Close() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
  int error_ = 0;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_RAW_SOCKET_H_
