#include "terminal/boxes.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "terminal/arena.h"
#include "terminal/texts.h"

namespace parlor::solo {
namespace {

constexpr Style kHeading{.ink = Ink::kGold, .bold = true};
constexpr Style kHint{.ink = Ink::kFaint};

// Inside a box in the narrowest window.
constexpr int kTextWidth = 44;

struct BoxLine {
  std::string text;
  Style style = {};
  int swatch = -1;  // a seat whose pattern stands before the text
};

std::string MatchGameText(const cycles::State& state) {
  return absl::StrCat(GameText(state.level, state.width, state.height),
                      "   seed ", state.seed);
}

// One line a player, the best first: rank, name, score, and what became of him
// in this round or in the match.
std::vector<BoxLine> TableLines(const View& view) {
  const cycles::State& state = *view.state;
  const bool match_over = state.phase == cycles::Phase::kMatchOver;
  std::vector<BoxLine> lines;
  lines.push_back({match_over ? "   player  score  rounds  crashed into it"
                              : "   player  score  round   out",
                   kHint});
  const auto ranking = cycles::Ranking(state);
  for (int i = 0; i < state.players; ++i) {
    const int seat = ranking[static_cast<std::size_t>(i)];
    const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
    const std::string name(PlayerName(seat, view.own_seat));
    const std::string start =
        absl::StrFormat("%d %-5s %5d", seat + 1, name, cycle.score);
    std::string rest;
    if (match_over) {
      rest = absl::StrFormat("%8d %8d", cycle.wins, cycle.kills);
    } else {
      const std::string out = DeathText(state, seat, view.own_seat);
      rest = absl::StrFormat("%+7d   %s", cycle.round_score,
                             out.empty() ? "still in" : out);
    }
    lines.push_back(
        {absl::StrCat(start, rest), {.bold = seat == view.own_seat}, seat});
  }
  return lines;
}

std::vector<BoxLine> RoundLines(const View& view) {
  const cycles::State& state = *view.state;
  std::vector<BoxLine> lines = {{RoundText(state, view.own_seat), kHeading},
                                {""}};
  for (BoxLine& line : TableLines(view)) lines.push_back(std::move(line));
  const int left =
      cycles::kRoundOverFrames - static_cast<int>(state.phase_frame);
  lines.push_back({""});
  lines.push_back({absl::StrCat("Space goes on, or wait ",
                                left / cycles::kFramesPerSecond + 1),
                   kHint});
  return lines;
}

std::vector<BoxLine> MatchLines(const View& view) {
  std::vector<BoxLine> lines = {
      {MatchText(*view.state, view.own_seat), kHeading}, {""}};
  for (BoxLine& line : TableLines(view)) lines.push_back(std::move(line));
  lines.push_back({""});
  lines.push_back({MatchGameText(*view.state), kHint});
  lines.push_back({"Space plays another match   Q quits", kHint});
  return lines;
}

std::vector<BoxLine> PausedLines(const View& view) {
  return {{"Paused", kHeading},
          {""},
          {MatchGameText(*view.state)},
          {""},
          {"O opens it to friends: a new match", kHint},
          {"P goes on   R restarts   ? help   Q quits", kHint}};
}

std::vector<BoxLine> MenuLines(const View& view) {
  return {{"The match goes on", kHeading},
          {""},
          {MatchGameText(*view.state)},
          {""},
          {"P goes back   ? help   Q quits", kHint}};
}

std::vector<BoxLine> AskQuitLines(const View& view) {
  std::vector<BoxLine> lines = {{"Quit?", kHeading}, {""}};
  if (view.net && view.net->listening && view.net->players > 1) {
    lines.push_back({"The match ends for your friends too."});
  } else if (view.net) {
    lines.push_back({"You cannot come back: a bot plays on for you."});
  }
  lines.push_back({"Q again quits, any other key goes on"});
  return lines;
}

// What the keys other than those of play do.
std::vector<BoxLine> HelpKeyLines(bool others) {
  if (others) {
    return {{"P, Esc               a menu; the match goes on"},
            {"Q                    quit"}};
  }
  return {{"P, Esc               pause"},
          {"R                    a new match"},
          {"O in the pause       opens the game to friends, for a"},
          {"                     new match; Q there comes back"},
          {"Q                    quit"}};
}

std::vector<BoxLine> HelpLines(const View& view, const Symbols& symbols) {
  const auto two = [](const std::array<char32_t, 2>& cell) {
    std::string out;
    for (const char32_t c : cell) out += static_cast<char>(c);
    return out;
  };
  std::vector<BoxLine> lines = {
      {"How to play", kHeading},
      {""},
      {"arrows, WASD, hjkl   steer; two turns are remembered"},
      {"space                boost, if a charge is left"}};
  for (BoxLine& line : HelpKeyLines(view.net.has_value())) {
    lines.push_back(std::move(line));
  }
  const std::vector<BoxLine> rules = {
      {""},
      {absl::StrCat(two(symbols.charge), "  a charge for the boost")},
      {absl::StrCat(two(symbols.eraser), "  clears your own trail")},
      {""},
      {"Stay off walls, obstacles and trails. A point for"},
      {"every rival you outlive, and one for every rival"},
      {"who hits your trail. After 30 s the walls close in."},
      {""},
      {"any key goes on", kHint}};
  lines.insert(lines.end(), rules.begin(), rules.end());
  return lines;
}

std::vector<BoxLine> ReplayEndLines(const View& view) {
  return {{view.replay->torn ? "The recording was cut off here"
                             : "The replay ends here",
           kHeading},
          {""},
          {absl::StrCat("every hash of ", view.replay->frames,
                        " frames is as recorded")},
          {""},
          {"R plays it again   Q quits", kHint}};
}

std::vector<BoxLine> EndLines(const View& view) {
  std::vector<BoxLine> lines = {{"The match ended", kHeading}, {""}};
  for (std::string& row : Wrapped(view.net->end, kTextWidth)) {
    lines.push_back({std::move(row)});
  }
  lines.push_back({""});
  lines.push_back({"Q quits", kHint});
  return lines;
}

std::vector<BoxLine> RetryLines(const RetryView& retry) {
  std::vector<BoxLine> lines = {
      {"The connection is lost", kHeading},
      {""},
      {absl::StrCat("reconnecting, try ", retry.number, " of ", retry.most)}};
  if (retry.seconds_left > 0) {
    lines.push_back({absl::StrCat(retry.seconds_left, " s left")});
  }
  lines.push_back({""});
  lines.push_back({"Q quits", kHint});
  return lines;
}

std::vector<BoxLine> WaitingLines(const View& view) {
  std::vector<BoxLine> lines = {
      {WaitingText(view.net->waiting, view.own_seat), kHeading}, {""}};
  if ((view.net->waiting & view.net->away) != 0) {
    lines.push_back({"reconnecting; if not, a bot plays on"});
  } else {
    lines.push_back({"nothing is heard from there"});
  }
  lines.push_back({""});
  lines.push_back({"Q quits", kHint});
  return lines;
}

// What a match with others stands still for, or none.
std::vector<BoxLine> NetLines(const View& view) {
  if (!view.net->end.empty()) return EndLines(view);
  if (view.net->retry) return RetryLines(*view.net->retry);
  if (view.net->waiting != 0) return WaitingLines(view);
  return {};
}

std::vector<BoxLine> LinesOf(const View& view, const Symbols& symbols) {
  switch (view.overlay) {
    case Overlay::kPaused:
      // A replay that pauses is there to be looked at.
      if (view.replay) return {};
      return view.net ? MenuLines(view) : PausedLines(view);
    case Overlay::kHelp:
      return HelpLines(view, symbols);
    case Overlay::kAskQuit:
      return AskQuitLines(view);
    case Overlay::kAskRestart:
      return {{"A new match?", kHeading},
              {""},
              {"R again starts it, any other key goes on"}};
    case Overlay::kNone:
      break;
  }
  if (view.replay && view.replay->at_end) return ReplayEndLines(view);
  if (view.net) {
    std::vector<BoxLine> lines = NetLines(view);
    if (!lines.empty()) return lines;
  }
  if (view.state->phase == cycles::Phase::kRoundOver) return RoundLines(view);
  if (view.state->phase == cycles::Phase::kMatchOver) return MatchLines(view);
  return {};
}

int WidthOf(const BoxLine& line) {
  return static_cast<int>(line.text.size()) + (line.swatch >= 0 ? 3 : 0);
}

}  // namespace

void DrawBox(const View& view, const Layout& layout, const Symbols& symbols,
             Canvas& canvas) {
  const std::vector<BoxLine> lines = LinesOf(view, symbols);
  if (lines.empty()) return;
  int width = 0;
  for (const BoxLine& line : lines) width = std::max(width, WidthOf(line));
  const Extent size{
      std::min(width + 4, canvas.width()),
      std::min(static_cast<int>(lines.size()) + 2, canvas.height())};
  const int middle = layout.frame_x + layout.frame.width / 2;
  const int x =
      std::clamp(middle - size.width / 2, 0, canvas.width() - size.width);
  const int y =
      std::clamp(layout.frame_y + (layout.frame.height - size.height) / 2, 0,
                 canvas.height() - size.height);
  canvas.Fill(x, y, size.width, size.height, {});
  int row = y + 1;
  for (const BoxLine& line : lines) {
    int column = x + 2;
    if (line.swatch >= 0) {
      DrawSwatch(column, row, line.swatch, symbols, canvas);
      column += 3;
    }
    canvas.Text(column, row, line.text, line.style);
    ++row;
  }
  DrawFrame(x, y, size, symbols, {.ink = Ink::kGold}, canvas);
}

}  // namespace parlor::solo
