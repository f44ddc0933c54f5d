// Recorder: writes the replay file of a match while it is played.
#ifndef PARLOR_SOLO_RECORDER_H_
#define PARLOR_SOLO_RECORDER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "cycles/state.h"
#include "parlor/lockstep/peer.h"
#include "replay_file.h"

namespace parlor::solo {

// The first error ends the recording, not the match: status() tells.
class Recorder {
 public:
  explicit Recorder(std::string path) : path_(std::move(path)) {}

  void OnStart(const lockstep::Match& match, const cycles::State& state);
  // `state` is the one after the frame.
  void OnFrame(std::span<const std::uint32_t> inputs, std::uint32_t bots,
               const cycles::State& state);
  void Finish(const cycles::State& state);

  const absl::Status& status() const { return status_; }

 private:
  std::string path_;
  absl::Status status_;
  std::optional<ReplayWriter> writer_;
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_RECORDER_H_
