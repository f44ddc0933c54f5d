// What a room tells its keeper, before it tells anybody else; and a room that
// goes on from what another has saved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/lockstep/room.h"
#include "parlor/lockstep/room_state.h"
#include "room_script.h"
#include "support/lockstep_text.h"

namespace parlor::lockstep {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

// What happened in a room, in one order for all: what its keeper saw, and what
// each connection was told.
using Log = std::vector<std::string>;

class LoggingConnection final : public Connection {
 public:
  LoggingConnection(std::string name, Log& log)
      : name_(std::move(name)), log_(log) {}

  void SetHandler(ConnectionHandler* /*handler*/) override {}
  using Connection::Send;
  SendResult Send(Lane /*lane*/, MessageKind /*kind*/,
                  std::span<const std::byte> bytes) override {
    log_.push_back(name_ + " " + test::MessageText(bytes));
    return SendResult::kQueued;
  }
  using Connection::Close;
  void Close(CloseCode code, std::string_view /*text*/) override {
    open_ = false;
    log_.push_back(name_ + " closed " + std::to_string(code));
  }
  void Abort() override { open_ = false; }
  bool is_open() const override { return open_; }
  std::size_t queued_bytes(Lane /*lane*/) const override { return 0; }

 private:
  std::string name_;
  Log& log_;
  bool open_ = true;
};

// Keeps, and logs each seat as its token and its last input.
class LoggingKeeper final : public RoomKeeper {
 public:
  explicit LoggingKeeper(Log& log) : log_(log) {}

  void OnSeats(TimePoint now, const Room& room) override {
    room.Save(now, kept);
    const auto state = ParseRoomState(kept);
    ASSERT_TRUE(state.ok()) << state.status();
    std::string text = "kept";
    for (const SeatState& seat : state->seats) {
      text += " " + std::to_string(seat.token) + "/" +
              std::to_string(seat.last_input);
    }
    log_.push_back(text + " at " + std::to_string(state->age_ms));
  }

  std::vector<std::byte> kept;

 private:
  Log& log_;
};

// Three seats, whose tokens are 10, 11 and 12.
class RoomKeepingTest : public testing::Test {
 protected:
  void SetUp() override { room_.SetKeeper(&keeper_); }

  void Begin() {
    for (auto* connection : {&a_, &b_, &c_}) room_.Join(now_, *connection);
    log_.clear();
  }
  void Say(Connection& connection, const Message& message) {
    room_.OnMessage(now_, connection, MessageKind::kBinary, Encode(message));
  }
  void Input(Connection& connection, std::uint32_t frame) {
    Say(connection, {.kind = Kind::kInput, .frame = frame});
    log_.clear();
  }

  Log log_;
  LoggingKeeper keeper_{log_};
  TimePoint now_{};
  test::ListedEntropy entropy_{{77, 10}};
  LoggingConnection a_{"a", log_}, b_{"b", log_}, c_{"c", log_}, d_{"d", log_};
  Room room_{now_, 3, {}, entropy_};
};

TEST_F(RoomKeepingTest, HearsOfTheStartBeforeAnyWelcome) {
  room_.Join(now_, a_);
  room_.Join(now_, b_);
  log_.clear();
  now_ += milliseconds(40);
  room_.Join(now_, c_);
  EXPECT_THAT(
      log_, ElementsAre("kept 10/-1 11/-1 12/-1 at 40", "a WELCOME 0 3 0 77 10",
                        "b WELCOME 1 3 0 77 11", "c WELCOME 2 3 0 77 12"));
}

TEST_F(RoomKeepingTest, HearsNothingOfALobby) {
  room_.Join(now_, a_);
  room_.Join(now_, b_);
  room_.OnClose(now_, b_, close_code::kNormal);
  room_.OnClose(now_, a_, close_code::kDropped);
  EXPECT_THAT(log_, ElementsAre("a LOBBY 0 3 1", "a LOBBY 0 3 2",
                                "b LOBBY 1 3 2", "a LOBBY 0 3 1"));
  EXPECT_EQ(room_.phase(), Room::Phase::kEnded);
}

TEST_F(RoomKeepingTest, HearsOfADropBeforeAway) {
  Begin();
  Input(b_, 7);
  room_.OnClose(now_, b_, close_code::kDropped);
  EXPECT_THAT(log_, ElementsAre("kept 10/-1 11/7 12/-1 at 0", "a AWAY 1 3",
                                "c AWAY 1 3"));
}

TEST_F(RoomKeepingTest, HearsOfALeaveBeforeLeave) {
  Begin();
  Input(b_, 7);
  room_.OnClose(now_, b_, close_code::kNormal);
  EXPECT_THAT(log_, ElementsAre("kept 10/-1 0/7 12/-1 at 0", "a LEAVE 1 3",
                                "c LEAVE 1 3"));
}

TEST_F(RoomKeepingTest, HearsOfTheEndOfAHoldBeforeLeave) {
  Begin();
  room_.OnClose(now_, b_, close_code::kDropped);
  log_.clear();
  // Late: what is kept is as old as the room was when the hold ended.
  room_.OnAlarm(now_ + milliseconds(20'500));
  EXPECT_THAT(log_, ElementsAre("kept 10/-1 0/-1 12/-1 at 20000", "a LEAVE 1 3",
                                "c LEAVE 1 3"));
}

// As after a restart, when all that nobody comes back to end at once: each
// state is written to a disk.
TEST_F(RoomKeepingTest, HearsOnceOfHoldsThatEndAtOneInstant) {
  Begin();
  room_.OnClose(now_, a_, close_code::kDropped);
  room_.OnClose(now_, b_, close_code::kDropped);
  log_.clear();
  room_.OnAlarm(now_ + milliseconds(20'000));
  EXPECT_THAT(log_, ElementsAre("kept 0/-1 0/-1 12/-1 at 20000", "c LEAVE 0 3",
                                "c LEAVE 1 3"));
  // The last ones' end is the room's, of which it hears nothing.
  room_.OnClose(now_ + milliseconds(20'000), c_, close_code::kDropped);
  log_.clear();
  room_.OnAlarm(now_ + milliseconds(40'000));
  EXPECT_THAT(log_, ElementsAre());
  EXPECT_EQ(room_.phase(), Room::Phase::kEnded);
}

// Not those of another instant, however late the alarm is.
TEST_F(RoomKeepingTest, HearsOfHoldsThatEndOneAfterTheOther) {
  Begin();
  room_.OnClose(now_, b_, close_code::kDropped);
  room_.OnClose(now_ + milliseconds(1), a_, close_code::kDropped);
  log_.clear();
  room_.OnAlarm(now_ + milliseconds(30'000));
  EXPECT_THAT(log_,
              ElementsAre("kept 10/-1 0/-1 12/-1 at 20000", "c LEAVE 1 3",
                          "kept 0/-1 0/-1 12/-1 at 20001", "c LEAVE 0 3"));
}

TEST_F(RoomKeepingTest, HearsOfAResumeBeforeAnyoneIsToldOrClosed) {
  Begin();
  room_.Resume(now_, d_, "b");
  EXPECT_THAT(log_, ElementsAre("kept 10/-1 11/-1 12/-1 at 0", "b closed 4001",
                                "d WELCOME 1 3 0 77 11", "d RESUME 1 3",
                                "a RESUME 1 3", "c RESUME 1 3"));
  log_.clear();
  LoggingConnection e("e", log_);
  room_.Resume(now_, e, "1234");
  EXPECT_THAT(log_, ElementsAre("e closed 4002"));
}

TEST_F(RoomKeepingTest, HearsOfAKickBeforeItsClose) {
  Begin();
  room_.Kick(now_, 1, CloseReason::kKicked);
  EXPECT_THAT(log_, ElementsAre("kept 10/-1 0/-1 12/-1 at 0", "b closed 1008",
                                "a LEAVE 1 3", "c LEAVE 1 3"));
  log_.clear();
  room_.OnMessage(now_, c_, MessageKind::kText, {});
  EXPECT_THAT(log_, ElementsAre("kept 10/-1 0/-1 0/-1 at 0", "c closed 1009",
                                "a LEAVE 2 3"));
}

TEST_F(RoomKeepingTest, HearsNothingOfMessagesAndOfTheEnd) {
  Begin();
  Say(a_, {.kind = Kind::kInput, .frame = 3});
  EXPECT_THAT(log_, ElementsAre("b INPUT 0 0 0 3", "c INPUT 0 0 0 3"));
  room_.OnClose(now_, a_, close_code::kNormal);
  room_.OnClose(now_, b_, close_code::kNormal);
  log_.clear();
  room_.OnClose(now_, c_, close_code::kNormal);
  EXPECT_THAT(log_, ElementsAre());
  EXPECT_EQ(room_.phase(), Room::Phase::kEnded);
}

TEST_F(RoomKeepingTest, SavesWithoutAnAllocation) {
  Begin();
  for (std::uint32_t frame = 0; frame < 100; ++frame) {
    for (auto* connection : {&a_, &b_, &c_}) Input(*connection, frame);
  }
  std::vector<std::byte> out;
  out.reserve(StateBytesMax(3));
  const std::byte* const at = out.data();
  room_.Save(now_, out);
  EXPECT_EQ(out.data(), at);
  EXPECT_EQ(out.size(), StateBytesMax(3));
  const std::vector<std::byte> first = out;
  room_.Save(now_, out);
  EXPECT_EQ(out, first);
}

// --- Going on

class RestoredRoomTest : public RoomKeepingTest {
 protected:
  // Seat 2 has left, and seat 0 has been away.
  void SetUp() override {
    RoomKeepingTest::SetUp();
    Begin();
    Input(a_, 5);
    Input(b_, 6);
    room_.OnClose(now_, c_, close_code::kNormal);
    room_.Kick(now_, 7, CloseReason::kKicked);
    now_ += milliseconds(1'000);
    room_.Save(now_, keeper_.kept);
    log_.clear();
    now_ += milliseconds(500);
  }
  Room Restored(const RoomOptions& options = {}) {
    return Room(now_, *ParseRoomState(keeper_.kept), options, entropy_);
  }
};

TEST_F(RestoredRoomTest, HoldsEverySeatThatHasNotLeft) {
  Room room = Restored();
  EXPECT_EQ(room.phase(), Room::Phase::kPlaying);
  EXPECT_EQ(room.players(), 3);
  EXPECT_EQ(room.opened_for(), 3);
  EXPECT_EQ(room.seated(), 0);
  EXPECT_EQ(room.held(), 2);
  EXPECT_EQ(room.counters().relayed, 0u);
  room.Resume(now_, d_, "a");
  EXPECT_THAT(log_,
              ElementsAre("d WELCOME 0 3 0 77 10", "d RESUME 0 3",
                          "d INPUT 1 0 0 6", "d AWAY 1 3", "d LEAVE 2 3"));
  log_.clear();
  LoggingConnection e("e", log_);
  room.Resume(now_, e, "c");  // its token died with it
  EXPECT_THAT(log_, ElementsAre("e closed 4002"));
}

TEST_F(RestoredRoomTest, TakesNoFrameTwice) {
  Room room = Restored();
  room.Resume(now_, d_, "a");
  LoggingConnection e("e", log_);
  room.Resume(now_, e, "b");
  log_.clear();
  for (const std::uint32_t frame : {4u, 5u, 6u}) {
    room.OnMessage(now_, d_, MessageKind::kBinary,
                   Encode({.kind = Kind::kInput, .frame = frame}));
  }
  EXPECT_THAT(log_, ElementsAre("e INPUT 0 0 0 6"));
}

TEST_F(RestoredRoomTest, HoldsFromThenOnInFull) {
  Room room = Restored();
  room.OnAlarm(now_ + milliseconds(19'999));
  EXPECT_EQ(room.held(), 2);
  room.OnAlarm(now_ + milliseconds(20'000));
  EXPECT_EQ(room.phase(), Room::Phase::kEnded);
}

TEST_F(RestoredRoomTest, HoldsWhereNothingElseIsHeld) {
  RoomOptions options;
  options.hold_ms = 0;
  Room room = Restored(options);
  room.OnAlarm(now_ + milliseconds(19'999));
  EXPECT_EQ(room.held(), 2);
  room.Resume(now_ + milliseconds(19'999), d_, "a");
  room.OnClose(now_ + milliseconds(19'999), d_, close_code::kDropped);
  EXPECT_EQ(room.held(), 1);  // a drop is a leave again
}

TEST_F(RestoredRoomTest, IsAsOldAsItWasAndNotIdleYet) {
  RoomOptions options;
  options.idle_ms = 3'000;
  options.lifetime_ms = 3'000;
  Room room = Restored(options);
  // 1 s of it is over; the time between two processes does not count.
  room.OnAlarm(now_ + milliseconds(1'999));
  EXPECT_EQ(room.phase(), Room::Phase::kPlaying);
  room.Resume(now_ + milliseconds(1'999), d_, "a");
  room.OnAlarm(now_ + milliseconds(2'000));
  EXPECT_EQ(log_.back(), "d closed 1001");
  options.lifetime_ms = 20'000;
  Room other = Restored(options);
  other.OnAlarm(now_ + milliseconds(2'999));
  EXPECT_EQ(other.phase(), Room::Phase::kPlaying);
  other.OnAlarm(now_ + milliseconds(3'000));
  EXPECT_EQ(other.phase(), Room::Phase::kEnded);
}

}  // namespace
}  // namespace parlor::lockstep
