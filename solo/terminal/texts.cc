#include "terminal/texts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "options.h"

namespace parlor::solo {
namespace {

constexpr std::array<std::string_view, cycles::kPlayersMax> kNames = {
    "P1", "Ada", "Bix", "Cleo", "Dax", "Echo", "Finn", "Gus"};

std::string Name(int seat, int own_seat) {
  return std::string(PlayerName(seat, own_seat));
}

// "Ada", "Ada and Bix", "Ada, Bix and Cleo". `you` is the own seat's name
// there, which depends on the place in the sentence.
std::string Names(std::uint32_t mask, int own_seat,
                  std::string_view you = "You") {
  std::vector<std::string> names;
  for (; mask != 0; mask &= mask - 1) {
    const int seat = std::countr_zero(mask);
    names.push_back(seat == own_seat ? std::string(you) : Name(seat, own_seat));
  }
  if (names.empty()) return "nobody";
  std::string last = std::move(names.back());
  names.pop_back();
  if (names.empty()) return last;
  return absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

std::string Whose(std::uint32_t mask, int own_seat) {
  if (own_seat >= 0 && mask == 1u << own_seat) return "your";
  return absl::StrCat(Names(mask, own_seat), "'s");
}

}  // namespace

std::string_view PlayerName(int seat, int own_seat) {
  return seat == own_seat ? "You" : kNames[static_cast<std::size_t>(seat)];
}

std::string DeathText(const cycles::State& state, int seat, int own_seat) {
  const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
  switch (cycle.cause) {
    case cycles::Cause::kNone:
      return "";
    case cycles::Cause::kWall:
      return "hit the wall";
    case cycles::Cause::kObstacle:
      return "hit an obstacle";
    case cycles::Cause::kOwnTrail:
      return seat == own_seat ? "hit your own trail" : "hit their own trail";
    case cycles::Cause::kTrail:
      return absl::StrCat("hit ", Whose(cycle.by, own_seat), " trail");
    case cycles::Cause::kHeadOn:
      return absl::StrCat("met ", Names(cycle.by, own_seat, "you"), " head-on");
    case cycles::Cause::kClosing:
      return "caught by the closing walls";
  }
  return "";
}

std::string RoundText(const cycles::State& state, int own_seat) {
  if (state.winner == cycles::kNobody) return "Nobody is left";
  return absl::StrCat(Name(state.winner, own_seat),
                      state.winner == own_seat ? " win" : " wins",
                      " the round");
}

std::string MatchText(const cycles::State& state, int own_seat) {
  const std::uint32_t leaders = cycles::Leaders(state);
  if (std::popcount(leaders) > 1) {
    return absl::StrCat(Names(leaders, own_seat), " share the match");
  }
  if (own_seat >= 0 && leaders == 1u << own_seat) return "You win the match!";
  return absl::StrCat(Names(leaders, own_seat), " wins the match");
}

std::string NetText(const NetView& net, int own_seat) {
  const auto say = [own_seat](std::uint32_t mask, std::string_view one,
                              std::string_view many) {
    const std::string_view rest = std::popcount(mask) == 1 ? one : many;
    return absl::StrCat(Names(mask, own_seat), std::string(rest));
  };
  if (!net.end.empty()) return "";
  if (net.away != 0) {
    return say(net.away, " is reconnecting", " are reconnecting");
  }
  if (net.left == 0) return "";
  return say(net.left, " left, a bot plays on", " left, bots play on");
}

std::string WaitingText(std::uint32_t waiting, int own_seat) {
  return absl::StrCat("Waiting for ", Names(waiting, own_seat));
}

std::string GameText(cycles::Level level, int width, int height) {
  return absl::StrCat("level ", std::string(LevelName(level)), "   size ",
                      SizeName(width, height));
}

std::vector<std::string> JoinCommand(const std::string& url,
                                     const std::string& code, int width) {
  // A row that goes on ends with " \\": the shell joins what is copied.
  constexpr std::size_t kGoesOn = 2;
  const std::string words[] = {"parlor-solo --join",
                               absl::StrCat("'", url, "'"),
                               absl::StrCat("--invite ", code)};
  const auto room = static_cast<std::size_t>(std::max(width, 8));
  std::vector<std::string> rows = {words[0]};
  for (std::size_t i = 1; i < std::size(words); ++i) {
    const std::size_t after = i + 1 < std::size(words) ? kGoesOn : 0;
    if (rows.back().size() + 1 + words[i].size() + after <= room) {
      absl::StrAppend(&rows.back(), " ", words[i]);
      continue;
    }
    rows.back() += " \\";
    rows.push_back(words[i]);
  }
  return rows;
}

std::vector<std::string> Wrapped(std::string_view text, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 1));
  std::vector<std::string> rows;
  while (text.size() > room) {
    const std::size_t space = text.rfind(' ', room);
    const std::size_t end = space == std::string_view::npos ? room : space;
    rows.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), space == end ? end + 1 : end));
  }
  rows.emplace_back(text);
  return rows;
}

std::string_view StyleName(cycles::Style style) {
  constexpr std::array<std::string_view, cycles::kStyles> kStyleNames = {
      "hunter", "hugger", "wanderer", "collector"};
  return kStyleNames[static_cast<std::size_t>(style)];
}

std::string_view Longest(std::initializer_list<std::string_view> texts,
                         int width) {
  for (const std::string_view text : texts) {
    if (static_cast<int>(text.size()) <= width) return text;
  }
  return *(texts.end() - 1);
}

std::string_view Clipped(std::string_view text, int width) {
  return text.substr(0, static_cast<std::size_t>(std::max(0, width)));
}

bool IsOut(const cycles::Cycle& cycle) {
  return cycle.alive == 0 && cycle.cause != cycles::Cause::kNone;
}

int LastDeath(const cycles::State& state) {
  int last = -1;
  for (int s = 0; s < state.players; ++s) {
    const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(s)];
    if (!IsOut(cycle)) continue;
    if (last < 0 ||
        cycle.died_frame >
            state.cycles[static_cast<std::size_t>(last)].died_frame) {
      last = s;
    }
  }
  return last;
}

}  // namespace parlor::solo
