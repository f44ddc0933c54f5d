#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <utility>

#include "cycles/arena.h"
#include "cycles/bots.h"
#include "cycles/grid.h"
#include "cycles/state.h"
#include "parlor/check.h"

namespace parlor::cycles {
namespace {

// A beat moves everyone by a cell; a cycle with its boost on moves at half a
// beat too. The rate is how far the clock goes in a frame: below half a beat,
// so that no frame holds two moves.
constexpr int kClockHalf = 256;
constexpr int kClockBeat = 512;

constexpr std::array kDirections = {std::pair{word::kUp, Heading::kUp},
                                    std::pair{word::kDown, Heading::kDown},
                                    std::pair{word::kLeft, Heading::kLeft},
                                    std::pair{word::kRight, Heading::kRight}};

// From 6 to 14 cells a second, more on wide grids, to twice that when the walls
// begin to close.
int RateAt(const State& state, std::uint32_t frame) {
  const int start = 40 + state.width / 2;
  const int risen =
      static_cast<int>(std::min<std::uint32_t>(frame, kClosingStart));
  return start + start * risen / kClosingStart;
}
static_assert(2 * (40 + kWidthMax / 2) < kClockHalf);

int RingsOf(const State& state) {
  return (std::min(state.width, state.height) + 1) / 2;
}

int RingPeriod(const State& state) {
  return (kRoundFramesMax - kClosingStart) / RingsOf(state);
}

void Enter(State& state, Phase phase) {
  state.phase = phase;
  state.phase_frame = 0;
  state.ready = 0;
  state.ready_frame = 0;
}

void BeginRound(State& state) {
  ++state.round;
  state.winner = kNobody;
  state.clock = 0;
  for (std::size_t seat = 0; seat < state.players; ++seat) {
    Cycle& cycle = state.cycles[seat];
    cycle.died_frame = 0;
    cycle.round_score = 0;
    cycle.length = 0;
    cycle.plan = 0;
    cycle.turns = 0;
    cycle.turn = {};
    cycle.alive = 1;
    cycle.cause = Cause::kNone;
    cycle.by = 0;
    cycle.charges = kChargesStart;
    cycle.boost = 0;
  }
  SetUpArena(state);
  Enter(state, Phase::kCountdown);
}

void BeginMatch(State& state) {
  state.round = 0;
  for (std::size_t seat = 0; seat < state.players; ++seat) {
    Cycle& cycle = state.cycles[seat];
    cycle.score = 0;
    cycle.kills = 0;
    cycle.wins = 0;
    cycle.style = static_cast<Style>(state.random.Below(kStyles));
    cycle.level = state.level;
  }
  BeginRound(state);
}

// The turns as they will be when all that are remembered are taken.
Heading LastHeading(const Cycle& cycle) {
  return cycle.turns == 0 ? cycle.heading : cycle.turn[cycle.turns - 1u];
}

void RememberTurn(Cycle& cycle, Heading heading) {
  const Heading last = LastHeading(cycle);
  if (heading == last || AreOpposite(heading, last)) return;
  if (cycle.turns == kTurnsMax) return;
  cycle.turn[cycle.turns++] = heading;
}

void TakeTurn(Cycle& cycle) {
  if (cycle.turns == 0) return;
  cycle.heading = cycle.turn[0];
  std::shift_left(cycle.turn.begin(), cycle.turn.end(), 1);
  --cycle.turns;
  // What nobody remembers must not differ between two equal states.
  std::fill(cycle.turn.begin() + cycle.turns, cycle.turn.end(), Heading::kUp);
}

void ForgetTurns(Cycle& cycle) {
  cycle.turns = 0;
  cycle.turn = {};
}

void Press(State& state, int seat, Cycle& cycle, std::uint32_t pressed) {
  if ((pressed & word::kReady) != 0) {
    const bool asks =
        state.phase == Phase::kRoundOver || state.phase == Phase::kMatchOver;
    if (asks && state.phase_frame >= kReadyAfterFrames) {
      if (state.ready == 0) state.ready_frame = state.phase_frame;
      state.ready |= static_cast<std::uint8_t>(BitOf(seat));
    }
  }
  if (cycle.alive == 0) return;
  for (const auto& [bit, heading] : kDirections) {
    if ((pressed & bit) == 0) continue;
    if (state.phase == Phase::kCountdown) cycle.heading = heading;
    if (state.phase == Phase::kRunning) RememberTurn(cycle, heading);
  }
  if (state.phase == Phase::kRunning && (pressed & word::kBoost) != 0 &&
      cycle.charges > 0 && cycle.boost == 0) {
    --cycle.charges;
    cycle.boost = kBoostBeats;
  }
}

// Takes the words of the seats that people play. Returns the mask of those.
std::uint32_t TakeWords(State& state, std::span<const std::uint32_t> inputs,
                        std::uint32_t bots) {
  std::uint32_t people = 0;
  for (int seat = 0; seat < state.players; ++seat) {
    const auto index = static_cast<std::size_t>(seat);
    Cycle& cycle = state.cycles[index];
    if (index >= inputs.size() || (bots & BitOf(seat)) != 0) {
      cycle.held = 0;
      ForgetTurns(cycle);
      continue;
    }
    people |= BitOf(seat);
    const std::uint32_t now = inputs[index] & word::kAll;
    const std::uint32_t pressed = now & ~cycle.held;
    cycle.held = now;
    if (pressed != 0) Press(state, seat, cycle, pressed);
  }
  return people;
}

// One cycle's next cell and what it would meet there.
struct Move {
  Place to;
  Cause cause = Cause::kNone;
  std::uint32_t by = 0;
};
using Moves = std::array<Move, kPlayersMax>;

// Decides every crash from the grid as it was before anyone moved.
void Judge(const State& state, std::uint32_t movers, int seat, Moves& moves) {
  Move& move = moves[static_cast<std::size_t>(seat)];
  const Place from = HeadOf(state.cycles[static_cast<std::size_t>(seat)]);
  if (!IsInside(state, move.to)) {
    move.cause = Cause::kWall;
    return;
  }
  const Cell cell = CellAt(state, move.to.x, move.to.y);
  const int owner = TrailOwner(cell);
  if (cell == Cell::kClosed) {
    move.cause = Cause::kWall;
  } else if (cell == Cell::kObstacle) {
    move.cause = Cause::kObstacle;
  } else if (owner == seat) {
    move.cause = Cause::kOwnTrail;
  } else if (owner >= 0) {
    const auto other = static_cast<std::size_t>(owner);
    // Two heads that enter each other's cell meet head-on in between.
    const bool swap = (movers & BitOf(owner)) != 0 &&
                      HeadOf(state.cycles[other]) == move.to &&
                      moves[other].to == from;
    move.cause = swap ? Cause::kHeadOn : Cause::kTrail;
    move.by = BitOf(owner);
  } else {
    for (int other = 0; other < state.players; ++other) {
      if (other == seat || (movers & BitOf(other)) == 0) continue;
      if (!(moves[static_cast<std::size_t>(other)].to == move.to)) continue;
      move.cause = Cause::kHeadOn;
      move.by |= BitOf(other);
    }
  }
}

Cell TrailOf(int seat) {
  return static_cast<Cell>(static_cast<int>(Cell::kTrail) + seat);
}

void EraseTrail(State& state, int seat) {
  const auto end =
      state.cells.begin() + static_cast<int>(state.width) * state.height;
  std::replace(state.cells.begin(), end, TrailOf(seat), Cell::kFree);
}

void Advance(State& state, int seat, Cycle& cycle, Place to) {
  Cell& cell = state.cells[IndexOf(state, to)];
  const Cell found = cell;
  cycle.x = static_cast<std::uint8_t>(to.x);
  cycle.y = static_cast<std::uint8_t>(to.y);
  ++cycle.length;
  if (IsPickup(found)) --state.pickups;
  if (found == Cell::kCharge) {
    cycle.charges = static_cast<std::uint8_t>(
        std::min<int>(cycle.charges + 1, kChargesMax));
  }
  if (found == Cell::kEraser) EraseTrail(state, seat);
  cell = TrailOf(seat);
}

void Die(const State& state, Cycle& cycle, Cause cause, std::uint32_t by) {
  cycle.alive = 0;
  cycle.cause = cause;
  cycle.by = static_cast<std::uint8_t>(by);
  cycle.died_frame = state.frame;
  cycle.boost = 0;
  ForgetTurns(cycle);
}

void MoveAll(State& state, std::uint32_t movers) {
  Moves moves;
  for (int seat = 0; seat < state.players; ++seat) {
    if ((movers & BitOf(seat)) == 0) continue;
    Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
    TakeTurn(cycle);
    moves[static_cast<std::size_t>(seat)].to =
        Neighbour(HeadOf(cycle), cycle.heading);
  }
  for (int seat = 0; seat < state.players; ++seat) {
    if ((movers & BitOf(seat)) != 0) Judge(state, movers, seat, moves);
  }
  for (int seat = 0; seat < state.players; ++seat) {
    if ((movers & BitOf(seat)) == 0) continue;
    Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
    const Move& move = moves[static_cast<std::size_t>(seat)];
    if (move.cause == Cause::kNone) {
      Advance(state, seat, cycle, move.to);
    } else {
      Die(state, cycle, move.cause, move.by);
    }
  }
}

std::uint32_t AliveMask(const State& state) {
  std::uint32_t mask = 0;
  ForEachAlive(state, [&](int seat, const Cycle&) { mask |= BitOf(seat); });
  return mask;
}

void FallTrails(State& state) {
  for (int seat = 0; seat < state.players; ++seat) {
    const Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
    if (cycle.alive == 0 && state.frame == cycle.died_frame + kFallFrames) {
      EraseTrail(state, seat);
    }
  }
}

void CloseWalls(State& state) {
  if (FramesToClosing(state) != 1) return;
  const std::uint32_t caught = CloseRing(state);
  ForEachAlive(state, [&](int seat, Cycle& cycle) {
    if ((caught & BitOf(seat)) != 0) Die(state, cycle, Cause::kClosing, 0);
  });
}

void Award(Cycle& cycle, int points) {
  cycle.score = static_cast<std::uint16_t>(cycle.score + points);
  cycle.round_score = static_cast<std::uint16_t>(cycle.round_score + points);
}

// `before` were in when this frame began.
void Score(State& state, std::uint32_t before) {
  const std::uint32_t after = AliveMask(state);
  const std::uint32_t dead = before & ~after;
  if (dead == 0) return;
  ForEachAlive(state,
               [&](int, Cycle& cycle) { Award(cycle, std::popcount(dead)); });
  for (int seat = 0; seat < state.players; ++seat) {
    if ((dead & BitOf(seat)) == 0) continue;
    const Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
    if (cycle.cause != Cause::kTrail || (before & cycle.by) == 0) continue;
    const auto killer = static_cast<std::size_t>(std::countr_zero(cycle.by));
    Award(state.cycles[killer], 1);
    ++state.cycles[killer].kills;
  }
}

void EndRound(State& state, std::uint32_t alive) {
  if (alive != 0) {
    state.winner = static_cast<std::uint8_t>(std::countr_zero(alive));
    ++state.cycles[state.winner].wins;
  }
  Enter(state, Phase::kRoundOver);
}

// True when the phase ended.
bool Run(State& state, std::uint32_t people) {
  const std::uint32_t before = AliveMask(state);
  const int last = state.clock;
  int clock = last + RateAt(state, state.phase_frame);
  const bool half = last < kClockHalf && clock >= kClockHalf;
  const bool beat = clock >= kClockBeat;
  if (beat) clock -= kClockBeat;
  state.clock = static_cast<std::uint16_t>(clock);

  std::uint32_t movers = 0;
  ForEachAlive(state, [&](int seat, const Cycle& cycle) {
    if (beat || (half && cycle.boost > 0)) movers |= BitOf(seat);
  });
  if (movers != 0) {
    Think(state, movers & ~people);
    MoveAll(state, movers);
  }
  if (beat) {
    ForEachAlive(state, [](int, Cycle& cycle) {
      if (cycle.boost > 0) --cycle.boost;
    });
  }
  FallTrails(state);
  CloseWalls(state);
  SpawnPickup(state);
  Score(state, before);
  const std::uint32_t alive = AliveMask(state);
  if (std::popcount(alive) > 1) return false;
  EndRound(state, alive);
  return true;
}

bool AllReady(const State& state, std::uint32_t people) {
  return people != 0 && (state.ready & people) == people;
}

bool RoundOver(State& state, std::uint32_t people) {
  if (state.phase_frame + 1 < kRoundOverFrames && !AllReady(state, people)) {
    return false;
  }
  const bool shared = std::popcount(Leaders(state)) > 1;
  const bool more =
      state.round < kRounds || (shared && state.round < kRoundsMax);
  if (more) {
    BeginRound(state);
  } else {
    Enter(state, Phase::kMatchOver);
  }
  return true;
}

bool MatchOver(State& state, std::uint32_t people) {
  const bool asked = state.ready != 0 || people == 0;
  const bool waited =
      asked && state.phase_frame + 1 >= state.ready_frame + kRestartFrames;
  if (!waited && !AllReady(state, people)) return false;
  ++state.matches;
  BeginMatch(state);
  return true;
}

// Runs a frame of the phase. True when it was the last one: another began.
bool RunPhase(State& state, std::uint32_t people) {
  switch (state.phase) {
    case Phase::kCountdown:
      if (state.phase_frame + 1 < kCountdownFrames) return false;
      Enter(state, Phase::kRunning);
      return true;
    case Phase::kRunning:
      return Run(state, people);
    case Phase::kRoundOver:
      return RoundOver(state, people);
    case Phase::kMatchOver:
      return MatchOver(state, people);
  }
  return false;
}

}  // namespace

State Start(const Options& options, std::uint32_t seed, int delay) {
  PARLOR_CHECK(IsValid(options));
  PARLOR_CHECK(delay >= 0 && delay <= kDelayMax);
  const Size size = kSizes[static_cast<std::size_t>(options.size)];
  State state;
  state.seed = seed;
  state.random = Random(seed, kRulesVersion);
  state.delay = static_cast<std::uint8_t>(delay);
  state.players = static_cast<std::uint8_t>(options.players);
  state.level = options.level;
  state.size = static_cast<std::uint8_t>(options.size);
  state.width = size.width;
  state.height = size.height;
  BeginMatch(state);
  return state;
}

void Step(State& state, std::span<const std::uint32_t> inputs,
          std::uint32_t bots) {
  const std::uint32_t people = TakeWords(state, inputs, bots);
  if (!RunPhase(state, people)) ++state.phase_frame;
  ++state.frame;
}

int Countdown(const State& state) {
  if (state.phase != Phase::kCountdown) return 0;
  return 3 - static_cast<int>(state.phase_frame) / (kCountdownFrames / 3);
}

int Speed(const State& state) {
  const std::uint32_t frame =
      state.phase == Phase::kRunning ? state.phase_frame : 0;
  return RateAt(state, frame) * kFramesPerSecond * 60 / kClockBeat;
}

int FramesToClosing(const State& state) {
  if (state.phase != Phase::kRunning) return 0;
  if (state.closed >= RingsOf(state)) return 0;
  const int at = kClosingStart + state.closed * RingPeriod(state);
  return at - static_cast<int>(state.phase_frame);
}

std::uint32_t Leaders(const State& state) {
  std::uint16_t top = 0;
  std::uint32_t mask = 0;
  for (int seat = 0; seat < state.players; ++seat) {
    const Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
    if (cycle.score > top) mask = 0;
    top = std::max(top, cycle.score);
    if (cycle.score == top) mask |= BitOf(seat);
  }
  return mask;
}

std::array<std::uint8_t, kPlayersMax> Ranking(const State& state) {
  const auto key = [&](std::uint8_t seat) {
    const Cycle& cycle = state.cycles[seat];
    return std::tuple(cycle.score, cycle.wins, cycle.kills);
  };
  std::array<std::uint8_t, kPlayersMax> seats{};
  for (std::uint8_t seat = 0; seat < state.players; ++seat) {
    std::size_t place = seat;
    for (; place > 0 && key(seats[place - 1]) < key(seat); --place) {
      seats[place] = seats[place - 1];
    }
    seats[place] = seat;
  }
  return seats;
}

}  // namespace parlor::cycles
