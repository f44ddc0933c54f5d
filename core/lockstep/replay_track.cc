#include "lockstep/replay_track.h"

#include <bit>

namespace parlor::lockstep::replay {
namespace {

constexpr std::uint64_t kFramesMax = 0xffffffff;

std::uint32_t AsFrame(std::uint64_t next) {
  return static_cast<std::uint32_t>(std::min(next, kFramesMax));
}

}  // namespace

void Track::TakeKept(const ReplayKept& kept) {
  phase_ = Phase::kPlaying;
  kept_ = true;
  match_ = {.players = static_cast<int>(kept.seats.size()), .mode = kept.mode};
  for (std::size_t i = 0; i < kept.seats.size(); ++i) {
    const ReplaySeat& from = kept.seats[i];
    seats_[i].is = from.left ? Seat::Is::kLeft : Seat::Is::kAway;
    seats_[i].next_input = static_cast<std::uint64_t>(from.last_input + 1);
    seats_[i].next_hash = static_cast<std::uint64_t>(from.last_hash + 1);
    said_ = std::max(said_, seats_[i].next_input);
  }
}

const char* Track::Take(const ReplayEvent& event) {
  if (phase_ == Phase::kEnded) return "an event after the room's end";
  switch (event.kind) {
    case ReplayKind::kInput:
      return TakeInput(event);
    case ReplayKind::kHash:
      return TakeHash(event);
    case ReplayKind::kFrames:
      return TakeFrames(event);
    case ReplayKind::kStart:
      if (source_ == ReplaySource::kPeer) return "a START that a peer saw";
      if (phase_ != Phase::kLobby || seats_[0].is != Seat::Is::kHere) {
        return "a START that no room waits for";
      }
      return nullptr;
    case ReplayKind::kBegin:
      return TakeBegin(event);
    case ReplayKind::kEnd:
      phase_ = Phase::kEnded;
      return nullptr;
    default:
      return TakeSeat(event);
  }
}

bool Track::MayRelay(Kind kind, int seat, std::uint32_t frame) const {
  if (source_ != ReplaySource::kRoom || phase_ != Phase::kPlaying) return false;
  if (seat < 0 || seat >= match_->players) return false;
  const Seat& state = seats_[static_cast<std::size_t>(seat)];
  return state.is == Seat::Is::kHere &&
         frame >= (kind == Kind::kInput ? state.next_input : state.next_hash);
}

const char* Track::TakeInput(const ReplayEvent& event) {
  if (!MayRelay(Kind::kInput, event.seat, event.frame)) {
    return "an INPUT that no room relays";
  }
  Seat& seat = seats_[static_cast<std::size_t>(event.seat)];
  // Of a match that began elsewhere, nobody knows.
  if (seat.next_input == 0 && !kept_) seat.first = event.frame;
  Relayed(Kind::kInput, event.seat, event.frame);
  said_ = std::max(said_, std::uint64_t{event.frame} + 1);
  return nullptr;
}

const char* Track::TakeHash(const ReplayEvent& event) {
  if (source_ == ReplaySource::kRoom) {
    if (!MayRelay(Kind::kHash, event.seat, event.frame)) {
      return "a HASH that no room relays";
    }
  } else {
    const Seat& own = seats_[static_cast<std::size_t>(recorded_by_)];
    if (phase_ != Phase::kPlaying || event.seat != recorded_by_ ||
        event.frame != frames_ || event.frame < own.next_hash) {
      return "a hash that is not the peer's of its present state";
    }
  }
  Relayed(Kind::kHash, event.seat, event.frame);
  return nullptr;
}

const char* Track::TakeFrames(const ReplayEvent& event) {
  if (source_ != ReplaySource::kPeer || phase_ != Phase::kPlaying) {
    return "frames where nobody runs any";
  }
  if (event.frame != frames_ || kFramesMax - frames_ < event.count) {
    return "frames that do not follow those before";
  }
  frames_ += event.count;
  said_ = frames_;
  return nullptr;
}

const char* Track::TakeKeyframe() {
  if (source_ != ReplaySource::kPeer || phase_ != Phase::kPlaying ||
      keyframe_ == frames_) {
    return "a keyframe where there is none to be";
  }
  keyframe_ = frames_;
  return nullptr;
}

const char* Track::TakeSeat(const ReplayEvent& event) {
  using Is = Seat::Is;
  const int seats = match_ ? match_->players : size_;
  if (source_ == ReplaySource::kPeer || event.seat < 0 || event.seat >= seats) {
    return "a seat that the room does not have";
  }
  Seat& seat = seats_[static_cast<std::size_t>(event.seat)];
  const bool held = seat.is == Is::kHere || seat.is == Is::kAway;
  switch (event.kind) {
    case ReplayKind::kJoin:
      if (seat.is != Is::kFree || match_) return "a join to a seat not free";
      seat.is = Is::kHere;
      return nullptr;
    case ReplayKind::kDrop:
      if (seat.is != Is::kHere || !match_) return "a drop of nobody's link";
      seat.is = Is::kAway;
      return nullptr;
    case ReplayKind::kResume:
      if (!held || !match_) return "a resume of a seat that nobody has";
      seat.is = Is::kHere;
      return nullptr;
    case ReplayKind::kLeave:
      if (!held) return "a leave of a seat that nobody has";
      seat.is = match_ ? Is::kLeft : Is::kFree;
      return nullptr;
    default:
      return "an event of no kind";
  }
}

const char* Track::TakeBegin(const ReplayEvent& event) {
  if (match_) return "the match begins again";
  if (event.players < 1 || event.players > size_ ||
      std::popcount(event.taken) != event.players) {
    return "a match of other than the seats that were taken";
  }
  for (int i = 0; i < kReplaySeatsMax; ++i) {
    const bool taken = (event.taken >> i & 1) != 0;
    const bool here =
        source_ == ReplaySource::kPeer
            ? i < event.players
            : seats_[static_cast<std::size_t>(i)].is == Seat::Is::kHere;
    if (taken != here) return "a match of other than the seats that were taken";
  }
  if (recorded_by_ >= event.players) return "a match without its recorder";
  for (int i = 0; i < kReplaySeatsMax; ++i) {
    seats_[static_cast<std::size_t>(i)].is =
        i < event.players ? Seat::Is::kHere : Seat::Is::kFree;
  }
  phase_ = Phase::kPlaying;
  match_ = {.players = event.players, .mode = event.mode};
  return nullptr;
}

std::uint32_t Track::first() const {
  std::uint32_t best = 0;
  std::ptrdiff_t most = 0;
  for (const Seat& seat : seats_) {
    if (!seat.first) continue;
    const std::ptrdiff_t count =
        std::ranges::count(seats_, seat.first, &Seat::first);
    if (count > most || (count == most && *seat.first < best)) {
      best = *seat.first;
      most = count;
    }
  }
  return best;
}

std::uint32_t Track::frame() {
  if (source_ == ReplaySource::kPeer) return frames_;
  if (!match_) return 0;
  std::uint64_t least = kFramesMax + 1;
  for (int i = 0; i < match_->players; ++i) {
    const Seat& seat = seats_[static_cast<std::size_t>(i)];
    if (seat.is != Seat::Is::kLeft) least = std::min(least, seat.next_input);
  }
  // Nobody is left, or some leave behind what the others were ahead by.
  if (least <= kFramesMax) frame_ = AsFrame(least);
  return frame_;
}

}  // namespace parlor::lockstep::replay
