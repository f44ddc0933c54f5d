// Interpolator: where a client draws the rows that others move. Snapshots come
// late, unevenly and not all; rows are drawn one send interval behind the
// newest, between the two snapshots around that moment, so that they move as
// evenly as the authority moved them.
//
// Pure: the time and the rows go in, transforms come out. Add() each applied
// snapshot, SetTime() once a drawn picture, then Drawn() for each row.
//
//   - The moment drawn follows the authority's tick clock, which is learned
//     from when its ticks arrive: smoothed, so that jitter does not show, and
//     followed, so that two clocks that run apart stay together for hours. It
//     runs at 0.9 to 1.1 times real time and never back.
//   - When the next snapshot is not there in time, a row goes on as between the
//     last two, for 60 ms at most, and then stands. When snapshots come again
//     after a stall it is drawn where it has to be by then, at once; what was
//     missed is not played faster.
//   - A row that teleported is never drawn on the way.
//   - A row that appears stands at its first place until its time has come; one
//     that is not in the newest snapshot is not drawn.
//
// One thread, as all of a peer. Memory: kSnapshots transforms a row, twice.
#ifndef PARLOR_AUTHORITY_INTERPOLATION_H_
#define PARLOR_AUTHORITY_INTERPOLATION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parlor/authority/values.h"
#include "parlor/time.h"

namespace parlor::authority {

// When the authority's ticks happened, on the clock of whoever hears of them:
// by the time a snapshot mostly takes.
class TickClock {
 public:
  // `tick_hz` as in limits.h; `interval`, between two snapshots, is above 0.
  TickClock(int tick_hz, Duration interval);

  // A snapshot of `tick` arrived. Ticks rise from call to call.
  void Hear(TimePoint now, std::uint32_t tick);

  // Since the first tick that was heard; negative before it. Not before Hear.
  Duration At(TimePoint now) const { return now - zero_; }
  // The same of a tick, by its number alone.
  Duration Of(std::uint32_t tick) const;

 private:
  void Leap(Duration error);

  const int tick_hz_;
  const Duration interval_;
  std::int64_t first_tick_ = 0;
  TimePoint zero_{};       // when the first tick arrived, smoothed
  int heard_ = 0;          // snapshots, counted while they are few
  int late_ = 0;           // in a row, by more than a leap
  Duration late_least_{};  // of those
};

// One row of a snapshot.
struct RowPlace {
  std::uint32_t id = 0;
  Transform transform;
  std::int64_t teleports = 0;  // the row's count: changed, it has teleported
};

class Interpolator {
 public:
  // Snapshots kept: the moment drawn is one send interval back, and after the
  // link became quicker another few for as long as it takes to catch up.
  static constexpr std::size_t kSnapshots = 6;
  // Of the contract.
  static constexpr Duration kExtrapolationMax = 60 * kMillisecond;

  // What WELCOME says; both above 0.
  Interpolator(int tick_hz, int snapshot_hz);

  // All transform rows of a snapshot that arrived at `now`, by rising id.
  // `tick` is above that of the one before.
  void Add(TimePoint now, std::uint32_t tick, std::span<const RowPlace> rows);

  // Another world, where ids mean other rows: forgets them, not the clock.
  void Clear();

  // The moment that Drawn is of, from now on.
  void SetTime(TimePoint now);

  // Nothing for a row that is not in the newest snapshot, and before the first
  // SetTime.
  std::optional<Transform> Drawn(std::uint32_t id) const;

  // How long before the newest snapshot the moment drawn is; below 0 where it
  // is after it and rows go on by themselves.
  Duration behind() const;

 private:
  struct Track {
    std::uint32_t id = 0;
    std::size_t count = 0;  // newest snapshots that it is in, <= kSnapshots
    std::array<Transform, kSnapshots> transforms;
    std::array<std::int64_t, kSnapshots> teleports{};
  };
  // The moment drawn, between two snapshots: `age` is how many came after the
  // earlier one; share 0 is that one and 1 the next, above 1 beyond it.
  struct Moment {
    std::size_t age = 0;
    float share = 0;
  };

  // Of the snapshot `age` before the newest.
  std::size_t Slot(std::size_t age) const;
  Duration Time(std::size_t age) const { return times_[Slot(age)]; }
  Moment Find(Duration drawn) const;

  const Duration interval_;
  TickClock clock_;
  std::array<Duration, kSnapshots> times_{};  // by slot, on the tick clock
  std::size_t newest_ = 0;                    // the newest one's slot
  std::size_t count_ = 0;                     // snapshots held
  std::vector<Track> tracks_;                 // by id
  std::vector<Track> spare_;                  // for the next Add

  bool has_time_ = false;
  Duration drawn_{};
  Moment moment_;
};

// Halfway for share 0.5; along the shorter way, of length 1. `share` above 1
// goes on beyond `to`, at most as far again.
Quat Nlerp(const Quat& from, const Quat& to, float share);

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_INTERPOLATION_H_
