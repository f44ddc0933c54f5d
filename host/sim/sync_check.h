// SyncCheck: whether clients of one match had the same states.
#ifndef PARLOR_HOST_SIM_SYNC_CHECK_H_
#define PARLOR_HOST_SIM_SYNC_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "parlor/lockstep/desync.h"
#include "sim/watched_game.h"

namespace parlor::sim {

struct SyncMember {
  const WatchedGame* game;      // in a match
  std::string name;             // "client 2"
  lockstep::FreshGame fresh{};  // or null
};

// Of the members of one match: OK, or Internal with the first frame that left
// two of them in different states, where SharedStates has it, and who was in
// which; and which fields, where their games' states were kept.
absl::Status CheckSync(const std::vector<SyncMember>& members);

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_SYNC_CHECK_H_
