// Peers that play a toy game on a server, and agree.
#ifndef PARLOR_TESTS_HOST_SERVER_PLAYER_H_
#define PARLOR_TESTS_HOST_SERVER_PLAYER_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "host/server_fixture.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/lockstep/peer.h"
#include "parlor/time.h"
#include "support/toy_game.h"

namespace parlor::test {

// A connector whose last connection can be cut off.
class Severable final : public Connector {
 public:
  explicit Severable(std::unique_ptr<Connector> under)
      : under_(std::move(under)) {}

  std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                      ConnectionHandler* handler) override {
    auto connection = under_->Connect(now, hello, handler);
    last_ = connection.get();
    return connection;
  }
  void Cut() { last_->Abort(); }

 private:
  std::unique_ptr<Connector> under_;
  Connection* last_ = nullptr;
};

struct Player {
  explicit Player(std::unique_ptr<Connector> way, std::uint32_t salt = 1)
      : connector(std::move(way)) {
    game.word = [salt](std::uint32_t frame) { return frame * 7 + salt; };
  }

  void Turn(TimePoint now) {
    if (peer.next_alarm() <= now) peer.OnAlarm(now);
    if (now < next_step) return;
    next_step = now + step;
    if (frames == 0 || peer.frame() < frames) peer.Step(now);
  }

  std::uint32_t frames = 0;  // it runs no more; 0: no end
  Duration step{};           // a frame's; 0: as fast as it is turned
  TimePoint next_step{};
  ToyGame game;
  Severable connector;
  lockstep::Peer peer{connector, game, {}};
};

class PlayersFixture : public ServerFixture {
 protected:
  using ServerFixture::ServerFixture;
  ~PlayersFixture() override {
    turns.clear();
    players.clear();
  }

  Player& AddPlayer(std::unique_ptr<Connector> way, std::int32_t room_size = 2,
                    std::uint32_t room = 3) {
    players.push_back(std::make_unique<Player>(
        std::move(way), static_cast<std::uint32_t>(players.size())));
    Player& player = *players.back();
    player.peer.Join(Now(), {.room = room, .players = room_size});
    turns.emplace_back([&player](TimePoint now) { player.Turn(now); });
    return player;
  }

  // All players run so many frames and agree.
  void PlayTo(std::uint32_t frames) {
    for (const auto& player : players) player->frames = frames;
    ASSERT_TRUE(Until([&] {
      return std::ranges::all_of(players, [&](const auto& player) {
        return player->peer.frame() == frames;
      });
    }));
    for (const auto& player : players) {
      EXPECT_EQ(player->game.state(), players.front()->game.state());
      EXPECT_EQ(player->peer.desync(), -1);
    }
  }

  std::vector<std::unique_ptr<Player>> players;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_HOST_SERVER_PLAYER_H_
