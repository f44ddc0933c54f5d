#include "lockstep/gather.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "parlor/check.h"

namespace parlor::lockstep {
namespace {

// Four to eight frames of everyone's, as the ring is a power of two. Only where
// seats are that far apart is it full before a bound of 100 ms is over; then
// some of it goes out a little sooner.
constexpr unsigned kEntriesPerSeat = 8;

}  // namespace

Gather::Gather(int players, Duration bound)
    : bound_(bound),
      capacity_(
          std::bit_floor(kEntriesPerSeat * static_cast<unsigned>(players))),
      entries_(std::make_unique<Entry[]>(capacity_)) {
  PARLOR_CHECK(players >= 1 && players <= limits::kSeats.ceiling);
  PARLOR_CHECK(bound > Duration{});
}

void Gather::Add(int seat, std::int64_t frame) {
  PARLOR_CHECK((waiting_ & SeatBit(seat)) == 0);
  connected_ |= SeatBit(seat);
  frames_[static_cast<std::size_t>(seat)] = frame;
  Rank();
}

void Gather::Remove(int seat) {
  connected_ &= ~SeatBit(seat);
  waiting_ &= ~SeatBit(seat);
  Rank();
}

// --- The ring

std::uint64_t Gather::FirstPlace() const {
  std::uint64_t first = end_;
  ForEachSeat(waiting_, [&](int seat) {
    first = std::min(first, places_[static_cast<std::size_t>(seat)]);
  });
  return first;
}

SeatMask Gather::InTheWay() {
  if (end_ - free_ < capacity_) return 0;
  free_ = FirstPlace();
  if (end_ - free_ < capacity_) return 0;
  SeatMask first = 0;
  ForEachSeat(waiting_, [&](int seat) {
    if (places_[static_cast<std::size_t>(seat)] == free_) {
      first |= SeatBit(seat);
    }
  });
  return first;
}

void Gather::Append(TimePoint now, const MessageBytes& bytes) {
  entries_[end_ & (capacity_ - 1)] = {now, bytes};
  const SeatMask others = connected_ & ~SeatBit(std::to_integer<int>(bytes[1]));
  ForEachSeat(others & ~waiting_, [&](int seat) {
    places_[static_cast<std::size_t>(seat)] = end_;
  });
  waiting_ |= others;
  ++end_;
}

std::uint64_t Gather::Flush(int seat, Connection& to) {
  if ((waiting_ & SeatBit(seat)) == 0) return 0;
  waiting_ &= ~SeatBit(seat);
  std::uint64_t taken = 0;
  for (std::uint64_t place = places_[static_cast<std::size_t>(seat)];
       place != end_; ++place) {
    const MessageBytes& bytes = At(place).bytes;
    if (std::to_integer<int>(bytes[1]) == seat) continue;
    if (to.Send(Lane::kReliable, MessageKind::kBinary, bytes) ==
        SendResult::kQueued) {
      ++taken;
    }
  }
  return taken;
}

// --- The bound

SeatMask Gather::Due(TimePoint now) const {
  SeatMask due = 0;
  ForEachSeat(waiting_, [&](int seat) {
    const TimePoint came = At(places_[static_cast<std::size_t>(seat)]).came;
    if (came + bound_ <= now) due |= SeatBit(seat);
  });
  return due;
}

TimePoint Gather::NextDue(TimePoint now) {
  const bool came = end_ != end_then_;
  end_then_ = end_;
  if (waiting_ != 0) return At(FirstPlace()).came + bound_;
  return came ? now + bound_ : kNever;
}

// --- Who is lowest

SeatMask Gather::Raise(int seat, std::uint32_t frame) {
  const SeatMask bit = SeatBit(seat);
  frames_[static_cast<std::size_t>(seat)] = frame;
  if ((lowest_.seats & bit) != 0) {
    lowest_.seats ^= bit;
    if (lowest_.seats == 0) {
      // All the others waited for it alone.
      Rank();
      return connected_ & ~bit;
    }
    if (frame < second_.frame) {
      second_ = {frame, bit};
    } else if (frame == second_.frame) {
      second_.seats |= bit;
    }
    // Whoever is left there alone waits for nobody there any more.
    return std::has_single_bit(lowest_.seats) ? lowest_.seats : 0;
  }
  if ((second_.seats & bit) != 0) {
    second_.seats ^= bit;
    if (second_.seats == 0) {
      // Who is lowest waited for it, if it does not wait for another there.
      Rank();
      return std::has_single_bit(lowest_.seats) ? lowest_.seats : 0;
    }
  }
  return 0;
}

void Gather::Rank() {
  lowest_ = {};
  second_ = {};
  ForEachSeat(connected_, [&](int seat) {
    const std::int64_t frame = frames_[static_cast<std::size_t>(seat)];
    if (frame < lowest_.frame) {
      second_ = lowest_;
      lowest_ = {frame, SeatBit(seat)};
    } else if (frame == lowest_.frame) {
      lowest_.seats |= SeatBit(seat);
    } else if (frame < second_.frame) {
      second_ = {frame, SeatBit(seat)};
    } else if (frame == second_.frame) {
      second_.seats |= SeatBit(seat);
    }
  });
}

std::size_t Gather::memory_bytes() const {
  return sizeof(Gather) + capacity_ * sizeof(Entry);
}

}  // namespace parlor::lockstep
