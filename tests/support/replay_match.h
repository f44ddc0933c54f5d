// Whether a recording of a room says of a match what its peers ran.
#ifndef PARLOR_TESTS_SUPPORT_REPLAY_MATCH_H_
#define PARLOR_TESTS_SUPPORT_REPLAY_MATCH_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/replay_frames.h"
#include "support/toy_game.h"

namespace parlor::test {

// Compares the frames with those that `game` kept, which `peer` ran, and the
// hashes of its seat with the states that they lead to. A seat that lost its
// link for good has run some frames with inputs that nobody got: only those
// before a bot has it count. One who plays with nobody honest may run on while
// it is cut off, and the room hears of the last of these frames only: what has
// to be recorded are those that another honest peer ran too, the first
// `others_ran`. Answers how many were compared.
inline std::uint32_t ExpectRecorded(lockstep::ReplayFrames& frames,
                                    const lockstep::Peer& peer,
                                    const ToyGame& game,
                                    std::size_t others_ran) {
  const auto seat = static_cast<unsigned>(peer.match()->seat);
  const auto players = static_cast<std::size_t>(peer.match()->players);
  SCOPED_TRACE(testing::Message() << "seat " << seat);
  EXPECT_EQ(frames.players(), peer.match()->players);
  // Where it begins elsewhere, no state is known.
  const bool hashed = frames.begin() == 0;
  ToyGame again;
  again.keep_frames = false;
  again.OnStart(*peer.match());
  if (game.frames.empty()) return 0;
  const std::uint32_t kept = game.frames.front().frame;
  const std::size_t ran = kept + game.frames.size();
  lockstep::ReplayFrame frame;
  std::uint32_t f = frames.begin();
  for (; f < ran && frames.Read(f, frame); ++f) {
    if ((frame.bots >> seat & 1) != 0) return f - frames.begin();
    for (const lockstep::ReplayHash& hash : frames.HashesOf(f)) {
      if (!hashed || hash.seat != peer.match()->seat) continue;
      EXPECT_EQ(hash.value, again.Hash()) << "hash of " << f;
    }
    const ToyGame::Frame recorded{
        f, {frame.inputs.begin(), frame.inputs.begin() + players}, frame.bots};
    if (f >= kept && recorded != game.frames[f - kept]) {
      ADD_FAILURE() << "frame " << f
                    << " differs: " << testing::PrintToString(recorded.inputs)
                    << " bots " << recorded.bots << ", but was run with "
                    << testing::PrintToString(game.frames[f - kept].inputs)
                    << " bots " << game.frames[f - kept].bots;
      return f - frames.begin();
    }
    again.Step(f, recorded.inputs, frame.bots);
  }
  // What is missing was on its way to the room when the recording stopped.
  const auto way = static_cast<std::size_t>(2 * peer.match()->delay + 2);
  EXPECT_GE(f + way, std::min(ran, others_ran));
  return f - frames.begin();
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_REPLAY_MATCH_H_
