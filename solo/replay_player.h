// ReplayPlayer: plays a replay file again and compares every hash in it.
#ifndef PARLOR_SOLO_REPLAY_PLAYER_H_
#define PARLOR_SOLO_REPLAY_PLAYER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cycles/state.h"
#include "replay_file.h"

namespace parlor::solo {

class ReplayPlayer {
 public:
  // Refuses what is no replay of this game and these rules; the text names the
  // file, the byte and what is wrong there.
  static absl::StatusOr<ReplayPlayer> Open(const std::string& path,
                                           bool partial);
  static absl::StatusOr<ReplayPlayer> FromBytes(std::vector<std::byte> bytes,
                                                bool partial);

  // Runs the next frame; false after the last one. Aborted: the state is not
  // what was recorded; the text names the frame.
  absl::StatusOr<bool> Step();

  // Goes back before frame 0.
  void Rewind();

  const cycles::State& state() const { return state_; }
  const ReplayHeader& header() const { return reader_.header(); }
  std::uint32_t frame() const { return frame_; }  // the next one to run
  std::uint32_t frames() const { return reader_.frames(); }
  // Of a file that was cut off: the byte where it ends to make sense.
  std::optional<std::size_t> torn_at() const { return reader_.torn_at(); }

 private:
  ReplayPlayer(std::vector<std::byte> bytes, ReplayReader reader,
               const cycles::Options& options)
      : bytes_(std::move(bytes)),
        reader_(std::move(reader)),
        options_(options) {
    Rewind();
  }
  absl::Status Compare(std::uint64_t recorded) const;

  std::vector<std::byte> bytes_;  // what reader_ reads; moves keep its place
  ReplayReader reader_;
  cycles::Options options_;
  cycles::State state_;
  std::uint32_t frame_ = 0;
  std::uint32_t proved_ = 0;  // frames up to the last hash that matched
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_REPLAY_PLAYER_H_
