// Addresses of sockets, for those that tests open themselves.
#ifndef PARLOR_TESTS_SUPPORT_SOCKET_ADDRESS_H_
#define PARLOR_TESTS_SUPPORT_SOCKET_ADDRESS_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

namespace parlor::test {

// Both in the machine's order of bytes; a port of 0 is picked by the system.
inline sockaddr_in SocketAddress(std::uint32_t address, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  made.sin_addr.s_addr = htonl(address);
  return made;
}

inline sockaddr_in Loopback(std::uint16_t port) {
  return SocketAddress(INADDR_LOOPBACK, port);
}

// As the system's calls take it.
inline const sockaddr* Plain(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_SOCKET_ADDRESS_H_
