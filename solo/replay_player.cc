#include "replay_player.h"

#include "absl/strings/str_cat.h"
#include "parlor/status.h"

namespace parlor::solo {
namespace {

// What the format allows and this game does not.
absl::StatusOr<cycles::Options> OptionsOf(const ReplayHeader& header) {
  if (header.game != kReplayGameCycles) {
    return InvalidArgument(
        absl::StrCat("byte 10: game ", header.game, ", not Cycles"));
  }
  if (header.rules_version != cycles::kRulesVersion) {
    return InvalidArgument(absl::StrCat(
        "byte 12: recorded with rules version ", header.rules_version,
        ", this program plays version ", cycles::kRulesVersion));
  }
  const std::optional<cycles::Options> options =
      cycles::FromMode(header.mode, header.size);
  if (!options) {
    return InvalidArgument(absl::StrCat("byte 21: no game of Cycles has ",
                                        header.size, " players and mode ",
                                        header.mode));
  }
  return *options;
}

}  // namespace

absl::StatusOr<ReplayPlayer> ReplayPlayer::Open(const std::string& path,
                                                bool partial) {
  absl::StatusOr<std::vector<std::byte>> bytes = ReadReplayBytes(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<ReplayPlayer> player = FromBytes(*std::move(bytes), partial);
  if (player.ok()) return player;
  return absl::Status(player.status().code(),
                      absl::StrCat(path, ": ", player.status().message()));
}

absl::StatusOr<ReplayPlayer> ReplayPlayer::FromBytes(
    std::vector<std::byte> bytes, bool partial) {
  absl::StatusOr<ReplayReader> reader = ReplayReader::Open(bytes, partial);
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<cycles::Options> options = OptionsOf(reader->header());
  if (!options.ok()) return options.status();
  return ReplayPlayer(std::move(bytes), *std::move(reader), *options);
}

absl::StatusOr<bool> ReplayPlayer::Step() {
  if (frame_ == 0) {
    if (absl::Status s = Compare(header().start_hash); !s.ok()) return s;
  }
  ReplayFrame frame;
  if (!reader_.Next(frame)) return false;
  cycles::Step(
      state_,
      std::span(frame.inputs).first(static_cast<std::size_t>(header().seats)),
      frame.bots);
  frame_ = frame.frame + 1;
  if (!frame.hash) return true;
  if (absl::Status s = Compare(*frame.hash); !s.ok()) return s;
  proved_ = frame_;
  return true;
}

absl::Status ReplayPlayer::Compare(std::uint64_t recorded) const {
  const std::uint64_t hash = cycles::Hash64(state_);
  if (hash == recorded) return absl::OkStatus();
  const std::string where =
      frame_ == 0 ? std::string("at the start")
                  : absl::StrCat("at frame ", frame_ - 1, ", first checked ",
                                 "since frame ", proved_);
  return MakeStatus(
      absl::StatusCode::kAborted,
      absl::StrCat("the replay differs ", where, ": hash ", HashText(hash),
                   ", recorded ", HashText(recorded)));
}

void ReplayPlayer::Rewind() {
  reader_.Rewind();
  state_ = cycles::Start(options_, header().seed, header().delay);
  frame_ = 0;
  proved_ = 0;
}

}  // namespace parlor::solo
