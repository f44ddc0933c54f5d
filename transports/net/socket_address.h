// SocketAddress: where a TCP socket connects to, as the system takes it.
#ifndef PARLOR_TRANSPORTS_NET_SOCKET_ADDRESS_H_
#define PARLOR_TRANSPORTS_NET_SOCKET_ADDRESS_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

namespace parlor::net_internal {

class SocketAddress {
 public:
  // Of a numeric IPv4 or IPv6 address; nothing for any other text.
  static std::optional<SocketAddress> Parse(const std::string& numeric,
                                            std::uint16_t port);
  // `size` bytes at `address` are copied: a sockaddr_in or a sockaddr_in6.
  SocketAddress(const sockaddr* address, socklen_t size);

  int family() const { return address_.ss_family; }
  const sockaddr* data() const {
    return reinterpret_cast<const sockaddr*>(&address_);
  }
  socklen_t size() const { return size_; }

 private:
  sockaddr_storage address_{};
  socklen_t size_;
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_NET_SOCKET_ADDRESS_H_
