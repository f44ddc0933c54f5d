// Hostile: who means harm to a room, by connections of its own. It knows the
// tokens of others, as if it had watched their screens.
#ifndef PARLOR_TESTS_SIM_SWARM_HOSTILE_H_
#define PARLOR_TESTS_SIM_SWARM_HOSTILE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parlor/connection.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/swarm_observer.h"
#include "sim/swarm_scenario.h"

namespace parlor::test {

class Hostile final : private ConnectionHandler {
 public:
  // All outlive it. `tag` is of kFirstHostile and up.
  Hostile(sim::World& world, SwarmObserver& observer,
          const SwarmHostile& scenario, const SwarmRoom& room, sim::Host& host,
          std::uint32_t tag, std::uint64_t seed);
  ~Hostile();

  // A turn of its own; some 60 a second from its time on.
  void Turn();
  // It gives up: its connections close, in whatever way.
  void GoAway();

  // What it did to others.
  bool took_a_seat_over() const { return stole_; }

 private:
  struct Line {
    std::unique_ptr<Connection> connection;
    bool open = false;
    bool closing = false;
    int slot = -1;  // since WELCOME
    std::uint32_t token = 0;
    std::uint32_t next = 0;   // frame to say
    std::uint32_t heard = 0;  // newest frame of others
  };

  void OnOpen(TimePoint now, Connection& connection) override;
  void OnMessage(TimePoint now, Connection& connection, Lane lane,
                 MessageKind kind, std::span<const std::byte> bytes) override;
  void OnClose(TimePoint now, Connection& connection,
               const CloseEvent& event) override;

  Line& LineOf(const Connection& connection);
  // With a token where there is one; malformed as a text.
  void Connect(int players, std::optional<std::string> token);
  void Guess();
  void Steal();
  void OfferOldTokens();
  void Intrude();
  void TakePart();
  void Play(Line& line);
  void TalkInLobby(Line& line);
  void Misspeak(Line& line);
  void Flood(Line& line);
  void SayWrongSize(Line& line);
  void Quit(Line& line);
  void Say(Line& line, const lockstep::Message& message);
  void SayInput(Line& line, std::uint32_t frame);

  sim::World& world_;
  SwarmObserver& observer_;
  const SwarmHostile scenario_;
  const SwarmRoom room_;
  sim::Host& host_;
  const std::uint32_t tag_;
  Random random_;
  std::list<Line> lines_;
  std::optional<std::uint32_t> own_token_;
  bool stole_ = false;
  bool joined_ = false;
  bool gone_ = false;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_HOSTILE_H_
