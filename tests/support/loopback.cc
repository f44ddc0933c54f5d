#include "support/loopback.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace parlor::test {
namespace {

// <netinet/tcp.h> has these, and clashes with <linux/tcp.h>, which alone has
// all of tcp_info.
enum TcpState {
  kEstablished = 1,
  kFinWait1 = 4,
  kFinWait2 = 5,
  kCloseWait = 8,
  kLastAck = 9,
  kClosing = 11,
};

std::string Address(int fd, int (*of)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (of(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return {reinterpret_cast<const char*>(&storage), size};
}

std::optional<tcp_info> InfoOf(int fd) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return info;
}

bool HasEnded(const tcp_info& info) {  // our direction, from the system's view
  return info.tcpi_state == kFinWait1 || info.tcpi_state == kFinWait2 ||
         info.tcpi_state == kLastAck || info.tcpi_state == kClosing;
}

// Everything that `from` sent is at `to`.
bool HasArrived(const tcp_info& from, const tcp_info& to) {
  if (from.tcpi_notsent_bytes > 0) return false;
  // Bytes that were sent again count twice.
  if (from.tcpi_bytes_sent - from.tcpi_bytes_retrans > to.tcpi_bytes_received) {
    return false;
  }
  return !HasEnded(from) ||
         (to.tcpi_state != kEstablished && to.tcpi_state != kFinWait1 &&
          to.tcpi_state != kFinWait2);
}

}  // namespace

bool LoopbackIsQuiet() {
  std::map<std::pair<std::string, std::string>, tcp_info> sockets;
  DIR* const folder = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    const std::string local = Address(fd, getsockname);
    const std::string peer = local.empty() ? local : Address(fd, getpeername);
    if (peer.empty()) continue;
    if (const auto info = InfoOf(fd))
      sockets.emplace(std::pair(local, peer), *info);
  }
  closedir(folder);
  for (const auto& [ends, info] : sockets) {
    const auto other = sockets.find({ends.second, ends.first});
    if (other != sockets.end()) {
      if (!HasArrived(info, other->second)) return false;
    } else if (info.tcpi_state == kEstablished ||
               info.tcpi_state == kFinWait1) {
      return false;  // its other end is gone, which it has not heard yet
    }
  }
  return true;
}

void RunUntilQuiet(const std::function<bool()>& work) {
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (;;) {
    while (work()) {
    }
    if (LoopbackIsQuiet() && !work()) return;
    if (std::chrono::steady_clock::now() > give_up) {
      ADD_FAILURE() << "the loopback does not come to rest";
      return;
    }
    std::this_thread::yield();
  }
}

}  // namespace parlor::test
