// ReplayFrames: a match as its peers ran it, out of a replay log: for each
// frame every seat's input word, the seats that bots played, and the hashes
// said about it.
//
// From what a room relayed, by the rules of a peer (peer.h, LeftSeat::kBot):
// frames below the delay are 0; a seat's frames go on from there without a
// hole, and nothing counts behind one; when it leaves, a bot has it from its
// first missing frame on. So whatever hostile seats said, every honest peer
// that ran a frame ran it as it is here (save one who lost its link for good,
// who ran some last frames with inputs of its own that nobody got).
//
// In memory 8 bytes a word that differs from the one before, and 12 a hash: of
// the largest hostile file, 128 MiB, some 800 MB.
//
// One thread at a time.
#ifndef PARLOR_LOCKSTEP_REPLAY_FRAMES_H_
#define PARLOR_LOCKSTEP_REPLAY_FRAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/lockstep/replay_log.h"

namespace parlor::lockstep {

struct ReplayFrame {
  std::uint32_t frame = 0;
  std::uint32_t bots = 0;
  // players() of them; 0 where a bot plays.
  std::array<std::uint32_t, kReplaySeatsMax> inputs{};

  friend bool operator==(const ReplayFrame&, const ReplayFrame&) = default;
};

struct ReplayHash {
  std::uint32_t frame = 0;  // the state is the one before it runs
  int seat = 0;             // who said so
  std::uint32_t value = 0;

  friend bool operator==(const ReplayHash&, const ReplayHash&) = default;
};

class ReplayFrames {
 public:
  // Reads all of `log`, and rewinds it. FailedPrecondition: its match did not
  // begin. The log need not outlive this.
  static absl::StatusOr<ReplayFrames> Of(ReplayLogReader& log);

  // And what the next process of the room recorded, which took it back: frames
  // that both have count once. FailedPrecondition: it is not the next one, by
  // what its header and what it kept say, or there are frames that are in
  // neither, since they died with a process that was killed; nothing has
  // changed then.
  absl::Status Append(ReplayLogReader& next);

  int players() const { return players_; }
  int delay() const { return delay_; }
  // The frames there are: [begin, end). begin is 0, but where the recording
  // began with a room that was taken back: then the first frame from which on
  // it has every seat's. What could be run: a peer may have stopped before it.
  std::uint32_t begin() const { return begin_; }
  std::uint32_t end() const { return end_; }

  // False: it is not in [begin, end). Quickest in ascending order, some
  // nanoseconds a seat; anywhere else a binary search in each.
  bool Read(std::uint32_t frame, ReplayFrame& out);

  // By frame, of one frame in the order they came. A seat that came back says
  // some again, in a room that was taken back.
  std::span<const ReplayHash> hashes() const { return hashes_; }
  std::span<const ReplayHash> HashesOf(std::uint32_t frame) const;

 private:
  // From `frame` on.
  struct Run {
    std::uint32_t frame;
    std::uint32_t word;
  };
  // Words as runs; after the last, what the seat's end says.
  struct Column {
    std::vector<Run> runs;
    std::uint64_t begin = 0;  // the first frame that is in it
    std::uint64_t next = 0;   // the first frame that is not in it
    bool taken_back = false;  // it said nothing yet since the room was
    bool stuck = false;       // it skipped a frame
    bool left = false;        // a bot has it from `next` on
    std::size_t cursor = 0;   // the run of the last frame that was read

    void Push(std::uint32_t frame, std::uint32_t word);
    std::uint32_t Read(std::uint32_t frame);
  };

  ReplayFrames() = default;
  void TakeBegin(const ReplayLogReader& log);
  void TakeKept(const ReplayKept& kept);
  void TakeEvents(ReplayLogReader& log);
  static void TakeInput(Column& column, std::uint32_t frame,
                        std::uint32_t word);
  void TakeFrames(const ReplayEvent& event);
  void SetRange();

  ReplaySource source_{};
  std::uint32_t seed_ = 0;
  int size_ = 0;
  std::uint8_t mode_ = 0;
  int players_ = 0;
  int delay_ = 0;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  bool in_match_ = false;        // leaves of a lobby mean nothing to it
  std::vector<Column> columns_;  // of each seat
  Column bots_;                  // kPeer: as it was told
  std::vector<ReplayHash> hashes_;
};

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_REPLAY_FRAMES_H_
