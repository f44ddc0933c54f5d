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
#include "support/lockstep_world.h"

namespace parlor::test {

// Compares the frames with those that `game` kept, which `peer` ran, and the
// hashes of its seat with its states. A seat that lost its link for good has
// run some frames with inputs that nobody got: only those before a bot has it
// count. One who plays with nobody honest may run on while it is cut off, and
// the room hears of the last of these frames only: what has to be recorded are
// those that another honest peer ran too, the first `others_ran`. Answers how
// many were compared.
inline std::uint32_t ExpectRecorded(lockstep::ReplayFrames& frames,
                                    const lockstep::Peer& peer,
                                    const LoggedGame& game,
                                    std::size_t others_ran) {
  const auto seat = static_cast<unsigned>(peer.match()->seat);
  const auto players = static_cast<std::size_t>(peer.match()->players);
  SCOPED_TRACE(testing::Message() << "seat " << seat);
  EXPECT_EQ(frames.players(), peer.match()->players);
  lockstep::ReplayFrame frame;
  std::uint32_t f = frames.begin();
  for (; f < game.frames.size() && frames.Read(f, frame); ++f) {
    if ((frame.bots >> seat & 1) != 0) return f - frames.begin();
    for (const lockstep::ReplayHash& hash : frames.HashesOf(f)) {
      if (f == 0 || hash.seat != peer.match()->seat) continue;
      EXPECT_EQ(hash.value, game.states[f - 1] >> 32) << "hash of " << f;
    }
    const ToyGame::Frame recorded{
        f, {frame.inputs.begin(), frame.inputs.begin() + players}, frame.bots};
    if (recorded != game.frames[f]) {
      ADD_FAILURE() << "frame " << f
                    << " differs: " << testing::PrintToString(recorded.inputs)
                    << " bots " << recorded.bots << ", but was run with "
                    << testing::PrintToString(game.frames[f].inputs) << " bots "
                    << game.frames[f].bots;
      return f - frames.begin();
    }
  }
  // What is missing was on its way to the room when the recording stopped.
  const auto way = static_cast<std::size_t>(2 * peer.match()->delay + 2);
  EXPECT_GE(f + way, std::min(game.frames.size(), others_ran));
  return f - frames.begin();
}

// The most frames that any client but `client` ran, of those that kept them.
template <typename World, typename Client>
std::size_t OthersRan(World& world, const Client& client) {
  std::size_t most = 0;
  for (const auto& other : world.clients()) {
    if (other.get() == &client) continue;
    most = std::max(most, other->game().frames.size());
  }
  return most;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_REPLAY_MATCH_H_
