#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clock.h"
#include "cycles/state.h"
#include "net_links.h"
#include "parlor/limits.h"

namespace parlor::solo {
namespace {

// Every address of IPv6 and IPv4, and of IPv4 alone where there is no other.
constexpr std::array<const char*, 2> kEverywhere = {"::", "0.0.0.0"};

// Letters and digits without those that look or sound like another: 32.
constexpr std::string_view kCodeDigits = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
constexpr int kCodeLength = 12;

// How long those who play are given to hear that it is over.
constexpr Duration kGoodbye = 2'000 * kMillisecond;

// What an address is good for, best first.
enum class Reach : std::uint8_t { kLocalNetwork, kOther, kIpv6, kThisMachine };

struct OwnAddress {
  Reach reach;
  std::string text;  // as in a URL
};

OwnAddress FromIpv4(const in_addr& address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &address, text.data(), text.size());
  const std::uint32_t bits = ntohl(address.s_addr);
  Reach reach = Reach::kOther;
  // RFC 1918 section 3.
  const bool is_private =
      bits >> 24 == 10 || bits >> 20 == 0xac1 || bits >> 16 == 0xc0a8;
  if (is_private) reach = Reach::kLocalNetwork;
  if (bits >> 24 == 127) reach = Reach::kThisMachine;
  return {reach, text.data()};
}

// Nullopt: one that works on its own link alone, or in this machine.
std::optional<OwnAddress> FromIpv6(const in6_addr& address) {
  if (IN6_IS_ADDR_LINKLOCAL(&address) || IN6_IS_ADDR_LOOPBACK(&address)) {
    return std::nullopt;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, &address, text.data(), text.size());
  std::string in_url = "[";
  in_url.append(text.data()).append("]");
  return OwnAddress{Reach::kIpv6, std::move(in_url)};
}

std::optional<OwnAddress> From(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) {
    return std::nullopt;
  }
  const void* const address = entry.ifa_addr;
  if (entry.ifa_addr->sa_family == AF_INET) {
    return FromIpv4(static_cast<const sockaddr_in*>(address)->sin_addr);
  }
  if (entry.ifa_addr->sa_family == AF_INET6) {
    return FromIpv6(static_cast<const sockaddr_in6*>(address)->sin6_addr);
  }
  return std::nullopt;
}

std::vector<OwnAddress> OwnAddresses(bool with_ipv6) {
  std::vector<OwnAddress> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) == 0) {
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      std::optional<OwnAddress> address = From(*one);
      if (address && (with_ipv6 || address->reach != Reach::kIpv6)) {
        found.push_back(*std::move(address));
      }
    }
    freeifaddrs(all);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const OwnAddress& a, const OwnAddress& b) {
                     return a.reach < b.reach;
                   });
  if (found.empty()) found.push_back({Reach::kThisMachine, "127.0.0.1"});
  return found;
}

host::ServerOptions ServerFor(const ListenOptions& options) {
  host::ServerOptions server;
  server.port = options.port;
  server.shards = 1;
  server.shard.rooms = 1;
  server.shard.seats = cycles::kPlayersMax;
  server.shard.room.seed = options.seed;
  server.shard.room.hold_ms = options.hold_ms;
  // Friends are waited for, and then they stay.
  server.shard.room.lobby_ms = limits::kLobbyMs.ceiling;
  server.shard.room.lifetime_ms = limits::kLifetimeMs.ceiling;
  server.gate.codes = {options.code};
  server.closed = true;
  return server;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ListenLink>> ListenLink::Create(
    const ListenOptions& options, Entropy& entropy) {
  // The constructor is private: make_unique cannot call it.
  std::unique_ptr<ListenLink> link(new ListenLink(options));
  host::ServerOptions server = ServerFor(options);
  absl::Status status;
  for (const char* address : kEverywhere) {
    server.address = address;
    absl::StatusOr<std::unique_ptr<host::Server>> made =
        host::Server::Create(server, entropy);
    status = made.status();
    if (!status.ok()) continue;
    link->server_ = *std::move(made);
    link->has_ipv6_ = server.address == kEverywhere[0];
    break;
  }
  if (!status.ok()) return status;
  link->connector_ = link->server_->MakeConnector(link->pump_);
  return link;
}

ListenLink::~ListenLink() {
  if (server_ == nullptr) return;
  server_->Stop(CloseReason::kHostLeft);
  // The own seat's end is pumped by nobody else.
  const TimePoint until = SteadyNow() + kGoodbye;
  for (TimePoint now = SteadyNow(); now < until && !server_->stopped();
       now = SteadyNow()) {
    Turn(now);
    SleepUntil(now + kNetTurnEvery);
  }
}

std::unique_ptr<Connection> ListenLink::Connect(TimePoint now,
                                                const Hello& hello,
                                                ConnectionHandler* handler) {
  std::unique_ptr<Connection> own = connector_->Connect(now, hello, handler);
  server_->Open();
  return own;
}

void ListenLink::Turn(TimePoint now) {
  turned_ = now;
  pump_.Pump(now);
}

TimePoint ListenLink::next_turn() const {
  if (pump_.has_ready()) return TimePoint::min();
  return std::min(pump_.next_alarm(), turned_ + kNetTurnEvery);
}

std::vector<std::string> ListenLink::urls() const {
  std::vector<std::string> urls;
  for (const OwnAddress& address : OwnAddresses(has_ipv6_)) {
    std::string url = "ws://";
    url.append(address.text).append(":").append(std::to_string(port()));
    url.append("/room/0?players=").append(std::to_string(options_.players));
    urls.push_back(std::move(url));
  }
  return urls;
}

int ListenLink::players() const {
  return static_cast<int>(server_->figures().players);
}

std::string DrawInviteCode(Entropy& entropy) {
  static_assert(kCodeDigits.size() == 32);
  std::array<std::byte, kCodeLength> drawn{};
  entropy.Fill(drawn);
  std::string code;
  for (const std::byte one : drawn) {
    code += kCodeDigits[std::to_integer<std::size_t>(one) % kCodeDigits.size()];
  }
  return code;
}

}  // namespace parlor::solo
