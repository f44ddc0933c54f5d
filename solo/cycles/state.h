// Cycles: light cycles on a grid, as a simulation. Start() makes a match from
// options and a seed, Step() runs one frame of it; both are the same on every
// machine. No I/O, no clock, no allocation; integers only.
//
// Everything is in State, a plain struct without padding: a copy is a save, an
// assignment a rollback, Hash64 tells two apart. What a screen wants to show
// (who died, why, in which frame, the countdown, the table) is read from it.
//
// The rules, as a player hears them:
//  - Everyone moves at the same speed, one cell a beat, and leaves a trail.
//    The speed rises while a round lasts.
//  - A turn is a press, not a hold; two are remembered, so quick double taps
//    make a U-turn two lanes wide. Nobody can turn back into himself. In the
//    countdown a press chooses the first heading, any of the four.
//  - A boost doubles the speed for kBoostBeats. It costs a charge; everyone
//    starts a round with kChargesStart.
//  - Who enters a wall, an obstacle or a trail is out. Two who enter the same
//    cell, or each other's, are both out: seats have no order in a crash.
//  - The trail of who is out falls kFallFrames later, and opens the way again.
//  - Pick-ups: a charge, or an eraser that clears all of one's own trail.
//  - After kClosingStart the walls close in, ring after ring, so that a round
//    lasts at most kRoundFramesMax. A cycle on a ring that closes is out.
//  - A point for every rival one outlives, and one for every rival who crashes
//    into one's trail while one is still in.
//  - A match is kRounds rounds, and more (up to kRoundsMax) while the lead is
//    shared. Then the table stays until the players want another match.
#ifndef PARLOR_SOLO_CYCLES_STATE_H_
#define PARLOR_SOLO_CYCLES_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "parlor/random.h"

namespace parlor::cycles {

// Part of the hashed state. Any change to what Start or Step do raises it.
inline constexpr std::uint32_t kRulesVersion = 1;

inline constexpr int kFramesPerSecond = 60;
inline constexpr int kPlayersMin = 2;
inline constexpr int kPlayersMax = 8;
inline constexpr int kDelayMax = 31;  // parlor/lockstep/peer.h

// Cells inside the walls. A cell is square, so a terminal draws it two columns
// wide and one row high, or one column wide and half a row high (the upper and
// lower half blocks): 76x40 fills a terminal of 80x24 that way, 38x20 the
// other way. An index into this table travels in the mode byte: append only.
struct Size {
  std::uint8_t width;
  std::uint8_t height;
};
inline constexpr std::array kSizes = {
    Size{32, 16},  Size{36, 18},  Size{38, 20},  Size{40, 20},  Size{44, 22},
    Size{48, 24},  Size{52, 26},  Size{56, 28},  Size{60, 30},  Size{64, 32},
    Size{72, 36},  Size{76, 40},  Size{80, 40},  Size{96, 40},  Size{96, 48},
    Size{112, 48}, Size{116, 52}, Size{120, 56}, Size{128, 60}, Size{140, 60},
    Size{160, 60}, Size{48, 16},  Size{56, 20},  Size{64, 20},  Size{64, 24},
    Size{80, 24},  Size{96, 24},  Size{96, 32},  Size{120, 32}, Size{120, 40},
    Size{140, 40}, Size{160, 40}, Size{24, 24},  Size{32, 32},  Size{40, 40},
    Size{60, 60},
};
static_assert(kSizes.size() <= 64);  // six bits of the mode byte
inline constexpr int kWidthMax = 160;
inline constexpr int kHeightMax = 60;
inline constexpr int kCellsMax = kWidthMax * kHeightMax;

enum class Level : std::uint8_t { kEasy, kNormal, kHard };

struct Options {
  int players = 4;  // cycles in all, bots included
  Level level = Level::kNormal;
  int size = 11;  // index into kSizes
};

// The index of that size in kSizes, if it is listed.
std::optional<int> FindSize(int width, int height);

// Level and size in one byte: bits 6 and 7 the level, bits 0 to 5 the size.
// `options` are valid. FromMode refuses a level or size that does not exist and
// players out of range: the byte comes from another peer.
std::uint8_t ModeOf(const Options& options);
std::optional<Options> FromMode(std::uint8_t mode, int players);
bool IsValid(const Options& options);

// A player's word for a frame. A bit acts when it is set in this frame and was
// not in the one before, so a key may be reported once or for as long as it is
// down. All other bits are ignored.
namespace word {
inline constexpr std::uint32_t kUp = 1u << 0;
inline constexpr std::uint32_t kDown = 1u << 1;
inline constexpr std::uint32_t kLeft = 1u << 2;
inline constexpr std::uint32_t kRight = 1u << 3;
inline constexpr std::uint32_t kBoost = 1u << 4;
// Goes on after a round, asks for another match after the last.
inline constexpr std::uint32_t kReady = 1u << 5;
inline constexpr std::uint32_t kAll = (1u << 6) - 1;
}  // namespace word

// Times in frames.
inline constexpr int kCountdownFrames = 3 * kFramesPerSecond;
inline constexpr int kRoundOverFrames = 3 * kFramesPerSecond;
// A ready does nothing earlier: a key meant for the round skips no table.
inline constexpr int kReadyAfterFrames = kFramesPerSecond / 2;
// How long the table waits for the others after the first ready, and how long
// it stays when only bots play.
inline constexpr int kRestartFrames = 10 * kFramesPerSecond;
inline constexpr int kFallFrames = kFramesPerSecond;
inline constexpr int kClosingStart = 30 * kFramesPerSecond;
inline constexpr int kRoundFramesMax = 60 * kFramesPerSecond;

inline constexpr int kRounds = 5;
inline constexpr int kRoundsMax = 9;
inline constexpr int kChargesStart = 2;
inline constexpr int kChargesMax = 4;
inline constexpr int kBoostBeats = 8;
inline constexpr int kTurnsMax = 2;
inline constexpr std::uint8_t kNobody = 0xff;

enum class Phase : std::uint8_t {
  kCountdown,  // everyone stands on his place and may choose a heading
  kRunning,    // until at most one is alive
  kRoundOver,  // who won, who died and why
  kMatchOver,  // the final table, until the players want another match
};

enum class Heading : std::uint8_t { kUp, kRight, kDown, kLeft };

// What is in a cell. Trails are kTrail + the owner's seat.
enum class Cell : std::uint8_t {
  kFree = 0,
  kTrail = 1,  // .. 8
  kObstacle = 9,
  kClosed = 10,  // the walls came this far
  kCharge = 11,
  kEraser = 12,
};

enum class Cause : std::uint8_t {
  kNone,      // alive
  kWall,      // left the grid, or ran into the part that closed
  kObstacle,  // ran into one
  kOwnTrail,
  kTrail,    // somebody else's: Cycle::by
  kHeadOn,   // with everyone in Cycle::by
  kClosing,  // stood where the walls closed in
};

// How a bot likes to play. Drawn for every seat when a match starts.
enum class Style : std::uint8_t {
  kHunter,     // goes for the nearest rival
  kHugger,     // stays near walls and saves space
  kWanderer,   // turns when nobody expects it
  kCollector,  // goes for pick-ups
};
inline constexpr int kStyles = 4;

// One player. A cycle that died stays where it was before the crash.
struct Cycle {
  std::uint32_t held = 0;  // the word of the frame before, known bits only
  std::uint32_t died_frame = 0;  // State::frame of the crash, in this round
  std::uint16_t score = 0;       // of the match
  std::uint16_t round_score = 0;
  std::uint16_t kills = 0;   // rivals who crashed into this trail, in the match
  std::uint16_t length = 0;  // cells entered in this round
  std::uint16_t plan = 0;    // beats until a wandering bot turns
  std::uint8_t wins = 0;     // rounds survived alone, in the match
  std::uint8_t x = 0;
  std::uint8_t y = 0;
  Heading heading = Heading::kUp;
  std::uint8_t turns = 0;  // remembered, not taken yet
  std::array<Heading, kTurnsMax> turn{};
  std::uint8_t alive = 0;
  Cause cause = Cause::kNone;
  std::uint8_t by = 0;  // mask of seats, for kTrail and kHeadOn
  std::uint8_t charges = 0;
  std::uint8_t boost = 0;  // beats left of the boost that is on
  Style style = Style::kHunter;
  Level level = Level::kNormal;  // of the bot, when one plays; the match's
};

struct State {
  std::uint32_t rules_version = kRulesVersion;
  std::uint32_t seed = 0;
  Random random{0};
  std::uint32_t frame = 0;        // frames run since Start
  std::uint32_t phase_frame = 0;  // frames run in this phase
  std::uint32_t ready_frame = 0;  // phase_frame of the first ready, 0: none
  std::uint32_t next_pickup = 0;  // phase_frame at which one appears
  std::uint16_t matches = 0;      // finished before this one
  std::uint16_t clock = 0;        // of the beat: see kClockBeat
  std::uint8_t delay = 0;
  std::uint8_t players = 0;
  Level level = Level::kNormal;
  std::uint8_t size = 0;
  std::uint8_t width = 0;
  std::uint8_t height = 0;
  Phase phase = Phase::kCountdown;
  std::uint8_t round = 0;         // 1 is the first
  std::uint8_t winner = kNobody;  // of the round that is over
  std::uint8_t ready = 0;         // mask: seats that pressed it in this phase
  std::uint8_t closed = 0;        // rings that have closed
  std::uint8_t pickups = 0;       // lying in the grid
  std::array<Cycle, kPlayersMax> cycles{};
  // Row by row, width * height of it used, the rest always zero.
  std::array<Cell, kCellsMax> cells{};
};
static_assert(std::is_trivially_copyable_v<State>);
static_assert(std::has_unique_object_representations_v<State>);

// A new match at its first countdown. `options` are valid and `delay` (frames
// between an input and its use) is 0..kDelayMax. The delay changes nothing but
// the hash: peers that do not agree on it must see so at frame 0.
State Start(const Options& options, std::uint32_t seed, int delay);

// Runs one frame. inputs[s] is seat s's word. A seat plays as a bot where its
// bit in `bots` is set or `inputs` has no word for it; its word is ignored
// then. More words than players are ignored too.
void Step(State& state, std::span<const std::uint32_t> inputs,
          std::uint32_t bots);

// For a bot that plays over a network: the word that `seat` says now, to be
// used state.delay frames later, for the move that a bot in its place would
// make then, as far as that can be seen from here; with a delay of 2 it still
// plays as well as the bots. It asks for the next match too.
std::uint32_t BotWord(const State& state, int seat);

// XXH3 over the bytes of the state, the unused rest of the grid left out; and
// its two halves xor-ed, for the HASH message.
std::uint64_t Hash64(const State& state);
std::uint32_t Hash32(const State& state);

// A state for a file: the bytes that Hash64 hashes, in `state`, some 400 and
// one a cell. FromSaved reads them as if an enemy had written them: what it
// gives may be no state that play leads to, but can be played on and shown.
std::span<const std::byte> SavedBytes(const State& state);
std::optional<State> FromSaved(std::span<const std::byte> bytes);
bool IsValidState(const State& state);  // what FromSaved accepts

// Questions a screen asks.

inline Cell CellAt(const State& state, int x, int y) {
  return state.cells[static_cast<std::size_t>(y) * state.width +
                     static_cast<std::size_t>(x)];
}

// The seat whose trail it is, or -1.
inline int TrailOwner(Cell cell) {
  const int owner = static_cast<int>(cell) - static_cast<int>(Cell::kTrail);
  return owner >= 0 && owner < kPlayersMax ? owner : -1;
}

// 3, 2, 1 in the countdown, else 0.
int Countdown(const State& state);

// Cells a minute, without boost.
int Speed(const State& state);

// Frames until the next ring closes, counted from this frame of a running
// round; 0 in other phases and when nothing is left to close.
int FramesToClosing(const State& state);

// Seats by score, then wins, then kills, then seat number: the table. The
// first state.players entries count.
std::array<std::uint8_t, kPlayersMax> Ranking(const State& state);

// Mask of the seats that share the top of the table: more than one is a draw.
std::uint32_t Leaders(const State& state);

}  // namespace parlor::cycles

#endif  // PARLOR_SOLO_CYCLES_STATE_H_
