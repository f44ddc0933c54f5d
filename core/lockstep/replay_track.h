// ReplayTrack: where the events of a replay log have got to. What can happen
// next is the same for whoever writes (who checks it of itself) and for whoever
// reads (who refuses a file).
#ifndef PARLOR_CORE_LOCKSTEP_REPLAY_TRACK_H_
#define PARLOR_CORE_LOCKSTEP_REPLAY_TRACK_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "parlor/lockstep/replay_log.h"

namespace parlor::lockstep::replay {

class Track {
 public:
  explicit Track(const ReplayHeader& header)
      : source_(header.source),
        size_(header.size),
        recorded_by_(header.recorded_by) {}

  // The match goes on from there.
  void TakeKept(const ReplayKept& kept);
  // Null, or why this cannot happen; then nothing has.
  const char* Take(const ReplayEvent& event);
  // A keyframe of the state as it is. The same.
  const char* TakeKeyframe();

  // As Take of the kind, where a room has relayed: nothing is to be checked.
  void Relayed(Kind kind, int seat, std::uint32_t frame) {
    Seat& state = seats_[static_cast<std::size_t>(seat)];
    if (kind == Kind::kInput) {
      state.next_input = std::uint64_t{frame} + 1;
    } else {
      state.next_hash = std::uint64_t{frame} + 1;
    }
  }
  bool MayRelay(Kind kind, int seat, std::uint32_t frame) const;

  ReplaySource source() const { return source_; }
  const std::optional<ReplayLogReader::Match>& match() const { return match_; }
  std::uint32_t frames() const { return frames_; }  // kPeer
  // The least that a seat of the match has not said yet, where it has not left;
  // the frames of a kPeer. Never falls.
  std::uint32_t frame();
  // One above the last frame that any seat has said; the same of a kPeer.
  std::uint64_t said() const { return said_; }
  // The frame that most seats began with, the lowest such; 0: not known.
  std::uint32_t first() const;

 private:
  enum class Phase : std::uint8_t { kLobby, kPlaying, kEnded };
  struct Seat {
    enum class Is : std::uint8_t { kFree, kHere, kAway, kLeft };
    Is is = Is::kFree;
    std::uint64_t next_input = 0;  // one above the last
    std::uint64_t next_hash = 0;
    std::optional<std::uint32_t> first;  // that it said
  };

  const char* TakeInput(const ReplayEvent& event);
  const char* TakeHash(const ReplayEvent& event);
  const char* TakeFrames(const ReplayEvent& event);
  const char* TakeSeat(const ReplayEvent& event);
  const char* TakeBegin(const ReplayEvent& event);

  ReplaySource source_;
  int size_;
  int recorded_by_;
  Phase phase_ = Phase::kLobby;
  bool kept_ = false;
  std::optional<ReplayLogReader::Match> match_;
  std::array<Seat, kReplaySeatsMax> seats_;
  std::uint32_t frames_ = 0;
  std::uint32_t frame_ = 0;
  std::uint64_t said_ = 0;
  std::optional<std::uint32_t> keyframe_;  // the last one's
};

}  // namespace parlor::lockstep::replay

#endif  // PARLOR_CORE_LOCKSTEP_REPLAY_TRACK_H_
