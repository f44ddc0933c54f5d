// EchoRoom: a hosted room that is small enough to see through, for tests of
// whoever runs one. What it is told and says is text:
//
//   join       takes the lowest free seat; all seated hear "+<seat> <identity>"
//   resume <n> goes on in seat n, which is held or another connection's; all
//              seated hear "~<n>"
//   drop       the room ends by itself
//   anything   all seated hear "<seat>: anything"
//
// Who has not joined within a second is closed kRefused, who joins a full room
// kRoomFull, who joins while it drains kRefused, who resumes into a free seat
// kSeatGone. A seat is held, for ever, when its link drops (1006); any other
// close frees it.
#ifndef PARLOR_TESTS_SUPPORT_ECHO_ROOM_H_
#define PARLOR_TESTS_SUPPORT_ECHO_ROOM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/hosted_room.h"
#include "parlor/time.h"

namespace parlor::test {

class EchoRoom final : public HostedRoom {
 public:
  static constexpr Duration kJoinTime = kSecond;

  explicit EchoRoom(std::size_t seats = 4) : seats_(seats) {}

  void Admit(TimePoint now, Connection& connection,
             std::string_view identity) override {
    OnAlarm(now);
    comers_.push_back({&connection, std::string(identity), now + kJoinTime});
  }

  void OnMessage(TimePoint now, Connection& connection, MessageKind /*kind*/,
                 std::span<const std::byte> bytes) override {
    OnAlarm(now);
    const std::string_view text = AsText(bytes);
    if (Seat* seat = SeatOf(connection)) return OnWord(now, *seat, text);
    const auto comer =
        std::ranges::find(comers_, &connection, &Comer::connection);
    if (comer == comers_.end()) return;
    const std::string identity = comer->identity;
    comers_.erase(comer);
    if (text.starts_with("resume ")) return Resume(connection, text.substr(7));
    Join(connection, identity);
  }

  void OnControl(TimePoint now, Connection& /*connection*/) override {
    OnAlarm(now);
  }

  void OnClose(TimePoint now, Connection& connection, CloseCode code) override {
    OnAlarm(now);
    std::erase_if(comers_, [&](const Comer& comer) {
      return comer.connection == &connection;
    });
    Seat* seat = SeatOf(connection);
    if (seat == nullptr) return;
    *seat = {.held = code == close_code::kDropped};
  }

  void OnAlarm(TimePoint now) override {
    while (!comers_.empty() && comers_.front().until <= now) {
      Connection& late = *comers_.front().connection;
      comers_.erase(comers_.begin());
      late.Close(CloseReason::kRefused);
    }
  }
  TimePoint next_alarm() const override {
    return comers_.empty() ? kNever : comers_.front().until;
  }

  void Drain(TimePoint /*now*/) override { draining_ = true; }

  void End(TimePoint /*now*/, CloseReason reason) override {
    if (reason == CloseReason::kRestart) reason = CloseReason::kRoomEnded;
    for (const Comer& comer : std::exchange(comers_, {})) {
      comer.connection->Close(reason);
    }
    for (Seat& seat : seats_) {
      if (seat.connection != nullptr) seat.connection->Close(reason);
      seat = {};
    }
    ended_ = true;
  }

  bool ended() const override { return ended_; }
  int seated() const override {
    return static_cast<int>(std::ranges::count_if(
        seats_, [](const Seat& seat) { return seat.connection != nullptr; }));
  }
  std::uint64_t resumes() const override { return resumes_; }

 private:
  struct Comer {
    Connection* connection = nullptr;
    std::string identity;
    TimePoint until;
  };
  struct Seat {
    Connection* connection = nullptr;
    bool held = false;
  };

  Seat* SeatOf(const Connection& connection) {
    const auto found =
        std::ranges::find(seats_, &connection, &Seat::connection);
    return found == seats_.end() ? nullptr : &*found;
  }
  std::string NumberOf(const Seat& seat) const {
    return std::to_string(&seat - seats_.data());
  }

  void Join(Connection& connection, const std::string& identity) {
    if (draining_) return connection.Close(CloseReason::kRefused);
    const auto free = std::ranges::find_if(seats_, [](const Seat& seat) {
      return seat.connection == nullptr && !seat.held;
    });
    if (free == seats_.end()) return connection.Close(CloseReason::kRoomFull);
    free->connection = &connection;
    Tell("+" + NumberOf(*free) + " " + identity);
  }

  void Resume(Connection& connection, std::string_view number) {
    for (Seat& seat : seats_) {
      if (NumberOf(seat) != number) continue;
      if (!seat.held && seat.connection == nullptr) break;
      if (seat.connection != nullptr) {
        seat.connection->Close(CloseReason::kResumed);
      }
      seat = {.connection = &connection};
      ++resumes_;
      return Tell("~" + std::string(number));
    }
    connection.Close(CloseReason::kSeatGone);
  }

  void OnWord(TimePoint now, const Seat& seat, std::string_view text) {
    if (text == "drop") return End(now, CloseReason::kRoomEnded);
    Tell(NumberOf(seat) + ": " + std::string(text));
  }

  void Tell(const std::string& text) {
    for (const Seat& seat : seats_) {
      if (seat.connection == nullptr) continue;
      seat.connection->Send(Lane::kReliable, MessageKind::kText, AsBytes(text));
    }
  }

  std::vector<Comer> comers_;  // without a seat, the oldest first
  std::vector<Seat> seats_;
  std::uint64_t resumes_ = 0;
  bool draining_ = false;
  bool ended_ = false;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_ECHO_ROOM_H_
