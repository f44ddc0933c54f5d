#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cycles/names.h"
#include "parlor/printable.h"
#include "secret_file.h"
#include "stream/http_head.h"

namespace parlor::solo {
namespace {

// What was wrong with one argument.
struct BadArgument {
  std::string text;
};

// Every value comes in as text, so that one rule reads all numbers (CLI11
// would take "010" as eight).
struct Raw {
  std::string players, level, seed, size, frames;
  std::string record, replay, desync;
  std::string listen, join, invite, pass, wait, hold;
  bool headless = false;
  bool partial = false;
};

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(
      text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::uint32_t NumberIn(std::string_view flag, const std::string& text,
                       std::uint32_t low, std::uint32_t high) {
  const std::optional<std::uint64_t> value = ParseNumber(text);
  if (!value || *value < low || *value > high) {
    throw BadArgument{absl::StrCat(absl::string_view(flag.data(), flag.size()),
                                   ": ", text, " is not a number from ", low,
                                   " to ", high)};
  }
  return static_cast<std::uint32_t>(*value);
}

cycles::Level ParseLevel(const std::string& text) {
  for (std::size_t i = 0; i < cycles::names::kLevels.size(); ++i) {
    if (text == cycles::names::kLevels[i]) return static_cast<cycles::Level>(i);
  }
  throw BadArgument{
      absl::StrCat("--level: ", text, " is not one of easy, normal, hard")};
}

int NearestSize(int width, int height) {
  int best = 0;
  int best_distance = std::numeric_limits<int>::max();
  for (int i = 0; i < static_cast<int>(cycles::kSizes.size()); ++i) {
    const cycles::Size& size = cycles::kSizes[static_cast<std::size_t>(i)];
    const int distance =
        std::abs(size.width - width) + std::abs(size.height - height);
    if (distance >= best_distance) continue;
    best = i;
    best_distance = distance;
  }
  return best;
}

int ParseSize(const std::string& text) {
  const std::string_view view = text;
  const std::size_t x = view.find('x');
  const auto width = ParseNumber(view.substr(0, x));
  const auto height = x == std::string_view::npos
                          ? std::nullopt
                          : ParseNumber(view.substr(x + 1));
  if (x == 0 || !width || !height) {
    throw BadArgument{
        absl::StrCat("--size: ", text, " is not WIDTHxHEIGHT, as in 76x40")};
  }
  // A number that is far out has the same nearest size as 1,000.
  const int w = static_cast<int>(std::min<std::uint64_t>(*width, 1'000));
  const int h = static_cast<int>(std::min<std::uint64_t>(*height, 1'000));
  if (const std::optional<int> size = cycles::FindSize(w, h)) return *size;
  throw BadArgument{absl::StrCat("--size: there is no ", text,
                                 ", the nearest is ",
                                 SizeName(NearestSize(w, h)))};
}

std::string ListSizes() {
  std::string out;
  for (int i = 0; i < static_cast<int>(cycles::kSizes.size()); ++i) {
    absl::StrAppend(&out,
                    i == 0        ? "  "
                    : i % 10 == 0 ? "\n  "
                                  : " ",
                    SizeName(i));
  }
  return out;
}

std::string Footer() {
  return absl::StrCat(
      "Sizes:\n", ListSizes(),
      "\n\n"
      "A size is WIDTHxHEIGHT in cells of the arena. It needs a window of "
      "2*WIDTH+2 columns\n"
      "and HEIGHT+4 rows, or, in UTF-8 and colours, of WIDTH+2 columns and "
      "HEIGHT/2+4 rows;\n"
      "48 columns at least. Without --size, play in a terminal takes one that "
      "fits the\n"
      "window, headless play 76x40.\n"
      "Without a terminal and without options: --headless --frames ",
      kHeadlessFramesDefault,
      ".\n"
      "With NO_COLOR in the environment, play in a terminal is monochrome.\n\n"
      "With friends: one of you listens, and tells the others a printed "
      "address and the\n"
      "code; they join with both. All play what the listener chose, and bots "
      "take the\n"
      "places that stay empty. Headless, a bot plays the own seat, and the "
      "match runs at\n"
      "its real pace; the listener starts when all --players are in, or "
      "--wait K of\n"
      "them, and stays until the others have left, 5 s at most. Each prints "
      "lines as it\n"
      "goes: who is seated, lost or back, and why it ended; then also stalls: "
      "N. SIGINT\n"
      "and SIGTERM leave in order; a listener's end ends the match for "
      "everyone.\n\n"
      "A pass lets in the first devices that use it. This one is known by a "
      "key, made with\n"
      "the first --pass and kept in $XDG_STATE_HOME/parlor/device-key or, "
      "without that\n"
      "variable, in ~/.local/state/parlor/device-key. Every user of a machine "
      "can read\n"
      "its command lines: a code or a pass that others may not see belongs in "
      "a file.\n\n"
      "Exit codes:\n"
      "  0  played to the end, or quit\n"
      "  1  a replay differs from what was recorded, a recording or stdout "
      "cannot be\n"
      "     written, or the match or the terminal failed: the host refused or "
      "left, the\n"
      "     connection was lost for good, the port cannot be had, this "
      "device's key\n"
      "     cannot, or a seat saw another match than this one (desync)\n"
      "  2  bad arguments, a --record or --desync FILE that is there already, "
      "or a replay\n"
      "     file that cannot be read, is damaged or is not one\n");
}

void DeclareFriends(CLI::App& app, Raw& raw) {
  app.add_option("--listen", raw.listen,
                 absl::StrCat("Host friends on this port, 0 picks one [",
                              kListenPort, "]"))
      ->type_name("[PORT]")
      ->expected(0, 1);
  app.add_option("--join", raw.join,
                 "Join a friend's room: the address that the listener prints, "
                 "'ws://HOST:PORT/room/0?players=P', in quotes")
      ->type_name("URL");
  app.add_option("--invite", raw.invite,
                 "The code: with --listen the one that friends need (10 to 64 "
                 "letters, digits, - and _; drawn if absent), with --join the "
                 "listener's; @FILE reads it from a file")
      ->type_name("CODE");
  app.add_option("--pass", raw.pass,
                 "With --join: the pass that the host's owner gave you, in "
                 "place of a code; @FILE reads it from a file")
      ->type_name("PASS");
  app.add_option("--wait", raw.wait,
                 "With --headless and --listen: start when K are seated, this "
                 "one included [all]")
      ->type_name("K");
  app.add_option("--hold", raw.hold,
                 "With --listen: how long the match waits for somebody whose "
                 "connection was lost, in seconds, 0 to 120 [20]")
      ->type_name("S");
}

void Declare(CLI::App& app, Raw& raw) {
  app.set_version_flag("--version", absl::StrCat("parlor-solo " PARLOR_VERSION
                                                 " (Cycles, rules version ",
                                                 cycles::kRulesVersion, ")"));
  app.add_option("--players", raw.players, "Cycles in all, 2 to 8 [4]")
      ->type_name("N");
  app.add_option("--level", raw.level, "easy, normal or hard [normal]")
      ->type_name("LEVEL");
  app.add_option("--seed", raw.seed,
                 "The match's seed, 0 to 4294967295; drawn if absent")
      ->type_name("S");
  app.add_option("--size", raw.size, "The arena, a listed size")
      ->type_name("WxH");
  app.add_flag("--headless", raw.headless,
               "Bots only, without a terminal, as fast as it can; prints "
               "frames, hash and speed");
  app.add_option("--frames", raw.frames,
                 absl::StrCat("How many frames headless play runs [",
                              kHeadlessFramesDefault, "]"))
      ->type_name("N");
  app.add_option("--record", raw.record,
                 "Write the match to a new file; a restart writes FILE.2 or "
                 "the next number that is free")
      ->type_name("FILE");
  app.add_option("--desync", raw.desync,
                 "Where another seat sees another match, write what this one "
                 "kept to a new file, for parlor-replay diff")
      ->type_name("FILE");
  app.add_option("--replay", raw.replay,
                 "Play a recorded match and check its hashes; with --headless "
                 "as fast as it can")
      ->type_name("FILE");
  app.add_flag("--partial", raw.partial,
               "Of a replay that was cut off, play what is there");
  DeclareFriends(app, raw);
  app.footer(Footer());
  for (CLI::Option* option : app.get_options()) {
    // A flag given twice is harmless, a value given twice is a mistake.
    if (option->get_items_expected_max() > 0) {
      option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    }
  }
}

// Refuses each of `flags` that is given together with `with`.
void NotWith(const CLI::App& app, const char* with,
             std::initializer_list<const char*> flags, const char* why) {
  if (app.count(with) == 0) return;
  for (const char* flag : flags) {
    if (app.count(flag) == 0) continue;
    throw BadArgument{absl::StrCat(flag, ": not with ", with, ", ", why)};
  }
}

// Options that only make sense with or without one another.
void CheckTogether(const CLI::App& app) {
  const auto given = [&app](const char* flag) { return app.count(flag) > 0; };
  NotWith(app, "--replay",
          {"--players", "--level", "--seed", "--size", "--frames", "--record",
           "--desync", "--listen", "--join"},
          "whose file says what is played");
  NotWith(app, "--join",
          {"--listen", "--players", "--level", "--seed", "--size", "--hold",
           "--wait"},
          "where the listener says what is played");
  if (given("--partial") && !given("--replay")) {
    throw BadArgument{"--partial: only with --replay"};
  }
  if (given("--frames") && !given("--headless")) {
    throw BadArgument{"--frames: only with --headless"};
  }
  if (given("--wait") && !(given("--headless") && given("--listen"))) {
    throw BadArgument{"--wait: only with --headless and --listen"};
  }
  if (given("--hold") && !given("--listen")) {
    throw BadArgument{"--hold: only with --listen"};
  }
  if (given("--invite") && !given("--listen") && !given("--join")) {
    throw BadArgument{"--invite: only with --listen or --join"};
  }
  if (given("--pass") && !given("--join")) {
    throw BadArgument{"--pass: only with --join"};
  }
  NotWith(app, "--pass", {"--invite"}, "one of them is enough");
}

// The secret that `text` is, or that is in the file it names.
std::string TakeSecret(std::string_view flag, std::string_view text,
                       std::string* file) {
  const absl::string_view trimmed =
      absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  if (!absl::StartsWith(trimmed, "@")) return std::string(trimmed);
  *file = std::string(trimmed.substr(1));
  const absl::StatusOr<std::string> secret = ReadSecretFile(*file);
  if (secret.ok()) return *secret;
  throw BadArgument{absl::StrCat(absl::string_view(flag.data(), flag.size()),
                                 ": ", secret.status().message())};
}

// What is wrong with it is said, and never the code itself.
std::string ParseInvite(const std::string& code, bool listen) {
  const bool plain = std::all_of(code.begin(), code.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_';
  });
  if (code.empty()) throw BadArgument{"--invite: the code is empty"};
  if (listen && (!plain || code.size() < 10 || code.size() > 64)) {
    throw BadArgument{"--invite: a code has 10 to 64 letters, digits, - and _"};
  }
  return code;
}

// The same. What may be in a WebSocket's subprotocol and fits into a request's
// head.
std::string ParsePass(const std::string& pass) {
  if (pass.empty()) throw BadArgument{"--pass: the pass is empty"};
  if (!stream::IsHttpToken(pass) || pass.size() > kSecretMax) {
    throw BadArgument{
        "--pass: a pass is one word of letters, digits, ., - and _"};
  }
  return pass;
}

void TakeFriends(const CLI::App& app, const Raw& raw, Options& options) {
  const auto given = [&app](const char* flag) { return app.count(flag) > 0; };
  if (given("--listen")) {
    options.listen = kListenPort;
    if (!raw.listen.empty()) {
      options.listen = static_cast<std::uint16_t>(
          NumberIn("--listen", raw.listen, 0, 65'535));
    }
  }
  if (given("--join")) {
    const absl::StatusOr<RoomUrl> url = ParseRoomUrl(raw.join);
    if (!url.ok()) {
      throw BadArgument{absl::StrCat("--join: ", url.status().message())};
    }
    options.join = *url;
  }
  if (given("--invite")) {
    options.invite =
        ParseInvite(TakeSecret("--invite", raw.invite, &options.secret_file),
                    options.listen.has_value());
  }
  if (given("--pass")) {
    options.pass =
        ParsePass(TakeSecret("--pass", raw.pass, &options.secret_file));
  }
  if (given("--wait")) {
    const auto players = static_cast<std::uint32_t>(options.game.players);
    options.wait = static_cast<int>(NumberIn("--wait", raw.wait, 1, players));
  }
  if (given("--hold")) {
    options.hold_s = static_cast<int>(NumberIn("--hold", raw.hold, 0, 120));
  }
}

Options Checked(const CLI::App& app, const Raw& raw) {
  CheckTogether(app);
  Options options;
  options.headless = raw.headless;
  options.partial = raw.partial;
  options.record = raw.record;
  options.desync = raw.desync;
  options.replay = raw.replay;
  if (app.count("--players") > 0) {
    options.game.players = static_cast<int>(NumberIn(
        "--players", raw.players, cycles::kPlayersMin, cycles::kPlayersMax));
  }
  if (app.count("--level") > 0) options.game.level = ParseLevel(raw.level);
  if (app.count("--seed") > 0) {
    options.seed = NumberIn("--seed", raw.seed, 0,
                            std::numeric_limits<std::uint32_t>::max());
  }
  if (app.count("--size") > 0) {
    options.game.size = ParseSize(raw.size);
    options.size_given = true;
  }
  if (app.count("--frames") > 0) {
    options.frames = NumberIn("--frames", raw.frames, 1, kHeadlessFramesMax);
  }
  TakeFriends(app, raw, options);
  for (const auto& [flag, file] :
       {std::pair{"--record", std::string_view(raw.record)},
        std::pair{"--desync", std::string_view(raw.desync)},
        std::pair{"--replay", std::string_view(raw.replay)}}) {
    if (app.count(flag) > 0 && file.empty()) {
      throw BadArgument{absl::StrCat(flag, ": the file has no name")};
    }
  }
  if (!options.desync.empty() && options.desync == options.record) {
    throw BadArgument{"--desync: the file is that of --record"};
  }
  return options;
}

Exit Refusal(const std::string& text) {
  return Exit{.code = kExitRefused,
              .out = {},
              .err = absl::StrCat("parlor-solo: ", Printable(text),
                                  " (--help says more)\n")};
}

}  // namespace

std::variant<Options, Exit> ParseOptions(int argc, const char* const* argv,
                                         bool has_terminal) {
  Raw raw;
  CLI::App app("Cycles: light cycles against bots, in the terminal.",
               "parlor-solo");
  Declare(app, raw);
  try {
    app.parse(argc, argv);
    Options options = Checked(app, raw);
    if (argc > 0) options.program = argv[0];
    if (has_terminal || options.headless) return options;
    if (argc > 1) {
      throw BadArgument{"not a terminal: add --headless to play without one"};
    }
    options.headless = true;
    options.notice = absl::StrCat(
        "parlor-solo: no terminal, so this is --headless --frames ",
        kHeadlessFramesDefault, "\n");
    return options;
  } catch (const CLI::CallForHelp&) {
    return Exit{.code = kExitOk, .out = app.help(), .err = {}};
  } catch (const CLI::CallForVersion& version) {
    return Exit{
        .code = kExitOk, .out = absl::StrCat(version.what(), "\n"), .err = {}};
  } catch (const CLI::ParseError& error) {
    return Refusal(error.what());
  } catch (const BadArgument& bad) {
    return Refusal(bad.text);
  }
}

std::string_view LevelName(cycles::Level level) {
  return cycles::names::kLevels[static_cast<std::size_t>(level)];
}

std::string SizeName(int width, int height) {
  return absl::StrCat(width, "x", height);
}

std::string SizeName(int size) {
  const cycles::Size& row = cycles::kSizes[static_cast<std::size_t>(size)];
  return SizeName(row.width, row.height);
}

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
  if (!text.empty() &&
      text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return Printable(out + "'");
}

}  // namespace parlor::solo
