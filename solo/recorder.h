// Recorder: writes the replay log of a match while it is played, as its own
// peer runs it.
#ifndef PARLOR_SOLO_RECORDER_H_
#define PARLOR_SOLO_RECORDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "cycles/state.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/time.h"

namespace parlor::solo {

struct RecordOptions {
  std::string path;
  // Asked once, when the match begins; null: nobody is to know.
  std::int64_t (*unix_ms)() = nullptr;
};

// The first error ends the recording, not the match: status() tells.
class Recorder {
 public:
  // Between two hashes, as between those that peers send; and between two
  // states to begin at, half a minute: some 3 KB of 115 a second, and what a
  // program can run again while one waits for it.
  static constexpr std::uint32_t kHashEvery = 30;
  static constexpr std::uint32_t kKeyframeEvery = 1'800;

  explicit Recorder(RecordOptions options);
  ~Recorder();

  void OnStart(TimePoint now, const lockstep::Match& match,
               const cycles::State& state);
  // `state` is the one after the frame.
  void OnFrame(TimePoint now, std::span<const std::uint32_t> inputs,
               std::uint32_t bots, const cycles::State& state);
  void Finish(TimePoint now, const cycles::State& state);

  const absl::Status& status() const { return status_; }

 private:
  void AddHash(TimePoint now, const cycles::State& state);

  RecordOptions options_;
  absl::Status status_;
  std::uint32_t hashed_ = 0;  // the last frame that was
  std::unique_ptr<lockstep::ReplaySink> file_;
  std::optional<lockstep::ReplayLogWriter> writer_;
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_RECORDER_H_
