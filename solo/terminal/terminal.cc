#include "terminal/terminal.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "clock.h"
#include "parlor/host/os_entropy.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "terminal/net_games.h"
#include "terminal/net_scene.h"
#include "terminal/renderer.h"
#include "terminal/scene.h"
#include "terminal/screen.h"
#include "terminal/signals.h"
#include "terminal/solo_scene.h"

namespace parlor::solo {
namespace {

constexpr Duration kDrawEvery{1'000'000'000 / 60};
constexpr Duration kQuitTurnEvery = 2 * kMillisecond;

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
    scene_.Quit(SteadyNow());
    while (!scene_.done()) {
      SleepUntil(SteadyNow() + kQuitTurnEvery);
      scene_.Turn(SteadyNow());
    }
  }

 private:
  void Turn() {
    const TimePoint now = SteadyNow();
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
    const TimePoint now = SteadyNow();
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

std::string Complaint(const absl::Status& status, std::string_view flag = "") {
  std::string out = "parlor-solo: ";
  out.append(flag).append(Printable(StatusText(status))).append("\n");
  return out;
}

// The arena of a match with others has to fit the windows of those who will
// come, of which nothing is known; most are this large.
constexpr Extent kFriendsWindow{80, 24};

int SizeFor(const Options& options, const Screen& screen) {
  Extent window = screen.size();
  if (options.with_friends()) {
    window.width = std::min(window.width, kFriendsWindow.width);
    window.height = std::min(window.height, kFriendsWindow.height);
  }
  return ChooseSize(window, screen.abilities());
}

absl::StatusOr<std::unique_ptr<Scene>> MakeScene(const Options& options,
                                                 Entropy& entropy) {
  if (options.with_friends()) {
    absl::StatusOr<NetGame> game = options.listen ? HostGame(options, entropy)
                                                  : JoinGame(options, entropy);
    if (!game.ok()) return game.status();
    return std::make_unique<NetScene>(*std::move(game));
  }
  const OpenRoom open = [options, &entropy] {
    return OpenGame(options, entropy);
  };
  return std::make_unique<SoloScene>(options, open, SteadyNow());
}

Ending Show(Options options, std::optional<ReplayPlayer> replay) {
  // First, and so the last to go: no signal may end us while the terminal is
  // still ours. Threads of a room for friends inherit that none is theirs.
  Signals signals;
  const absl::StatusOr<std::unique_ptr<Screen>> screen = Screen::Open();
  if (!screen.ok()) return {kExitFailed, 0, Complaint(screen.status())};
  host::OsEntropy entropy;
  absl::StatusOr<std::unique_ptr<Scene>> scene;
  if (replay) {
    scene = std::make_unique<ReplayScene>(*std::move(replay), SteadyNow());
  } else {
    if (!options.size_given) options.game.size = SizeFor(options, **screen);
    scene = MakeScene(options, entropy);
  }
  if (!scene.ok()) {
    const bool refused = absl::IsInvalidArgument(scene.status());
    return {
        refused ? kExitRefused : kExitFailed, 0,
        Complaint(scene.status(), options.listen ? "--listen: " : "--join: ")};
  }
  Loop(**screen, signals, **scene).Run();
  return {(*scene)->exit_code(), signals.end(), (*scene)->last_words()};
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
