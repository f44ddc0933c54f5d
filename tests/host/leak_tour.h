// LeakTour: everything that clients do to a host, good and bad, each client
// from an address of its own and with marks in all that it says. What the host
// answers goes to a LeakHunt.
#ifndef PARLOR_TESTS_HOST_LEAK_TOUR_H_
#define PARLOR_TESTS_HOST_LEAK_TOUR_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leak_hunt.h"
#include "leak_visitor.h"

namespace parlor::test {

// The page that a host of a tour takes connections from, and the proxies that
// it trusts.
inline constexpr std::string_view kTourOrigin = "https://play.example";
inline constexpr std::string_view kTourProxies = "127.84.0.0/16";
// And its rates of an address: joins, and a third of it for failures.
inline constexpr int kTourJoinRate = 30;
// It seats at most so many in one of at least kTourRooms rooms.
inline constexpr int kTourSeats = 4;
inline constexpr std::uint32_t kTourRooms = 64;
// What a tour leaves of a match, to go on after a restart.
inline constexpr std::uint32_t kTourKeptRoom = 63;

// All of them are forbidden to be seen.
struct TourSecrets {
  std::string code;    // lets in
  std::string pass;    // lets in, from one device
  std::string device;  // which is this one
  std::string expired;
  std::string revoked;
  std::string forged;  // signed by somebody else
  std::string other_device;
};

class LeakTour {
 public:
  // Both outlive it. Forbids what is secret, and the clients' addresses.
  LeakTour(LeakHunt& hunt, const LeakDoor& door, const TourSecrets& secrets);

  // Heads of every kind of wrongness, and pages.
  void Requests();
  // POST /invite.
  void Checks();
  // Requests for a room that are refused.
  void Refusals();
  // A match of two: relays, resumes, one too many.
  void Match();
  // What a seat is closed for.
  void Kicks();
  // parlor over TCP.
  void Tcp();
  // From one address, until it is refused.
  void Rates();
  // Behind proxies.
  void Proxies();
  // All of these.
  void All();
  // Once the host was told to drain: joins are refused.
  void Drained();
  // And once it is over, or is about to be.
  void Closed();

  // Of a seat in kTourKeptRoom.
  std::uint32_t kept_token() const { return kept_token_; }
  // With a host that took that room back.
  void TakenBack(std::uint32_t token);

  // How often that was seen: "HTTP 403", "close 4002", "refused 403" (TCP),
  // "relayed", "origin told", "ping answered" and others.
  int count(const std::string& what) const;

 private:
  using Visitor = std::unique_ptr<LeakVisitor>;
  using Protocols = std::vector<std::string>;

  std::string NextAddress();
  Visitor Visit(LeakVisitor::Port port = LeakVisitor::Port::kWeb);
  // Marks wherever a client may say something.
  std::string Upgrade(std::uint32_t room, int players,
                      const Protocols& protocols, std::string_view more = {});
  std::string Hello(std::uint32_t room, int players,
                    const Protocols& protocols);
  Protocols WithCode() const;
  Protocols WithPass() const;

  // Looks at the answer and counts its status.
  void Answered(std::string_view what, const std::string& answer, int status,
                std::initializer_list<std::string_view> allowed = {});
  // Asks, and expects the connection to end behind the answer.
  void Ask(std::string_view what, const std::string& request, int status,
           std::initializer_list<std::string_view> allowed = {});
  std::string Post(const std::string& body, std::string_view more = {});
  // Seated: 101 was answered.
  Visitor Join(std::uint32_t room, int players, const Protocols& protocols);
  // The next lockstep message; looks at others.
  lockstep::Message Hear(LeakVisitor& visitor, lockstep::Kind kind);
  // Until it is closed, with `code` and, if it said so itself, with `said`.
  void ClosedWith(LeakVisitor& visitor, int code, std::string_view said = "");
  // A record of TCP that refuses, with `status`.
  void RefusedOverTcp(const std::string& bytes, int status);
  void TcpSeat(const Protocols& protocols);
  void Resumes(std::uint32_t room, std::uint32_t token);

  LeakHunt& hunt_;
  const LeakDoor door_;
  const TourSecrets secrets_;
  int addresses_ = 0;
  std::uint32_t rooms_ = 0;
  std::map<std::string, int> seen_;
  std::vector<Visitor> kept_;  // the match in kTourKeptRoom
  std::uint32_t kept_token_ = 0;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_HOST_LEAK_TOUR_H_
