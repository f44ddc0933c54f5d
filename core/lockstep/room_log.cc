#include "parlor/lockstep/room_log.h"

#include <utility>

namespace parlor::lockstep {
namespace {

ReplayHeader HeaderOf(const Room& room, const RoomLabel& label) {
  const RoomOptions& options = room.options();
  return {.source = ReplaySource::kRoom,
          .seed = room.seed(),
          .size = room.opened_for(),
          .game = label.game,
          .room = label.number,
          .started_unix_ms = label.started_unix_ms,
          .hold_ms = options.hold_ms,
          .lobby_ms = options.lobby_ms,
          .idle_ms = options.idle_ms,
          .lifetime_ms = options.lifetime_ms,
          .message_rate_per_s = options.message_rate_per_s,
          .message_burst = options.message_burst};
}

std::optional<ReplayKept> WithoutTokens(const RoomState* state) {
  if (state == nullptr) return std::nullopt;
  ReplayKept kept{.mode = state->mode, .age_ms = state->age_ms, .seats = {}};
  for (const SeatState& seat : state->seats) {
    kept.seats.push_back({.left = seat.token == 0,
                          .last_input = seat.last_input,
                          .last_hash = seat.last_hash,
                          .inputs = seat.inputs});
  }
  return kept;
}

}  // namespace

RoomLog::RoomLog(ReplaySink& sink, TimePoint now, const Room& room,
                 const RoomLabel& label, const RoomState* kept)
    : sink_(sink),
      match_(kept != nullptr),
      writer_(*this, HeaderOf(room, label), now, WithoutTokens(kept)) {
  if (match_) Flush();
}

// Rare as seats change, whoever looks for what happened to them finds it.
void RoomLog::OnEvent(TimePoint now, const ReplayEvent& event) {
  match_ = match_ || event.kind == ReplayKind::kBegin;
  writer_.Add(now, event);
  if (event.kind == ReplayKind::kEnd) {
    writer_.Finish();
  } else if (match_) {
    writer_.Flush();
  }
}

absl::Status RoomLog::Write(std::span<const std::byte> bytes) {
  if (!open_ && !match_ && lobby_.size() + bytes.size() <= kLobbyBytesMax) {
    lobby_.insert(lobby_.end(), bytes.begin(), bytes.end());
    return absl::OkStatus();
  }
  open_ = true;
  if (!lobby_.empty()) {
    const std::vector<std::byte> lobby = std::exchange(lobby_, {});
    absl::Status status = sink_.Write(lobby);
    if (!status.ok()) return status;
  }
  return sink_.Write(bytes);
}

}  // namespace parlor::lockstep
