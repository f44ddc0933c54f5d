// Scenes: what can be on the screen. The loop in terminal.cc tells a scene the
// time and the keys and asks what there is to see.
#ifndef PARLOR_SOLO_TERMINAL_SCENE_H_
#define PARLOR_SOLO_TERMINAL_SCENE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

// What lies over a game that stands still meanwhile, and that game's clock.
class PauseCover {
 public:
  explicit PauseCover(TimePoint now) : clock_(now) {}

  Overlay overlay() const { return overlay_; }
  bool covered() const { return overlay_ != Overlay::kNone; }
  PausableClock& clock() { return clock_; }
  const PausableClock& clock() const { return clock_; }
  // Rises with every Show.
  std::uint64_t changes() const { return changes_; }

  // kNone: the game goes on.
  void Show(TimePoint now, Overlay overlay);
  // Unless something lies over it already.
  void Pause(TimePoint now) {
    if (!covered()) Show(now, Overlay::kPaused);
  }

 private:
  PausableClock clock_;
  Overlay overlay_ = Overlay::kNone;
  std::uint64_t changes_ = 0;
};

// "Recording stopped: ...", or "" when it did not.
std::string RecordWarning(const absl::Status& status);

class Scene {
 public:
  virtual ~Scene() = default;

  virtual void Turn(TimePoint now) = 0;
  virtual TimePoint next_turn() const = 0;
  virtual void OnKey(TimePoint now, Key key) = 0;
  // The player cannot see the game: it must not go on without him, if it can
  // wait.
  virtual void OnHidden(TimePoint now) = 0;
  // Quits without a question. Turn it until it is done, a second at most.
  virtual void Quit(TimePoint now) = 0;

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
  // Ends the session now, so that an error of the recording's last bytes is
  // known when the exit code is.
  void Quit(TimePoint now) override;
  View view() const override;
  std::uint64_t version() const override;
  bool done() const override { return done_ || session_->failed(); }
  int exit_code() const override;
  std::string last_words() const override;

  // The player wants to open the game to friends; once for each time.
  bool TakeOpen() { return std::exchange(open_, false); }
  // The file for the recording of the match after this one, or empty. It is
  // claimed: see host::ClaimReplayFile.
  std::string ClaimNextRecord() const;
  // Shows why that was not possible, or what became of it.
  void Warn(std::string text);

 private:
  void NewMatch();
  absl::Status Recorded() const;  // of this match and those before
  void Show(TimePoint now, Overlay overlay);

  Options options_;
  host::OsEntropy entropy_;
  PauseCover cover_;
  int matches_ = 0;
  std::unique_ptr<LocalLink> link_;
  std::unique_ptr<Session> session_;
  bool open_ = false;
  bool done_ = false;
  std::string warning_;
  std::uint64_t warnings_ = 0;
  absl::Status record_status_;  // of matches before this one
};

// Watch a recorded match.
class ReplayScene final : public Scene {
 public:
  ReplayScene(ReplayPlayer player, TimePoint now);

  void Turn(TimePoint now) override;
  TimePoint next_turn() const override;
  void OnKey(TimePoint now, Key key) override;
  void OnHidden(TimePoint now) override { cover_.Pause(now); }
  void Quit(TimePoint) override { done_ = true; }
  View view() const override;
  std::uint64_t version() const override { return changes_ + cover_.changes(); }
  bool done() const override { return done_ || !status_.ok(); }
  int exit_code() const override;
  std::string last_words() const override;

 private:
  void SetSpeed(TimePoint now, int speed);
  void StepOnce();

  ReplayPlayer player_;
  PauseCover cover_;
  int speed_ = 2;  // index into the speeds
  FixedStep steps_;
  bool at_end_ = false;
  bool done_ = false;
  std::uint64_t changes_ = 0;
  absl::Status status_;
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_SCENE_H_
