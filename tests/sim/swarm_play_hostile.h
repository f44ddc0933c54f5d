// PlayHostile: who means harm to an authority room, by connections of its own.
// It knows the tokens of others, as if it had watched their screens.
#ifndef PARLOR_TESTS_SIM_SWARM_PLAY_HOSTILE_H_
#define PARLOR_TESTS_SIM_SWARM_PLAY_HOSTILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parlor/authority/frames.h"
#include "parlor/connection.h"
#include "parlor/random.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/swarm_play_game.h"
#include "sim/swarm_play_scenario.h"

namespace parlor::test {

class PlayHostile final : private ConnectionHandler {
 public:
  // All outlive it. `connects` is called before each of its connections.
  PlayHostile(sim::World& world, PlayBook& book, const PlayHostileDraw& draw,
              const PlayRoomDraw& room, sim::Host& host,
              std::function<void()> connects, std::uint64_t seed,
              std::uint64_t number);
  ~PlayHostile();

  // A turn of its own; some 60 a second from its time on.
  void Turn();
  // It gives up: its connections close, in whatever way.
  void GoAway();

 private:
  struct Line {
    std::unique_ptr<Connection> connection;
    authority::JoinFrame join;
    bool open = false;
    bool closing = false;
    bool speaks = true;  // says join at all
    bool seated = false;
    std::uint32_t seq = 0;
    std::uint32_t tick = 0;  // the newest that it was told of
  };

  void OnOpen(TimePoint now, Connection& connection) override;
  void OnMessage(TimePoint now, Connection& connection, Lane lane,
                 MessageKind kind, std::span<const std::byte> bytes) override;
  void OnClose(TimePoint now, Connection& connection,
               const CloseEvent& event) override;

  Line& LineOf(const Connection& connection);
  Line* Connect(std::optional<authority::ResumeToken> token);
  const WatchedRoom* Room() const;
  void Guess();
  void Steal();
  void OfferOldTokens();
  void Intrude();
  void TakePart();
  void Play(Line& line);
  void Garble(Line& line);
  void Ack(Line& line);
  void Flood(Line& line);
  void Quit(Line& line);
  void SayText(Line& line, std::string_view text);
  void SayBytes(Line& line, std::span<const std::byte> bytes);
  void SayInput(Line& line);

  sim::World& world_;
  PlayBook& book_;
  const PlayHostileDraw draw_;
  const PlayRoomDraw room_;
  sim::Host& host_;
  const std::function<void()> connects_;
  const std::string name_;
  Random random_;
  std::list<Line> lines_;
  std::optional<authority::ResumeToken> token_;  // of its own seat
  bool gone_ = false;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_PLAY_HOSTILE_H_
