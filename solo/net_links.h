// Links of play with others: to a room on a host far away, and to one that this
// process hosts for friends.
#ifndef PARLOR_SOLO_NET_LINKS_H_
#define PARLOR_SOLO_NET_LINKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "link.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/server.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_loop.h"
#include "session.h"

namespace parlor::solo {

// Between two turns of a link that hears from others: what comes waits that
// long at most, an eighth of a frame, and the machine stays quiet.
inline constexpr Duration kNetTurnEvery{2'000'000};

// Joins: sockets on a loop that Turn polls.
class JoinLink final : public Link {
 public:
  // InvalidArgument: the URL. `entropy` outlives it.
  static absl::StatusOr<std::unique_ptr<JoinLink>> Create(
      std::string_view host_url, Entropy& entropy);

  Connector& connector() override { return *connector_; }
  void Turn(TimePoint now) override;
  TimePoint next_turn() const override;

 private:
  JoinLink() = default;

  TimePoint turned_{};
  NetLoop loop_;
  std::unique_ptr<Connector> connector_;
};

struct ListenOptions {
  std::uint16_t port = 0;  // 0: picked
  std::string code;        // the invite code that friends need
  int players = 4;         // the room's size
  std::optional<std::uint32_t> seed = std::nullopt;  // absent: drawn
  // How long a seat waits for who was cut off.
  std::int64_t hold_ms = limits::kHoldMs.fallback;
};

// Listens: a server on threads of its own with one room, the own seat by a
// memory pipe. Nobody comes in before the own seat is taken, so that this is
// seat 0.
class ListenLink final : public Link, private Connector {
 public:
  // Unavailable: the port. `entropy` outlives it.
  static absl::StatusOr<std::unique_ptr<ListenLink>> Create(
      const ListenOptions& options, Entropy& entropy);
  // Says `host left` to everyone (1001), and waits until they have heard, 2 s
  // at most.
  ~ListenLink() override;

  Connector& connector() override { return *this; }
  void Turn(TimePoint now) override;
  TimePoint next_turn() const override;

  std::uint16_t port() const { return server_->port(); }
  const std::string& code() const { return options_.code; }
  // What friends are told: one URL for each address of this machine that they
  // may reach it by, those of the local network first, 127.0.0.1 last.
  std::vector<std::string> urls() const;
  // Connected seats, the own one too.
  int players() const;

 private:
  explicit ListenLink(ListenOptions options) : options_(std::move(options)) {}

  std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                      ConnectionHandler* handler) override;

  ListenOptions options_;
  TimePoint turned_{};
  bool has_ipv6_ = false;
  PipePump pump_;  // of the own seat's end
  std::unique_ptr<host::Server> server_;
  std::unique_ptr<Connector> connector_;
};

// Ends the session and turns its link until the room has been told, by the
// steady clock and for a second at most: a room that is not told holds the seat
// of somebody who will not come back.
void FinishLeaving(Session& session, Link& link);

// A code that is easy to read out: 12 letters and digits that cannot be taken
// for one another, 60 bits of `entropy`.
std::string DrawInviteCode(Entropy& entropy);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_NET_LINKS_H_
