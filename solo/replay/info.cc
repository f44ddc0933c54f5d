#include <array>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "replay/commands.h"
#include "replay/cycles_match.h"
#include "replay/recording.h"
#include "replay_player.h"

namespace parlor::replay_program {
namespace {

using lockstep::ReplayCause;
using lockstep::ReplayEvent;
using lockstep::ReplayKind;

// A hostile file has more than anyone wants to read.
constexpr std::size_t kListedMax = 200;

// One line, or one member of the object.
struct Fact {
  std::string_view name;
  std::string text;
  bool quoted = false;  // JSON: text, not a number or a truth
};

// What happened to a seat, or the room.
struct Happening {
  std::string_view what;
  Duration at{};
  std::uint32_t frame = 0;
  int seat = -1;  // -1: the room
  std::string why;
};

struct Summary {
  std::vector<Fact> facts;
  std::vector<Happening> happenings;
  std::uint64_t unlisted = 0;
};

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += absl::StrFormat("\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// "2026-11-30T18:02:33Z"
std::string DateText(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1'000;
  std::tm date{};
  std::array<char, 64> text{};
  if (gmtime_r(&seconds, &date) == nullptr ||
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &date) ==
          0) {
    return absl::StrCat(unix_ms, " ms after 1970");
  }
  return text.data();
}

std::string WhyText(const ReplayEvent& event) {
  if (event.kind == ReplayKind::kLeave &&
      event.cause == ReplayCause::kHoldOver) {
    return "did not come back";
  }
  if (event.code == 0) return "";
  const bool put_out = event.cause == ReplayCause::kPutOut;
  std::string out = absl::StrCat(put_out ? "put out: " : "", event.code);
  if (!event.text.empty()) absl::StrAppend(&out, " ", Printable(event.text));
  return out;
}

// Goes through all events once.
class Counter {
 public:
  Counter(lockstep::ReplayLogReader& log, Summary& out) : log_(log), out_(out) {
    log.Rewind();
    ReplayEvent event;
    while (log.Next(event)) Take(event);
    log.Rewind();
  }

  std::uint64_t inputs = 0;
  std::uint64_t hashes = 0;
  std::uint64_t drops = 0;
  std::uint64_t resumes = 0;
  std::uint64_t leaves = 0;

 private:
  void Take(const ReplayEvent& event) {
    switch (event.kind) {
      case ReplayKind::kInput:
        ++inputs;
        return;
      case ReplayKind::kHash:
        ++hashes;
        return;
      case ReplayKind::kFrames:
        return TakeBots(event);
      case ReplayKind::kJoin:
        return List(event, "join");
      case ReplayKind::kStart:
        return List(event, "start asked for");
      case ReplayKind::kBegin:
        return List(event, "match begins");
      case ReplayKind::kDrop:
        ++drops;
        return List(event, "drop");
      case ReplayKind::kResume:
        ++resumes;
        return List(event, "resume");
      case ReplayKind::kLeave:
        ++leaves;
        return List(event, "leave");
      case ReplayKind::kEnd:
        return List(event, "room ends");
    }
  }

  // What a peer saw of leaves.
  void TakeBots(const ReplayEvent& event) {
    for (int seat = 0; seat < lockstep::kReplaySeatsMax; ++seat) {
      const std::uint32_t bit = 1u << seat;
      if ((event.bots & bit) == (bots_ & bit)) continue;
      if (IsFull()) continue;
      const bool taken = (event.bots & bit) != 0;
      out_.happenings.push_back(
          {.what = taken ? "bot plays" : "bot plays no more",
           .at = event.at,
           .frame = event.frame,
           .seat = seat,
           .why = ""});
    }
    bots_ = event.bots;
  }

  void List(const ReplayEvent& event, std::string_view what) {
    if (IsFull()) return;
    const bool of_room = event.kind == ReplayKind::kStart ||
                         event.kind == ReplayKind::kBegin ||
                         event.kind == ReplayKind::kEnd;
    out_.happenings.push_back({.what = what,
                               .at = event.at,
                               .frame = FrameAt(log_, event.at),
                               .seat = of_room ? -1 : event.seat,
                               .why = WhyText(event)});
  }

  // Then what would have been listed counts.
  bool IsFull() {
    const bool full = out_.happenings.size() == kListedMax;
    if (full) ++out_.unlisted;
    return full;
  }

  lockstep::ReplayLogReader& log_;
  Summary& out_;
  std::uint32_t bots_ = 0;
};

class Facts {
 public:
  explicit Facts(std::vector<Fact>& out) : out_(out) {}

  void Text(std::string_view name, std::string text) {
    out_.push_back({name, std::move(text), true});
  }
  void Number(std::string_view name, std::int64_t number) {
    out_.push_back({name, std::to_string(number), false});
  }
  void Count(std::string_view name, std::uint64_t count) {
    Number(name, static_cast<std::int64_t>(count));
  }

 private:
  std::vector<Fact>& out_;
};

void TellHeader(const Recording& recording, Facts& facts) {
  const lockstep::ReplayHeader& header = recording.log.header();
  const bool room = header.source == lockstep::ReplaySource::kRoom;
  facts.Text("file", Printable(recording.path));
  facts.Text("recorded_by",
             room ? "room" : absl::StrCat("seat ", header.recorded_by));
  facts.Text("game", header.game.name.empty() ? "not known" : header.game.name);
  facts.Count("rules_version", header.game.rules_version);
  if (header.started_unix_ms > 0) {
    facts.Text("started", DateText(header.started_unix_ms));
  }
  if (header.room) facts.Count("room", *header.room);
  facts.Count("seed", header.seed);
  facts.Number("size", header.size);
  if (!room) return;
  facts.Number("hold_ms", header.hold_ms);
  facts.Number("lobby_ms", header.lobby_ms);
  facts.Number("idle_ms", header.idle_ms);
  facts.Number("lifetime_ms", header.lifetime_ms);
  facts.Number("message_rate_per_s", header.message_rate_per_s);
  facts.Number("message_burst", header.message_burst);
}

void TellMatch(Recording& recording, Facts& facts) {
  const absl::StatusOr<lockstep::ReplayFrames> frames =
      lockstep::ReplayFrames::Of(recording.log);
  if (!frames.ok()) return facts.Number("players", 0);
  facts.Number("players", frames->players());
  facts.Number("mode", recording.log.match()->mode);
  const absl::StatusOr<cycles::Options> options =
      solo::CyclesOptionsOf(recording.log);
  if (options.ok() && !recording.log.header().game.name.empty()) {
    facts.Text("options", OptionsText(*options));
  }
  facts.Number("delay", frames->delay());
  if (frames->begin() > 0) facts.Count("first_frame", frames->begin());
  facts.Count("frames", frames->end());
}

Summary Summarize(Recording& recording) {
  Summary summary;
  Facts facts(summary.facts);
  TellHeader(recording, facts);
  TellMatch(recording, facts);
  const Counter counter(recording.log, summary);
  const Duration length = recording.log.length();
  const std::int64_t ms = length / kMillisecond;
  facts.Text("duration", TimeText(length));
  facts.Number("duration_ms", ms);
  facts.Count("events", recording.log.events());
  facts.Count("inputs", counter.inputs);
  facts.Count("hashes", counter.hashes);
  facts.Count("keyframes", recording.log.keyframes().size());
  facts.Count("drops", counter.drops);
  facts.Count("resumes", counter.resumes);
  facts.Count("leaves", counter.leaves);
  facts.Count("bytes", recording.bytes.size());
  const auto bytes = static_cast<std::int64_t>(recording.bytes.size());
  facts.Number("bytes_per_second", ms > 0 ? bytes * 1'000 / ms : 0);
  if (recording.log.torn_at()) {
    facts.Count("torn_at", *recording.log.torn_at());
  }
  return summary;
}

std::string AsText(const Summary& summary) {
  std::string out;
  for (const Fact& fact : summary.facts) {
    absl::StrAppend(&out, std::string(fact.name), ": ", fact.text, "\n");
  }
  for (const Happening& one : summary.happenings) {
    absl::StrAppend(&out, TimeText(one.at), " frame ", one.frame, ": ");
    if (one.seat >= 0) absl::StrAppend(&out, "seat ", one.seat, " ");
    absl::StrAppend(&out, std::string(one.what));
    if (!one.why.empty()) absl::StrAppend(&out, " (", one.why, ")");
    out += "\n";
  }
  if (summary.unlisted > 0) {
    absl::StrAppend(&out, "and ", summary.unlisted, " more\n");
  }
  return out;
}

std::string AsJson(const Summary& summary) {
  std::string out = "{\n";
  for (const Fact& fact : summary.facts) {
    absl::StrAppend(&out, "  ", Quoted(fact.name), ": ",
                    fact.quoted ? Quoted(fact.text) : fact.text, ",\n");
  }
  out += "  \"happenings\": [";
  std::string_view comma = "\n";
  for (const Happening& one : summary.happenings) {
    absl::StrAppend(
        &out, std::string(comma), "    {\"at_ms\": ", one.at / kMillisecond,
        ", \"frame\": ", one.frame, ", \"what\": ", Quoted(one.what));
    if (one.seat >= 0) absl::StrAppend(&out, ", \"seat\": ", one.seat);
    if (!one.why.empty()) absl::StrAppend(&out, ", \"why\": ", Quoted(one.why));
    out += "}";
    comma = ",\n";
  }
  absl::StrAppend(&out, "\n  ],\n  \"unlisted\": ", summary.unlisted, "\n}\n");
  return out;
}

}  // namespace

Outcome Info(const InfoOptions& options) {
  absl::StatusOr<Recording> recording = Load(options.file, options.partial);
  if (!recording.ok()) {
    return {kRefused, "", ErrorLine(StatusText(recording.status()))};
  }
  const Summary summary = Summarize(*recording);
  return {kFine, options.json ? AsJson(summary) : AsText(summary),
          WarningOf(*recording)};
}

}  // namespace parlor::replay_program
