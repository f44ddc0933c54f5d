// What the authority rooms of a swarm's run are to be: drawn from its seed,
// from a stream of their own, beside what swarm_scenario.h draws.
#ifndef PARLOR_TESTS_SIM_SWARM_PLAY_SCENARIO_H_
#define PARLOR_TESTS_SIM_SWARM_PLAY_SCENARIO_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/swarm_scenario.h"

namespace parlor::test {

struct PlayRoomDraw {
  std::size_t host = 0;
  std::string key;
  int seats = 4;
  int tick_hz = 60;
  int snapshot_hz = 20;
  std::int64_t grace_ms = 3'000;
  std::int64_t join_ms = 10'000;
  int inputs_waiting = 2;
  bool end_when_empty = false;
  bool json_only = false;
  bool views = false;          // clients see different rows
  bool throws = false;         // single calls into its game do
  std::uint32_t fails_at = 0;  // the tick from which each fails; 0: none does
};

// An honest player.
struct PlayPlayer {
  std::size_t room = 0;
  sim::Via via = sim::Via::kMessages;
  std::size_t preset = 0;  // of SwarmPresets
  std::int32_t clock_ppm = 0;
  int codecs = 0;  // 0: binary and JSON, 1: JSON, 2: JSON and binary
  bool predicts = false;
  Duration joins{};
};

// Whoever means harm, by connections of its own.
struct PlayHostileDraw {
  enum class Kind : std::uint8_t {
    kGuesser,    // offers tokens that nobody has
    kThief,      // offers a token that another has, and plays on
    kOldTokens,  // offers tokens that are dead, and those of other rooms
    kTwin,       // has a seat, and opens it in a second tab, again and again
    kGarbler,    // has a seat, and says what no client says
    kAcker,      // has a seat, and acks what was never sent
    kFlooder,    // has a seat, and says too much
    kSilent,     // has a seat, and acks nothing
    kIntruder,   // joins as it must not, or never says join
  };
  Kind kind{};
  std::size_t room = 0;
  sim::Via via = sim::Via::kMessages;
  Duration at{};
};

struct PlayScenario {
  std::vector<PlayRoomDraw> rooms;
  std::vector<PlayPlayer> players;
  std::vector<PlayHostileDraw> hostiles;
  std::vector<SwarmFault> faults;  // of players alone
};

enum class SwarmKind : std::uint8_t { kLockstep, kAuthority, kBoth };

// What a seed's world has of authority rooms. `scenario` is DrawScenario's of
// the seed; with kAuthority it keeps its hosts and loses its lockstep rooms.
PlayScenario DrawPlayScenario(SwarmKind kind, SwarmScenario& scenario);

std::string Describe(const PlayScenario& scenario);

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_PLAY_SCENARIO_H_
