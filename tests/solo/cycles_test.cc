#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <ostream>
#include <set>
#include <string>

#include "cycles/state.h"

namespace parlor::cycles {
namespace {

constexpr std::size_t kHead = offsetof(State, cells);
constexpr std::uint32_t kNobodyIsBot = 0;

std::size_t CellsOf(const State& state) {
  return static_cast<std::size_t>(state.width) * state.height;
}

bool Same(const State& a, const State& b) {
  return std::memcmp(&a, &b, sizeof(State)) == 0;
}

// PARLOR_SEED, or `fallback`; printed, so that a failure can be run again.
std::uint64_t TestSeed(std::uint64_t fallback) {
  const char* text = std::getenv("PARLOR_SEED");
  const std::uint64_t seed =
      text != nullptr ? std::strtoull(text, nullptr, 0) : fallback;
  std::printf("PARLOR_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

// A test of many matches makes each of its own seed alone, the first of
// TestSeed: what a failure prints, given back, is the failure at once.
std::string SeedText(std::uint64_t seed) {
  return "PARLOR_SEED=" + std::to_string(seed);
}

// A round that runs on an empty grid, where tests put what they need. Everyone
// is out until placed, and nobody is a bot.
class Table {
 public:
  explicit Table(int players, int size = 8)
      : state(Start({.players = players, .size = size}, 1, 2)),
        words(static_cast<std::size_t>(players), 0) {
    state.cells.fill(Cell::kFree);
    state.phase = Phase::kRunning;
    state.phase_frame = 0;
    state.frame = 10'000;
    state.next_pickup = 1'000'000;
    for (Cycle& cycle : state.cycles) cycle.alive = 0;
  }

  Cycle& cycle(int seat) {
    return state.cycles[static_cast<std::size_t>(seat)];
  }
  Cell& cell(int x, int y) {
    return state.cells[static_cast<std::size_t>(y) * state.width +
                       static_cast<std::size_t>(x)];
  }
  void Put(int seat, int x, int y, Heading heading) {
    cycle(seat).alive = 1;
    cycle(seat).x = static_cast<std::uint8_t>(x);
    cycle(seat).y = static_cast<std::uint8_t>(y);
    cycle(seat).heading = heading;
    Trail(seat, x, y);
  }
  void Trail(int seat, int x, int y) {
    cell(x, y) = static_cast<Cell>(1 + seat);
  }
  void Frame(std::uint32_t bots = kNobodyIsBot) { Step(state, words, bots); }
  // One frame in which seat's word is `word`, and one in which it is not.
  void Press(int seat, std::uint32_t word) {
    state.clock = 0;
    words[static_cast<std::size_t>(seat)] = word;
    Frame();
    words[static_cast<std::size_t>(seat)] = 0;
    state.clock = 0;
    Frame();
  }
  void Beat(std::uint32_t bots = kNobodyIsBot) {
    state.clock = 511;
    Frame(bots);
  }
  void HalfBeat() {
    state.clock = 255;
    Frame();
  }

  State state;
  std::vector<std::uint32_t> words;
};

TEST(CyclesOptions, EveryModeByteIsAnOptionOrRefused) {
  int known = 0;
  for (int mode = 0; mode < 256; ++mode) {
    const auto byte = static_cast<std::uint8_t>(mode);
    for (int players = -1; players < 12; ++players) {
      const std::optional<Options> options = FromMode(byte, players);
      const bool right = players >= 2 && players <= 8 && mode / 64 < 3 &&
                         mode % 64 < static_cast<int>(kSizes.size());
      ASSERT_EQ(options.has_value(), right) << mode << " " << players;
      if (!options) continue;
      EXPECT_EQ(ModeOf(*options), byte);
      EXPECT_EQ(options->players, players);
      ++known;
    }
  }
  EXPECT_EQ(known, 7 * 3 * static_cast<int>(kSizes.size()));
}

TEST(CyclesOptions, EachSizeIsListedOnce) {
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    EXPECT_EQ(FindSize(kSizes[i].width, kSizes[i].height), static_cast<int>(i));
  }
  EXPECT_EQ(FindSize(33, 16), std::nullopt);
}

TEST(CyclesHash, CoversEveryByteInUse) {
  State state = Start({.players = 8, .size = 0}, 5, 2);
  for (int i = 0; i < 400; ++i) Step(state, {}, 0);
  const std::uint64_t before = Hash64(state);
  auto* bytes = reinterpret_cast<std::uint8_t*>(&state);
  for (std::size_t i = 0; i < kHead + CellsOf(state); ++i) {
    // The size itself says how much is in use; it may not grow here.
    if (i == offsetof(State, width) || i == offsetof(State, height)) continue;
    bytes[i] ^= 1;
    ASSERT_NE(Hash64(state), before) << "byte " << i;
    bytes[i] ^= 1;
  }
  EXPECT_EQ(Hash64(state), before);
  state.width ^= 1;
  EXPECT_NE(Hash64(state), before);
  state.width ^= 1;
  state.height ^= 1;
  EXPECT_NE(Hash64(state), before);
}

TEST(CyclesHash, FoldsToThirtyTwoBits) {
  const State state = Start({}, 5, 2);
  const std::uint64_t hash = Hash64(state);
  EXPECT_EQ(Hash32(state), static_cast<std::uint32_t>(hash >> 32) ^
                               static_cast<std::uint32_t>(hash));
}

TEST(CyclesHash, SeedOptionsDelayAndRulesShowAtFrameZero) {
  const Options options{};
  std::set<std::uint64_t> hashes;
  hashes.insert(Hash64(Start(options, 1, 2)));
  hashes.insert(Hash64(Start(options, 2, 2)));
  hashes.insert(Hash64(Start(options, 1, 3)));
  hashes.insert(Hash64(Start({.players = 5}, 1, 2)));
  hashes.insert(Hash64(Start({.level = Level::kHard}, 1, 2)));
  hashes.insert(Hash64(Start({.size = 0}, 1, 2)));
  State other_rules = Start(options, 1, 2);
  ++other_rules.rules_version;
  hashes.insert(Hash64(other_rules));
  EXPECT_EQ(hashes.size(), 7u);
  EXPECT_EQ(Hash64(Start(options, 1, 2)), Hash64(Start(options, 1, 2)));
}

// How each way to die is judged. Seats 0 and 1 ride; what else there is, the
// row sets.
struct CrashRow {
  std::string name;
  std::function<void(Table&)> set_up;
  std::vector<Cause> causes;
  std::vector<std::uint8_t> by;
  std::vector<int> scores;
};

void PrintTo(const CrashRow& row, std::ostream* out) { *out << row.name; }

class CyclesCrash : public testing::TestWithParam<CrashRow> {};

TEST_P(CyclesCrash, IsJudged) {
  const CrashRow& row = GetParam();
  Table table(static_cast<int>(row.causes.size()));
  row.set_up(table);
  table.Beat();
  for (std::size_t seat = 0; seat < row.causes.size(); ++seat) {
    SCOPED_TRACE(seat);
    const Cycle& cycle = table.state.cycles[seat];
    EXPECT_EQ(cycle.cause, row.causes[seat]);
    EXPECT_EQ(cycle.alive, row.causes[seat] == Cause::kNone ? 1 : 0);
    EXPECT_EQ(cycle.by, row.by[seat]);
    EXPECT_EQ(cycle.score, row.scores[seat]);
    EXPECT_EQ(cycle.round_score, row.scores[seat]);
    EXPECT_EQ(cycle.died_frame, cycle.alive == 0 ? 10'000u : 0u);
  }
}

constexpr Heading kU = Heading::kUp;
constexpr Heading kR = Heading::kRight;
constexpr Heading kD = Heading::kDown;
constexpr Heading kL = Heading::kLeft;
constexpr Cause kIn = Cause::kNone;

const CrashRow kCrashes[] = {
    {"Nothing",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Put(1, 20, 20, kL);
     },
     {kIn, kIn},
     {0, 0},
     {0, 0}},
    {"WallAtEachSide",
     [](Table& t) {
       t.Put(0, 5, 0, kU);
       t.Put(1, 59, 9, kR);
       t.Put(2, 7, 29, kD);
       t.Put(3, 0, 3, kL);
       t.Put(4, 20, 20, kL);
     },
     {Cause::kWall, Cause::kWall, Cause::kWall, Cause::kWall, kIn},
     {0, 0, 0, 0, 0},
     {0, 0, 0, 0, 4}},
    {"ClosedCell",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.cell(6, 5) = Cell::kClosed;
       t.Put(1, 20, 20, kL);
     },
     {Cause::kWall, kIn},
     {0, 0},
     {0, 1}},
    {"Obstacle",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.cell(6, 5) = Cell::kObstacle;
       t.Put(1, 20, 20, kL);
     },
     {Cause::kObstacle, kIn},
     {0, 0},
     {0, 1}},
    {"OwnTrail",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Trail(0, 6, 5);
       t.Put(1, 20, 20, kL);
     },
     {Cause::kOwnTrail, kIn},
     {0, 0},
     {0, 1}},
    {"TrailOfARivalGivesHimAPointMore",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Trail(1, 6, 5);
       t.Put(1, 20, 20, kL);
       t.Put(2, 30, 20, kL);
     },
     {Cause::kTrail, kIn, kIn},
     {0b010, 0, 0},
     {0, 2, 1}},
    {"TrailOfOneWhoIsOutGivesNothing",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Trail(3, 6, 5);
       t.Put(1, 20, 20, kL);
       t.Put(2, 30, 20, kL);
       t.Put(3, 40, 20, kL);
       t.cycle(3).alive = 0;
       t.cycle(3).cause = Cause::kWall;
       t.cycle(3).died_frame = 10'000;
     },
     {Cause::kTrail, kIn, kIn, Cause::kWall},
     {0b1000, 0, 0, 0},
     {0, 1, 1, 0}},
    {"IntoEachOthersTrails",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Trail(1, 6, 5);
       t.Put(1, 20, 20, kL);
       t.Trail(0, 19, 20);
     },
     {Cause::kTrail, Cause::kTrail},
     {0b10, 0b01},
     {1, 1}},
    {"HeadOnInOneCell",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Put(1, 7, 5, kL);
       t.Put(2, 30, 20, kL);
     },
     {Cause::kHeadOn, Cause::kHeadOn, kIn},
     {0b010, 0b001, 0},
     {0, 0, 2}},
    {"HeadOnFromTheSide",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Put(1, 6, 4, kD);
     },
     {Cause::kHeadOn, Cause::kHeadOn},
     {0b10, 0b01},
     {0, 0}},
    {"HeadOnOfFour",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Put(1, 6, 4, kD);
       t.Put(2, 7, 5, kL);
       t.Put(3, 6, 6, kU);
     },
     {Cause::kHeadOn, Cause::kHeadOn, Cause::kHeadOn, Cause::kHeadOn},
     {0b1110, 0b1101, 0b1011, 0b0111},
     {0, 0, 0, 0}},
    {"HeadOnWithoutACellBetween",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Put(1, 6, 5, kL);
       t.Put(2, 30, 20, kL);
     },
     {Cause::kHeadOn, Cause::kHeadOn, kIn},
     {0b010, 0b001, 0},
     {0, 0, 2}},
    {"IntoTheTailOfOneWhoMovesOn",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Put(1, 6, 5, kR);
     },
     {Cause::kTrail, kIn},
     {0b10, 0},
     {0, 2}},
    {"ACellThatAnErasedTrailLeavesIsTakenAsItWas",
     [](Table& t) {
       t.Put(0, 5, 5, kR);
       t.Trail(1, 6, 5);
       t.Put(1, 20, 20, kL);
       t.cell(19, 20) = Cell::kEraser;
       t.state.pickups = 1;
     },
     {Cause::kTrail, kIn},
     {0b10, 0},
     {0, 2}},
};

INSTANTIATE_TEST_SUITE_P(Table, CyclesCrash, testing::ValuesIn(kCrashes),
                         [](const auto& row) { return row.param.name; });

TEST(CyclesCrash, AtHalfABeatOnlyTheBoostedMove) {
  Table table(2);
  table.Put(0, 5, 5, kR);
  table.Put(1, 6, 5, kL);
  table.cycle(0).boost = 3;
  table.HalfBeat();
  EXPECT_EQ(table.cycle(0).cause, Cause::kTrail);
  EXPECT_EQ(table.cycle(1).alive, 1);
  EXPECT_EQ(table.cycle(1).x, 6);
}

TEST(CyclesCountdown, CountsAndLetsEveryoneChooseAHeading) {
  State state = Start({.players = 2}, 1, 2);
  std::vector<int> shown;
  std::vector<std::uint32_t> words(2, 0);
  const std::uint8_t x = state.cycles[0].x;
  while (state.phase == Phase::kCountdown) {
    shown.push_back(Countdown(state));
    if (state.frame == 50) words[0] = word::kLeft;
    if (state.frame == 51) {
      EXPECT_EQ(state.cycles[0].heading, kL);
    }
    if (state.frame == 60) words[0] = word::kUp | word::kBoost;
    Step(state, words, 0);
  }
  EXPECT_EQ(shown.size(), 180u);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), 3), 60);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), 2), 60);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), 1), 60);
  EXPECT_TRUE(std::is_sorted(shown.rbegin(), shown.rend()));
  EXPECT_EQ(state.phase, Phase::kRunning);
  EXPECT_EQ(Countdown(state), 0);
  EXPECT_EQ(state.cycles[0].heading, kU);
  EXPECT_EQ(state.cycles[0].x, x);
  EXPECT_EQ(state.cycles[0].charges, kChargesStart);
}

// Presses, in frames of their own, and the headings of the beats after them.
struct TurnRow {
  std::string name;
  std::vector<std::uint32_t> presses;
  std::vector<Heading> headings;
};

void PrintTo(const TurnRow& row, std::ostream* out) { *out << row.name; }

class CyclesTurn : public testing::TestWithParam<TurnRow> {};

TEST_P(CyclesTurn, IsRemembered) {
  const TurnRow& row = GetParam();
  Table table(2);
  table.Put(0, 30, 15, kR);
  table.Put(1, 50, 28, kR);
  for (const std::uint32_t press : row.presses) table.Press(0, press);
  std::vector<Heading> headings;
  for (std::size_t i = 0; i < row.headings.size(); ++i) {
    table.Beat();
    headings.push_back(table.cycle(0).heading);
  }
  EXPECT_EQ(headings, row.headings);
  EXPECT_EQ(table.cycle(0).alive, 1);
}

const TurnRow kTurns[] = {
    {"None", {}, {kR, kR, kR}},
    {"One", {word::kUp}, {kU, kU, kU}},
    {"QuickUTurn", {word::kUp, word::kLeft}, {kU, kL, kL}},
    {"NoReversing", {word::kLeft}, {kR, kR, kR}},
    {"NoReversingOfARememberedTurn", {word::kUp, word::kDown}, {kU, kU, kU}},
    {"SameWayIsNoTurn", {word::kRight, word::kRight, word::kUp}, {kU, kU, kU}},
    {"AStep", {word::kUp, word::kRight}, {kU, kR, kR}},
    {"AThirdIsForgotten", {word::kDown, word::kRight, word::kUp}, {kD, kR, kR}},
    {"TwoAtOnce", {word::kUp | word::kLeft}, {kU, kL, kL}},
    {"OppositesAtOnce", {word::kUp | word::kDown}, {kU, kU, kU}},
    {"UnknownBitsAreIgnored", {word::kUp | 0xffffff00u}, {kU, kU, kU}},
};

INSTANTIATE_TEST_SUITE_P(Table, CyclesTurn, testing::ValuesIn(kTurns),
                         [](const auto& row) { return row.param.name; });

TEST(CyclesTurn, AHeldKeyIsOnePress) {
  Table table(2);
  table.Put(0, 30, 15, kR);
  table.Put(1, 50, 28, kR);
  table.words[0] = word::kUp | word::kBoost;
  // Longer than the boost: it must not begin again.
  for (int i = 0; i < kBoostBeats + 4; ++i) table.Beat();
  EXPECT_EQ(table.cycle(0).heading, kU);
  EXPECT_EQ(table.cycle(0).charges, kChargesStart - 1);
  EXPECT_EQ(table.cycle(0).turns, 0);
}

TEST(CyclesSpeed, RisesUntilTheWallsClose) {
  for (const Size size : kSizes) {
    Table table(2, *FindSize(size.width, size.height));
    int last = 0;
    for (int frame = 0; frame <= kClosingStart; frame += 60) {
      table.state.phase_frame = static_cast<std::uint32_t>(frame);
      EXPECT_GT(Speed(table.state), last);
      last = Speed(table.state);
    }
    table.state.phase_frame = 0;
    EXPECT_EQ(last / 10, 2 * Speed(table.state) / 10);
    // Fast enough to be no bore, slow enough to be played.
    EXPECT_GE(Speed(table.state), 6 * 60);
    EXPECT_LE(last, 29 * 60);
  }
}

TEST(CyclesSpeed, IsTheSpeedThatIsRidden) {
  Table table(2);
  table.Put(0, 0, 5, kR);
  table.Put(1, 0, 9, kR);
  const int speed = Speed(table.state);
  table.state.clock = 0;
  for (int frame = 0; frame < 240; ++frame) {
    table.state.phase_frame = 0;
    table.Frame();
  }
  EXPECT_NEAR(table.cycle(0).x, speed * 4 / 60, 1);
}

TEST(CyclesBoost, DoublesTheSpeedForItsBeats) {
  Table table(2);
  table.Put(0, 1, 5, kR);
  table.Put(1, 1, 9, kR);
  table.Press(0, word::kBoost);
  EXPECT_EQ(table.cycle(0).boost, kBoostBeats);
  table.Press(0, word::kBoost);  // one at a time
  EXPECT_EQ(table.cycle(0).charges, kChargesStart - 1);
  for (int beat = 0; beat < kBoostBeats + 2; ++beat) {
    table.HalfBeat();
    table.Beat();
  }
  EXPECT_EQ(table.cycle(1).x, 1 + kBoostBeats + 2);
  EXPECT_EQ(table.cycle(0).x, table.cycle(1).x + kBoostBeats);
  EXPECT_EQ(table.cycle(0).length, table.cycle(0).x - 1);
}

TEST(CyclesBoost, NeedsACharge) {
  Table table(2);
  table.Put(0, 1, 5, kR);
  table.Put(1, 1, 9, kR);
  table.cycle(0).charges = 0;
  table.Press(0, word::kBoost);
  EXPECT_EQ(table.cycle(0).boost, 0);
  EXPECT_EQ(table.cycle(0).charges, 0);
}

TEST(CyclesPickup, AChargeUpToTheMost) {
  Table table(2);
  table.Put(0, 1, 5, kR);
  table.Put(1, 1, 9, kR);
  for (int x = 2; x < 6; ++x) table.cell(x, 5) = Cell::kCharge;
  table.state.pickups = 4;
  for (int beat = 0; beat < 4; ++beat) table.Beat();
  EXPECT_EQ(table.cycle(0).charges, kChargesMax);
  EXPECT_EQ(table.state.pickups, 0);
}

TEST(CyclesPickup, AnEraserClearsTheOwnTrailAlone) {
  Table table(2);
  table.Put(0, 1, 5, kR);
  table.Put(1, 1, 9, kR);
  table.cell(4, 5) = Cell::kEraser;
  table.state.pickups = 1;
  for (int beat = 0; beat < 3; ++beat) table.Beat();
  EXPECT_EQ(table.cell(1, 5), Cell::kFree);
  EXPECT_EQ(table.cell(3, 5), Cell::kFree);
  EXPECT_EQ(TrailOwner(table.cell(4, 5)), 0);
  EXPECT_EQ(TrailOwner(table.cell(1, 9)), 1);
  EXPECT_EQ(table.state.pickups, 0);
}

TEST(CyclesTrail, FallsAWhileAfterItsOwner) {
  Table table(3);
  table.Put(0, 58, 5, kR);
  table.Put(1, 1, 9, kR);
  table.Put(2, 1, 12, kR);
  table.Beat();
  table.Beat();
  ASSERT_EQ(table.cycle(0).alive, 0);
  for (int frame = 1; frame < kFallFrames; ++frame) table.Frame();
  EXPECT_EQ(TrailOwner(table.cell(58, 5)), 0);
  table.Frame();
  EXPECT_EQ(table.cell(58, 5), Cell::kFree);
  EXPECT_EQ(table.cell(59, 5), Cell::kFree);
  EXPECT_EQ(TrailOwner(table.cell(1, 9)), 1);
}

TEST(CyclesClosing, TakesWhoStandsOnTheRing) {
  Table table(3);
  table.Put(0, 0, 5, kU);
  table.Put(1, 20, 9, kR);
  table.Put(2, 20, 12, kR);
  table.cell(30, 0) = Cell::kCharge;
  table.state.pickups = 1;
  table.state.phase_frame = kClosingStart - 1;
  table.state.clock = 0;
  EXPECT_EQ(FramesToClosing(table.state), 1);
  table.Frame();
  EXPECT_EQ(table.cycle(0).cause, Cause::kClosing);
  EXPECT_EQ(table.cycle(1).alive, 1);
  EXPECT_EQ(table.cycle(1).score, 1);
  EXPECT_EQ(table.state.closed, 1);
  EXPECT_EQ(table.state.pickups, 0);
  for (int x = 0; x < 60; ++x) {
    for (int y = 0; y < 30; ++y) {
      const bool edge = x == 0 || x == 59 || y == 0 || y == 29;
      EXPECT_EQ(table.cell(x, y) == Cell::kClosed, edge) << x << "," << y;
    }
  }
  EXPECT_GT(FramesToClosing(table.state), 60);
}

// Nobody can die but by the walls here, so this is as long as a round gets.
TEST(CyclesClosing, EndsEveryRoundInTime) {
  for (const Size size : kSizes) {
    Table table(2, *FindSize(size.width, size.height));
    table.Put(0, size.width / 2, size.height / 2, kR);
    table.Put(1, size.width / 2 - 1, size.height / 2, kR);
    int frames = 0;
    while (table.state.phase == Phase::kRunning) {
      table.state.clock = 0;
      table.Frame();
      ASSERT_LE(++frames, kRoundFramesMax);
    }
    EXPECT_GT(frames, kRoundFramesMax * 8 / 10);
    EXPECT_EQ(table.cycle(0).cause, Cause::kClosing);
  }
}

TEST(CyclesRound, TheLastOneWinsIt) {
  Table table(3);
  table.Put(0, 59, 5, kR);
  table.Put(1, 20, 9, kR);
  table.Put(2, 20, 12, kR);
  table.Beat();
  EXPECT_EQ(table.state.phase, Phase::kRunning);
  EXPECT_EQ(table.state.winner, kNobody);
  table.cell(22, 12) = Cell::kObstacle;
  table.Beat();
  EXPECT_EQ(table.state.phase, Phase::kRoundOver);
  EXPECT_EQ(table.state.winner, 1);
  EXPECT_EQ(table.cycle(1).wins, 1);
  EXPECT_EQ(table.cycle(1).score, 2);
  EXPECT_EQ(table.cycle(2).score, 1);
  EXPECT_EQ(table.cycle(0).score, 0);
  const auto ranking = Ranking(table.state);
  EXPECT_EQ(ranking[0], 1);
  EXPECT_EQ(ranking[1], 2);
  EXPECT_EQ(ranking[2], 0);
  EXPECT_EQ(Leaders(table.state), 0b010u);
}

TEST(CyclesRound, NobodyWinsADraw) {
  Table table(2);
  table.Put(0, 5, 5, kR);
  table.Put(1, 7, 5, kL);
  table.Beat();
  EXPECT_EQ(table.state.phase, Phase::kRoundOver);
  EXPECT_EQ(table.state.winner, kNobody);
  EXPECT_EQ(table.cycle(0).wins + table.cycle(1).wins, 0);
}

// The end of a round, `round` of a match with these scores.
Table AfterRound(int round, std::vector<std::uint16_t> scores) {
  Table table(static_cast<int>(scores.size()));
  table.state.phase = Phase::kRoundOver;
  table.state.round = static_cast<std::uint8_t>(round);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    table.state.cycles[i].score = scores[i];
  }
  return table;
}

TEST(CyclesRound, TheNextBeginsAfterAPause) {
  Table table = AfterRound(1, {3, 1});
  for (int i = 1; i < kRoundOverFrames; ++i) table.Frame();
  EXPECT_EQ(table.state.phase, Phase::kRoundOver);
  table.Frame();
  EXPECT_EQ(table.state.phase, Phase::kCountdown);
  EXPECT_EQ(table.state.round, 2);
  EXPECT_EQ(table.cycle(0).score, 3);
  EXPECT_EQ(table.cycle(0).alive, 1);
}

TEST(CyclesRound, TheNextBeginsAtOnceWhenAllAreReady) {
  Table table = AfterRound(1, {3, 1});
  table.Press(0, word::kReady);  // too early, a key of the round that ended
  EXPECT_EQ(table.state.ready, 0);
  for (int i = 0; i < kReadyAfterFrames; ++i) table.Frame();
  table.Press(0, word::kReady);
  EXPECT_EQ(table.state.phase, Phase::kRoundOver);
  EXPECT_EQ(table.state.ready, 0b01);
  table.Press(1, word::kReady);
  EXPECT_EQ(table.state.phase, Phase::kCountdown);
  EXPECT_EQ(table.state.ready, 0);
}

struct EndRow {
  std::string name;
  int round;
  std::vector<std::uint16_t> scores;
  Phase then;
};

void PrintTo(const EndRow& row, std::ostream* out) { *out << row.name; }

class CyclesMatch : public testing::TestWithParam<EndRow> {};

TEST_P(CyclesMatch, EndsOrGoesOn) {
  Table table = AfterRound(GetParam().round, GetParam().scores);
  for (int i = 0; i < kRoundOverFrames; ++i) table.Frame();
  EXPECT_EQ(table.state.phase, GetParam().then);
}

const EndRow kEnds[] = {
    {"BeforeTheLastRound", kRounds - 1, {9, 1}, Phase::kCountdown},
    {"AfterTheLastRound", kRounds, {9, 1}, Phase::kMatchOver},
    {"TheLeadIsShared", kRounds, {9, 9, 1}, Phase::kCountdown},
    {"TheRestIsShared", kRounds, {9, 1, 1}, Phase::kMatchOver},
    {"SharedForTooLong", kRoundsMax, {9, 9, 1}, Phase::kMatchOver},
};

INSTANTIATE_TEST_SUITE_P(Table, CyclesMatch, testing::ValuesIn(kEnds),
                         [](const auto& row) { return row.param.name; });

Table AfterMatch(int players) {
  Table table(players);
  table.state.phase = Phase::kMatchOver;
  table.state.round = kRounds;
  table.cycle(0).score = 9;
  table.cycle(0).wins = 3;
  table.cycle(0).kills = 2;
  for (int i = 0; i < kReadyAfterFrames; ++i) table.Frame();
  return table;
}

void ExpectNewMatch(Table& table) {
  EXPECT_EQ(table.state.phase, Phase::kCountdown);
  EXPECT_EQ(table.state.matches, 1);
  EXPECT_EQ(table.state.round, 1);
  EXPECT_EQ(table.cycle(0).score + table.cycle(0).wins + table.cycle(0).kills,
            0);
}

TEST(CyclesRestart, WhenAllPeopleAskedForIt) {
  Table table = AfterMatch(3);
  for (int i = 0; i < 3'000; ++i) table.Frame();
  ASSERT_EQ(table.state.phase, Phase::kMatchOver);  // it waits for somebody
  table.Press(2, word::kReady);
  ASSERT_EQ(table.state.phase, Phase::kMatchOver);
  // Seat 1 is left meanwhile, and no longer waited for.
  table.words[0] = word::kReady;
  table.Frame(0b010);
  ExpectNewMatch(table);
}

TEST(CyclesRestart, SomeTimeAfterTheFirstAskedForIt) {
  Table table = AfterMatch(3);
  const std::uint32_t asked = table.state.phase_frame;
  table.Press(1, word::kReady);
  while (table.state.phase == Phase::kMatchOver) {
    ASSERT_LT(table.state.phase_frame, asked + kRestartFrames);
    table.Frame();
  }
  ExpectNewMatch(table);
}

TEST(CyclesRestart, BotsAloneGoOnByThemselves) {
  Table table = AfterMatch(3);
  for (int i = kReadyAfterFrames; i < kRestartFrames; ++i) table.Frame(0b111);
  ExpectNewMatch(table);
}

TEST(CyclesBots, DrawOnlyWhenAskedToMove) {
  Table table(3);
  for (int seat = 0; seat < 3; ++seat) table.Put(seat, 20, 5 + 5 * seat, kR);
  const Random before = table.state.random;
  table.Beat();
  EXPECT_EQ(table.state.random, before);
  table.state.clock = 0;
  table.Frame(0b111);  // no beat: nobody moves, nobody thinks
  EXPECT_EQ(table.state.random, before);
  table.Beat(0b101);
  Random two = before;
  two.Next();
  two.Next();
  EXPECT_EQ(table.state.random, two);
}

TEST(CyclesBots, IgnoreTheWordOfTheirSeat) {
  State a = Start({.players = 3}, 7, 2);
  State b = a;
  Random random(TestSeed(3));
  for (int frame = 0; frame < 3'000; ++frame) {
    std::vector<std::uint32_t> words(3, 0);
    Step(a, words, 0b101);
    words[0] = random.Next();
    words[2] = random.Next();
    Step(b, words, 0b101);
    ASSERT_TRUE(Same(a, b)) << frame;
  }
}

TEST(CyclesBots, InheritNoKeysAndNoTurns) {
  Table table(2);
  table.Put(0, 20, 5, kR);
  table.Put(1, 20, 9, kR);
  table.words[0] = word::kUp | word::kLeft;
  table.state.clock = 0;
  table.Frame();
  ASSERT_EQ(table.cycle(0).turns, 2);
  table.state.clock = 0;
  table.Frame(0b01);
  EXPECT_EQ(table.cycle(0).held, 0u);
  EXPECT_EQ(table.cycle(0).turns, 0);
  EXPECT_EQ(table.cycle(0).turn, (std::array<Heading, kTurnsMax>{}));
}

TEST(CyclesBots, SeatsWithoutAWordAreBots) {
  State a = Start({.players = 4}, 7, 2);
  State b = a;
  const std::vector<std::uint32_t> one(1, 0);
  const std::vector<std::uint32_t> many(9, 0);
  for (int frame = 0; frame < 3'000; ++frame) {
    Step(a, one, 0);
    Step(b, many, 0b1110);
    ASSERT_TRUE(Same(a, b)) << frame;
  }
}

// A bot with one way to go takes it, at every level (an easy one freezes now
// and then: it is asked often, and must do so rarely).
TEST(CyclesBots, TakeTheOnlyWay) {
  for (const Level level : {Level::kEasy, Level::kNormal, Level::kHard}) {
    int died = 0;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      Table table(2);
      table.state.random = Random(seed);
      table.Put(0, 20, 15, kR);
      table.cycle(0).level = level;
      table.cell(21, 15) = Cell::kObstacle;
      table.cell(20, 16) = Cell::kObstacle;
      table.cell(20, 14) = seed % 2 == 0 ? Cell::kCharge : Cell::kEraser;
      table.state.pickups = 1;
      table.Put(1, 50, 15, kR);
      table.Beat(0b01);
      died += table.cycle(0).alive == 0;
    }
    EXPECT_LE(died, level == Level::kHard ? 0 : 40);
  }
}

// The wins of `strong` in rounds where every other seat plays `weak`. Seats
// take turns, so that each level has each place as often.
struct Tally {
  int strong = 0;
  int weak = 0;
};

Tally Compete(Level strong, Level weak, int players, int size, int rounds) {
  Tally tally;
  for (int i = 0; i < rounds; ++i) {
    State state = Start({.players = players, .size = size},
                        static_cast<std::uint32_t>(1'000 + i / 2), 2);
    for (int seat = 0; seat < players; ++seat) {
      state.cycles[static_cast<std::size_t>(seat)].level =
          (seat + i) % 2 == 0 ? strong : weak;
    }
    while (state.phase != Phase::kRoundOver) Step(state, {}, 0);
    if (state.winner == kNobody) continue;
    ++(state.cycles[state.winner].level == strong ? tally.strong : tally.weak);
  }
  return tally;
}

class CyclesStrength : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(CyclesStrength, EachLevelBeatsTheOneBelow) {
  const auto [players, size] = GetParam();
  constexpr int kContests = 200;
  const Tally hard =
      Compete(Level::kHard, Level::kNormal, players, size, kContests);
  const Tally normal =
      Compete(Level::kNormal, Level::kEasy, players, size, kContests);
  std::printf("hard:normal %d:%d normal:easy %d:%d\n", hard.strong, hard.weak,
              normal.strong, normal.weak);
  // 1.4 to 1 in 200 is 2.4 standard deviations away from equal strength.
  EXPECT_GT(5 * hard.strong, 7 * hard.weak);
  EXPECT_GT(5 * normal.strong, 7 * normal.weak);
}

INSTANTIATE_TEST_SUITE_P(PlayersAndSize, CyclesStrength,
                         testing::Values(std::tuple(2, 0), std::tuple(2, 11),
                                         std::tuple(4, 0), std::tuple(4, 11),
                                         std::tuple(8, 6)),
                         [](const auto& row) {
                           return "Players" +
                                  std::to_string(std::get<0>(row.param)) +
                                  "Size" +
                                  std::to_string(std::get<1>(row.param));
                         });

// A match of four in which seat 0 says its words `delay` frames ahead, until
// its table has gone again or stood for a minute.
State PlayByWords(std::uint32_t seed, int delay) {
  State state =
      Start({.players = 4, .level = Level::kNormal, .size = 0}, seed, delay);
  std::deque<std::uint32_t> said(static_cast<std::size_t>(delay), 0);
  State table = state;
  for (int over = 0; state.matches == 0 && over < 60 * kFramesPerSecond;) {
    said.push_back(BotWord(state, 0));
    Step(state, std::span(&said.front(), 1), 0);
    said.pop_front();
    if (state.phase != Phase::kMatchOver) continue;
    ++over;
    table = state;
  }
  EXPECT_EQ(state.matches, 1);
  return table;
}

class CyclesBotWord : public testing::TestWithParam<int> {};

// It has the reflexes of a player, and is still as good as one of them.
TEST_P(CyclesBotWord, PlaysAsTheBotsDo) {
  int own = 0;
  int all = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const State state = PlayByWords(seed, GetParam());
    own += state.cycles[0].score;
    for (const Cycle& cycle : state.cycles) all += cycle.score;
  }
  std::printf("score %d of %d\n", own, all);
  // Each of four bots has a quarter; one that says nothing gets nothing.
  EXPECT_GT(5 * own, all);
}

INSTANTIATE_TEST_SUITE_P(Delay, CyclesBotWord, testing::Values(1, 2),
                         testing::PrintToStringParamName());

// What holds in every state that Step can reach.
void CheckInvariants(const State& state) {
  int pickups = 0;
  for (std::size_t i = 0; i < CellsOf(state); ++i) {
    const Cell cell = state.cells[i];
    ASSERT_LE(cell, Cell::kEraser);
    ASSERT_LT(TrailOwner(cell), state.players);
    pickups += cell == Cell::kCharge || cell == Cell::kEraser;
  }
  ASSERT_EQ(pickups, state.pickups);
  ASSERT_TRUE(std::all_of(
      state.cells.begin() + static_cast<std::ptrdiff_t>(CellsOf(state)),
      state.cells.end(), [](Cell cell) { return cell == Cell::kFree; }));
  int alive = 0;
  for (int seat = 0; seat < state.players; ++seat) {
    const Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
    ASSERT_LT(cycle.x, state.width);
    ASSERT_LT(cycle.y, state.height);
    ASSERT_LE(cycle.heading, Heading::kLeft);
    ASSERT_LE(cycle.turns, kTurnsMax);
    ASSERT_LE(cycle.charges, kChargesMax);
    ASSERT_LE(cycle.boost, kBoostBeats);
    ASSERT_LE(cycle.held, word::kAll);
    ASSERT_EQ(cycle.alive == 0, cycle.cause != Cause::kNone);
    ASSERT_LE(cycle.alive, 1);
    ASSERT_EQ(cycle.by != 0,
              cycle.cause == Cause::kTrail || cycle.cause == Cause::kHeadOn);
    ASSERT_LE(cycle.round_score, 2 * (state.players - 1));
    if (cycle.alive != 0) {
      ASSERT_EQ(TrailOwner(CellAt(state, cycle.x, cycle.y)), seat);
    }
    alive += cycle.alive;
  }
  ASSERT_LE(state.round, kRoundsMax);
  if (state.phase == Phase::kRunning) {
    ASSERT_GE(alive, 2);
    ASSERT_LT(state.phase_frame, static_cast<unsigned>(kRoundFramesMax));
  }
  if (state.phase == Phase::kRoundOver) {
    ASSERT_EQ(state.winner == kNobody, alive == 0);
  }
}

// Words and masks of any kind, from a generator.
class Hostile {
 public:
  explicit Hostile(std::uint64_t seed) : random_(seed) {}

  void Play(State& state) {
    if (random_.Chance(1, 200)) count_ = random_.Below(11);
    if (random_.Chance(1, 100)) bots_ = random_.Next() & random_.Next();
    std::array<std::uint32_t, 10> words;
    for (std::uint32_t& word : words) {
      // Whole words, and single keys, which get further.
      word = random_.Next();
      if ((word & 0x300) != 0) word = 1u << (word % 32);
      if ((word & 0x1c00) != 0) word = 0;
    }
    Step(state, {words.data(), count_}, bots_);
  }

 private:
  Random random_;
  std::uint32_t count_ = 8;
  std::uint32_t bots_ = 0;
};

TEST(CyclesHostile, NoInputBreaksAState) {
  const std::uint64_t first = TestSeed(1);
  for (std::uint64_t seed = first; seed - first < 24; ++seed) {
    SCOPED_TRACE(SeedText(seed));
    Hostile hostile(seed);
    State state = Start({.players = 2 + static_cast<int>(seed % 7),
                         .level = static_cast<Level>(seed % 3),
                         .size = static_cast<int>(seed * 5 % kSizes.size())},
                        static_cast<std::uint32_t>(seed), 2);
    for (int frame = 0; frame < 5'000; ++frame) {
      hostile.Play(state);
      CheckInvariants(state);
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "frame " << frame;
    }
  }
}

TEST(CyclesRepeat, SameSeedAndInputsGiveTheSameBytes) {
  const std::uint64_t first = TestSeed(2);
  for (std::uint64_t seed = first; seed - first < 8; ++seed) {
    SCOPED_TRACE(SeedText(seed));
    const Options options{.players = 2 + static_cast<int>(seed % 7),
                          .level = static_cast<Level>(seed % 3),
                          .size = static_cast<int>(seed % 8)};
    State a = Start(options, static_cast<std::uint32_t>(seed), 2);
    State b = Start(options, static_cast<std::uint32_t>(seed), 2);
    Hostile inputs_a(seed);
    Hostile inputs_b(seed);
    for (int frame = 0; frame < 20'000; ++frame) {
      inputs_a.Play(a);
      inputs_b.Play(b);
      ASSERT_EQ(Hash64(a), Hash64(b)) << frame;
    }
    ASSERT_TRUE(Same(a, b));
  }
}

TEST(CyclesRepeat, ACopyRollsBack) {
  Hostile inputs(TestSeed(4));
  State state = Start({.players = 6}, 3, 2);
  for (int round = 0; round < 200; ++round) {
    const State saved = state;
    const Hostile saved_inputs = inputs;
    for (int frame = 0; frame < 60; ++frame) inputs.Play(state);
    const State later = state;
    state = saved;
    inputs = saved_inputs;
    for (int frame = 0; frame < 60; ++frame) inputs.Play(state);
    ASSERT_TRUE(Same(state, later)) << round;
  }
}

// Exchanges seats 0 and 1 in everything.
std::uint32_t ExchangeBits(std::uint32_t mask) {
  return (mask & ~3u) | (mask & 1) << 1 | (mask >> 1 & 1);
}

State Exchange(State state) {
  std::swap(state.cycles[0], state.cycles[1]);
  for (Cycle& cycle : state.cycles) {
    cycle.by = static_cast<std::uint8_t>(ExchangeBits(cycle.by));
  }
  for (std::size_t i = 0; i < CellsOf(state); ++i) {
    const int owner = TrailOwner(state.cells[i]);
    if (owner == 0 || owner == 1) {
      state.cells[i] = static_cast<Cell>(2 - owner);
    }
  }
  if (state.winner <= 1) state.winner = 1 - state.winner;
  return state;
}

TEST(CyclesFair, TheOrderOfSeatsDecidesNothing) {
  const std::uint64_t first = TestSeed(5);
  for (std::uint64_t seed = first; seed - first < 300; ++seed) {
    SCOPED_TRACE(SeedText(seed));
    Random random(seed);
    State a =
        Start({.players = 4, .size = 0}, static_cast<std::uint32_t>(seed), 2);
    State b = Exchange(a);
    while (a.phase != Phase::kRoundOver) {
      std::array<std::uint32_t, 4> words;
      for (std::uint32_t& word : words) {
        word = random.Chance(1, 4) ? 1u << random.Below(5) : 0;
      }
      Step(a, words, 0);
      std::swap(words[0], words[1]);
      Step(b, words, 0);
      ASSERT_TRUE(Same(Exchange(a), b)) << a.phase_frame;
    }
  }
}

// The rules as they are. A change here is another kRulesVersion.
struct GoldenRow {
  std::string name;
  Options options;
  std::uint32_t seed;
  int frames;
  std::uint64_t hash;
};

void PrintTo(const GoldenRow& row, std::ostream* out) { *out << row.name; }

class CyclesGolden : public testing::TestWithParam<GoldenRow> {};

TEST_P(CyclesGolden, Hash) {
  const GoldenRow& row = GetParam();
  State state = Start(row.options, row.seed, 2);
  // Seat 0 is played by a script until it is left in the middle.
  for (int frame = 0; frame < row.frames; ++frame) {
    const bool left = frame > row.frames / 2;
    const std::uint32_t word = frame % 7 == 0 ? 1u << (frame / 7 % 6) : 0;
    Step(state, {&word, 1}, left ? 1 : 0);
  }
  EXPECT_EQ(Hash64(state), row.hash) << "is 0x" << std::hex << Hash64(state);
}

const GoldenRow kGolden[] = {
    {"Begin", {}, 1, 0, 0x3653388f37f207b1},
    {"TwoEasy", {2, Level::kEasy, 0}, 2, 20'000, 0x552e92d5899301c8},
    {"FourNormal", {4, Level::kNormal, 11}, 3, 20'000, 0x005be1bc8c608d4a},
    {"EightHard", {8, Level::kHard, 20}, 4, 6'000, 0x021705175b03c374},
    {"FiveHard", {5, Level::kHard, 35}, 0xffffffff, 10'000, 0x656b6a715bec2c51},
};

INSTANTIATE_TEST_SUITE_P(Table, CyclesGolden, testing::ValuesIn(kGolden),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace parlor::cycles
