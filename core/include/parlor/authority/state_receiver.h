// StateReceiver: the state of an authority room as one client has it. It takes
// the room's state frames as they come, in any order, with any lost or
// repeated, and its rows are at each moment exactly those that the room showed
// this client at one of its ticks (values.h says as which numbers).
//
// A baseline is the whole state. A delta is what differs from one baseline, and
// is only ever applied to that: rows = baseline + newest delta, never a delta
// on a delta. A recovery, which a room sends to a client that read too slowly,
// is the whole state too, but only to be shown: no delta refers to it, and the
// baseline stays what it was.
//
// A frame is checked whole before anything changes, so what is refused has no
// effect. Hostile frames are refused; what they can make it hold is bounded by
// the schema (limits::kRows).
//
// One receiver a connection: each welcome starts a new one, with the schema
// that it brought, which must outlive it. One thread. Nothing calls back. No
// allocation once rows, strings and frames are as large as ever.
#ifndef PARLOR_AUTHORITY_STATE_RECEIVER_H_
#define PARLOR_AUTHORITY_STATE_RECEIVER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/values.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/lane.h"

namespace parlor::authority {

// What became of a state frame. The first three were applied: acknowledge
// tick().
enum class StateOutcome : std::uint8_t {
  kBaseline,
  kDelta,
  kRecovery,
  // Nothing changed: a delta for another baseline than ours, a frame that is
  // not newer than what is shown, or one of an epoch that ended. Loss and
  // overtaking make these, and a delta that is faster than its baseline.
  kStale,
  // Nothing changed: the frame breaks a rule of the wire. No room of ours sends
  // one.
  kMalformed,
};

// Frames by their outcome, since the beginning.
struct StateCounters {
  std::uint64_t baselines = 0;
  std::uint64_t deltas = 0;
  std::uint64_t recoveries = 0;
  std::uint64_t stale = 0;
  std::uint64_t malformed = 0;
};

class StateReceiver {
 public:
  explicit StateReceiver(const Schema& schema);

  // A message of either codec: text is JSON, binary is binary. `bytes` may die
  // after the return.
  //
  //   baseline  newer than base(), of the epoch that is shown or a newer one.
  //             Its tick may lie before what is shown (a recovery, say, that
  //             overtook it): then tick() goes back, until the next delta
  //   delta     of the epoch that is shown, for base(), and newer than tick();
  //             directly behind its baseline also of the same tick, whose own
  //             body it brings
  //   recovery  newer than tick(), of this epoch or a newer one
  StateOutcome Apply(MessageKind kind, std::span<const std::byte> bytes);

  // What is shown: the rows of the frame that was applied last. The same until
  // the next Apply that is neither kStale nor kMalformed; which of two tables
  // it is may change with each of those.
  const RowTable& rows() const { return shows_recovery_ ? recovery_ : state_; }
  // Of that frame: row ids mean nothing in another epoch. 1 before the first.
  std::uint32_t epoch() const { return rows().epoch(); }
  // The room's tick that rows() are of. 0 before the first.
  std::uint32_t tick() const { return tick_; }
  // The player's own body at that tick, where the frame had one.
  const std::optional<OwnBody>& own() const { return own_; }

  // The number of the baseline that deltas are taken for; 0 before the first.
  std::uint32_t base() const { return state_.base(); }
  // A recovery is shown: since it came there was no delta and no baseline.
  bool shows_recovery() const { return shows_recovery_; }

  const StateCounters& counters() const { return counters_; }

 private:
  bool IsNews(const StateHeader& header) const;
  StateOutcome Show();

  RowTable state_;     // the baseline, and the newest delta for it
  RowTable recovery_;  // the last recovery
  bool shows_recovery_ = false;
  bool shows_baseline_ = false;  // the frame applied last was one
  std::uint32_t tick_ = 0;
  std::optional<OwnBody> own_;
  StateEdits edits_;
  StateCounters counters_;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_STATE_RECEIVER_H_
