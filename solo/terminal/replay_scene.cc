#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "parlor/status.h"
#include "terminal/scene.h"

namespace parlor::solo {
namespace {

struct Speed {
  std::string_view name;
  int rate_hz;
};
constexpr std::array kSpeeds = {
    Speed{"x1/4", 15}, Speed{"x1/2", 30}, Speed{"x1", 60},  Speed{"x2", 120},
    Speed{"x4", 240},  Speed{"x8", 480},  Speed{"x16", 960}};

// At the highest speed, what a slow terminal may fall behind before frames are
// skipped over in time (none is skipped in the replay).
constexpr int kCatchUpMax = 64;

FixedStep StepsAt(TimePoint now, int speed) {
  return FixedStep(now, kSpeeds[static_cast<std::size_t>(speed)].rate_hz,
                   kCatchUpMax);
}

}  // namespace

ReplayScene::ReplayScene(ReplayPlayer player, TimePoint now)
    : player_(std::move(player)), cover_(now), steps_(StepsAt(now, speed_)) {}

void ReplayScene::Turn(TimePoint now) {
  if (cover_.covered()) return;
  for (int due = steps_.Take(cover_.clock().At(now)); due > 0; --due)
    StepOnce();
}

TimePoint ReplayScene::next_turn() const {
  return at_end_ || done() ? kNever : cover_.clock().Outside(steps_.next());
}

void ReplayScene::StepOnce() {
  if (at_end_ || !status_.ok()) return;
  const absl::StatusOr<bool> ran = player_.Step();
  ++changes_;
  if (!ran.ok()) {
    status_ = ran.status();
  } else if (!*ran) {
    at_end_ = true;
  }
}

void ReplayScene::SetSpeed(TimePoint now, int speed) {
  if (speed < 0 || speed >= static_cast<int>(kSpeeds.size())) return;
  speed_ = speed;
  steps_ = StepsAt(cover_.clock().At(now), speed_);
  ++changes_;
}

// Nothing can be lost here, so no key asks back.
void ReplayScene::OnKey(TimePoint now, Key key) {
  switch (key) {
    case Key::kQuit:
      done_ = true;
      return;
    case Key::kPause:
    case Key::kBoost:
      return cover_.Show(now,
                         cover_.covered() ? Overlay::kNone : Overlay::kPaused);
    case Key::kFaster:
      return SetSpeed(now, speed_ + 1);
    case Key::kSlower:
      return SetSpeed(now, speed_ - 1);
    case Key::kStep:
      cover_.Pause(now);
      return StepOnce();
    case Key::kRestart:
      player_.Rewind();
      at_end_ = false;
      SetSpeed(now, speed_);
      return cover_.Show(now, Overlay::kNone);
    default:
      return;
  }
}

View ReplayScene::view() const {
  return View{
      .state = &player_.state(),
      .own_seat = -1,
      .overlay = cover_.overlay(),
      .replay = ReplayView{
          .frame = player_.frame(),
          .frames = player_.frames(),
          .speed = std::string(kSpeeds[static_cast<std::size_t>(speed_)].name),
          .at_end = at_end_,
          .torn = player_.torn_at().has_value()}};
}

int ReplayScene::exit_code() const {
  return status_.ok() ? kExitOk : kExitFailed;
}

std::string ReplayScene::last_words() const {
  if (status_.ok()) return "";
  return absl::StrCat("parlor-solo: ", std::string(StatusText(status_)), "\n");
}

}  // namespace parlor::solo
