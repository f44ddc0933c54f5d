#include "logic/hosted_rooms.h"

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

#include "logic/minute_rates.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/address.h"
#include "parlor/host/play_room.h"
#include "parlor/hosted_room.h"
#include "parlor/limits.h"
#include "parlor/time.h"

namespace parlor::host {
namespace {

// Beside the numbers of lockstep rooms, which are below it (limits::kRooms).
constexpr std::uint32_t kCountedFrom = 0x8000'0000;

constexpr Duration kMinute = limits::kMinuteMs * kMillisecond;

}  // namespace

// One attached connection, of the room that was open when it came.
class HostedRooms::Session final : public ConnectionHandler {
 public:
  Session(HostedRooms& rooms, Place& place,
          std::unique_ptr<Connection> connection,
          const std::optional<Counted>& counted)
      : rooms_(rooms),
        place_(place),
        generation_(place.generation),
        connection_(std::move(connection)),
        counted_(counted) {}

  void Begin(ConnectionId id) {
    id_ = id;
    connection_->SetHandler(this);
  }

  Connection& connection() { return *connection_; }

  void OnMessage(TimePoint now, Connection& connection, Lane /*lane*/,
                 MessageKind kind, std::span<const std::byte> bytes) override {
    if (!IsOpen()) return;
    const std::uint64_t resumes = place_.room->resumes();
    place_.room->OnMessage(now, connection, kind, bytes);
    if (counted_) Recount(now, place_.room->resumes() > resumes);
    rooms_.Settle(place_);
  }

  void OnControl(TimePoint now, Connection& connection,
                 ControlKind /*kind*/) override {
    if (!IsOpen()) return;
    place_.room->OnControl(now, connection);
    if (counted_) Recount(now, /*resumed=*/false);
    rooms_.Settle(place_);
  }

  void OnClose(TimePoint now, Connection& connection,
               const CloseEvent& event) override {
    if (IsOpen()) {
      place_.room->OnClose(now, connection, event.code);
      rooms_.Settle(place_);
    }
    // This session and its connection die here; nothing may follow.
    rooms_.sessions_.Erase(id_);
  }

 private:
  bool IsOpen() const {
    return place_.room != nullptr && place_.generation == generation_;
  }

  // Who came back, by this message, did not join. Once its minute is over an
  // address is forgotten with whatever comes next, a pong at the latest; a room
  // does not wait so long for a join.
  void Recount(TimePoint now, bool resumed) {
    if (resumed) rooms_.joins_.GiveBack(counted_->at, counted_->key);
    if (resumed || now - counted_->at >= kMinute) counted_.reset();
  }

  HostedRooms& rooms_;
  Place& place_;
  const std::uint32_t generation_;
  std::unique_ptr<Connection> connection_;
  std::optional<Counted> counted_;
  ConnectionId id_;
};

RateKey HostedRooms::Place::KeyOf(const Address& from) const {
  return {from, kCountedFrom + number};
}

HostedRooms::HostedRooms(const std::vector<PlayRoom>& rooms, Entropy& entropy,
                         MinuteRates& joins, std::function<void()> told)
    : entropy_(entropy), joins_(joins), told_(std::move(told)), keys_(rooms) {
  for (std::uint32_t number = 0; number < rooms.size(); ++number) {
    places_.push_back(std::make_unique<Place>(number));
  }
  SetRooms(rooms);
}

HostedRooms::~HostedRooms() = default;

void HostedRooms::SetRooms(const std::vector<PlayRoom>& rooms) {
  PARLOR_CHECK(rooms.size() == places_.size());
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    PARLOR_CHECK(keys_.Find(rooms[i].key) == i);
    places_[i]->make = rooms[i].make;
  }
}

Refusal HostedRooms::Admit(TimePoint now, const Hello& hello,
                           const Address& from) {
  const auto number = keys_.Find(hello.play);
  if (!number) return {404};
  Place& place = *places_[*number];
  if (from != Address()) {
    const std::uint32_t wait = joins_.Take(now, place.KeyOf(from));
    if (wait > 0) return {.status = 429, .retry_after_s = wait};
  }
  // A room that is over, though its alarm did not run yet, is in nobody's way.
  if (place.alarm.at() <= now) RunAlarm(now, place);
  if (place.room != nullptr) return {};
  // Nobody can have a seat in one that is not open.
  if (draining_ || !Open(now, place)) return {503};
  return {};
}

bool HostedRooms::Open(TimePoint now, Place& place) {
  try {
    place.room = place.make(now, entropy_);
  } catch (...) {
    return false;
  }
  if (place.room == nullptr) return false;
  ++place.generation;
  open_.fetch_add(1, std::memory_order_relaxed);
  Settle(place);
  return place.room != nullptr;
}

ConnectionId HostedRooms::Attach(TimePoint now,
                                 std::unique_ptr<Connection> connection,
                                 const Hello& hello, const Address& from) {
  const auto number = keys_.Find(hello.play);
  PARLOR_CHECK(number.has_value());
  Place& place = *places_[*number];
  PARLOR_CHECK(place.room != nullptr);
  std::optional<Counted> counted;
  if (from != Address()) counted = {.key = place.KeyOf(from), .at = now};
  const ConnectionId id = sessions_.Insert(
      std::make_unique<Session>(*this, place, std::move(connection), counted));
  Session& session = **sessions_.Find(id);
  session.Begin(id);
  place.room->Admit(now, session.connection(),
                    hello.identity.empty() ? session.connection().identity()
                                           : hello.identity);
  Settle(place);
  return id;
}

// After any call into a room: forgets it when it ended, and keeps its alarm and
// its seats. A room asks to be woken earlier by a lower next_alarm(); one that
// may sleep longer is woken at the old time, and says so then.
void HostedRooms::Settle(Place& place) {
  if (place.room->ended()) return Close(place);
  CountSeats(place, place.room->seated());
  if (place.room->next_alarm() >= place.alarm.at()) return;
  alarms_.Set(place.alarm, place.room->next_alarm());
  if (next_alarm() == place.alarm.at()) told_();
}

void HostedRooms::Close(Place& place) {
  place.room = nullptr;
  CountSeats(place, 0);
  alarms_.Set(place.alarm, kNever);
  open_.fetch_sub(1, std::memory_order_relaxed);
}

void HostedRooms::CountSeats(Place& place, int seated) {
  const std::size_t others = players() - static_cast<std::size_t>(place.seated);
  place.seated = seated;
  players_.store(others + static_cast<std::size_t>(seated),
                 std::memory_order_relaxed);
}

void HostedRooms::OnAlarm(TimePoint now) {
  for (int i = 0; i < kRoomsPerAlarm && alarms_.next() <= now; ++i) {
    RunAlarm(now, *places_[alarms_.first()]);
  }
}

void HostedRooms::RunAlarm(TimePoint now, Place& place) {
  alarms_.Set(place.alarm, kNever);
  place.room->OnAlarm(now);
  PARLOR_CHECK(place.room->ended() || place.room->next_alarm() > now);
  Settle(place);
}

void HostedRooms::Drain(TimePoint now) {
  draining_ = true;
  for (const std::unique_ptr<Place>& place : places_) {
    if (place->room == nullptr) continue;
    place->room->Drain(now);
    Settle(*place);
  }
}

void HostedRooms::EndAll(TimePoint now, CloseReason reason) {
  for (const std::unique_ptr<Place>& place : places_) {
    if (place->room == nullptr) continue;
    place->room->End(now, reason);
    Close(*place);
  }
  sessions_.ForEach([&](ConnectionId, std::unique_ptr<Session>& session) {
    session->connection().Close(reason);
  });
}

HostedRoom* HostedRooms::Find(std::string_view key) const {
  const auto number = keys_.Find(key);
  return number ? places_[*number]->room.get() : nullptr;
}

}  // namespace parlor::host
