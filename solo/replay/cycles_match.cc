#include "replay/cycles_match.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cycles/names.h"
#include "parlor/status.h"
#include "replay/recording.h"
#include "replay_player.h"

namespace parlor::replay_program {
namespace {

constexpr std::array<std::string_view, 7> kCauses = {"in",
                                                     "hit the wall",
                                                     "hit an obstacle",
                                                     "hit its own trail",
                                                     "hit another's trail",
                                                     "hit another head-on",
                                                     "was caught by the walls"};

template <typename Enum, std::size_t n>
std::string Name(const std::array<std::string_view, n>& names, Enum value) {
  return std::string(names.at(static_cast<std::size_t>(value)));
}

char HeadChar(cycles::Heading heading) {
  return std::string_view("^>v<")[static_cast<std::size_t>(heading)];
}

char CellChar(cycles::Cell cell) {
  const int owner = cycles::TrailOwner(cell);
  if (owner >= 0) return static_cast<char>('0' + owner);
  switch (cell) {
    case cycles::Cell::kObstacle:
      return '#';
    case cycles::Cell::kClosed:
      return '%';
    case cycles::Cell::kCharge:
      return '+';
    case cycles::Cell::kEraser:
      return '*';
    default:
      return '.';
  }
}

std::string CycleText(int seat, const cycles::Cycle& cycle) {
  std::string out = absl::StrCat(
      "  cycle ", seat, ": ",
      cycle.alive != 0
          ? absl::StrCat("at ", cycle.x, ",", cycle.y, " heading ",
                         Name(cycles::names::kHeadings, cycle.heading))
          : absl::StrCat(Name(kCauses, cycle.cause), " in frame ",
                         cycle.died_frame, " at ", cycle.x, ",", cycle.y));
  if (cycle.alive != 0) {
    absl::StrAppend(&out, ", ", CountText(cycle.charges, "charge", "charges"));
    if (cycle.boost > 0) absl::StrAppend(&out, ", boost on");
  }
  absl::StrAppend(&out, ", score ", cycle.score, "\n");
  return out;
}

std::string GridText(const cycles::State& state) {
  std::string out;
  for (int y = 0; y < state.height; ++y) {
    std::string row = "  ";
    for (int x = 0; x < state.width; ++x) {
      row += CellChar(cycles::CellAt(state, x, y));
    }
    for (int seat = 0; seat < state.players; ++seat) {
      const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
      if (cycle.alive != 0 && cycle.y == y) {
        row[2u + cycle.x] = HeadChar(cycle.heading);
      }
    }
    out += row + "\n";
  }
  return out;
}

}  // namespace

CyclesMatch RecognizeCycles(const lockstep::ReplayLogReader& log,
                            const lockstep::ReplayFrames& frames) {
  const absl::StatusOr<cycles::Options> options = solo::CyclesOptionsOf(log);
  CyclesMatch match;
  if (!options.ok()) {
    match.why_not = std::string(StatusText(options.status()));
    return match;
  }
  if (frames.begin() > 0) {
    match.why_not = absl::StrCat("the frames before ", frames.begin(),
                                 " are in another recording");
    return match;
  }
  const cycles::State start =
      cycles::Start(*options, log.header().seed, frames.delay());
  if (log.header().game.name.empty()) {
    const std::uint32_t hash = cycles::Hash32(start);
    const auto said = frames.HashesOf(0);
    if (std::ranges::none_of(said, [hash](const lockstep::ReplayHash& one) {
          return one.value == hash;
        })) {
      match.why_not =
          "the recorder did not know the game, and nobody began "
          "with a state of Cycles";
      return match;
    }
  }
  match.start = start;
  return match;
}

std::string OptionsText(const cycles::Options& options) {
  const cycles::Size size =
      cycles::kSizes[static_cast<std::size_t>(options.size)];
  return absl::StrCat(options.players, " players, ",
                      Name(cycles::names::kLevels, options.level), ", ",
                      size.width, "x", size.height);
}

std::string WordText(std::uint32_t word) {
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 6> kBits = {{
      {cycles::word::kUp, "up"},
      {cycles::word::kDown, "down"},
      {cycles::word::kLeft, "left"},
      {cycles::word::kRight, "right"},
      {cycles::word::kBoost, "boost"},
      {cycles::word::kReady, "ready"},
  }};
  std::string out;
  for (const auto& [bit, name] : kBits) {
    if ((word & bit) == 0) continue;
    if (!out.empty()) out += '+';
    out += name;
  }
  return out.empty() ? "-" : out;
}

std::string StateText(const cycles::State& state) {
  std::string out = absl::StrCat(
      "  round ", state.round, ", ", Name(cycles::names::kPhases, state.phase),
      ", frame ", state.phase_frame, " of it; ",
      CountText(state.closed, "ring", "rings"), " closed\n");
  for (int seat = 0; seat < state.players; ++seat) {
    out += CycleText(seat, state.cycles[static_cast<std::size_t>(seat)]);
  }
  return out + GridText(state);
}

}  // namespace parlor::replay_program
