#include "cycles/territory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace parlor::cycles {
namespace {

// Two rows of one column of words. What SSE2 has on every x86-64 and NEON on
// every 64-bit ARM; compilers did not find it in the plain loop, which took
// twice as long.
using Pair [[gnu::vector_size(16)]] = std::uint64_t;

Pair Load(const std::uint64_t* at) {
  Pair pair;
  std::memcpy(&pair, at, sizeof(pair));
  return pair;
}

void Store(std::uint64_t* at, Pair pair) {
  std::memcpy(at, &pair, sizeof(pair));
}

// What a front grows by in two rows: itself and the cells beside, above and
// below.
Pair Spread(const CellSet& front, std::size_t c, std::size_t r) {
  const std::uint64_t* column = front.columns[c].data();
  const Pair here = Load(column + r);
  return here << 1 | here >> 1 | Load(column + r - 1) | Load(column + r + 1) |
         Load(&front.columns[c - 1][r]) >> 63 |
         Load(&front.columns[c + 1][r]) << 63;
}

// Two fronts that grow by a cell a step over the cells that are still open.
// Rows beyond first_ and last_ + 1 are zero in every front, and stay so.
class Flood {
 public:
  Flood(const State& state, const CellSet& open)
      : columns_((state.width + 63u) / 64),
        bottom_(state.height),
        before_(open),
        open_(open) {}

  Territory Run(const Race& race) {
    Begin(race);
    for (int step = 0; step < race.steps; ++step) {
      if (step < race.double_steps) Grow<false>();
      if (!Grow<true>()) break;
    }
    return Count();
  }

 private:
  void Begin(const Race& race) {
    first_ = last_ = CellSet::RowOf(race.me);
    open_.Remove(race.me);
    mine_[0].Add(race.me);
    for (int i = 0; i < race.rival_count; ++i) {
      const Place at = race.rivals[static_cast<std::size_t>(i)];
      theirs_[0].Add(at);
      first_ = std::min(first_, CellSet::RowOf(at));
      last_ = std::max(last_, CellSet::RowOf(at));
    }
  }

  // One step of both fronts at once, or of mine alone. False when neither went
  // on.
  template <bool kBoth>
  bool Grow() {
    first_ = std::max<std::size_t>(first_ - 1, 1);
    last_ = std::min(last_ + 1, bottom_);
    std::uint64_t grown = 0;
    for (std::size_t c = 1; c <= columns_; ++c) {
      grown |= kBoth ? GrowBoth(c) : GrowMine(c);
    }
    mine_now_ ^= 1;
    if (kBoth) theirs_now_ ^= 1;
    return grown != 0;
  }

  std::uint64_t GrowBoth(std::size_t c) {
    const CellSet& mine = mine_[mine_now_];
    const CellSet& theirs = theirs_[theirs_now_];
    std::uint64_t* mine_next = mine_[mine_now_ ^ 1].columns[c].data();
    std::uint64_t* theirs_next = theirs_[theirs_now_ ^ 1].columns[c].data();
    std::uint64_t* theirs_all = theirs_all_.columns[c].data();
    std::uint64_t* open = open_.columns[c].data();
    const std::size_t last = last_;
    Pair grown{};
    Pair met{};
    for (std::size_t r = first_; r <= last; r += 2) {
      const Pair here = Load(open + r);
      const Pair i_reach = Spread(mine, c, r) & here;
      const Pair they_reach = Spread(theirs, c, r) & here;
      Store(mine_next + r, i_reach & ~they_reach);
      Store(theirs_next + r, they_reach);
      Store(theirs_all + r, Load(theirs_all + r) | they_reach);
      Store(open + r, here & ~(i_reach | they_reach));
      grown |= i_reach | they_reach;
      met |= i_reach & they_reach;
    }
    contact_ = contact_ || (met[0] | met[1]) != 0;
    return grown[0] | grown[1];
  }

  std::uint64_t GrowMine(std::size_t c) {
    const CellSet& mine = mine_[mine_now_];
    std::uint64_t* next = mine_[mine_now_ ^ 1].columns[c].data();
    std::uint64_t* open = open_.columns[c].data();
    const std::size_t last = last_;
    Pair grown{};
    for (std::size_t r = first_; r <= last; r += 2) {
      const Pair here = Load(open + r);
      const Pair reach = Spread(mine, c, r) & here;
      Store(next + r, reach);
      Store(open + r, here & ~reach);
      grown |= reach;
    }
    return grown[0] | grown[1];
  }

  // What is no longer open is mine, unless it is theirs.
  Territory Count() const {
    Territory territory{.contact = contact_};
    for (std::size_t c = 1; c <= columns_; ++c) {
      for (std::size_t r = first_; r <= last_; ++r) {
        const std::uint64_t taken =
            before_.columns[c][r] & ~open_.columns[c][r];
        const std::uint64_t theirs = theirs_all_.columns[c][r];
        territory.mine += std::popcount(taken & ~theirs);
        territory.theirs += std::popcount(theirs);
      }
    }
    return territory;
  }

  const std::size_t columns_;
  const std::size_t bottom_;
  std::size_t first_ = 1;
  std::size_t last_ = 1;
  std::size_t mine_now_ = 0;
  std::size_t theirs_now_ = 0;
  bool contact_ = false;
  const CellSet& before_;
  CellSet open_;
  std::array<CellSet, 2> mine_;
  std::array<CellSet, 2> theirs_;
  CellSet theirs_all_;
};

// Bit i is set where a cycle may enter the cell that byte i holds: it is 0 or
// above 10. Adding lifts a byte's top bit where it reaches a bound; no byte
// carries into the next, as all are small.
std::uint64_t OpenBits(const Cell* cells) {
  static_assert(static_cast<int>(Cell::kFree) == 0);
  static_assert(static_cast<int>(Cell::kCharge) == 11);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t eight;
  std::memcpy(&eight, cells, sizeof(eight));
  const std::uint64_t taken = eight + kOnes * (0x80 - 1);
  const std::uint64_t pickup = eight + kOnes * (0x80 - 11);
  const std::uint64_t open = (~taken | pickup) >> 7 & kOnes;
  return open * 0x0102040810204080 >> 56;
}

}  // namespace

CellSet OpenCells(const State& state) {
  CellSet open;
  for (int y = 0; y < state.height; ++y) {
    int x = 0;
    for (; x + 8 <= state.width; x += 8) {
      open.columns[CellSet::ColumnOf({x, y})][CellSet::RowOf({x, y})] |=
          OpenBits(&state.cells[IndexOf(state, {x, y})]) << x % 64;
    }
    for (; x < state.width; ++x) {
      if (IsOpen(CellAt(state, x, y))) open.Add({x, y});
    }
  }
  return open;
}

Territory Measure(const State& state, const CellSet& open, const Race& race) {
  return Flood(state, open).Run(race);
}

}  // namespace parlor::cycles
