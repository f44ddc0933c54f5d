// RoomAuthority: the game that runs a room, and the whole of what it has to
// write. The engine (room.h) does everything else: connections, the handshake,
// who sits where, rates, what each client is sent. The game sees seats, inputs,
// messages and ticks.
//
// Order of calls. AddPlayer comes before any other call with that seat,
// RemovePlayer after the last. Messages come as they arrive, between ticks. A
// tick is Step, and where a snapshot is due WriteState behind it, then InView
// and Own for each client. No call comes inside another, and all come on the
// room's thread. While nobody has a seat there are no ticks.
//
// What a call throws goes no further: the tick it belongs to, the next one
// where it came between two, has failed. That is counted and told to the
// room's sink by the call's name alone, and ten failed ticks in a row end the
// room. What a call had done before it threw stays done.
//
// For a room to be the same each time it is run again, a game takes time from
// ticks, chance from a generator of its own (parlor/random.h), and nothing
// from the order of unordered containers.
#ifndef PARLOR_AUTHORITY_ROOM_AUTHORITY_H_
#define PARLOR_AUTHORITY_ROOM_AUTHORITY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "parlor/authority/context.h"
#include "parlor/authority/input.h"
#include "parlor/authority/values.h"

namespace parlor::authority {

class Messages;
class RowTable;
class Schema;

// Who asks for a seat. The views die with the call.
struct JoinRequest {
  std::string_view name;    // keeps the rule of names
  std::string_view fields;  // a JSON object of the client's; {} if it had none
  std::string_view identity;  // verified by the adapter, or ""
};

struct SeatInput {
  int seat = 0;
  InputFrame frame;  // neutral while the seat is held
};

class RoomAuthority {
 public:
  RoomAuthority() = default;
  RoomAuthority(const RoomAuthority&) = delete;
  RoomAuthority& operator=(const RoomAuthority&) = delete;
  virtual ~RoomAuthority() = default;

  // Asked once, as the room is made. What they refer to lives as long as this
  // and does not change.
  virtual const Schema& schema() const noexcept = 0;
  virtual const Messages& messages() const noexcept = 0;
  // Whether clients see different rows: InView is asked only then.
  virtual bool has_views() const noexcept { return false; }

  // OK, or why not: the player is told the status's text, at most 200 bytes of
  // it. Nobody has a seat by it yet: the room may be full. A call that throws
  // refuses.
  virtual absl::Status ValidateJoin(const JoinRequest& /*request*/) {
    return absl::OkStatus();
  }

  // `player` has a seat from now on and is in context.players(). Where it
  // throws the player is refused and the seat free again, without a
  // RemovePlayer.
  virtual void AddPlayer(Context& context, const Player& player) = 0;
  // The seat is free from now on: its player left, was put out, or did not
  // come back in time. `player` is in context.players() no more.
  virtual void RemovePlayer(Context& context, const Player& player) = 0;

  // `payload` is JSON that passed the check of the declared message `name`.
  virtual void OnMessage(Context& /*context*/, int /*seat*/,
                         std::string_view /*name*/,
                         std::string_view /*payload*/) {}

  // One tick: the inputs of all players, in the order of their seats.
  virtual void Step(Context& context, std::span<const SeatInput> inputs) = 0;

  // A snapshot is about to be taken: `rows`, which is context.rows(), has to be
  // as clients shall see it. A game that keeps its state in rows has nothing to
  // do here. Where it throws nobody gets a snapshot of this tick.
  virtual void WriteState(Context& context, RowTable& rows) = 0;

  // Whether this seat sees this row now: asked for each row and client at each
  // snapshot, so that it must be quick. A call that throws hides the row.
  virtual bool InView(int /*seat*/, std::uint32_t /*row*/) { return true; }

  // This seat's own body, for a client that predicts it; its `seq` is the
  // room's to fill in. Nothing for seats that do not predict.
  virtual std::optional<OwnBody> Own(int /*seat*/) { return std::nullopt; }
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_ROOM_AUTHORITY_H_
