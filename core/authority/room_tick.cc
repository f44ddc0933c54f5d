// A room's ticks: the game's step, and what every client is sent behind it.
#include <algorithm>
#include <string>
#include <utility>

#include "authority/room_parts.h"
#include "parlor/authority/room.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::authority {

void Room::RunTicks() {
  if (!steps_) return;
  // A tick may end the room, or put out the last who is in it.
  for (int due = steps_->Take(now_); due > 0 && steps_; --due) RunTick();
}

void Room::RunTick() {
  ++tick_;
  TakeInputs();
  context_->BeginStep();
  Guarded("step", [&] { game_->Step(*context_, inputs_); });
  context_->EndStep();
  const bool due = SnapshotDue();
  if (due || AnswerDue()) {
    const bool step_failed = std::exchange(tick_failed_, false);
    TakeSnapshot(due);
    snapshot_failed_ = tick_failed_;
    tick_failed_ = step_failed || snapshot_failed_;
  }
  for (int i = 0; i < options_.seats; ++i) {
    if (IsWelcomed(i)) TellNews(i, due);
  }
  inputs_.clear();
  if (const auto refusal = rows_.TakeRefusal()) NoteRefusedValue(*refusal);
  CountFailure();
}

void Room::TakeInputs() {
  for (const Player& player : players_) {
    inputs_.push_back(
        {.seat = player.seat, .frame = seat(player.seat).inputs.Take(now_)});
  }
}

// One row and field says what the game does wrong, and the counter how often.
void Room::NoteRefusedValue(std::string_view what) {
  if (!std::exchange(refusal_noted_, true)) Note(RoomNote::kRefusedValue, what);
}

// A tick that sends nothing asks the game for no state: it ends no row of
// snapshots that failed.
void Room::CountFailure() {
  if (!std::exchange(tick_failed_, false)) {
    if (!snapshot_failed_) failed_in_a_row_ = 0;
    return;
  }
  ++counters_.failed_ticks;
  if (++failed_in_a_row_ == kFailedTicksMax && !ended_) {
    Finish(CloseReason::kRoomEnded);
  }
}

// --- Snapshots

// Every tick_hz / snapshot_hz ticks on average, and always in the tick that
// fills a second; and the first tick of a new world.
bool Room::SnapshotDue() const {
  const auto by = [&](std::int64_t tick) {
    return tick * options_.snapshot_hz / options_.tick_hz;
  };
  return by(tick_) != by(std::int64_t{tick_} - 1) || rows_.base() == 0;
}

bool Room::AnswerDue() const {
  return std::any_of(players_.begin(), players_.end(), [&](const Player& p) {
    return p.connected && !seat(p.seat).client.welcomed;
  });
}

bool Room::IsWelcomed(int number) const {
  const std::unique_ptr<Seat>& asked = seats_[static_cast<std::size_t>(number)];
  return asked != nullptr && asked->client.welcomed;
}

// A seat may go at the end of this, and the room with it.
void Room::TakeSnapshot(bool due) {
  if (tick_ % options_.tick_hz == 0) baseline_due_ = true;
  if (!Guarded("write_state", [&] { game_->WriteState(*context_, rows_); })) {
    return;
  }
  encoder_.BeginTick(tick_, has_views_ ? views_.get() : nullptr);
  const bool first = rows_.base() == 0;
  if (std::exchange(baseline_due_, false) || first) {
    encoder_.TakeBaseline();
    baseline_tick_ = tick_;
  }
  for (int i = 0; i < options_.seats; ++i) {
    if (connections_[static_cast<std::size_t>(i)] == nullptr) continue;
    if (!seat(i).client.welcomed) {
      Answer(i);
    } else if (due) {
      SendSnapshot(i);
    }
  }
  if (due) Evict();
}

// All that a join or a resume is told, in this order.
void Room::Answer(int number) {
  Seat& joined = seat(number);
  Client& client = joined.client;
  const Player& player = *FindPlayer(number);
  const WireStateCodec& codec =
      *options_.codecs[static_cast<std::size_t>(client.codec)];
  encoder_.AddViewer(number, codec, has_views_);
  client.welcomed = true;
  client.acked_tick = baseline_tick_ - 1;
  client.heard_tick = tick_;
  client.told_entity = player.entity;
  SendText(number, Write(WelcomeFrame{
                       .player = player.id,
                       .seat = number,
                       .token = joined.tokens.Issue(entropy_),
                       .protocol = options_.protocol,
                       .codec = std::string(codec.name()),
                       .schema = schema_json_,
                       .tick_hz = static_cast<int>(options_.tick_hz),
                       .snapshot_hz = static_cast<int>(options_.snapshot_hz),
                       .epoch = rows_.epoch(),
                       .tick = tick_,
                       .entity = player.entity,
                       .grace_ms = options_.grace_ms}));
  SendBaseline(number);
  SendDelta(number);
  SendRoster(number);
  for (const Payload& waiting : std::exchange(client.waiting, {})) {
    SendPayload(number, waiting);
  }
}

void Room::SendSnapshot(int number) {
  Client& client = seat(number).client;
  client.blocked = IsBlocked(number);
  if (!client.blocked) {
    if (client.wants_baseline || !encoder_.HasBaseline(number)) {
      SendBaseline(number);
    }
    SendDelta(number);
  } else if (!IsTooSlow(number) && tick_ >= client.recovery_tick) {
    SendRecovery(number);
  }
}

// Behind all that the tick sends: where no seat is held, rows go with a player,
// and until then they may not change.
void Room::Evict() {
  for (int i = 0; i < options_.seats; ++i) {
    if (!IsWelcomed(i) || !IsTooSlow(i)) continue;
    ++counters_.evicted;
    Connection& evicted = connection(i);
    Drop(i);
    evicted.Close(CloseReason::kTooSlow);
  }
}

bool Room::IsTooSlow(int number) const {
  return seat(number).client.blocked &&
         SilentTicks(number) > kEvictSeconds * options_.tick_hz;
}

std::int64_t Room::SilentTicks(int number) const {
  return std::int64_t{tick_} - seat(number).client.heard_tick;
}

// Some of its last baseline is queued, or it has not acked for a second and the
// time between two snapshots: what comes once a second is acked once a second.
bool Room::IsBlocked(int number) const {
  const std::int64_t apart =
      (options_.tick_hz + options_.snapshot_hz - 1) / options_.snapshot_hz;
  return connection(number).queued_bytes(Lane::kReliable) >
             seat(number).client.behind_baseline ||
         SilentTicks(number) > kBlockedSeconds * options_.tick_hz + apart;
}

void Room::SendBaseline(int number) {
  Client& client = seat(number).client;
  SendReliable(number, encoder_.Baseline(number));
  client.wants_baseline = false;
  client.sent_tick = tick_;
  client.behind_baseline = 0;
}

void Room::SendDelta(int number) {
  const std::optional<OwnWords> own = OwnWordsOf(number);
  connection(number).Send(Lane::kState,
                          encoder_.Delta(number, own ? &*own : nullptr));
  seat(number).client.sent_tick = tick_;
}

std::optional<OwnWords> Room::OwnWordsOf(int number) {
  std::optional<OwnBody> own;
  Guarded("own", [&] { own = game_->Own(number); });
  if (!own) return std::nullopt;
  own->seq = seat(number).inputs.ack();
  const std::optional<OwnWords> words = QuantiseOwn(*own);
  if (!words) {
    ++counters_.refused_values;
    NoteRefusedValue("own body of seat " + std::to_string(number) +
                     ": a number is not finite or out of range");
  }
  return words;
}

// It may be lost or waited for in vain like any delta: what it shows is newer
// than what a blocked viewer has, and the next one is newer still.
void Room::SendRecovery(int number) {
  Client& client = seat(number).client;
  connection(number).Send(Lane::kState, encoder_.Recovery(number));
  client.sent_tick = tick_;
  client.recovery_tick = tick_ + static_cast<std::uint32_t>(options_.tick_hz);
  ++counters_.recoveries;
}

// --- News: what is told when it changes, in its newest form

// A blocked viewer hears of it when it reads again.
void Room::TellNews(int number, bool snapshot) {
  Seat& to = seat(number);
  if (to.client.blocked) return;
  if (to.client.roster_stale) SendRoster(number);
  const bool at_once = FindPlayer(number)->entity != to.client.told_entity ||
                       to.camera.stale || to.hud.stale;
  // Of inputs it is told no oftener than of state.
  const bool acked = to.inputs.ack() != to.client.told_ack;
  if (at_once || (acked && snapshot)) SendTick(number);
}

void Room::SendTick(int number) {
  Seat& to = seat(number);
  to.client.told_ack = to.inputs.ack();
  to.client.told_entity = FindPlayer(number)->entity;
  TickFrame frame{.tick = tick_,
                  .ack = to.client.told_ack,
                  .entity = to.client.told_entity};
  const auto add = [&](TickEvent::Kind kind, SeatView& view) {
    if (std::exchange(view.stale, false)) {
      frame.events.push_back({.kind = kind, .value = view.json});
    }
  };
  add(TickEvent::Kind::kCamera, to.camera);
  add(TickEvent::Kind::kHud, to.hud);
  SendText(number, Write(frame));
}

void Room::TellRoster() {
  roster_.reset();
  for (const std::unique_ptr<Seat>& seat : seats_) {
    if (seat != nullptr) seat->client.roster_stale = true;
  }
}

// Written once for all who are told of it.
void Room::SendRoster(int number) {
  if (!roster_) {
    RosterFrame frame{.locked = locked_};
    frame.players.reserve(players_.size());
    for (const Player& player : players_) {
      frame.players.push_back({.id = player.id,
                               .seat = player.seat,
                               .name = player.name,
                               .connected = player.connected,
                               .host = player.host});
    }
    roster_ = TextPayload(Write(frame));
  }
  seat(number).client.roster_stale = false;
  SendReliable(number, *roster_);
}

// --- The reliable lane

void Room::SendText(int number, std::string_view text) {
  Client& client = seat(number).client;
  if (!client.welcomed) {
    client.waiting.push_back(TextPayload(text));
    return;
  }
  connection(number).Send(Lane::kReliable, MessageKind::kText, AsBytes(text));
  client.behind_baseline += text.size() + kMessageOverhead;
}

// The same, for what many are sent.
void Room::SendPayload(int number, const Payload& payload) {
  Client& client = seat(number).client;
  if (!client.welcomed) {
    client.waiting.push_back(payload);
    return;
  }
  SendReliable(number, payload);
}

void Room::SendReliable(int number, const Payload& payload) {
  connection(number).Send(Lane::kReliable, payload);
  seat(number).client.behind_baseline +=
      payload.bytes().size() + kMessageOverhead;
}

}  // namespace parlor::authority
