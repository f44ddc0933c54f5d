#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parlor/check.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/status.h"
#include "replay/commands.h"
#include "replay/cycles_match.h"
#include "replay/recording.h"
#include "replay_player.h"

namespace parlor::replay_program {
namespace {

using lockstep::ReplayFrames;

std::string InputsText(ReplayFrames& frames, std::uint32_t at, bool cycles) {
  lockstep::ReplayFrame frame;
  if (!frames.Read(at, frame)) return "no inputs: it was not run\n";
  std::string out;
  for (int seat = 0; seat < frames.players(); ++seat) {
    absl::StrAppend(&out, "seat ", seat, ": ");
    const std::uint32_t word = frame.inputs[static_cast<std::size_t>(seat)];
    if ((frame.bots >> seat & 1) != 0) {
      out += "a bot\n";
    } else {
      absl::StrAppend(&out, cycles ? WordText(word) + " " : "", "0x",
                      absl::Hex(word), "\n");
    }
  }
  return out;
}

std::string HashesText(const ReplayFrames& frames, std::uint32_t at) {
  std::string out;
  for (const lockstep::ReplayHash& said : frames.HashesOf(at)) {
    absl::StrAppend(&out, "hash of seat ", said.seat, ": ",
                    solo::HashText(said.value), "\n");
  }
  return out;
}

// The state there, played from the last keyframe before.
Outcome Show(Recording recording, ReplayFrames frames, std::uint32_t frame,
             std::string text) {
  absl::StatusOr<solo::ReplayPlayer> player = solo::ReplayPlayer::Of(
      std::move(recording.bytes), std::move(recording.log), std::move(frames));
  PARLOR_CHECK(player.ok());  // it was recognized
  const absl::Status played = player->Seek(frame);
  if (player->frame() == frame) {
    absl::StrAppend(&text, "state before it, hash ",
                    solo::HashText(cycles::Hash32(player->state())), ":\n",
                    StateText(player->state()));
  }
  if (played.ok()) return {kFine, std::move(text), ""};
  return {kFinding, std::move(text),
          ErrorLine(absl::StrCat(recording.path, ": ",
                                 std::string(StatusText(played))))};
}

}  // namespace

Outcome Seek(const SeekOptions& options) {
  absl::StatusOr<Recording> recording = Load(options.file, options.partial);
  if (!recording.ok()) {
    return {kRefused, "", ErrorLine(StatusText(recording.status()))};
  }
  lockstep::ReplayLogReader& log = recording->log;
  absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(log);
  if (!frames.ok()) {
    return {kRefused, "",
            ErrorLine(absl::StrCat(options.file, ": ",
                                   std::string(StatusText(frames.status()))))};
  }
  const std::uint32_t frame =
      options.frame ? *options.frame : FrameAt(log, *options.time);
  if (frame < frames->begin() || frame > frames->end() ||
      (options.time && *options.time > log.length())) {
    return {kRefused, "",
            ErrorLine(absl::StrCat(options.file, ": it has the frames ",
                                   frames->begin(), " to ", frames->end(),
                                   ", and ends at ", TimeText(log.length())))};
  }
  const CyclesMatch match = RecognizeCycles(log, *frames);
  std::string text = absl::StrCat(
      "frame ", frame, " of ", frames->end(), ", at ",
      TimeText(TimeOf(log, frame)), "\n", HashesText(*frames, frame),
      InputsText(*frames, frame, match.start.has_value()));
  const std::string warning = WarningOf(*recording);
  if (!match.start) {
    absl::StrAppend(&text, "no state: ", match.why_not, "\n");
    return {kFine, std::move(text), warning};
  }
  Outcome outcome =
      Show(*std::move(recording), *std::move(frames), frame, std::move(text));
  outcome.err = warning + outcome.err;
  return outcome;
}

}  // namespace parlor::replay_program
