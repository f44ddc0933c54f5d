// ReplayPlayer: plays a match of Cycles again out of a replay log, from its
// begin or from anywhere, and compares every hash that was said about it.
#ifndef PARLOR_SOLO_REPLAY_PLAYER_H_
#define PARLOR_SOLO_REPLAY_PLAYER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cycles/state.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/lockstep/replay_log.h"

namespace parlor::solo {

// What a recording of this game and these rules is told by. The players and
// the mode byte are the game's options.
lockstep::ReplayGame CyclesGame(int delay);

// The game that `log`'s match is. InvalidArgument: another game, other rules,
// or options that there are not. Where the recorder did not know the game, as a
// host does not, it is taken for Cycles, and the hash of frame 0 tells.
absl::StatusOr<cycles::Options> CyclesOptionsOf(
    const lockstep::ReplayLogReader& log);

// "0x" and 8 digits.
std::string HashText(std::uint32_t hash);

class ReplayPlayer {
 public:
  // Refuses what is no replay of this game and these rules; the text names the
  // file and what is wrong with it, and where.
  static absl::StatusOr<ReplayPlayer> Open(const std::string& path,
                                           bool partial);
  static absl::StatusOr<ReplayPlayer> FromBytes(std::vector<std::byte> bytes,
                                                bool partial);
  // Of a log that was opened; it reads `bytes`. Errors do not name the file.
  static absl::StatusOr<ReplayPlayer> Of(std::vector<std::byte> bytes,
                                         lockstep::ReplayLogReader log,
                                         lockstep::ReplayFrames match);

  // Runs the next frame; false after the last one. Aborted: the state is not
  // what a seat said it was; the text names frame and seat.
  absl::StatusOr<bool> Step();

  // Goes before `frame`, or to the end: from the last keyframe before it, where
  // the recording has some. Aborted: a hash on the way, the first one told of,
  // is as in Step, and it went there all the same; or a keyframe is none, and
  // it went nowhere.
  absl::Status Seek(std::uint32_t frame);
  void Rewind();

  const cycles::State& state() const { return state_; }
  const lockstep::ReplayLogReader& log() const { return log_; }
  lockstep::ReplayFrames& match() { return match_; }
  std::uint32_t frame() const { return frame_; }  // the next one to run
  std::uint32_t frames() const { return match_.end(); }
  // Of a file that was cut off: the byte where it ends to make sense.
  std::optional<std::size_t> torn_at() const { return log_.torn_at(); }

 private:
  ReplayPlayer(std::vector<std::byte> bytes, lockstep::ReplayLogReader log,
               lockstep::ReplayFrames match, const cycles::Options& options);
  bool Run();
  absl::Status Compare();
  absl::Status GoTo(const lockstep::ReplayKeyframe& keyframe);

  std::vector<std::byte> bytes_;  // what log_ reads; moves keep its place
  lockstep::ReplayLogReader log_;
  lockstep::ReplayFrames match_;
  cycles::Options options_;
  cycles::State state_;
  std::uint32_t frame_ = 0;
  std::uint32_t proved_ = 0;  // the last one whose hashes matched
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_REPLAY_PLAYER_H_
