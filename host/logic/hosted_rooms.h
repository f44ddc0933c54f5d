// HostedRooms: the hosted rooms of one shard (parlor/hosted_room.h), which it
// knows by their interface alone, with their sessions and alarms. Beside the
// lockstep rooms, and not among them: what relays a lockstep message calls
// nothing in here.
//
// One thread, that of the shard.
#ifndef PARLOR_HOST_LOGIC_HOSTED_ROOMS_H_
#define PARLOR_HOST_LOGIC_HOSTED_ROOMS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "logic/minute_rates.h"
#include "logic/play_keys.h"
#include "logic/room_alarms.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/address.h"
#include "parlor/host/play_room.h"
#include "parlor/hosted_room.h"
#include "parlor/ids.h"
#include "parlor/time.h"

namespace parlor::host {

class HostedRooms {
 public:
  // Rooms whose alarm has come in one turn: so many ticks of games are run
  // before the messages of others have their turn. Ours: a shard in which all
  // tick at 60 Hz has some 130 of them.
  static constexpr int kRoomsPerAlarm = 8;

  // `rooms` are valid. The rest outlives this: joins are counted in `joins`.
  // `told` is called, inside any call or event, when next_alarm() has become
  // earlier.
  HostedRooms(const std::vector<PlayRoom>& rooms, Entropy& entropy,
              MinuteRates& joins, std::function<void()> told);
  ~HostedRooms();
  HostedRooms(const HostedRooms&) = delete;
  HostedRooms& operator=(const HostedRooms&) = delete;

  // The same rooms, for those that are opened from here on.
  void SetRooms(const std::vector<PlayRoom>& rooms);

  // As Shard's: 404, 429 or 503 (no room can be had, or none is open and there
  // is a drain); with status 0 the room is open.
  Refusal Admit(TimePoint now, const Hello& hello, const Address& from);
  ConnectionId Attach(TimePoint now, std::unique_ptr<Connection> connection,
                      const Hello& hello, const Address& from);

  // Of kRoomsPerAlarm rooms at most.
  void OnAlarm(TimePoint now);
  TimePoint next_alarm() const { return alarms_.next(); }

  void Drain(TimePoint now);
  void EndAll(TimePoint now, CloseReason reason);

  std::size_t connections() const { return sessions_.size(); }
  // These two may be asked from any thread.
  std::size_t open() const { return open_.load(std::memory_order_relaxed); }
  std::size_t players() const {
    return players_.load(std::memory_order_relaxed);
  }
  // Null when it is not open. Until the next call.
  HostedRoom* Find(std::string_view key) const;

 private:
  class Session;
  // A join that was counted in joins_.
  struct Counted {
    RateKey key;
    TimePoint at;
  };

  // One key's, with the room that is open under it.
  struct Place {
    explicit Place(std::uint32_t its_number)
        : number(its_number), alarm(its_number) {}

    RateKey KeyOf(const Address& from) const;

    const std::uint32_t number;
    HostedRoomFactory make;
    std::unique_ptr<HostedRoom> room;  // null: it is not open
    // Rises with each room, so that the sessions of one that is gone are not
    // the next one's.
    std::uint32_t generation = 0;
    RoomAlarms::Alarm alarm;
    int seated = 0;  // as players_ counts it
  };

  bool Open(TimePoint now, Place& place);
  void RunAlarm(TimePoint now, Place& place);
  void Settle(Place& place);
  void Close(Place& place);
  void CountSeats(Place& place, int seated);

  Entropy& entropy_;
  MinuteRates& joins_;
  const std::function<void()> told_;
  const PlayKeys keys_;
  bool draining_ = false;
  RoomAlarms alarms_;
  // Sessions, with their connections, outlive the rooms that know them.
  IdTable<ConnectionId, std::unique_ptr<Session>> sessions_;
  std::vector<std::unique_ptr<Place>> places_;  // by number
  std::atomic<std::size_t> open_ = 0;
  std::atomic<std::size_t> players_ = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_HOSTED_ROOMS_H_
