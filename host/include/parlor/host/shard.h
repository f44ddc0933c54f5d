// Shard: the rooms and sessions of one thread, without sockets, threads or a
// clock. A dedicated host runs one a core behind its sockets; Play Solo runs
// one inside the game's loop behind memory pipes; the simulator runs many.
//
// One thread. Connections attached to it live on that thread.
#ifndef PARLOR_HOST_SHARD_H_
#define PARLOR_HOST_SHARD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/address.h"
#include "parlor/host/play_room.h"
#include "parlor/host/room_store.h"
#include "parlor/ids.h"
#include "parlor/limits.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/time.h"

namespace parlor::host {

class HostedRooms;
class MinuteRates;
class RoomAlarms;
class RoomRecords;

struct ShardOptions {
  lockstep::RoomOptions room{};
  std::int64_t rooms = limits::kRooms.fallback;
  std::int64_t seats = limits::kSeats.fallback;  // most seats a room takes
  // Of one address into one room; resumes do not count, but into hosted rooms,
  // which alone can tell them from joins.
  std::int64_t room_joins_per_minute = limits::kRoomJoinRate.fallback;
  // The hosted rooms. What is above is of lockstep rooms but for the joins.
  std::vector<PlayRoom> play_rooms{};
};

absl::Status ValidateOptions(const ShardOptions& options);

class Shard {
 public:
  // How many comers (an address, into one room) are counted: 2 MiB a shard at
  // most, and comers from 546 addresses a second before the least busy are
  // forgotten, who then may join more often than told.
  static constexpr std::size_t kJoinsMax = 32'768;

  // Rooms that began in one instant, as all do that a restart brings back, end
  // in one: those that play do not wait for all of them. A room of 8 costs some
  // 10 us.
  static constexpr int kRoomsPerAlarm = 64;

  // `options` are valid; `entropy` outlives the shard.
  Shard(const ShardOptions& options, Entropy& entropy);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  // From here on matches are kept in `store`, which outlives the shard; in none
  // when null. Before any room is open. A match is kept when its seats change,
  // before anybody is told; where messages were relayed since, within
  // kKeepEvery of the first of them; and forgotten when it ends. While nothing
  // is relayed there is nothing to keep, and no alarm for it.
  //
  // What is kept for messages is spread over that time by the rooms' numbers.
  // One OnAlarm keeps at most keep_at_once() of them, 52 KB of rooms of 8 seats
  // by default, and asks to be called again a millisecond later for the rest:
  // so a loop that was held up is late with it, by 130 ms when all the rooms
  // are due at once.
  static constexpr Duration kKeepEvery = kSecond;
  std::size_t keep_at_once() const {
    return 4 + static_cast<std::size_t>(options_.rooms) / 250;
  }
  void SetStore(RoomStore* store);

  // From here on rooms are recorded there, which outlives the shard; nowhere
  // when null. Before any room is open.
  void SetRecords(RoomRecords* records);

  // Takes back a match that another shard kept under `number`: its players have
  // their holds from `now` on to resume. Before anybody is attached, once a
  // number. False, and nothing changed: the number or the size the room was
  // opened for is none that this shard takes.
  bool Restore(TimePoint now, std::uint32_t number,
               const lockstep::RoomState& state);

  // What rooms are opened with from here on, and how often an address may join
  // one, in minutes that have begun too. `options` are valid; how many rooms
  // and seats there are stays, and the hosted rooms' keys.
  void SetOptions(const ShardOptions& options);

  // Whether `hello` may come in, asked before its connection is answered and
  // in the same instant as Attach. If the room's time is up at `now`, it ends
  // first.
  // Status 0, or, in this order: 404 the number is not in 0..rooms-1, 400
  // players is not in 1..seats, 429 `from` joins this room too often (with the
  // seconds to wait), 409 the room is open for another size. A join of an
  // address counts for the room's number, whatever becomes of the join or the
  // room; a resume does not, nor does what has no address (Address(), of this
  // process).
  //
  // Of a hosted room (hello.play): 404 no such key, 429 as above, 503 it cannot
  // be had, or nobody is in there and there is a drain. With status 0 it is
  // open from here on. Who comes counts as a join until the room hears that he
  // resumes, and not from then on.
  Refusal Admit(TimePoint now, const Hello& hello, const Address& from = {});

  // Takes a connection whose hello was admitted: seats it, opening the room if
  // need be, or closes it (4000, 4002). A resume opens no room. A hosted room
  // gets the connection with hello.identity, or else its own. `from` as Admit
  // was told.
  ConnectionId Attach(TimePoint now, std::unique_ptr<Connection> connection,
                      const Hello& hello, const Address& from = {});

  // Acts on the rooms' deadlines at or before `now`, of kRoomsPerAlarm lockstep
  // rooms and a few hosted ones at most: next_alarm() says whether there are
  // more.
  void OnAlarm(TimePoint now);
  TimePoint next_alarm() const;
  // Called, inside any call into the shard or event of a connection, when
  // next_alarm() has become earlier; it must not call into the shard.
  void SetAlarmHook(std::function<void(TimePoint)> hook);

  // The host is about to end: hosted rooms seat nobody new from here on
  // (HostedRoom::Drain). Lockstep joins are kept out before they come here.
  void Drain(TimePoint now);

  // Closes every connection with `reason`, or as its hosted room has it
  // (HostedRoom::End); rooms end. Connections finish
  // closing with their pumps; what they still say goes nowhere. Matches that
  // end with kRestart are kept as they are at `now`, and forgotten with any
  // other reason. With a store, nobody is attached any more.
  void EndAll(TimePoint now, CloseReason reason);

  std::size_t connections() const;  // that are attached, closing ones too
  // These two may be asked from any thread.
  std::size_t rooms() const;    // that are open, of both kinds
  std::size_t players() const;  // connected seats
  // Null when no such room is open. Until the next call into the shard.
  const lockstep::Room* FindRoom(std::uint32_t number) const;
  const HostedRoom* FindPlayRoom(std::string_view key) const;

 private:
  class Session;
  struct Entry;
  struct Keeping;

  Entry& Open(TimePoint now, std::unique_ptr<Entry> owned,
              const lockstep::RoomState* kept = nullptr);
  void Remove(Entry& entry, bool keep);
  void Settle(TimePoint now, Entry& entry);
  void CountSeats(Entry& entry, int seated);
  void SetAlarm(Entry& entry, TimePoint at);
  void TellAlarm(TimePoint at);
  void Keep(TimePoint now, Entry& entry);
  void KeepSoon(TimePoint now, Entry& entry);
  void KeepDue(TimePoint now);
  void RunAlarm(TimePoint now, Entry& entry);

  ShardOptions options_;
  Entropy& entropy_;
  // Entries and sessions sit behind pointers: they are referred to while the
  // tables grow.
  IdTable<RoomId, std::unique_ptr<Entry>> rooms_;
  IdTable<ConnectionId, std::unique_ptr<Session>> sessions_;
  absl::flat_hash_map<std::uint32_t, Entry*> by_number_;
  std::unique_ptr<MinuteRates> joins_;
  std::unique_ptr<RoomAlarms> alarms_;  // when each room wants OnAlarm
  std::unique_ptr<Keeping> keeping_;    // null: there is no store
  std::unique_ptr<HostedRooms> hosted_;
  RoomRecords* records_ = nullptr;
  std::function<void(TimePoint)> alarm_hook_;
  // For whoever asks from another thread; written on ours alone.
  std::atomic<std::size_t> rooms_open_ = 0;
  std::atomic<std::size_t> players_ = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_SHARD_H_
