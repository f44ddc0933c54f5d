#include <algorithm>

#include "absl/strings/str_cat.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "storage/replay_file.h"
#include "terminal/menu.h"
#include "terminal/scene.h"
#include "wall_clock.h"

namespace parlor::solo {
namespace {

// The file of a restart's recording: FILE.n, with the first number from this
// one on that is free. What else is wrong with it shows when it is written.
std::string ClaimNumbered(const std::string& file, int number) {
  while (true) {
    std::string name = absl::StrCat(file, ".", number++);
    if (!absl::IsAlreadyExists(host::ClaimReplayFile(name))) return name;
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

void PauseCover::Show(TimePoint now, Overlay overlay) {
  overlay_ = overlay;
  ++changes_;
  if (covered()) {
    clock_.Pause(now);
  } else {
    clock_.Resume(now);
  }
}

std::string RecordWarning(const absl::Status& status) {
  if (status.ok()) return "";
  return absl::StrCat("Recording stopped: ", Printable(StatusText(status)));
}

MatchScene::MatchScene(const Options& options, TimePoint now)
    : options_(options), cover_(now) {
  NewMatch();
}

void MatchScene::NewMatch() {
  if (session_) {
    session_->End();
    if (record_status_.ok()) record_status_ = session_->record_status();
  }
  session_.reset();
  link_ = std::make_unique<LocalLink>(options_.seed, entropy_);
  SessionOptions session_options;
  session_options.game = options_.game;
  session_options.record = matches_ == 0 ? options_.record : ClaimNextRecord();
  session_options.unix_ms = host::WallClockMilliseconds;
  ++matches_;
  session_ = std::make_unique<Session>(session_options, *link_);
}

std::string MatchScene::ClaimNextRecord() const {
  if (options_.record.empty()) return "";
  return ClaimNumbered(options_.record, matches_ + 1);
}

void MatchScene::Turn(TimePoint now) {
  if (!cover_.covered()) session_->Turn(cover_.clock().At(now));
}

TimePoint MatchScene::next_turn() const {
  return cover_.clock().Outside(session_->next_turn());
}

void MatchScene::Show(TimePoint now, Overlay overlay) {
  cover_.Show(now, overlay);
  if (cover_.covered()) session_->ClearPresses();
  warning_.clear();
}

void MatchScene::OnHidden(TimePoint now) {
  if (!cover_.covered()) Show(now, Overlay::kPaused);
}

void MatchScene::Warn(std::string text) {
  warning_ = std::move(text);
  ++warnings_;
}

void MatchScene::OnKey(TimePoint now, Key key) {
  const MenuAnswer answer =
      OnMenuKey(cover_.overlay(), key, {.over = IsOver(*session_)});
  switch (answer.act) {
    case MenuAct::kNone:
      return;
    case MenuAct::kShow:
      return Show(now, answer.overlay);
    case MenuAct::kPlay:
      return PressKey(*session_, key);
    case MenuAct::kQuit:
      return Quit(now);
    case MenuAct::kRestart:
      Show(now, Overlay::kNone);
      return NewMatch();
    case MenuAct::kOpen:
      open_ = true;
      return;
  }
}

void MatchScene::Quit(TimePoint /*now*/) {
  session_->End();
  done_ = true;
}

absl::Status MatchScene::Recorded() const {
  return record_status_.ok() ? session_->record_status() : record_status_;
}

View MatchScene::view() const {
  View view{.state = session_->state(),
            .own_seat = 0,
            .overlay = cover_.overlay(),
            .warning = warning_};
  if (session_->match()) view.own_seat = session_->match()->seat;
  const std::string record = RecordWarning(Recorded());
  if (!record.empty()) view.warning = record;
  return view;
}

std::uint64_t MatchScene::version() const {
  return cover_.changes() + warnings_ + session_->frame() +
         (static_cast<std::uint64_t>(matches_) << 40);
}

int MatchScene::exit_code() const {
  return session_->failed() || !Recorded().ok() ? kExitFailed : kExitOk;
}

std::string MatchScene::last_words() const {
  std::string out;
  if (session_->failed()) {
    absl::StrAppend(&out, "parlor-solo: ", session_->error(), "\n");
  }
  const std::string record = RecordWarning(Recorded());
  if (!record.empty()) absl::StrAppend(&out, "parlor-solo: ", record, "\n");
  const cycles::State* state = session_->state();
  if (state == nullptr) return out;
  absl::StrAppend(&out, "Again: ", ShellWord(options_.program), " --players ",
                  state->players, " --level ",
                  std::string(LevelName(state->level)), " --size ",
                  SizeName(state->size), " --seed ", state->seed, "\n");
  return out;
}

}  // namespace parlor::solo
