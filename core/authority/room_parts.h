// What a Room is made of, for its own sources: room.cc (who is in it, and what
// they say), room_tick.cc (ticks and what clients are sent) and
// room_context.cc (what the game says).
#ifndef PARLOR_CORE_AUTHORITY_ROOM_PARTS_H_
#define PARLOR_CORE_AUTHORITY_ROOM_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/rate_credit.h"
#include "authority/seat_tokens.h"
#include "parlor/authority/input.h"
#include "parlor/authority/room.h"
#include "parlor/authority/snapshot_encoder.h"
#include "parlor/authority/text_budget.h"
#include "parlor/byte_io.h"
#include "parlor/connection.h"

namespace parlor::authority {

inline Rate MessageRate(const RoomOptions& options) {
  return {options.message_rate_per_s, options.message_burst};
}
// Two seconds' worth: what a link that stalled for so long delivers at once.
inline Rate InputRate(const RoomOptions& options) {
  return {options.input_rate_per_s, 2 * options.input_rate_per_s};
}

inline Payload TextPayload(std::string_view text) {
  const std::span<const std::byte> bytes = AsBytes(text);
  return {MessageKind::kText, {bytes.begin(), bytes.end()}};
}

// A connection that has not joined.
struct Room::Visitor {
  Connection* connection = nullptr;
  std::string identity;
  TimePoint until;
  RateCredit rate;
};

// What this player alone was told to see, as long as they have the seat.
struct SeatView {
  std::string json;    // "": never set
  bool stale = false;  // the client has not been told
};

// What a seat's present connection was sent and has said. Anew with each.
struct Client {
  bool welcomed = false;
  int codec = 0;  // in RoomOptions::codecs
  // Texts for it from before its welcome, which goes first.
  std::vector<Payload> waiting;

  bool wants_baseline = false;  // has the current one, and asked again
  // Bytes, as queued_bytes counts them, that went onto the reliable lane behind
  // the last baseline: if more are queued, some of it is.
  std::size_t behind_baseline = 0;
  bool blocked = false;
  bool roster_stale = false;

  std::uint32_t sent_tick = 0;      // the newest snapshot's
  std::uint32_t acked_tick = 0;     // the newest that was acked
  std::uint32_t heard_tick = 0;     // the room's tick when it was
  std::uint32_t recovery_tick = 0;  // none is sent before it
  std::uint32_t resync_tick = 0;    // none is granted before it
  std::uint32_t told_ack = 0;
  std::uint32_t told_entity = 0;
};

// What a player has while connections come and go. The connection is in
// Room::connections_, who they are in Room::players_.
struct Room::Seat {
  Seat(TimePoint now, const RoomOptions& options)
      : rate(now, MessageRate(options)),
        input_rate(now, InputRate(options)),
        budget(now),
        inputs(static_cast<int>(options.inputs_waiting)) {}

  bool held = false;
  TimePoint hold_end;
  SeatTokens tokens;
  RateCredit rate;
  RateCredit input_rate;
  TextBudget budget;
  InputQueue inputs;
  PlayerCounters counters;
  SeatView camera;
  SeatView hud;
  Client client;
};

// What the game's calls are handed.
class Room::GameContext final : public Context {
 public:
  explicit GameContext(Room& room) : room_(room) {}

  Role role() const override { return Role::kAuthority; }
  std::uint32_t tick() const override { return room_.tick_; }
  int tick_hz() const override {
    return static_cast<int>(room_.options_.tick_hz);
  }
  std::span<const Player> players() const override { return room_.players_; }
  int local_seat() const override { return -1; }
  const InputFrame& input(int seat) const override;
  std::span<const ReceivedMessage> messages() const override {
    return messages_;
  }
  RowTable& rows() override { return room_.rows_; }

  // A message that the game was told of, for messages() in the next step.
  void Keep(int seat, std::string_view name, std::string_view payload);
  // Of who leaves: the next in the seat did not say it.
  void Forget(int seat);
  void BeginStep();
  void EndStep();
  std::size_t memory_bytes() const;

 private:
  // Of kept_'s text.
  struct Kept {
    int from = 0;  // -1: nobody who is here any more
    std::size_t name_end = 0;
    std::size_t payload_end = 0;
  };

  bool DoSend(std::string_view name, std::string_view payload,
              int to) override {
    return room_.SendMessage(name, payload, to);
  }
  bool DoSetPhase(std::string_view phase) override;
  bool DoSetCamera(int seat, std::string_view json) override {
    return room_.SetView(seat, json, true);
  }
  bool DoSetHud(int seat, std::string_view json) override {
    return room_.SetView(seat, json, false);
  }
  bool DoPossess(int seat, std::uint32_t entity) override;
  void DoNewEpoch() override;

  Room& room_;
  std::string text_;  // names and payloads, one behind the other
  std::vector<Kept> kept_;
  std::vector<ReceivedMessage> messages_;  // in a step; views of text_
};

// Asks the game who sees what, for the encoder. The viewer's number is its
// seat.
class Room::GameViews final : public ViewFilter {
 public:
  explicit GameViews(Room& room) : room_(room) {}
  bool InView(int viewer, RowId row) override;

 private:
  Room& room_;
};

// Runs a call into the game. False when it threw, which fails the tick; the
// first that does so in a tick is noted, by its name and nothing else.
template <typename Call>
bool Room::Guarded(std::string_view name, Call&& call) {
  try {
    call();
    return true;
  } catch (...) {
    if (!std::exchange(tick_failed_, true)) Note(RoomNote::kFailedTick, name);
    return false;
  }
}

}  // namespace parlor::authority

#endif  // PARLOR_CORE_AUTHORITY_ROOM_PARTS_H_
