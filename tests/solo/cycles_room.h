// A match of Cycles as its room records it, made without one: who says what,
// and what befalls the seats.
#ifndef PARLOR_TESTS_SOLO_CYCLES_ROOM_H_
#define PARLOR_TESTS_SOLO_CYCLES_ROOM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cycles/state.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/lockstep/wire.h"
#include "solo/cycles_recording.h"
#include "support/replay_bytes.h"

namespace parlor::test {

struct CyclesRoom {
  std::uint32_t frames = 600;
  lockstep::ReplayGame game = {};  // as a host that knows none
  // A seat whose hashes are another state's from this frame on.
  int odd = -1;
  std::uint32_t odd_from = 0;
  int leaves = -1;  // this seat, in this frame
  std::uint32_t leaves_in = 0;
  // The room is taken back at this frame, by a process that records from there.
  std::uint32_t restart = 0;
};

// One recording, or those of both processes.
class CyclesRoomRecorder {
 public:
  static constexpr int kPlayers = 3;
  static constexpr std::uint32_t kDelay = 2;

  explicit CyclesRoomRecorder(const CyclesRoom& room)
      : room_(room),
        state_(cycles::Start({.players = kPlayers, .size = 0}, 9, kDelay)) {}

  std::vector<std::vector<std::byte>> Run() {
    std::vector<std::vector<std::byte>> files;
    Open(std::nullopt);
    for (int s = 0; s < kPlayers; ++s)
      Say(Event(lockstep::ReplayKind::kJoin, s));
    lockstep::ReplayEvent begin = Event(lockstep::ReplayKind::kBegin, 0);
    begin.players = kPlayers;
    begin.mode = Mode();
    begin.taken = (1u << kPlayers) - 1;
    Say(begin);
    for (frame_ = 0; frame_ < room_.frames; ++frame_) {
      if (frame_ != 0 && frame_ == room_.restart) {
        writer_->Flush();
        files.push_back(std::move(sink_.bytes));
        TakeBack();
      }
      RunFrame();
    }
    writer_->Finish();
    files.push_back(std::move(sink_.bytes));
    return files;
  }

 private:
  static std::uint8_t Mode() {
    return cycles::ModeOf({.players = kPlayers, .size = 0});
  }
  static lockstep::ReplayEvent Event(lockstep::ReplayKind kind, int seat) {
    lockstep::ReplayEvent event;
    event.kind = kind;
    event.seat = seat;
    return event;
  }
  void Say(const lockstep::ReplayEvent& event) {
    writer_->Add(FrameTime(frame_), event);
  }
  bool Left(int seat) const {
    return seat == room_.leaves && frame_ >= room_.leaves_in;
  }

  void Open(const std::optional<lockstep::ReplayKept>& kept) {
    sink_.bytes.clear();
    lockstep::ReplayHeader header{.source = lockstep::ReplaySource::kRoom,
                                  .seed = 9,
                                  .size = kPlayers,
                                  .game = room_.game,
                                  .room = 4,
                                  .hold_ms = 20'000};
    writer_.emplace(sink_, header, FrameTime(frame_), kept);
  }

  // The inputs that a room keeps, and everybody comes back.
  void TakeBack() {
    lockstep::ReplayKept kept{.mode = Mode(), .seats = {}};
    for (int s = 0; s < kPlayers; ++s) {
      const std::uint32_t last = frame_ - 1 + kDelay;
      lockstep::ReplaySeat seat{.last_input = last,
                                .last_hash = (frame_ - 1) / 30 * 30,
                                .inputs = {}};
      const auto most = static_cast<std::uint32_t>(lockstep::kReplayInputs);
      for (std::uint32_t f = last + 1 - most; f <= last; ++f) {
        seat.inputs.push_back(
            Message(lockstep::Kind::kInput, s, f, PressOf(s, f)));
      }
      kept.seats.push_back(std::move(seat));
    }
    Open(kept);
    for (int s = 0; s < kPlayers; ++s) {
      Say(Event(lockstep::ReplayKind::kResume, s));
    }
  }

  static lockstep::MessageBytes Message(lockstep::Kind kind, int seat,
                                        std::uint32_t frame,
                                        std::uint32_t value) {
    return lockstep::Encode({.kind = kind,
                             .slot = static_cast<std::uint8_t>(seat),
                             .frame = frame,
                             .value = value});
  }

  void RunFrame() {
    std::array<std::uint32_t, kPlayers> words{};
    std::uint32_t bots = 0;
    if (room_.leaves >= 0 && frame_ == room_.leaves_in) {
      lockstep::ReplayEvent drop =
          Event(lockstep::ReplayKind::kDrop, room_.leaves);
      drop.code = 1006;
      Say(drop);
      lockstep::ReplayEvent leave =
          Event(lockstep::ReplayKind::kLeave, room_.leaves);
      leave.cause = lockstep::ReplayCause::kHoldOver;
      Say(leave);
    }
    for (int s = 0; s < kPlayers; ++s) {
      if (!Left(s)) SayFrame(s);
      // What it said before it left is `kDelay` ahead.
      const bool bot = s == room_.leaves && frame_ >= room_.leaves_in + kDelay;
      if (bot) {
        bots |= 1u << s;
      } else if (frame_ >= kDelay) {
        words[static_cast<std::size_t>(s)] = PressOf(s, frame_);
      }
    }
    cycles::Step(state_, words, bots);
  }

  void SayFrame(int seat) {
    const TimePoint now = FrameTime(frame_);
    const std::uint32_t frame = frame_ + kDelay;
    writer_->AddMessage(now, Message(lockstep::Kind::kInput, seat, frame,
                                     PressOf(seat, frame)));
    if (frame_ % 30 != 0) return;
    const bool odd = seat == room_.odd && frame_ >= room_.odd_from;
    writer_->AddMessage(now, Message(lockstep::Kind::kHash, seat, frame_,
                                     cycles::Hash32(state_) ^ (odd ? 1 : 0)));
  }

  const CyclesRoom room_;
  cycles::State state_;
  std::uint32_t frame_ = 0;
  MemoryReplaySink sink_;
  std::optional<lockstep::ReplayLogWriter> writer_;
};

inline std::vector<std::byte> RecordRoom(const CyclesRoom& room) {
  return CyclesRoomRecorder(room).Run().back();
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SOLO_CYCLES_ROOM_H_
