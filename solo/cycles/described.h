// A state of Cycles, described (parlor/lockstep/state_description.h): what a
// desync report names its fields by.
#ifndef PARLOR_SOLO_CYCLES_DESCRIBED_H_
#define PARLOR_SOLO_CYCLES_DESCRIBED_H_

#include "cycles/names.h"
#include "cycles/state.h"
#include "parlor/lockstep/state_description.h"

namespace parlor::cycles {

template <class Fields>
void DescribeState(Fields& fields, Cycle& cycle) {
  fields("held", cycle.held)("died_frame", cycle.died_frame);
  fields("score", cycle.score)("round_score", cycle.round_score);
  fields("kills", cycle.kills)("length", cycle.length)("plan", cycle.plan);
  fields("wins", cycle.wins)("x", cycle.x)("y", cycle.y);
  fields("heading", cycle.heading, names::kHeadings)("turns", cycle.turns);
  fields("turn", cycle.turn, names::kHeadings)("alive", cycle.alive);
  fields("cause", cycle.cause, names::kCauses)("by", cycle.by);
  fields("charges", cycle.charges)("boost", cycle.boost);
  fields("style", cycle.style, names::kStylesOf);
  fields("level", cycle.level, names::kLevels);
}

template <class Fields>
void DescribeState(Fields& fields, State& state) {
  fields("rules_version", state.rules_version)("seed", state.seed);
  fields.Block("random", state.random);
  fields("frame", state.frame)("phase_frame", state.phase_frame);
  fields("ready_frame", state.ready_frame)("next_pickup", state.next_pickup);
  fields("matches", state.matches)("clock", state.clock)("delay", state.delay);
  fields("players", state.players)("level", state.level, names::kLevels);
  fields("size", state.size)("width", state.width)("height", state.height);
  fields("phase", state.phase, names::kPhases)("round", state.round);
  fields("winner", state.winner)("ready", state.ready)("closed", state.closed);
  fields("pickups", state.pickups)("cycles", state.cycles);
  fields("cells", state.cells, names::kCells);
}

}  // namespace parlor::cycles

#endif  // PARLOR_SOLO_CYCLES_DESCRIBED_H_
