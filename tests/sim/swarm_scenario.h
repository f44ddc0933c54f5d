// What a swarm's run is to be: drawn from its seed before it begins, so that it
// can be read, and the same whatever the code under test does.
#ifndef PARLOR_TESTS_SIM_SWARM_SCENARIO_H_
#define PARLOR_TESTS_SIM_SWARM_SCENARIO_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parlor/executor.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"

namespace parlor::test {

struct SwarmHost {
  int shards = 1;
  std::int64_t hold_ms = 0;
  std::int64_t idle_ms = 0;
  std::int64_t lobby_ms = 0;
  std::int64_t drain_ms = 0;
  std::int64_t gather_ms = 0;  // of its rooms
  bool keeps_matches = true;
  bool patient = false;  // with links that say nothing
};

struct SwarmRoom {
  std::size_t host = 0;
  std::uint32_t number = 0;
  int size = 2;      // seats it is opened for
  int delay = 2;     // of its peers
  int start_at = 0;  // the count of its host's START; 0: none, it fills
  Duration start{};  // when that is sent
};

// An honest player.
struct SwarmClient {
  std::size_t room = 0;
  sim::Via via = sim::Via::kMessages;
  std::size_t preset = 0;  // of SwarmPresets
  std::int32_t clock_ppm = 0;
  Duration joins{};
};

struct SwarmFault {
  enum class Kind : std::uint8_t {
    kCut,         // client; for `time`
    kCutUp,       // client; for `time`
    kCutDown,     // client; for `time`
    kReset,       // client
    kStall,       // client; for `time`
    kConditions,  // client; others for `time`
    kCrash,       // client
    kLeave,       // client
    kHostCrash,   // host; down for `time`
    kHostPower,   // host; down for `time`
    kHostDrain,   // host; down for `time` behind it
  };
  Kind kind{};
  std::size_t target = 0;  // a client or a host
  Duration at{};
  Duration time{};
  std::size_t preset = 0;
};

// Whoever means harm, by connections of its own.
struct SwarmHostile {
  enum class Kind : std::uint8_t {
    kGuesser,    // offers tokens that nobody has
    kThief,      // offers a token that another has, and goes on from there
    kOldTokens,  // offers tokens of seats that are gone
    kSpeaker,    // has a seat, and says what it must not
    kFlooder,    // has a seat, and says too much
    kMissizer,   // has a seat, and says something of a wrong size
    kIntruder,   // joins rooms that are full, or for another size
  };
  Kind kind{};
  std::size_t room = 0;
  sim::Via via = sim::Via::kMessages;
  Duration at{};

  bool takes_seat() const {
    return kind == Kind::kSpeaker || kind == Kind::kFlooder ||
           kind == Kind::kMissizer;
  }
};

struct SwarmScenario {
  std::uint64_t seed = 0;
  Executor::Ties ties = Executor::Ties::kShuffled;
  std::vector<SwarmHost> hosts;
  std::vector<SwarmRoom> rooms;
  std::vector<SwarmClient> clients;
  std::vector<SwarmFault> faults;
  std::vector<SwarmHostile> hostiles;
  Duration trouble{};  // how long faults and hostiles last
};

struct SwarmPreset {
  const char* name;
  sim::Conditions conditions;
};
const std::vector<SwarmPreset>& SwarmPresets();

SwarmScenario DrawScenario(std::uint64_t seed);

// For whoever reads a failure.
const char* NameOf(SwarmFault::Kind kind);
const char* NameOf(sim::Via via);
std::string MsText(Duration time);
// One line each.
std::string Describe(const SwarmScenario& scenario);

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_SCENARIO_H_
