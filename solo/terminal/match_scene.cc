#include <algorithm>

#include "absl/strings/str_cat.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "replay_file.h"
#include "terminal/scene.h"

namespace parlor::solo {
namespace {

// The file of a restart's recording: FILE.n, with the first number from this
// one on that is free. What else is wrong with it shows when it is written.
std::string ClaimNumbered(const std::string& file, int number) {
  while (true) {
    std::string name = absl::StrCat(file, ".", number++);
    if (!absl::IsAlreadyExists(ClaimReplayFile(name))) return name;
  }
}

}  // namespace

void PausableClock::Pause(TimePoint now) {
  At(now);
  paused_ = true;
}

void PausableClock::Resume(TimePoint now) {
  At(now);
  paused_ = false;
}

TimePoint PausableClock::At(TimePoint now) {
  if (!paused_) time_ += std::min(now - outside_, kGapMax);
  outside_ = now;
  return time_;
}

TimePoint PausableClock::Outside(TimePoint time) const {
  if (paused_ || time == kNever) return kNever;
  return time == TimePoint::min() ? time : outside_ + (time - time_);
}

MatchScene::MatchScene(const Options& options, TimePoint now)
    : options_(options), clock_(now) {
  NewMatch();
}

void MatchScene::NewMatch() {
  if (session_) {
    session_->End();
    if (record_status_.ok()) record_status_ = session_->record_status();
  }
  session_.reset();
  link_ = std::make_unique<LocalLink>(options_.seed, entropy_);
  std::string record = options_.record;
  ++matches_;
  if (!record.empty() && matches_ > 1) record = ClaimNumbered(record, matches_);
  session_ = std::make_unique<Session>(
      SessionOptions{.game = options_.game, .record = record}, *link_);
}

void MatchScene::Turn(TimePoint now) {
  if (!clock_.paused()) session_->Turn(clock_.At(now));
}

TimePoint MatchScene::next_turn() const {
  return clock_.Outside(session_->next_turn());
}

void MatchScene::SetOverlay(TimePoint now, Overlay overlay) {
  overlay_ = overlay;
  ++changes_;
  if (overlay == Overlay::kNone) {
    clock_.Resume(now);
  } else {
    clock_.Pause(now);
    session_->ClearPresses();
  }
}

void MatchScene::OnHidden(TimePoint now) {
  if (overlay_ == Overlay::kNone) SetOverlay(now, Overlay::kPaused);
}

void MatchScene::OnKey(TimePoint now, Key key) {
  if (overlay_ != Overlay::kNone) return OnOverlayKey(now, key);
  const cycles::State* state = session_->state();
  const bool over =
      state != nullptr && state->phase == cycles::Phase::kMatchOver;
  if (key == Key::kPause) return SetOverlay(now, Overlay::kPaused);
  if (key == Key::kHelp) return SetOverlay(now, Overlay::kHelp);
  if (key == Key::kQuit) {
    // At the final table there is nothing to lose.
    if (over) return Quit();
    return SetOverlay(now, Overlay::kAskQuit);
  }
  if (key == Key::kRestart && !over) {
    return SetOverlay(now, Overlay::kAskRestart);
  }
  OnGameKey(key);
}

void MatchScene::OnOverlayKey(TimePoint now, Key key) {
  const Overlay overlay = overlay_;
  if (key == Key::kQuit) {
    // Asked before, or paused on purpose: no second question.
    if (overlay == Overlay::kAskQuit || overlay == Overlay::kPaused) {
      return Quit();
    }
    return SetOverlay(now, Overlay::kAskQuit);
  }
  if (key == Key::kRestart &&
      (overlay == Overlay::kAskRestart || overlay == Overlay::kPaused)) {
    SetOverlay(now, Overlay::kNone);
    return NewMatch();
  }
  if (overlay != Overlay::kPaused) return SetOverlay(now, Overlay::kNone);
  if (key == Key::kHelp) return SetOverlay(now, Overlay::kHelp);
  // A key that is still held from before the pause must not end it.
  if (key == Key::kPause || key == Key::kReady) {
    SetOverlay(now, Overlay::kNone);
  }
}

// Ends the session now, so that an error of the recording's last bytes is
// known when the exit code is.
void MatchScene::Quit() {
  session_->End();
  done_ = true;
}

void MatchScene::OnGameKey(Key key) {
  const cycles::State* state = session_->state();
  if (state == nullptr) return;
  const bool table = state->phase == cycles::Phase::kRoundOver ||
                     state->phase == cycles::Phase::kMatchOver;
  switch (key) {
    case Key::kUp:
      return session_->Press(cycles::word::kUp);
    case Key::kDown:
      return session_->Press(cycles::word::kDown);
    case Key::kLeft:
      return session_->Press(cycles::word::kLeft);
    case Key::kRight:
      return session_->Press(cycles::word::kRight);
    case Key::kBoost:
      return session_->Press(table ? cycles::word::kReady
                                   : cycles::word::kBoost);
    case Key::kReady:
    case Key::kRestart:
      if (table) session_->Press(cycles::word::kReady);
      return;
    default:
      return;
  }
}

View MatchScene::view() const {
  View view{.state = session_->state(), .own_seat = 0, .overlay = overlay_};
  if (session_->match()) view.own_seat = session_->match()->seat;
  const absl::Status& status =
      record_status_.ok() ? session_->record_status() : record_status_;
  if (!status.ok()) {
    view.warning =
        absl::StrCat("Recording stopped: ", Printable(StatusText(status)));
  }
  return view;
}

std::uint64_t MatchScene::version() const {
  return changes_ + session_->frame() +
         (static_cast<std::uint64_t>(matches_) << 40);
}

int MatchScene::exit_code() const {
  const bool recorded = record_status_.ok() && session_->record_status().ok();
  return session_->failed() || !recorded ? kExitFailed : kExitOk;
}

std::string MatchScene::last_words() const {
  std::string out;
  if (session_->failed()) {
    absl::StrAppend(&out, "parlor-solo: ", session_->error(), "\n");
  }
  if (!record_status_.ok() || !session_->record_status().ok()) {
    absl::StrAppend(&out, "parlor-solo: ", view().warning, "\n");
  }
  const cycles::State* state = session_->state();
  if (state == nullptr) return out;
  absl::StrAppend(&out, "Again: ", ShellWord(options_.program), " --players ",
                  state->players, " --level ",
                  std::string(LevelName(state->level)), " --size ",
                  SizeName(state->size), " --seed ", state->seed, "\n");
  return out;
}

}  // namespace parlor::solo
