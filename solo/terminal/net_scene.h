// NetScene: a match with others on the screen, from the first call to the host
// to the last goodbye. Nothing in it can stand still: the clock is the real
// one, and a menu only covers what goes on.
#ifndef PARLOR_SOLO_TERMINAL_NET_SCENE_H_
#define PARLOR_SOLO_TERMINAL_NET_SCENE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "link.h"
#include "parlor/lockstep/peer.h"
#include "parlor/time.h"
#include "session.h"
#include "terminal/scene.h"
#include "terminal/view.h"

namespace parlor::solo {

struct NetGame {
  std::unique_ptr<Link> link;
  // With the hello of the room, which has 2..kPlayersMax places.
  SessionOptions session;
  std::string joined{};                    // another's room: its URL
  std::optional<Invitation> invitation{};  // to the own one
  bool over_solo = false;                  // see LobbyView
  std::string again{};  // the command for another time, or empty
};

class NetScene final : public Scene {
 public:
  explicit NetScene(NetGame game);

  void Turn(TimePoint now) override;
  TimePoint next_turn() const override;
  void OnKey(TimePoint now, Key key) override;
  void OnHidden(TimePoint) override {}
  void Quit(TimePoint now) override;
  View view() const override;
  std::uint64_t version() const override { return changes_ + session_.frame(); }
  bool done() const override { return done_; }
  int exit_code() const override;
  std::string last_words() const override;

  // The match began; else nobody has played here.
  bool began() const { return session_.state() != nullptr; }
  const Session& session() const { return session_; }

 private:
  // What there is to see beside the game's frames.
  struct Sight {
    lockstep::PeerState state = lockstep::PeerState::kIdle;
    int own_seat = -1;
    int seated = 0;
    std::uint32_t away = 0;
    std::uint32_t lost = 0;
    std::uint32_t left = 0;
    std::uint32_t waiting = 0;
    std::int64_t desync = -1;
    int tries = 0;
    int seconds_left = 0;

    friend bool operator==(const Sight&, const Sight&) = default;
  };

  void Show(Overlay overlay);
  void OnLobbyKey(TimePoint now, Key key);
  void Look(TimePoint now);
  LobbyView Lobby() const;
  NetView Net() const;
  std::string Warning() const;

  NetGame game_;
  Session session_;  // on game_.link
  Overlay overlay_ = Overlay::kNone;
  Sight sight_;
  std::uint64_t changes_ = 0;
  TimePoint turned_{};
  std::uint32_t ran_ = 0;             // the frame at the last look
  TimePoint ran_at_{};                // when it was new
  TimePoint left_until_{};            // sight_.left is news
  TimePoint lost_at_{};               // the own link
  std::optional<TimePoint> quit_by_;  // leaving
  bool done_ = false;
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_NET_SCENE_H_
