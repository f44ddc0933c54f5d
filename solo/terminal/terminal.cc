#include "terminal/terminal.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "parlor/printable.h"
#include "parlor/status.h"
#include "terminal/renderer.h"
#include "terminal/scene.h"
#include "terminal/screen.h"
#include "terminal/signals.h"

namespace parlor::solo {
namespace {

constexpr Duration kDrawEvery{1'000'000'000 / 60};
constexpr Duration kQuitTurnEvery = 2 * kMillisecond;

TimePoint Now() {
  return TimePoint(std::chrono::duration_cast<Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

// The one loop of play in a terminal.
class Loop {
 public:
  Loop(Screen& screen, Signals& signals, Scene& scene)
      : screen_(screen), signals_(signals), scene_(scene) {}

  // Until the scene is done. A signal and a terminal that is gone quit it; what
  // that takes is not waited for by the terminal's events.
  void Run() {
    while (!scene_.done() && signals_.end() == 0 && !hung_up_) Turn();
    if (scene_.done()) return;
    scene_.Quit(Now());
    while (!scene_.done()) {
      std::this_thread::sleep_for(kQuitTurnEvery);
      scene_.Turn(Now());
    }
  }

 private:
  void Turn() {
    const TimePoint now = Now();
    for (Key key = screen_.ReadKey(); key != Key::kNone;
         key = screen_.ReadKey()) {
      scene_.OnKey(now, key);
      if (scene_.done()) return;
    }
    scene_.Turn(now);
    HandleWindow(now);
    if (scene_.version() != drawn_) dirty_ = true;
    // One that failed by itself waits for nothing, and so would we, for ever.
    if (scene_.done()) return;
    if (dirty_ && now >= next_draw_) DrawScene(now);
    Wait();
  }

  void HandleWindow(TimePoint now) {
    if (signals_.TakeStop()) {
      scene_.OnHidden(now);
      screen_.Leave();
      signals_.Stop();
      screen_.Return();
      signals_.TakeContinued();
      dirty_ = true;
    }
    // Whoever stopped us by SIGSTOP may have used the terminal meanwhile.
    if (signals_.TakeContinued()) {
      scene_.OnHidden(now);
      screen_.Return();
      dirty_ = true;
    }
    if (signals_.TakeResized()) {
      screen_.Resize();
      dirty_ = true;
    }
    const Extent size = screen_.size();
    if (!HasRoom(FullView(), size.width, size.height)) scene_.OnHidden(now);
  }

  View FullView() const {
    View view = scene_.view();
    view.abilities = screen_.abilities();
    return view;
  }

  void DrawScene(TimePoint now) {
    const Extent size = screen_.size();
    Canvas canvas(size.width, size.height);
    Draw(FullView(), canvas);
    screen_.Show(canvas);
    drawn_ = scene_.version();
    dirty_ = false;
    next_draw_ = now + kDrawEvery;
  }

  void Wait() {
    TimePoint next = scene_.next_turn();
    if (dirty_) next = std::min(next, next_draw_);
    const bool forever = next == kNever;
    const TimePoint now = Now();
    const Duration time = forever       ? Signals::kForever
                          : next <= now ? Duration::zero()
                                        : next - now;
    hung_up_ = !signals_.Wait(time);
  }

  Screen& screen_;
  Signals& signals_;
  Scene& scene_;
  bool dirty_ = true;
  bool hung_up_ = false;
  std::uint64_t drawn_ = 0;
  TimePoint next_draw_{};
};

struct Ending {
  int code = kExitOk;
  int signal = 0;
  std::string words;
};

std::string Complaint(const absl::Status& status) {
  return "parlor-solo: " + Printable(StatusText(status)) + "\n";
}

Ending Show(Options options, std::optional<ReplayPlayer> replay) {
  // First, and so the last to go: no signal may end us while the terminal is
  // still ours.
  Signals signals;
  const absl::StatusOr<std::unique_ptr<Screen>> screen = Screen::Open();
  if (!screen.ok()) return {kExitFailed, 0, Complaint(screen.status())};
  std::unique_ptr<Scene> scene;
  if (replay) {
    scene = std::make_unique<ReplayScene>(*std::move(replay), Now());
  } else {
    if (!options.size_given) {
      options.game.size = ChooseSize((*screen)->size(), (*screen)->abilities());
    }
    scene = std::make_unique<MatchScene>(options, Now());
  }
  Loop(**screen, signals, *scene).Run();
  return {scene->exit_code(), signals.end(), scene->last_words()};
}

}  // namespace

int RunTerminal(const Options& options) {
  std::optional<ReplayPlayer> replay;
  if (!options.replay.empty()) {
    absl::StatusOr<ReplayPlayer> player =
        ReplayPlayer::Open(options.replay, options.partial);
    if (!player.ok()) {
      std::fputs(Complaint(player.status()).c_str(), stderr);
      return kExitRefused;
    }
    replay = *std::move(player);
  }
  const Ending ending = Show(options, std::move(replay));
  std::fputs(ending.words.c_str(), ending.code == kExitOk ? stdout : stderr);
  std::fflush(stdout);
  if (ending.signal != 0) DieBy(ending.signal);
  return ending.code;
}

}  // namespace parlor::solo
