#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "replay/commands.h"
#include "replay/cycles_match.h"
#include "replay/diff.h"
#include "replay/recording.h"
#include "replay_player.h"
#include "storage/replay_file.h"

namespace parlor::replay_program {
namespace {

using lockstep::ReplayFrame;
using lockstep::ReplayFrames;
using lockstep::ReplayHash;
using solo::HashText;

struct Side {
  Recording recording;
  ReplayFrames frames;
  std::string name;  // printable

  const lockstep::ReplayHeader& header() const {
    return recording.log.header();
  }
};

absl::StatusOr<Side> ParseSide(File file) {
  absl::StatusOr<Recording> recording =
      Parse(file.path, std::move(file.bytes), false);
  if (!recording.ok()) return recording.status();
  absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(recording->log);
  if (!frames.ok()) {
    return absl::Status(
        frames.status().code(),
        absl::StrCat(file.path, ": ", frames.status().message()));
  }
  return Side{.recording = *std::move(recording),
              .frames = *std::move(frames),
              .name = Printable(file.path)};
}

// What both have to say alike to be of one match; empty: they do.
std::string WhyNotOneMatch(const Side& a, const Side& b) {
  const auto compare = [](const char* what, std::int64_t of_a,
                          std::int64_t of_b) {
    return of_a == of_b ? std::string()
                        : absl::StrCat(what, " ", of_a, " and ", of_b);
  };
  const lockstep::ReplayGame& game_a = a.header().game;
  const lockstep::ReplayGame& game_b = b.header().game;
  std::array found = {
      compare("seed", a.header().seed, b.header().seed),
      compare("size", a.header().size, b.header().size),
      compare("players", a.frames.players(), b.frames.players()),
      compare("mode", a.recording.log.match()->mode,
              b.recording.log.match()->mode),
      compare("delay", a.frames.delay(), b.frames.delay()),
      std::string()};
  // Where a recorder did not know the game, it says nothing of it.
  if (!game_a.name.empty() && !game_b.name.empty()) {
    if (game_a.name != game_b.name) {
      found.back() = absl::StrCat("game ", game_a.name, " and ", game_b.name);
    } else {
      found.back() =
          compare("rules version", game_a.rules_version, game_b.rules_version);
    }
  }
  const auto first = std::ranges::find_if_not(found, &std::string::empty);
  return first == found.end() ? "" : *first;
}

struct Difference {
  std::uint32_t frame = 0;
  std::string text;
};

class Comparison {
 public:
  Comparison(Side& a, Side& b)
      : a_(a),
        b_(b),
        begin_(std::max(a.frames.begin(), b.frames.begin())),
        end_(std::min(a.frames.end(), b.frames.end())) {}

  Outcome Run() {
    const std::optional<Difference> inputs = FindInputs();
    const std::optional<Difference> hash =
        FindHash(inputs ? inputs->frame : end_);
    if (hash) return Tell(*hash, PlayTo(hash->frame));
    if (inputs) return Tell(*inputs, "");
    return TellSame();
  }

 private:
  std::optional<Difference> FindInputs();
  std::string InputsDiffer(const ReplayFrame& of_a, const ReplayFrame& of_b);
  std::optional<Difference> FindHash(std::uint32_t last);
  std::string PlayTo(std::uint32_t frame);
  std::string Said(const Side& side, std::uint32_t frame) const;
  Outcome Tell(const Difference& difference, const std::string& more) const;
  Outcome TellSame() const;

  Side& a_;
  Side& b_;
  const std::uint32_t begin_;
  const std::uint32_t end_;
  std::uint64_t hashes_ = 0;  // compared
};

std::optional<Difference> Comparison::FindInputs() {
  ReplayFrame of_a;
  ReplayFrame of_b;
  for (std::uint32_t frame = begin_; frame < end_; ++frame) {
    a_.frames.Read(frame, of_a);
    b_.frames.Read(frame, of_b);
    if (of_a == of_b) continue;
    return Difference{frame, InputsDiffer(of_a, of_b)};
  }
  return std::nullopt;
}

std::string Comparison::InputsDiffer(const ReplayFrame& of_a,
                                     const ReplayFrame& of_b) {
  std::string out;
  for (int seat = 0; seat < a_.frames.players(); ++seat) {
    const auto s = static_cast<std::size_t>(seat);
    const bool bot_a = (of_a.bots >> seat & 1) != 0;
    const bool bot_b = (of_b.bots >> seat & 1) != 0;
    if (bot_a == bot_b && of_a.inputs[s] == of_b.inputs[s]) continue;
    const auto word = [&](const ReplayFrame& frame, bool bot) {
      return bot ? std::string("a bot")
                 : absl::StrCat("0x", absl::Hex(frame.inputs[s]));
    };
    absl::StrAppend(&out, out.empty() ? "" : "; ", "the input of seat ", seat,
                    " is ", word(of_a, bot_a), " in ", a_.name, ", ",
                    word(of_b, bot_b), " in ", b_.name);
  }
  return out;
}

// Up to `last`: what is hashed before that frame, nobody's inputs explain.
std::optional<Difference> Comparison::FindHash(std::uint32_t last) {
  std::int64_t done = -1;
  for (const ReplayHash& hash : a_.frames.hashes()) {
    if (hash.frame < begin_ || hash.frame > last || hash.frame == done)
      continue;
    done = hash.frame;
    const auto of_a = a_.frames.HashesOf(hash.frame);
    const auto of_b = b_.frames.HashesOf(hash.frame);
    if (of_b.empty()) continue;
    ++hashes_;
    const auto other = [&](const ReplayHash& one) {
      return one.value != hash.value;
    };
    if (std::ranges::none_of(of_a, other) &&
        std::ranges::none_of(of_b, other)) {
      continue;
    }
    return Difference{
        hash.frame,
        absl::StrCat(
            "the state before it is not the same, and all inputs are: ",
            Said(a_, hash.frame), "; ", Said(b_, hash.frame))};
  }
  return std::nullopt;
}

std::string Comparison::Said(const Side& side, std::uint32_t frame) const {
  std::string out = "in " + side.name;
  for (const ReplayHash& said : side.frames.HashesOf(frame)) {
    absl::StrAppend(&out, " seat ", said.seat, " said ", HashText(said.value));
  }
  return out;
}

// Whose state it is that Cycles plays, where it is Cycles.
std::string Comparison::PlayTo(std::uint32_t frame) {
  const CyclesMatch match = RecognizeCycles(a_.recording.log, a_.frames);
  if (!match.start) return "";
  cycles::State state = *match.start;
  const auto players = static_cast<std::size_t>(a_.frames.players());
  ReplayFrame inputs;
  while (state.frame < frame && a_.frames.Read(state.frame, inputs)) {
    cycles::Step(state, std::span(inputs.inputs).first(players), inputs.bots);
  }
  const std::uint32_t hash = cycles::Hash32(state);
  std::uint32_t right = 0;
  for (const Side* side : {&a_, &b_}) {
    for (const ReplayHash& said : side->frames.HashesOf(frame)) {
      if (said.value == hash) right |= 1u << said.seat;
    }
  }
  return absl::StrCat("played again, it is ", HashText(hash), ", which ",
                      right == 0 ? "nobody" : SeatsText(right), " said\n");
}

Outcome Comparison::Tell(const Difference& difference,
                         const std::string& more) const {
  return {kFinding,
          absl::StrCat("frame ", difference.frame, ": ", difference.text, "\n",
                       more),
          ""};
}

Outcome Comparison::TellSame() const {
  if (begin_ >= end_) {
    return {kFinding, "they have no frame in common\n", ""};
  }
  std::string out = absl::StrCat(
      "the same in the ", CountText(end_ - begin_, "frame", "frames"),
      " that both have, and in ", CountText(hashes_), " that both hashed\n");
  for (const Side* side : {&a_, &b_}) {
    const std::uint32_t more = side->frames.end() - end_;
    if (more == 0) continue;
    absl::StrAppend(&out, side->name, " goes on for ", CountText(more),
                    " more\n");
  }
  return {kFine, out, ""};
}

Outcome Refuse(std::string_view text) {
  return {kRefused, "", ErrorLine(text)};
}

// Whether one recording agrees with itself and with Cycles, verify says.
Outcome RefuseOne(File file) {
  const absl::StatusOr<Side> side = ParseSide(std::move(file));
  if (!side.ok()) return Refuse(StatusText(side.status()));
  return Refuse(
      absl::StrCat("diff: ", side->recording.path,
                   " is one recording, and two are compared (verify ",
                   "plays one again; of desync dumps one alone will do)"));
}

}  // namespace

Outcome DiffRecordings(File file_a, File file_b) {
  absl::StatusOr<Side> a = ParseSide(std::move(file_a));
  if (!a.ok()) return Refuse(StatusText(a.status()));
  absl::StatusOr<Side> b = ParseSide(std::move(file_b));
  if (!b.ok()) return Refuse(StatusText(b.status()));
  const std::string err = WarningOf(a->recording) + WarningOf(b->recording);
  const std::string why = WhyNotOneMatch(*a, *b);
  if (!why.empty()) {
    return {kFinding, absl::StrCat("not of one match: ", why, "\n"), err};
  }
  Outcome outcome = Comparison(*a, *b).Run();
  outcome.err = err;
  return outcome;
}

Outcome Diff(const std::vector<std::string>& paths) {
  std::vector<File> files;
  for (const std::string& path : paths) {
    absl::StatusOr<std::vector<std::byte>> bytes = host::ReadReplayBytes(path);
    if (!bytes.ok()) return Refuse(StatusText(bytes.status()));
    files.push_back({path, *std::move(bytes)});
  }
  if (std::ranges::all_of(files, IsDump)) return DiffDumps(files);
  const auto dump = std::ranges::find_if(files, IsDump);
  if (dump != files.end()) {
    return Refuse(dump->path + ": is a dump, and not all files are");
  }
  if (files.size() == 2) {
    return DiffRecordings(std::move(files[0]), std::move(files[1]));
  }
  if (files.size() == 1) return RefuseOne(std::move(files.front()));
  return Refuse(absl::StrCat("diff: recordings are compared two by two, and ",
                             "here are ", files.size()));
}

}  // namespace parlor::replay_program
