// Gather: what a room has relayed and not sent yet, so that what a seat needs
// for one frame goes out to it together.
//
// A frame runs at a seat only when every other live seat's INPUT for it is in.
// What is on its way to seat s may therefore wait while c(s), the lowest last
// INPUT frame of the connected seats except s, stays where it is: no frame that
// is above c(s) can be complete at s. When an INPUT raises c(s), s is to be
// flushed. That needs no map of frames: a seat that skips frames, or runs far
// ahead, is never the lowest, and one that lags holds up what could not have
// run anyhow, up to the bound.
//
// One ring a room, of what all of it said; a receiver is a place in it, and
// its own messages are skipped. So each receiver has one queue in the order of
// relaying, flushed from the front. Allocates in its constructor alone.
#ifndef PARLOR_CORE_LOCKSTEP_GATHER_H_
#define PARLOR_CORE_LOCKSTEP_GATHER_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "parlor/connection.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"

namespace parlor::lockstep {

// Seat s is bit s.
using SeatMask = std::uint32_t;
static_assert(limits::kSeats.ceiling <= 32);

constexpr SeatMask SeatBit(int seat) { return SeatMask{1} << seat; }

// In the order of their numbers.
template <typename Do>
void ForEachSeat(SeatMask seats, Do do_it) {
  for (; seats != 0; seats &= seats - 1) do_it(std::countr_zero(seats));
}

class Gather {
 public:
  // Of a room of at most `players` seats, none of which is connected. Nothing
  // waits for longer than `bound`.
  Gather(int players, Duration bound);

  // `seat` is connected from here on, and has said its INPUT for `frame` (-1:
  // none). Nothing that was relayed before is for it. Nothing may wait for it.
  void Add(int seat, std::int64_t frame);
  // It is not connected any more; what waits for it is dropped.
  void Remove(int seat);

  // Whom to flush before Append, as the ring is full: who has waited longest.
  SeatMask InTheWay();
  // `bytes`, relayed for the seat that is in them, waits for every other
  // connected seat.
  void Append(TimePoint now, const MessageBytes& bytes);
  // `seat`, which is connected, has said its INPUT for `frame`, above its last.
  // Whom to flush: those whose c(s) it raised.
  SeatMask Raise(int seat, std::uint32_t frame);

  // Whom something waits for.
  SeatMask waiting() const { return waiting_; }
  // Whom to flush, as something has waited for as long as it may.
  SeatMask Due(TimePoint now) const;
  // When Due will be somebody, as things are. Where nothing waits: while
  // messages come, not before the bound is over, since the next one would only
  // move the alarm back; else kNever. Later than `now` once Due are flushed.
  TimePoint NextDue(TimePoint now);
  Duration bound() const { return bound_; }

  // Sends all that waits for `seat`; how many `to` took.
  std::uint64_t Flush(int seat, Connection& to);

  std::size_t memory_bytes() const;

 private:
  struct Entry {
    TimePoint came;
    MessageBytes bytes;
  };
  // The connected seats whose last INPUT is for `frame`.
  struct Level {
    std::int64_t frame = std::numeric_limits<std::int64_t>::max();
    SeatMask seats = 0;
  };

  const Entry& At(std::uint64_t place) const {
    return entries_[place & (capacity_ - 1)];
  }
  // The first place that somebody waits at; the ring's end where nobody does.
  std::uint64_t FirstPlace() const;
  void Rank();

  const Duration bound_;
  const std::size_t capacity_;  // a power of two
  std::unique_ptr<Entry[]> entries_;
  std::uint64_t end_ = 0;       // places count all that was ever appended
  std::uint64_t free_ = 0;      // no one waits at a place before it
  std::uint64_t end_then_ = 0;  // at the last NextDue
  SeatMask connected_ = 0;
  SeatMask waiting_ = 0;
  Level lowest_;
  Level second_;  // the lowest above it
  // Of who is in waiting_: where its first message is.
  std::array<std::uint64_t, limits::kSeats.ceiling> places_{};
  // Last INPUTs of who is connected.
  std::array<std::int64_t, limits::kSeats.ceiling> frames_{};
};

}  // namespace parlor::lockstep

#endif  // PARLOR_CORE_LOCKSTEP_GATHER_H_
