#include "recorder.h"

#include <utility>

#include "replay_player.h"
#include "storage/replay_file.h"

namespace parlor::solo {

Recorder::Recorder(RecordOptions options) : options_(std::move(options)) {}
Recorder::~Recorder() = default;

void Recorder::OnStart(TimePoint now, const lockstep::Match& match,
                       const cycles::State& state) {
  absl::StatusOr<std::unique_ptr<host::ReplayFile>> file =
      host::ReplayFile::Create(options_.path);
  status_ = file.status();
  if (!file.ok()) return;
  file_ = *std::move(file);
  const std::int64_t started =
      options_.unix_ms == nullptr ? 0 : options_.unix_ms();
  writer_.emplace(
      *file_,
      lockstep::ReplayHeader{.source = lockstep::ReplaySource::kPeer,
                             .seed = match.seed,
                             .size = match.size,
                             .recorded_by = match.seat,
                             .game = CyclesGame(match.delay),
                             .started_unix_ms = started},
      now);
  writer_->Begin(now, match.players, match.mode);
  AddHash(now, state);
  // A disk that is full says so before anybody has played.
  writer_->Flush();
  status_ = writer_->status();
}

void Recorder::OnFrame(TimePoint now, std::span<const std::uint32_t> inputs,
                       std::uint32_t bots, const cycles::State& state) {
  if (!writer_ || !status_.ok()) return;
  writer_->AddFrame(now, inputs, bots);
  if (state.frame % kHashEvery == 0) AddHash(now, state);
  if (state.frame % kKeyframeEvery == 0) {
    writer_->AddKeyframe(now, cycles::SavedBytes(state));
  }
  status_ = writer_->status();
}

void Recorder::Finish(TimePoint now, const cycles::State& state) {
  if (!writer_ || !status_.ok()) return;
  if (hashed_ != state.frame) AddHash(now, state);
  writer_->Finish();
  status_ = writer_->status();
  writer_.reset();
  file_.reset();
}

void Recorder::AddHash(TimePoint now, const cycles::State& state) {
  hashed_ = state.frame;
  writer_->AddHash(now, cycles::Hash32(state));
}

}  // namespace parlor::solo
