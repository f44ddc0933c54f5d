// The attacks that a host has to stand, for the test that holds it to them and
// the benchmark that measures what a match notices.
#ifndef PARLOR_TESTS_SUPPORT_ATTACK_PLANS_H_
#define PARLOR_TESTS_SUPPORT_ATTACK_PLANS_H_

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "support/attack.h"
#include "support/requests.h"

namespace parlor::test {

// Rooms that plans are about: where the match is, of 2, and another one, of 8.
inline constexpr std::uint32_t kMatchRoom = 3;
inline constexpr std::uint32_t kOtherRoom = 4;
// What SeatedJoins wants of a host: its rooms are 1,000 to 1,999.
inline constexpr std::int64_t kRoomsOfSeatedJoins = 2'000;

inline AttackPlan PlanOf(std::uint16_t port, std::size_t sockets,
                         std::size_t per_second, std::size_t addresses,
                         std::string first = {}) {
  AttackPlan plan;
  plan.port = port;
  plan.sockets = sockets;
  plan.per_second = per_second;
  plan.addresses = addresses;
  plan.first = std::move(first);
  return plan;
}

inline std::string Repeated(std::size_t times, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

inline AttackPlan SlowHandshakes(std::uint16_t port) {
  AttackPlan plan =
      PlanOf(port, 1'000, 2'000, 100, UpgradeRequest(kOtherRoom, 8));
  plan.drip = 1'000 * kMillisecond;
  return plan;
}

inline AttackPlan HalfHeads(std::uint16_t port) {
  return PlanOf(port, 500, 1'000, 50,
                "GET /room/4?players=8 HTTP/1.1\r\nHost: a\r\nX-Half: ");
}

inline AttackPlan IdleSockets(std::uint16_t port) {
  AttackPlan plan = PlanOf(port, 5'000, 5'000, 500);
  plan.opened_max = plan.sockets;
  return plan;
}

inline AttackPlan ConnectionStorm(std::uint16_t port) {
  AttackPlan plan = PlanOf(port, 100, 500, 100, "G");
  plan.leaves = true;
  return plan;
}

// Refused by the room (409, and 429 once an address came too often), or closed
// 4000; who was refused stays.
inline AttackPlan RefusedJoins(std::uint16_t port) {
  return PlanOf(port, 5'000, 500, 250, UpgradeRequest(kMatchRoom, 5));
}
inline AttackPlan FullRoomJoins(std::uint16_t port) {
  return PlanOf(port, 5'000, 500, 250, UpgradeRequest(kMatchRoom, 2));
}

// Honest players, two by two in rooms where nobody else is: each joins, is
// seated in a match as the other comes, and leaves at once. A room is used
// again after 999 others, made anew: 200 are the most at once.
inline AttackPlan SeatedJoins(std::uint16_t port) {
  std::string first = UpgradeRequest(kMatchRoom, 2);
  const std::string match = "/room/" + std::to_string(kMatchRoom);
  first.replace(first.find(match), match.size(), "/room/1@@@");
  AttackPlan plan = PlanOf(port, 400, 500, 250, std::move(first));
  plan.per_number = 2;
  plan.farewell = ClientFrame(8, "\x03\xe8");
  return plan;
}

inline AttackPlan MessageFlood(std::uint16_t port) {
  AttackPlan plan = PlanOf(port, 24, 100, 100, UpgradeRequest(kOtherRoom, 8));
  const auto hash = lockstep::Encode({.kind = lockstep::Kind::kHash});
  plan.again = Repeated(100, ClientFrame(2, AsText(hash)));
  plan.again_bytes_max = 64 * 1'024;
  return plan;
}
inline AttackPlan PingFlood(std::uint16_t port) {
  AttackPlan plan = PlanOf(port, 24, 100, 100, UpgradeRequest(kOtherRoom, 8));
  plan.again = Repeated(1'000, ClientFrame(9, ""));
  plan.again_bytes_max = 64 * 1'024;
  return plan;
}

inline AttackPlan GiantContentLength(std::uint16_t port) {
  return PlanOf(port, 50, 200, 50,
                "POST /invite HTTP/1.1\r\nHost: a\r\n"
                "Content-Length: 9223372036854775807\r\n\r\nx");
}
inline AttackPlan GiantChunk(std::uint16_t port) {
  return PlanOf(port, 50, 200, 50,
                "POST /invite HTTP/1.1\r\nHost: a\r\n"
                "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nx");
}
inline AttackPlan GiantFrame(std::uint16_t port) {
  std::string first = UpgradeRequest(kOtherRoom, 8);
  first += {'\x82', '\xff', '\x7f'};
  return PlanOf(port, 50, 200, 50, first + std::string(7, '\xff') + "keyyx");
}
// Of a client of parlor over TCP, its first.
inline AttackPlan GiantHello(std::uint16_t tcp_port) {
  return PlanOf(tcp_port, 50, 200, 50, "\x7f" + std::string(7, '\xff'));
}

// One that speaks within its rate, and the seven others of its room, who never
// read.
inline AttackPlan DeafSeats(std::uint16_t port) {
  AttackPlan plan = PlanOf(port, 7, 100, 1, UpgradeRequest(kOtherRoom, 8));
  plan.reads = false;
  plan.receive_bytes = 2'048;
  return plan;
}
inline AttackPlan LoudSeat(std::uint16_t port) {
  AttackPlan plan = PlanOf(port, 1, 10, 1, UpgradeRequest(kOtherRoom, 8));
  for (std::uint32_t frame = 1; frame <= 10'000; ++frame) {
    plan.again +=
        ClientFrame(2, AsText(lockstep::Encode(
                           {.kind = lockstep::Kind::kInput, .frame = frame})));
  }
  plan.again_bytes_max = 2'048;
  return plan;
}

inline AttackPlan Guesses(std::uint16_t port, std::size_t addresses) {
  return PlanOf(port, 500, 200, addresses,
                UpgradeRequest(kMatchRoom, 2, ", resume.########"));
}

inline AttackPlan EndlessRequests(std::uint16_t port, bool reads) {
  AttackPlan plan = PlanOf(port, 32, 500, 16);
  plan.again = Repeated(32, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  plan.again_bytes_max = 4'096;
  plan.reads = reads;
  if (!reads) plan.receive_bytes = 4'096;
  return plan;
}

inline AttackPlan DrippingBodies(std::uint16_t port) {
  AttackPlan plan = PlanOf(
      port, 500, 1'000, 50,
      "POST /invite HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
  plan.again = "x";
  plan.again_bytes_max = 1;
  plan.per_turn = 1;
  return plan;
}

// The first that a TLS client says, and nothing more.
inline AttackPlan TlsBegun(std::uint16_t port) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL* const ssl = SSL_new(context);
  BIO* const out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl, BIO_new(BIO_s_mem()), out);
  SSL_connect(ssl);
  std::string hello(4'096, '\0');
  const int size = BIO_read(out, hello.data(), static_cast<int>(hello.size()));
  SSL_free(ssl);
  SSL_CTX_free(context);
  PARLOR_CHECK(size > 0);
  hello.resize(static_cast<std::size_t>(size));
  return PlanOf(port, 2'000, 500, 100, hello);
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_ATTACK_PLANS_H_
