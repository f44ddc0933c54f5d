#include "terminal/solo_scene.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parlor/printable.h"
#include "parlor/status.h"

namespace parlor::solo {
namespace {

// Takes back a claim that nobody wrote to.
void RemoveEmpty(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return;
  if (std::filesystem::file_size(file, error) != 0 || error) return;
  std::filesystem::remove(file, error);
}

}  // namespace

SoloScene::~SoloScene() { Close(); }

void SoloScene::OnKey(TimePoint now, Key key) {
  shown().OnKey(now, key);
  if (match_.TakeOpen()) Open();
}

void SoloScene::Quit(TimePoint now) {
  match_.Quit(now);
  if (net_) net_->Quit(now);
}

void SoloScene::Open() {
  absl::StatusOr<NetGame> game = open_();
  if (!game.ok()) {
    return match_.Warn(absl::StrCat("Cannot open it to friends: ",
                                    Printable(StatusText(game.status()))));
  }
  record_ = match_.ClaimNextRecord();
  game->session.record = record_;
  net_ = std::make_unique<NetScene>(*std::move(game));
  ++switches_;
}

// Leaves a lobby in which no match began.
void SoloScene::Close() {
  if (!net_) return;
  const bool began = net_->began();
  net_.reset();
  if (!began) RemoveEmpty(record_);
  ++switches_;
}

void SoloScene::Turn(TimePoint now) {
  if (!net_) return match_.Turn(now);
  net_->Turn(now);
  if (net_->began()) {
    // There is no way back any more.
    if (!match_.done()) match_.Quit(now);
    return;
  }
  if (!net_->done()) return;
  if (net_->session().failed()) {
    match_.Warn(
        absl::StrCat("No match with friends: ", net_->session().error()));
  }
  Close();
}

std::uint64_t SoloScene::version() const {
  return (switches_ << 48) + shown().version();
}

bool SoloScene::done() const {
  return net_ ? net_->done() && net_->began() : match_.done();
}

int SoloScene::exit_code() const {
  return net_ ? std::max(match_.exit_code(), net_->exit_code())
              : match_.exit_code();
}

std::string SoloScene::last_words() const {
  return net_ && net_->began()
             ? absl::StrCat(match_.last_words(), net_->last_words())
             : match_.last_words();
}

}  // namespace parlor::solo
