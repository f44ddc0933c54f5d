// Coins: players run along a line, and whoever comes to the coin has it.
#ifndef PARLOR_TESTS_README_COINS_H_
#define PARLOR_TESTS_README_COINS_H_

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>

#include "parlor/authority/hosted_game.h"
#include "parlor/authority/message.h"
#include "parlor/authority/peer.h"
#include "parlor/authority/room_authority.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/fixed_step.h"

namespace authority = parlor::authority;

// What both sides know: kinds of rows, messages, and the version of the rules.
constexpr int kRunner = 0;
constexpr int kCoin = 1;
constexpr int kScore = authority::kTransformFields;  // the first own field
inline const authority::RoomOptions kCoinsOptions{.protocol = "coins-1"};
inline const authority::Messages kCoinsMessages;
inline const authority::Schema kCoinsSchema = *authority::Schema::Create(
    {{.name = "runner",
      .fields = {{.name = "score", .type = authority::FieldType::kInt}},
      .transform = true,
      .rows_max = 16},
     {.name = "coin", .transform = true, .rows_max = 1}});

// The game, which the room alone runs. Its state is in the room's rows.
class Coins final : public authority::RoomAuthority {
 public:
  const authority::Schema& schema() const noexcept override {
    return kCoinsSchema;
  }
  const authority::Messages& messages() const noexcept override {
    return kCoinsMessages;
  }
  void AddPlayer(authority::Context& room,
                 const authority::Player& player) override {
    if (coin_ == 0) coin_ = room.rows().Add(kCoin);
    room.Possess(player.seat, room.rows().Add(kRunner));
  }
  void RemovePlayer(authority::Context& room,
                    const authority::Player& player) override {
    room.rows().Remove(player.entity);
  }
  void Step(authority::Context& room,  // a tick, 60 a second
            std::span<const authority::SeatInput> inputs) override {
    authority::RowTable& rows = room.rows();
    for (const auto& [seat, input] : inputs) {
      const authority::RowId runner = room.player(seat)->entity;
      authority::Transform body = rows.Get(runner).GetTransform();
      authority::Transform coin = rows.Get(coin_).GetTransform();
      const float stick = static_cast<float>(input.axes[0]) / 32'767;
      body.position.x += 0.1F * stick;  // metres
      rows.SetTransform(runner, body);
      if (std::abs(body.position.x - coin.position.x) > 0.5F) continue;
      rows.Set(runner, kScore, rows.Get(runner).GetInt(kScore) + 1);
      coin.position.x += 1;
      rows.Teleport(coin_, coin);  // not drawn on its way there
    }
  }
  void WriteState(authority::Context&, authority::RowTable&) override {}

 private:
  authority::RowId coin_ = 0;
};

inline std::unique_ptr<authority::RoomAuthority> MakeCoins() {
  return std::make_unique<Coins>();
}

inline parlor::TimePoint Now() {
  return parlor::TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

// The client: a player who runs after the coin until he has had it three times.
// `turn` runs what carries his messages, whatever that is.
inline std::int64_t Play(parlor::Connector& connector,
                         const std::function<void(parlor::TimePoint)>& turn) {
  authority::Peer peer(connector, kCoinsSchema, kCoinsMessages,
                       {.protocol = kCoinsOptions.protocol});
  if (!peer.Join(Now(), {.play = "coins"}, {.name = "Ada"}).ok()) return 0;
  parlor::FixedStep steps(Now(), 60);
  std::int64_t score = 0;
  while (peer.state() != authority::PeerState::kEnded || !peer.closed()) {
    const parlor::TimePoint now = Now();
    turn(now);
    peer.OnAlarm(now);
    for (int due = steps.Take(now); due > 0; --due) {
      peer.Step(now, {.axes = {32'767}});  // the stick, all the way
    }
    peer.SetDrawTime(now);  // and Drawn(row) is where to draw a body
    const authority::RowView me = peer.rows().Get(peer.entity());
    if (me.exists()) score = me.GetInt(kScore);
    if (score == 3) peer.Leave();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return score;
}

#endif  // PARLOR_TESTS_README_COINS_H_
