#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "replay/commands.h"
#include "replay/cycles_match.h"
#include "replay/recording.h"
#include "replay_player.h"

namespace parlor::replay_program {
namespace {

using lockstep::ReplayFrames;
using lockstep::ReplayHash;
using solo::HashText;

// What there is to say, in order; and whether any of it should not be.
class Findings {
 public:
  void Say(const std::string& line) { absl::StrAppend(&out_, line, "\n"); }
  void Find(const std::string& line) {
    found_ = true;
    Say(line);
  }
  Outcome outcome(std::string err) const {
    return {found_ ? kFinding : kFine, out_, std::move(err)};
  }

 private:
  std::string out_;
  bool found_ = false;
};

// "seat 0 said 0x11223344, seats 1 and 2 said 0x55667788".
std::string WhoSaidWhat(std::span<const ReplayHash> said) {
  std::string out;
  std::uint32_t told = 0;  // mask of places in `said`'s first 32
  for (std::size_t i = 0; i < std::min<std::size_t>(said.size(), 32); ++i) {
    if ((told >> i & 1) != 0) continue;
    std::uint32_t seats = 0;
    for (std::size_t j = i; j < std::min<std::size_t>(said.size(), 32); ++j) {
      if (said[j].value != said[i].value) continue;
      told |= 1u << j;
      seats |= 1u << said[j].seat;
    }
    absl::StrAppend(&out, out.empty() ? "" : ", ", SeatsText(seats), " said ",
                    HashText(said[i].value));
  }
  return out;
}

// The hashes of one frame after the other.
template <typename Visit>
void ForEachFrame(std::span<const ReplayHash> hashes, Visit visit) {
  while (!hashes.empty()) {
    const std::uint32_t frame = hashes.front().frame;
    const auto end =
        std::ranges::upper_bound(hashes, frame, {}, &ReplayHash::frame);
    const auto count = static_cast<std::size_t>(end - hashes.begin());
    visit(frame, hashes.first(count));
    hashes = hashes.subspan(count);
  }
}

void CheckAgreement(const lockstep::ReplayHeader& header,
                    const ReplayFrames& frames, Findings& findings) {
  std::uint64_t compared = 0;
  std::uint64_t differ = 0;
  std::string first;
  ForEachFrame(frames.hashes(), [&](std::uint32_t frame,
                                    std::span<const ReplayHash> said) {
    if (said.size() < 2) return;
    ++compared;
    const bool same = std::ranges::all_of(said, [&](const ReplayHash& one) {
      return one.value == said.front().value;
    });
    if (same) return;
    if (++differ == 1) {
      first = absl::StrCat("frame ", frame, ": ", WhoSaidWhat(said));
    }
  });
  if (differ > 0) {
    findings.Find(absl::StrCat("seats disagree in ", CountText(differ), " of ",
                               CountText(compared, "frame", "frames"),
                               "; first ", first));
  } else if (compared > 0) {
    findings.Say(absl::StrCat(
        compared == 1 ? "seats agree in the " : "seats agree in all ",
        CountText(compared, "frame", "frames"), " that more than one hashed"));
  } else if (header.source == lockstep::ReplaySource::kPeer) {
    findings.Say(absl::StrCat("recorded by seat ", header.recorded_by,
                              ": the hashes are its own, and there are no "
                              "others to compare"));
  } else {
    findings.Say("no frame has the hashes of more than one seat");
  }
}

// Plays Cycles and compares what is said about it.
class Simulation {
 public:
  Simulation(ReplayFrames& frames, const lockstep::ReplayLogReader& log,
             const cycles::State& start)
      : frames_(frames), keyframes_(log.keyframes()), state_(start) {}

  void Run(Findings& findings) {
    lockstep::ReplayFrame frame;
    const auto players = static_cast<std::size_t>(frames_.players());
    Compare(findings);
    while (frames_.Read(state_.frame, frame)) {
      cycles::Step(state_, std::span(frame.inputs).first(players), frame.bots);
      Compare(findings);
    }
    Tell(findings);
  }

 private:
  struct Seat {
    std::uint64_t said = 0;
    std::uint64_t wrong = 0;
  };

  void Compare(Findings& findings) {
    const auto said = frames_.HashesOf(state_.frame);
    if (!said.empty()) CompareHashes(said, findings);
    if (keyframes_.empty() || keyframes_.front().frame != state_.frame) return;
    ++compared_keyframes_;
    if (!std::ranges::equal(keyframes_.front().state,
                            cycles::SavedBytes(state_))) {
      findings.Find(absl::StrCat("the keyframe of frame ", state_.frame,
                                 " is not the state that Cycles plays"));
    }
    keyframes_ = keyframes_.subspan(1);
  }

  void CompareHashes(std::span<const ReplayHash> said, Findings& findings) {
    const std::uint32_t hash = cycles::Hash32(state_);
    bool right = true;
    for (const ReplayHash& one : said) {
      Seat& seat = seats_.at(static_cast<std::size_t>(one.seat));
      ++seat.said;
      if (one.value == hash) continue;
      right = false;
      if (++seat.wrong > 1) continue;
      findings.Find(absl::StrCat("frame ", state_.frame, ": Cycles plays ",
                                 HashText(hash), ", seat ", one.seat, " said ",
                                 HashText(one.value), "; the last hash before ",
                                 "that was right is of frame ", proved_));
    }
    if (right) proved_ = state_.frame;
  }

  void Tell(Findings& findings) {
    std::uint64_t said = 0;
    std::uint64_t wrong = 0;
    for (int i = 0; i < lockstep::kReplaySeatsMax; ++i) {
      const Seat& seat = seats_[static_cast<std::size_t>(i)];
      said += seat.said;
      wrong += seat.wrong;
      if (seat.wrong == 0) continue;
      findings.Say(absl::StrCat("seat ", i, ": ", CountText(seat.wrong), " of ",
                                CountText(seat.said, "hash", "hashes"),
                                seat.wrong == 1 ? " is wrong" : " are wrong"));
    }
    findings.Say(absl::StrCat(
        "Cycles plays ", CountText(state_.frame, "frame", "frames"), ": ",
        CountText(said - wrong), " of ", CountText(said, "hash", "hashes"),
        " right, ", CountText(compared_keyframes_, "keyframe", "keyframes"),
        " compared"));
    const std::uint64_t beyond = frames_.hashes().size() - said;
    if (beyond > 0) {
      findings.Say(absl::StrCat("of frames that nobody can run: ",
                                CountText(beyond, "hash", "hashes")));
    }
  }

  ReplayFrames& frames_;
  std::span<const lockstep::ReplayKeyframe> keyframes_;
  cycles::State state_;
  std::array<Seat, lockstep::kReplaySeatsMax> seats_{};
  std::uint32_t proved_ = 0;
  std::uint64_t compared_keyframes_ = 0;
};

void TellFile(const Recording& recording, Findings& findings) {
  if (recording.log.torn_at()) {
    findings.Find(
        absl::StrCat(Printable(recording.path), ": ", recording.log.warning()));
    return;
  }
  findings.Say(absl::StrCat(
      Printable(recording.path), ": whole, ", CountText(recording.bytes.size()),
      " bytes, ", CountText(recording.log.events(), "event", "events"),
      ", all checksums right"));
}

Outcome Refuse(const absl::Status& status) {
  return {kRefused, "", ErrorLine(StatusText(status))};
}

// A file that cannot be made out at all is none of ours; what is damaged
// behind its header is a finding.
absl::StatusOr<std::vector<Recording>> LoadAll(
    const std::vector<std::string>& files) {
  std::vector<Recording> recordings;
  for (const std::string& file : files) {
    absl::StatusOr<Recording> recording = Load(file, true);
    if (!recording.ok()) return recording.status();
    recordings.push_back(*std::move(recording));
  }
  return recordings;
}

absl::StatusOr<ReplayFrames> Join(std::vector<Recording>& recordings) {
  absl::StatusOr<ReplayFrames> frames =
      ReplayFrames::Of(recordings.front().log);
  for (std::size_t i = 1; frames.ok() && i < recordings.size(); ++i) {
    const absl::Status status = frames->Append(recordings[i].log);
    if (status.ok()) continue;
    return absl::Status(status.code(), absl::StrCat(recordings[i].path, ": ",
                                                    status.message()));
  }
  return frames;
}

}  // namespace

Outcome Verify(const std::vector<std::string>& files) {
  absl::StatusOr<std::vector<Recording>> recordings = LoadAll(files);
  if (!recordings.ok()) return Refuse(recordings.status());
  Findings findings;
  for (const Recording& one : *recordings) TellFile(one, findings);
  absl::StatusOr<ReplayFrames> frames = Join(*recordings);
  if (!frames.ok()) {
    if (files.size() > 1) return Refuse(frames.status());
    findings.Say("no match began");
    return findings.outcome("");
  }
  const lockstep::ReplayLogReader& log = recordings->front().log;
  CheckAgreement(log.header(), *frames, findings);
  const CyclesMatch match = RecognizeCycles(log, *frames);
  if (match.start) {
    Simulation(*frames, log, *match.start).Run(findings);
  } else {
    findings.Say(absl::StrCat("not played again: ", match.why_not));
  }
  return findings.outcome("");
}

}  // namespace parlor::replay_program
