// Scenes: what can be on the screen. The loop in terminal.cc tells a scene the
// time and the keys and asks what there is to see.
#ifndef PARLOR_SOLO_TERMINAL_SCENE_H_
#define PARLOR_SOLO_TERMINAL_SCENE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "options.h"
#include "parlor/fixed_step.h"
#include "parlor/host/os_entropy.h"
#include "parlor/time.h"
#include "replay_player.h"
#include "session.h"
#include "terminal/screen.h"
#include "terminal/view.h"

namespace parlor::solo {

// A clock that can stand still. What runs on it cannot tell.
class PausableClock {
 public:
  // What one look at the time outside moves it on at most. We are looked at
  // for each frame; after a longer gap we were stopped (SIGSTOP, a laptop's
  // lid) or the terminal was blocked (Ctrl-S), so nobody was playing, and the
  // room must not take the player for idle.
  static constexpr Duration kGapMax{1'000'000'000};

  // Shows `now` at first.
  explicit PausableClock(TimePoint now) : outside_(now), time_(now) {}

  bool paused() const { return paused_; }
  void Pause(TimePoint now);
  void Resume(TimePoint now);
  // It is `now` outside: moves on, unless paused. The time on this clock.
  TimePoint At(TimePoint now);
  // The time outside at which this clock shows `time`; kNever while paused.
  TimePoint Outside(TimePoint time) const;

 private:
  TimePoint outside_;  // when it was last looked at
  TimePoint time_;     // what it showed then
  bool paused_ = false;
};

class Scene {
 public:
  virtual ~Scene() = default;

  virtual void Turn(TimePoint now) = 0;
  virtual TimePoint next_turn() const = 0;
  virtual void OnKey(TimePoint now, Key key) = 0;
  // The player cannot see the game: it must not go on without him.
  virtual void OnHidden(TimePoint now) = 0;

  virtual View view() const = 0;
  // Rises with everything that changes what there is to see.
  virtual std::uint64_t version() const = 0;
  virtual bool done() const = 0;

  // After it is done: the exit code, and what to say once the terminal is back.
  virtual int exit_code() const = 0;
  virtual std::string last_words() const = 0;
};

// Play against bots. Restarts make a new room.
class MatchScene final : public Scene {
 public:
  MatchScene(const Options& options, TimePoint now);

  void Turn(TimePoint now) override;
  TimePoint next_turn() const override;
  void OnKey(TimePoint now, Key key) override;
  void OnHidden(TimePoint now) override;
  View view() const override;
  std::uint64_t version() const override;
  bool done() const override { return done_ || session_->failed(); }
  int exit_code() const override;
  std::string last_words() const override;

 private:
  void NewMatch();
  void SetOverlay(TimePoint now, Overlay overlay);
  void OnOverlayKey(TimePoint now, Key key);
  void OnGameKey(Key key);
  void Quit();

  Options options_;
  host::OsEntropy entropy_;
  PausableClock clock_;
  int matches_ = 0;
  std::unique_ptr<LocalLink> link_;
  std::unique_ptr<Session> session_;
  Overlay overlay_ = Overlay::kNone;
  std::uint64_t changes_ = 0;
  bool done_ = false;
  absl::Status record_status_;  // of matches before this one
};

// Watch a recorded match.
class ReplayScene final : public Scene {
 public:
  ReplayScene(ReplayPlayer player, TimePoint now);

  void Turn(TimePoint now) override;
  TimePoint next_turn() const override;
  void OnKey(TimePoint now, Key key) override;
  void OnHidden(TimePoint now) override;
  View view() const override;
  std::uint64_t version() const override { return changes_; }
  bool done() const override { return done_ || !status_.ok(); }
  int exit_code() const override;
  std::string last_words() const override;

 private:
  void SetSpeed(TimePoint now, int speed);
  void StepOnce();
  void SetOverlay(TimePoint now, Overlay overlay);

  ReplayPlayer player_;
  PausableClock clock_;
  int speed_ = 2;  // index into the speeds
  FixedStep steps_;
  Overlay overlay_ = Overlay::kNone;
  bool at_end_ = false;
  bool done_ = false;
  std::uint64_t changes_ = 0;
  absl::Status status_;
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_SCENE_H_
