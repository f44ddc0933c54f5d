// Replay logs of Cycles, made without a room: as a peer would have recorded
// them, with what is wrong with them said.
#ifndef PARLOR_TESTS_SOLO_CYCLES_RECORDING_H_
#define PARLOR_TESTS_SOLO_CYCLES_RECORDING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cycles/state.h"
#include "parlor/lockstep/replay_log.h"
#include "replay_player.h"
#include "support/replay_bytes.h"

namespace parlor::test {

struct CyclesRecording {
  std::uint32_t frames = 1;
  std::int64_t lie = -1;  // the frame whose hash is another state's
  lockstep::ReplayGame game = solo::CyclesGame(1);
  int size = 3;
  std::optional<std::uint8_t> mode = std::nullopt;
  std::uint32_t keyframe_every = 0;
  std::function<void(std::vector<std::byte>&)> spoil = nullptr;  // a keyframe
  int recorded_by = 0;
  int players = 1;
  std::uint32_t seed = 9;
  // Another word of the last seat in this frame.
  std::int64_t other_input = -1;
  bool finished = true;
};

inline TimePoint FrameTime(std::uint32_t frame) {
  return TimePoint{} + Duration{std::int64_t{frame} * 1'000'000'000 / 60};
}

// A press every 50 frames, each seat at its own time.
inline std::uint32_t PressOf(int seat, std::uint32_t frame) {
  const std::uint32_t own = frame + 7 * static_cast<std::uint32_t>(seat);
  return own % 50 == 0 ? 1u << (own / 50 % 4) : 0u;
}

inline std::vector<std::byte> Record(const CyclesRecording& recording) {
  const cycles::Options options{.players = 3, .size = 0};
  cycles::State state = cycles::Start(options, recording.seed, 1);
  MemoryReplaySink sink;
  lockstep::ReplayLogWriter writer(sink,
                                   {.source = lockstep::ReplaySource::kPeer,
                                    .seed = recording.seed,
                                    .size = recording.size,
                                    .recorded_by = recording.recorded_by,
                                    .game = recording.game},
                                   FrameTime(0));
  writer.Begin(FrameTime(0), recording.players,
               recording.mode.value_or(cycles::ModeOf(options)));
  for (std::uint32_t f = 0;; ++f) {
    const TimePoint now = FrameTime(f);
    if (f % 30 == 0 || f == recording.frames) {
      writer.AddHash(now, cycles::Hash32(state) ^ (f == recording.lie ? 1 : 0));
    }
    if (recording.keyframe_every != 0 && f != 0 &&
        f % recording.keyframe_every == 0) {
      const auto saved = cycles::SavedBytes(state);
      std::vector<std::byte> bytes(saved.begin(), saved.end());
      if (recording.spoil) recording.spoil(bytes);
      writer.AddKeyframe(now, bytes);
    }
    if (f == recording.frames) break;
    std::array<std::uint32_t, lockstep::kReplaySeatsMax> inputs{};
    for (int s = 0; s < recording.players; ++s) {
      inputs[static_cast<std::size_t>(s)] = PressOf(s, f);
    }
    const auto players = static_cast<std::size_t>(recording.players);
    if (f == recording.other_input) inputs[players - 1] ^= cycles::word::kBoost;
    const auto words = std::span(inputs).first(players);
    cycles::Step(state, words, 0);
    writer.AddFrame(now, words, 0);
  }
  if (recording.finished) writer.Finish();
  return std::move(sink.bytes);
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SOLO_CYCLES_RECORDING_H_
