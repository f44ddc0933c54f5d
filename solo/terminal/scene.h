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
  bool paused() const { return paused_at_.has_value(); }
  void Pause(TimePoint now);
  void Resume(TimePoint now);
  // The time on this clock when it is `now` outside.
  TimePoint At(TimePoint now) const { return paused_at_.value_or(now) - lost_; }
  // The time outside at which this clock shows `time`; kNever while paused.
  TimePoint Outside(TimePoint time) const;

 private:
  Duration lost_{};
  std::optional<TimePoint> paused_at_;  // outside
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
  explicit MatchScene(const Options& options);

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
