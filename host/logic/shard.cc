#include "parlor/host/shard.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "logic/minute_rates.h"
#include "parlor/check.h"

namespace parlor::host {

absl::Status ValidateOptions(const ShardOptions& options) {
  if (absl::Status status = CheckLimit(limits::kRooms, "rooms", options.rooms);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckLimit(limits::kSeats, "seats", options.seats);
      !status.ok()) {
    return status;
  }
  if (absl::Status status =
          CheckLimit(limits::kRoomJoinRate, limits::kRoomJoinRate.name,
                     options.room_joins_per_minute);
      !status.ok()) {
    return status;
  }
  return lockstep::ValidateOptions(options.room);
}

// A room with what the shard knows of it.
struct Shard::Entry {
  Entry(TimePoint now, std::uint32_t room_number, int players,
        const lockstep::RoomOptions& options, Entropy& entropy)
      : number(room_number), room(now, players, options, entropy) {}

  std::uint32_t number;
  int seated = 0;  // as players_ counts it
  RoomId id;
  TimePoint alarm = kNever;  // its place in alarms_; kNever: it has none
  decltype(alarms_)::node_type no_alarm;  // its node, while it has none
  lockstep::Room room;
};

// One attached connection. It names its room by id, since a room may end long
// before the last of its connections has closed.
class Shard::Session final : public ConnectionHandler {
 public:
  Session(Shard& shard, std::unique_ptr<Connection> connection)
      : shard_(shard), connection_(std::move(connection)) {}

  void Begin(ConnectionId id, RoomId room) {
    id_ = id;
    room_ = room;
    connection_->SetHandler(this);
  }

  Connection& connection() { return *connection_; }

  void OnMessage(TimePoint now, Connection& connection, Lane /*lane*/,
                 MessageKind kind, std::span<const std::byte> bytes) override {
    if (Entry* entry = FindEntry()) {
      entry->room.OnMessage(now, connection, kind, bytes);
      shard_.Settle(*entry);
    }
  }

  void OnControl(TimePoint now, Connection& connection,
                 ControlKind /*kind*/) override {
    if (Entry* entry = FindEntry()) {
      entry->room.OnControl(now, connection);
      shard_.Settle(*entry);
    }
  }

  void OnClose(TimePoint now, Connection& connection,
               const CloseEvent& event) override {
    if (Entry* entry = FindEntry()) {
      entry->room.OnClose(now, connection, event.code);
      shard_.CountSeats(*entry, entry->room.seated());
      shard_.Settle(*entry);
    }
    // This session and its connection die here; nothing may follow.
    shard_.sessions_.Erase(id_);
  }

 private:
  Entry* FindEntry() {
    std::unique_ptr<Entry>* found = shard_.rooms_.Find(room_);
    return found == nullptr ? nullptr : found->get();
  }

  Shard& shard_;
  std::unique_ptr<Connection> connection_;
  ConnectionId id_;
  RoomId room_;
};

Shard::Shard(const ShardOptions& options, Entropy& entropy)
    : options_(options),
      entropy_(entropy),
      joins_(std::make_unique<MinuteRates>(options.room_joins_per_minute,
                                           kJoinsMax)) {
  PARLOR_CHECK(ValidateOptions(options).ok());
}

Shard::~Shard() = default;

Refusal Shard::Admit(TimePoint now, const Hello& hello, const Address& from) {
  // A room that is over, though its alarm did not run yet, is in nobody's way.
  OnAlarm(now);
  if (hello.room >= static_cast<std::uint64_t>(options_.rooms)) return {404};
  if (hello.players < 1 || hello.players > options_.seats) return {400};
  // Eight friends behind one address who resume at once would exhaust it.
  if (!hello.resume && from != Address()) {
    const std::uint32_t wait = joins_->Take(now, {from, hello.room});
    if (wait > 0) return {.status = 429, .retry_after_s = wait};
  }
  const lockstep::Room* room = FindRoom(hello.room);
  if (room != nullptr && room->opened_for() != hello.players) return {409};
  return {};
}

ConnectionId Shard::Attach(TimePoint now,
                           std::unique_ptr<Connection> connection,
                           const Hello& hello) {
  PARLOR_CHECK(Admit(now, hello).status == 0);
  const ConnectionId id =
      sessions_.Insert(std::make_unique<Session>(*this, std::move(connection)));
  Session& session = **sessions_.Find(id);

  const auto found = by_number_.find(hello.room);
  Entry* entry = found == by_number_.end() ? nullptr : found->second;
  if (entry == nullptr && hello.resume) {
    session.Begin(id, RoomId());
    session.connection().Close(CloseReason::kSeatGone);
    return id;
  }
  if (entry == nullptr) entry = &Open(now, hello);
  session.Begin(id, entry->id);
  if (hello.resume) {
    entry->room.Resume(now, session.connection(), *hello.resume);
  } else {
    entry->room.Join(now, session.connection());
  }
  CountSeats(*entry, entry->room.seated());
  Settle(*entry);
  return id;
}

Shard::Entry& Shard::Open(TimePoint now, const Hello& hello) {
  auto owned = std::make_unique<Entry>(now, hello.room, hello.players,
                                       options_.room, entropy_);
  Entry& entry = *owned;
  entry.id = rooms_.Insert(std::move(owned));
  by_number_.emplace(hello.room, &entry);
  rooms_open_.store(rooms_.size(), std::memory_order_relaxed);
  return entry;
}

// After any call into a room: drops it when it ended, and keeps its alarm. A
// room asks to be woken earlier by a lower next_alarm(); one that may sleep
// longer is woken at the old time, and says so then.
void Shard::Settle(Entry& entry) {
  if (entry.room.phase() == lockstep::Room::Phase::kEnded) {
    SetAlarm(entry, kNever);
    CountSeats(entry, 0);
    by_number_.erase(entry.number);
    rooms_.Erase(entry.id);
    rooms_open_.store(rooms_.size(), std::memory_order_relaxed);
  } else if (entry.room.next_alarm() < entry.alarm) {
    SetAlarm(entry, entry.room.next_alarm());
  }
}

// After what changes how many are seated. Who is kicked for a message counts
// until its connection has closed: messages count nothing.
void Shard::CountSeats(Entry& entry, int seated) {
  const std::size_t others = players_.load(std::memory_order_relaxed) -
                             static_cast<std::size_t>(entry.seated);
  entry.seated = seated;
  players_.store(others + static_cast<std::size_t>(seated),
                 std::memory_order_relaxed);
}

void Shard::SetAlarm(Entry& entry, TimePoint at) {
  auto node = entry.alarm == kNever
                  ? std::move(entry.no_alarm)
                  : alarms_.extract({entry.alarm, entry.number});
  entry.alarm = at;
  if (at == kNever) {
    entry.no_alarm = std::move(node);
  } else if (node.empty()) {
    alarms_.emplace(at, entry.number);
  } else {
    node.value() = {at, entry.number};
    alarms_.insert(std::move(node));
  }
  if (alarm_hook_ && next_alarm() == at && at != kNever) alarm_hook_(at);
}

void Shard::SetAlarmHook(std::function<void(TimePoint)> hook) {
  alarm_hook_ = std::move(hook);
}

void Shard::OnAlarm(TimePoint now) {
  while (!alarms_.empty() && alarms_.begin()->first <= now) {
    Entry& entry = *by_number_.at(alarms_.begin()->second);
    SetAlarm(entry, kNever);
    entry.room.OnAlarm(now);
    PARLOR_CHECK(entry.room.next_alarm() > now);
    Settle(entry);
  }
}

TimePoint Shard::next_alarm() const {
  return alarms_.empty() ? kNever : alarms_.begin()->first;
}

void Shard::EndAll(CloseReason reason) {
  rooms_.ForEach([&](RoomId, std::unique_ptr<Entry>& entry) {
    entry->room.End(reason);
    Settle(*entry);
  });
  sessions_.ForEach([&](ConnectionId, std::unique_ptr<Session>& session) {
    session->connection().Close(reason);
  });
}

std::size_t Shard::rooms() const {
  return rooms_open_.load(std::memory_order_relaxed);
}

std::size_t Shard::players() const {
  return players_.load(std::memory_order_relaxed);
}

std::size_t Shard::connections() const { return sessions_.size(); }

const lockstep::Room* Shard::FindRoom(std::uint32_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &found->second->room;
}

}  // namespace parlor::host
