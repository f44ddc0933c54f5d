// Seeded scripts for the parity suite, and the traces they leave: what every
// seat heard, in order, byte for byte.
//
// After each action everything comes to rest before the next one. What is
// compared: OnOpen, every message of the reliable lane, the newest message of
// the state lane whenever things are at rest and somebody listens, and the
// close with its code, text, refusal and whose it was. What is not: pings,
// hints (OnWritable), and state messages that a newer one followed before the
// rest. How many of those arrive is the transport's affair.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_SCRIPT_H_
#define PARLOR_TESTS_SUPPORT_PARITY_SCRIPT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parlor/host/shard.h"
#include "support/parity_world.h"

namespace parlor::test {

using MakeParityWorld = std::function<std::unique_ptr<ParityWorld>(
    ParityHost& host, const ParityLimits& limits)>;

// Lockstep rooms, and one way of reaching them.
class ParityRooms {
 public:
  virtual ~ParityRooms() = default;
  virtual ParityWorld& world() = 0;
  // Closes everyone with CloseReason::kHostLeft.
  virtual void EndAll() = 0;
  // Ends the host.
  virtual void Drop() = 0;
};

// Everything random in the rooms comes from SeededEntropy(seed).
using MakeParityRooms = std::function<std::unique_ptr<ParityRooms>(
    const host::ShardOptions& options, std::uint64_t seed,
    const ParityLimits& limits)>;

// A shard alone, reached by a world that is made for it.
MakeParityRooms RoomsIn(const MakeParityWorld& make_world);

// Up to six clients against the lockstep rooms of a real shard: joins and
// resumes, right and wrong; every message a client may send, and those it may
// not; closes, aborts, silence, deadlines.
std::vector<std::string> RunRoomScript(std::uint64_t seed,
                                       const MakeParityRooms& make_rooms);

// Both ends of up to three connections: both lanes, both kinds, handlers that
// answer, close, pause and come back, overflows, wrong sizes and texts, every
// way to end. Both ends leave a trace.
std::vector<std::string> RunLinkScript(std::uint64_t seed,
                                       const MakeParityWorld& make_world);

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_SCRIPT_H_
