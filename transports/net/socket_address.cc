#include "net/socket_address.h"

#include <sys/socket.h>

#include <asio/error_code.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "parlor/check.h"

namespace parlor::net_internal {

std::optional<SocketAddress> SocketAddress::Parse(const std::string& numeric,
                                                  std::uint16_t port) {
  asio::error_code error;
  const asio::ip::address address = asio::ip::make_address(numeric, error);
  if (error) return std::nullopt;
  const asio::ip::tcp::endpoint endpoint(address, port);
  return SocketAddress(endpoint.data(),
                       static_cast<socklen_t>(endpoint.size()));
}

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size)
    : size_(size) {
  PARLOR_CHECK(size <= sizeof(address_));
  std::memcpy(&address_, address, size);
}

}  // namespace parlor::net_internal
