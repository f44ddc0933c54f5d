// A peer that plays a toy game on a server.
#ifndef PARLOR_TESTS_HOST_SERVER_PLAYER_H_
#define PARLOR_TESTS_HOST_SERVER_PLAYER_H_

#include <cstdint>
#include <memory>
#include <utility>

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

}  // namespace parlor::test

#endif  // PARLOR_TESTS_HOST_SERVER_PLAYER_H_
