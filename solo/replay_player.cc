#include "replay_player.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parlor/status.h"
#include "storage/replay_file.h"

namespace parlor::solo {
namespace {

using lockstep::ReplayFrames;
using lockstep::ReplayKeyframe;
using lockstep::ReplayLogReader;

constexpr std::string_view kName = "cycles";

absl::Status Differs(const std::string& what) {
  return MakeStatus(absl::StatusCode::kAborted, what);
}

}  // namespace

lockstep::ReplayGame CyclesGame(int delay) {
  return {.name = std::string(kName),
          .rules_version = cycles::kRulesVersion,
          .delay = delay};
}

absl::StatusOr<cycles::Options> CyclesOptionsOf(const ReplayLogReader& log) {
  const lockstep::ReplayHeader& header = log.header();
  if (!header.game.name.empty()) {
    if (header.game.name != kName) {
      return InvalidArgument(absl::StrCat("byte 60: the game is ",
                                          header.game.name, ", not ",
                                          std::string(kName)));
    }
    if (header.game.rules_version != cycles::kRulesVersion) {
      return InvalidArgument(absl::StrCat(
          "byte 20: recorded with rules version ", header.game.rules_version,
          ", this program plays version ", cycles::kRulesVersion));
    }
  }
  if (!log.match()) {
    return InvalidArgument("no match began in this recording");
  }
  const std::optional<cycles::Options> options =
      cycles::FromMode(log.match()->mode, header.size);
  if (!options) {
    return InvalidArgument(
        absl::StrCat("no match of Cycles has ", header.size,
                     header.size == 1 ? " player" : " players", " and mode ",
                     log.match()->mode));
  }
  return *options;
}

std::string HashText(std::uint32_t hash) {
  return absl::StrCat("0x", absl::Hex(hash, absl::kZeroPad8));
}

absl::StatusOr<ReplayPlayer> ReplayPlayer::Open(const std::string& path,
                                                bool partial) {
  absl::StatusOr<std::vector<std::byte>> bytes = host::ReadReplayBytes(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<ReplayPlayer> player = FromBytes(*std::move(bytes), partial);
  if (player.ok()) return player;
  return absl::Status(player.status().code(),
                      absl::StrCat(path, ": ", player.status().message()));
}

absl::StatusOr<ReplayPlayer> ReplayPlayer::FromBytes(
    std::vector<std::byte> bytes, bool partial) {
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(bytes, partial);
  if (!log.ok()) return log.status();
  // First, so that another game is told of as such.
  const absl::StatusOr<cycles::Options> options = CyclesOptionsOf(*log);
  if (!options.ok()) return options.status();
  absl::StatusOr<ReplayFrames> match = ReplayFrames::Of(*log);
  if (!match.ok()) return match.status();
  return Of(std::move(bytes), *std::move(log), *std::move(match));
}

absl::StatusOr<ReplayPlayer> ReplayPlayer::Of(std::vector<std::byte> bytes,
                                              ReplayLogReader log,
                                              ReplayFrames match) {
  const absl::StatusOr<cycles::Options> options = CyclesOptionsOf(log);
  if (!options.ok()) return options.status();
  if (match.begin() > 0) {
    return InvalidArgument(
        absl::StrCat("it goes on from frame ", match.begin(),
                     " of a match that another recording begins"));
  }
  return ReplayPlayer(std::move(bytes), std::move(log), std::move(match),
                      *options);
}

ReplayPlayer::ReplayPlayer(std::vector<std::byte> bytes, ReplayLogReader log,
                           ReplayFrames match, const cycles::Options& options)
    : bytes_(std::move(bytes)),
      log_(std::move(log)),
      match_(std::move(match)),
      options_(options) {
  Rewind();
}

absl::StatusOr<bool> ReplayPlayer::Step() {
  if (frame_ == 0) {
    if (absl::Status s = Compare(); !s.ok()) return s;
  }
  if (!Run()) return false;
  if (absl::Status s = Compare(); !s.ok()) return s;
  return true;
}

bool ReplayPlayer::Run() {
  lockstep::ReplayFrame frame;
  if (!match_.Read(frame_, frame)) return false;
  const auto players = static_cast<std::size_t>(match_.players());
  cycles::Step(state_, std::span(frame.inputs).first(players), frame.bots);
  ++frame_;
  return true;
}

// The state before frame_ runs with what was said of it.
absl::Status ReplayPlayer::Compare() {
  const auto hashes = match_.HashesOf(frame_);
  if (hashes.empty()) return absl::OkStatus();
  const std::uint32_t hash = cycles::Hash32(state_);
  for (const lockstep::ReplayHash& said : hashes) {
    if (said.value == hash) continue;
    const std::string where =
        frame_ == 0 ? std::string("at the start")
                    : absl::StrCat("before frame ", frame_,
                                   ", first checked since frame ", proved_);
    return Differs(absl::StrCat("the replay differs ", where, ": hash ",
                                HashText(hash), ", seat ", said.seat, " said ",
                                HashText(said.value)));
  }
  proved_ = frame_;
  return absl::OkStatus();
}

absl::Status ReplayPlayer::Seek(std::uint32_t frame) {
  frame = std::min(frame, frames());
  const ReplayKeyframe* const keyframe = log_.KeyframeFor(frame);
  const bool back = frame < frame_;
  if (keyframe != nullptr && (back || keyframe->frame > frame_)) {
    if (absl::Status s = GoTo(*keyframe); !s.ok()) return s;
  } else if (back) {
    Rewind();
  }
  absl::Status first = Compare();
  while (frame_ < frame && Run()) {
    absl::Status status = Compare();
    if (first.ok()) first = std::move(status);
  }
  return first;
}

absl::Status ReplayPlayer::GoTo(const ReplayKeyframe& keyframe) {
  const std::optional<cycles::State> state = cycles::FromSaved(keyframe.state);
  if (!state) {
    return Differs(absl::StrCat("the keyframe of frame ", keyframe.frame,
                                " is no state of Cycles"));
  }
  if (state->frame != keyframe.frame || state->seed != log_.header().seed ||
      state->delay != match_.delay() || state->players != options_.players ||
      state->level != options_.level || state->size != options_.size) {
    return Differs(absl::StrCat("the keyframe of frame ", keyframe.frame,
                                " is of another match or frame"));
  }
  state_ = *state;
  frame_ = keyframe.frame;
  proved_ = frame_;
  return absl::OkStatus();
}

void ReplayPlayer::Rewind() {
  state_ = cycles::Start(options_, log_.header().seed, match_.delay());
  frame_ = 0;
  proved_ = 0;
}

}  // namespace parlor::solo
