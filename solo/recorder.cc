#include "recorder.h"

namespace parlor::solo {

void Recorder::OnStart(const lockstep::Match& match,
                       const cycles::State& state) {
  absl::StatusOr<ReplayWriter> writer = ReplayWriter::Create(
      path_, ReplayHeader{.game = kReplayGameCycles,
                          .rules_version = state.rules_version,
                          .seed = match.seed,
                          .seats = match.players,
                          .size = match.size,
                          .mode = match.mode,
                          .delay = match.delay,
                          .start_hash = cycles::Hash64(state)});
  status_ = writer.status();
  if (writer.ok()) writer_ = *std::move(writer);
}

void Recorder::OnFrame(std::span<const std::uint32_t> inputs,
                       std::uint32_t bots, const cycles::State& state) {
  if (!writer_ || !status_.ok()) return;
  if (writer_->Add(inputs, bots)) {
    status_ = writer_->CloseBlock(cycles::Hash64(state));
  }
}

void Recorder::Finish(const cycles::State& state) {
  if (!writer_ || !status_.ok()) return;
  const std::uint64_t hash = cycles::Hash64(state);
  if (writer_->block_open()) status_ = writer_->CloseBlock(hash);
  if (status_.ok()) status_ = writer_->Finish(hash);
  writer_.reset();
}

}  // namespace parlor::solo
