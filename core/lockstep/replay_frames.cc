#include "parlor/lockstep/replay_frames.h"

#include <algorithm>
#include <string>
#include <utility>

#include "parlor/check.h"
#include "parlor/status.h"

namespace parlor::lockstep {
namespace {

constexpr std::uint64_t kFrameMax = 0xffffffff;

absl::Status NotNext(std::string_view why) {
  return MakeStatus(
      absl::StatusCode::kFailedPrecondition,
      "this recording does not follow the other: " + std::string(why));
}

}  // namespace

void ReplayFrames::Column::Push(std::uint32_t frame, std::uint32_t word) {
  PARLOR_DCHECK(frame == next);
  next = std::uint64_t{frame} + 1;
  if (runs.empty() || runs.back().word != word) runs.push_back({frame, word});
}

// `frame` is one that is in it.
std::uint32_t ReplayFrames::Column::Read(std::uint32_t frame) {
  const auto holds = [&](std::size_t run) {
    return run < runs.size() && runs[run].frame <= frame &&
           (run + 1 == runs.size() || frame < runs[run + 1].frame);
  };
  if (!holds(cursor) && !holds(++cursor)) {
    const auto after = std::ranges::upper_bound(runs, frame, {}, &Run::frame);
    PARLOR_CHECK(after != runs.begin());
    cursor = static_cast<std::size_t>(after - runs.begin()) - 1;
  }
  return runs[cursor].word;
}

absl::StatusOr<ReplayFrames> ReplayFrames::Of(ReplayLogReader& log) {
  if (!log.match()) {
    return MakeStatus(absl::StatusCode::kFailedPrecondition,
                      "no match began in this recording");
  }
  ReplayFrames frames;
  frames.source_ = log.header().source;
  frames.seed_ = log.header().seed;
  frames.size_ = log.header().size;
  frames.mode_ = log.match()->mode;
  frames.players_ = log.match()->players;
  frames.delay_ = log.delay();
  frames.columns_.resize(static_cast<std::size_t>(frames.players_));
  frames.TakeBegin(log);
  frames.TakeEvents(log);
  return frames;
}

absl::Status ReplayFrames::Append(ReplayLogReader& next) {
  const ReplayHeader& header = next.header();
  if (source_ != ReplaySource::kRoom || header.source != source_) {
    return NotNext("one of them is not a room's");
  }
  if (!next.kept()) return NotNext("it begins with a match of its own");
  if (header.seed != seed_ || header.size != size_ ||
      next.match()->mode != mode_ || next.match()->players != players_) {
    return NotNext("it is another match's");
  }
  for (std::size_t s = 0; s < columns_.size(); ++s) {
    if (columns_[s].left && !next.kept()->seats[s].left) {
      return NotNext("seat " + std::to_string(s) + " had left before it");
    }
  }
  ReplayFrames longer = *this;
  longer.TakeKept(*next.kept());
  longer.TakeEvents(next);
  if (longer.begin_ > begin_) {
    return NotNext("frames from " + std::to_string(end_) + " up to " +
                   std::to_string(longer.begin_) + " are in neither");
  }
  *this = std::move(longer);
  return absl::OkStatus();
}

// Frames below the delay are there before anybody says one.
void ReplayFrames::TakeBegin(const ReplayLogReader& log) {
  if (source_ == ReplaySource::kPeer) return;
  for (Column& column : columns_) {
    for (int f = 0; f < delay_; ++f) {
      column.Push(static_cast<std::uint32_t>(f), 0);
    }
  }
  in_match_ = log.kept().has_value();
  if (in_match_) TakeKept(*log.kept());
}

void ReplayFrames::TakeKept(const ReplayKept& kept) {
  for (std::size_t s = 0; s < columns_.size(); ++s) {
    const ReplaySeat& seat = kept.seats[s];
    Column& column = columns_[s];
    for (const MessageBytes& bytes : seat.inputs) {
      const Message message = Decode(bytes);
      // What was kept may itself lack what died with an earlier process.
      column.taken_back = true;
      TakeInput(column, message.frame, message.value);
    }
    column.left = column.left || seat.left;
    column.taken_back = true;
  }
}

// As Peer::OnInput, of one that was there all the time. Of what a process that
// was killed had relayed and not kept, the peers know more than we do: where a
// seat goes on then, it has said what was before.
void ReplayFrames::TakeInput(Column& column, std::uint32_t frame,
                             std::uint32_t word) {
  if (column.stuck) return;
  const bool taken_back = std::exchange(column.taken_back, false);
  if (frame < column.next) return;
  if (frame > column.next) {
    if (!taken_back) {
      column.stuck = true;
      return;
    }
    column.runs.clear();
    column.begin = column.next = frame;
  }
  column.Push(frame, word);
}

void ReplayFrames::TakeEvents(ReplayLogReader& log) {
  log.Rewind();
  ReplayEvent event;
  while (log.Next(event)) {
    const auto s = static_cast<std::size_t>(event.seat);
    switch (event.kind) {
      case ReplayKind::kInput:
        TakeInput(columns_[s], event.frame, event.value);
        break;
      case ReplayKind::kHash:
        hashes_.push_back({event.frame, event.seat, event.value});
        break;
      case ReplayKind::kFrames:
        TakeFrames(event);
        break;
      case ReplayKind::kLeave:
        if (in_match_) columns_[s].left = true;
        break;
      case ReplayKind::kBegin:
        in_match_ = true;
        break;
      default:
        break;
    }
  }
  log.Rewind();
  std::ranges::stable_sort(hashes_, {}, &ReplayHash::frame);
  SetRange();
}

void ReplayFrames::TakeFrames(const ReplayEvent& event) {
  const auto take = [&event](Column& column, std::uint32_t word) {
    column.Push(event.frame, word);
    column.next += event.count - 1;
  };
  for (std::size_t s = 0; s < columns_.size(); ++s) {
    take(columns_[s], event.inputs[s]);
  }
  take(bots_, event.bots);
}

// A frame can be run once every seat that has not left has said it. Where all
// have left, nobody has run beyond what the last of them said.
void ReplayFrames::SetRange() {
  begin_ = 0;
  std::uint64_t least = kFrameMax;
  std::uint64_t most = 0;
  bool all_left = true;
  for (const Column& column : columns_) {
    most = std::max(most, column.next);
    begin_ = std::max(begin_, static_cast<std::uint32_t>(column.begin));
    if (column.left) continue;
    least = std::min(least, column.next);
    all_left = false;
  }
  end_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      begin_, std::min(all_left ? most : least, kFrameMax)));
}

bool ReplayFrames::Read(std::uint32_t frame, ReplayFrame& out) {
  if (frame < begin_ || frame >= end_) return false;
  out.frame = frame;
  out.bots = source_ == ReplaySource::kPeer ? bots_.Read(frame) : 0;
  out.inputs.fill(0);
  for (std::size_t s = 0; s < columns_.size(); ++s) {
    if (frame < columns_[s].next) {
      out.inputs[s] = columns_[s].Read(frame);
    } else {
      out.bots |= std::uint32_t{1} << s;
    }
  }
  return true;
}

std::span<const ReplayHash> ReplayFrames::HashesOf(std::uint32_t frame) const {
  const auto begin =
      std::ranges::lower_bound(hashes_, frame, {}, &ReplayHash::frame);
  const auto end =
      std::ranges::upper_bound(hashes_, frame, {}, &ReplayHash::frame);
  return {begin, end};
}

}  // namespace parlor::lockstep
