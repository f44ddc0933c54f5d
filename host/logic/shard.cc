#include "parlor/host/shard.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "logic/hosted_rooms.h"
#include "logic/minute_rates.h"
#include "logic/room_alarms.h"
#include "parlor/check.h"
#include "parlor/host/play_room.h"
#include "parlor/host/room_records.h"
#include "parlor/lockstep/room_log.h"
#include "parlor/lockstep/room_state.h"

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
  if (absl::Status status = ValidatePlayRooms(options.play_rooms, "play_rooms");
      !status.ok()) {
    return status;
  }
  return lockstep::ValidateOptions(options.room);
}

// A room with what the shard knows of it.
struct Shard::Entry final : lockstep::RoomKeeper {
  template <typename... RoomArguments>
  Entry(Shard& its_shard, std::uint32_t room_number,
        RoomArguments&&... arguments)
      : shard(its_shard),
        number(room_number),
        alarm(room_number),
        keep(room_number),
        room(std::forward<RoomArguments>(arguments)...) {}

  void Record(TimePoint now, RoomRecords::Recording to,
              const lockstep::RoomState* state) {
    if (to.sink == nullptr) return;
    sink = std::move(to.sink);
    log.emplace(*sink, now, room, to.label, state);
    room.SetRecorder(&*log);
  }

  void OnSeats(TimePoint now, const lockstep::Room& /*room*/) override {
    shard.Keep(now, *this);
  }

  Shard& shard;
  std::uint32_t number;
  int seated = 0;  // as players_ counts it
  RoomId id;
  RoomAlarms::Alarm alarm;         // in alarms_
  RoomAlarms::Alarm keep;          // in keeping_, while it has relayed anew
  bool kept = false;               // the store has it
  std::uint64_t kept_relayed = 0;  // how much it had relayed then
  std::unique_ptr<lockstep::ReplaySink> sink;  // null: it is not recorded
  std::optional<lockstep::RoomLog> log;
  lockstep::Room room;
};

struct Shard::Keeping {
  explicit Keeping(RoomStore& its_store) : store(its_store) {}

  RoomStore& store;
  RoomAlarms due;
  TimePoint not_before{};         // since there was too much at once
  std::vector<std::byte> buffer;  // of the room that is being kept
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
      shard_.Settle(now, *entry);
    }
  }

  void OnControl(TimePoint now, Connection& connection,
                 ControlKind /*kind*/) override {
    if (Entry* entry = FindEntry()) {
      entry->room.OnControl(now, connection);
      shard_.Settle(now, *entry);
    }
  }

  void OnClose(TimePoint now, Connection& connection,
               const CloseEvent& event) override {
    if (Entry* entry = FindEntry()) {
      entry->room.OnClose(now, connection, event.code);
      shard_.CountSeats(*entry, entry->room.seated());
      shard_.Settle(now, *entry);
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
                                           kJoinsMax)),
      alarms_(std::make_unique<RoomAlarms>()),
      hosted_(std::make_unique<HostedRooms>(
          options.play_rooms, entropy, *joins_,
          [this] { TellAlarm(hosted_->next_alarm()); })) {
  PARLOR_CHECK(ValidateOptions(options).ok());
}

Shard::~Shard() = default;

void Shard::SetOptions(const ShardOptions& options) {
  PARLOR_CHECK(ValidateOptions(options).ok());
  PARLOR_CHECK(options.rooms == options_.rooms &&
               options.seats == options_.seats);
  options_ = options;
  joins_->SetPerMinute(options.room_joins_per_minute);
  hosted_->SetRooms(options.play_rooms);
}

Refusal Shard::Admit(TimePoint now, const Hello& hello, const Address& from) {
  if (!hello.play.empty()) return hosted_->Admit(now, hello, from);
  // A room that is over, though its alarm did not run yet, is in nobody's way.
  if (const auto found = by_number_.find(hello.room);
      found != by_number_.end() && found->second->alarm.at() <= now) {
    RunAlarm(now, *found->second);
  }
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
                           const Hello& hello, const Address& from) {
  if (!hello.play.empty()) {
    return hosted_->Attach(now, std::move(connection), hello, from);
  }
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
  if (entry == nullptr) {
    entry = &Open(now,
                  std::make_unique<Entry>(*this, hello.room, now, hello.players,
                                          options_.room, entropy_));
  }
  session.Begin(id, entry->id);
  if (hello.resume) {
    entry->room.Resume(now, session.connection(), *hello.resume);
  } else {
    entry->room.Join(now, session.connection());
  }
  CountSeats(*entry, entry->room.seated());
  Settle(now, *entry);
  return id;
}

Shard::Entry& Shard::Open(TimePoint now, std::unique_ptr<Entry> owned,
                          const lockstep::RoomState* kept) {
  Entry& entry = *owned;
  entry.id = rooms_.Insert(std::move(owned));
  by_number_.emplace(entry.number, &entry);
  if (keeping_) entry.room.SetKeeper(&entry);
  if (records_ != nullptr) {
    entry.Record(now, records_->Open(entry.number), kept);
  }
  rooms_open_.store(rooms_.size(), std::memory_order_relaxed);
  return entry;
}

void Shard::Remove(Entry& entry, bool keep) {
  if (entry.kept && !keep) keeping_->store.Forget(entry.number);
  SetAlarm(entry, kNever);
  if (keeping_) keeping_->due.Set(entry.keep, kNever);
  CountSeats(entry, 0);
  by_number_.erase(entry.number);
  rooms_.Erase(entry.id);
  rooms_open_.store(rooms_.size(), std::memory_order_relaxed);
}

// After any call into a room: drops it when it ended, and keeps its alarm. A
// room asks to be woken earlier by a lower next_alarm(); one that may sleep
// longer is woken at the old time, and says so then.
void Shard::Settle(TimePoint now, Entry& entry) {
  if (entry.room.phase() == lockstep::Room::Phase::kEnded) {
    return Remove(entry, /*keep=*/false);
  }
  if (entry.room.next_alarm() < entry.alarm.at()) {
    SetAlarm(entry, entry.room.next_alarm());
  }
  if (keeping_) KeepSoon(now, entry);
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

// --- Alarms

void Shard::SetAlarm(Entry& entry, TimePoint at) {
  alarms_->Set(entry.alarm, at);
  TellAlarm(at);
}

void Shard::TellAlarm(TimePoint at) {
  if (alarm_hook_ && next_alarm() == at && at != kNever) alarm_hook_(at);
}

void Shard::SetAlarmHook(std::function<void(TimePoint)> hook) {
  alarm_hook_ = std::move(hook);
}

void Shard::OnAlarm(TimePoint now) {
  for (int i = 0; i < kRoomsPerAlarm && alarms_->next() <= now; ++i) {
    RunAlarm(now, *by_number_.at(alarms_->first()));
  }
  hosted_->OnAlarm(now);
  if (keeping_) KeepDue(now);
}

void Shard::RunAlarm(TimePoint now, Entry& entry) {
  SetAlarm(entry, kNever);
  entry.room.OnAlarm(now);
  PARLOR_CHECK(entry.room.next_alarm() > now);
  Settle(now, entry);
}

TimePoint Shard::next_alarm() const {
  const TimePoint next = std::min(alarms_->next(), hosted_->next_alarm());
  if (!keeping_ || keeping_->due.next() == kNever) return next;
  return std::min(next, std::max(keeping_->due.next(), keeping_->not_before));
}

// --- Recording, keeping

void Shard::SetRecords(RoomRecords* records) {
  PARLOR_CHECK(rooms() == 0);
  records_ = records;
}

void Shard::SetStore(RoomStore* store) {
  PARLOR_CHECK(rooms() == 0);
  keeping_ = store == nullptr ? nullptr : std::make_unique<Keeping>(*store);
  if (!keeping_) return;
  keeping_->buffer.reserve(
      lockstep::StateBytesMax(static_cast<int>(options_.seats)));
}

bool Shard::Restore(TimePoint now, std::uint32_t number,
                    const lockstep::RoomState& state) {
  PARLOR_CHECK(connections() == 0 && FindRoom(number) == nullptr);
  if (number >= options_.rooms || state.opened_for > options_.seats) {
    return false;
  }
  Entry& entry = Open(now,
                      std::make_unique<Entry>(*this, number, now, state,
                                              options_.room, entropy_),
                      &state);
  entry.kept = keeping_ != nullptr;
  Settle(now, entry);
  return true;
}

void Shard::Keep(TimePoint now, Entry& entry) {
  entry.room.Save(now, keeping_->buffer);
  keeping_->store.Keep(entry.number, keeping_->buffer);
  // A recording reaches as far: the next process's, which begins with what was
  // kept, goes on from it without a hole.
  if (entry.log) entry.log->Flush();
  keeping_->due.Set(entry.keep, kNever);
  entry.kept = true;
  entry.kept_relayed = entry.room.counters().relayed;
}

// Every room has its own place in the time that all are kept in. Numbers in a
// row, or with a step, lie far from one another there: each is as many golden
// sections of it further (Knuth, The Art of Computer Programming, 6.4).
void Shard::KeepSoon(TimePoint now, Entry& entry) {
  if (entry.keep.at() != kNever ||
      entry.room.counters().relayed == entry.kept_relayed) {
    return;
  }
  const std::uint64_t part = entry.number * std::uint32_t{0x9e3779b9};
  const Duration place{part * static_cast<std::uint64_t>(kKeepEvery.count()) >>
                       32};
  Duration since = (now.time_since_epoch() - place) % kKeepEvery;
  if (since < Duration{}) since += kKeepEvery;
  keeping_->due.Set(entry.keep, now - since + kKeepEvery);
  TellAlarm(std::max(entry.keep.at(), keeping_->not_before));
}

void Shard::KeepDue(TimePoint now) {
  if (now < keeping_->not_before) return;
  for (std::size_t left = keep_at_once(); keeping_->due.next() <= now; --left) {
    if (left == 0) {
      keeping_->not_before = now + kMillisecond;
      return;
    }
    Keep(now, *by_number_.at(keeping_->due.first()));
  }
}

void Shard::Drain(TimePoint now) { hosted_->Drain(now); }

void Shard::EndAll(TimePoint now, CloseReason reason) {
  const bool keep = keeping_ && reason == CloseReason::kRestart;
  rooms_.ForEach([&](RoomId, std::unique_ptr<Entry>& entry) {
    if (keep && entry->room.phase() == lockstep::Room::Phase::kPlaying) {
      Keep(now, *entry);
    }
    entry->room.End(now, reason);
    Remove(*entry, keep);
  });
  sessions_.ForEach([&](ConnectionId, std::unique_ptr<Session>& session) {
    session->connection().Close(reason);
  });
  hosted_->EndAll(now, reason);
}

std::size_t Shard::rooms() const {
  return rooms_open_.load(std::memory_order_relaxed) + hosted_->open();
}

std::size_t Shard::players() const {
  return players_.load(std::memory_order_relaxed) + hosted_->players();
}

std::size_t Shard::connections() const {
  return sessions_.size() + hosted_->connections();
}

const lockstep::Room* Shard::FindRoom(std::uint32_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &found->second->room;
}

const HostedRoom* Shard::FindPlayRoom(std::string_view key) const {
  return hosted_->Find(key);
}

}  // namespace parlor::host
