// What a shard keeps of its matches, when, and what it does with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parlor/host/shard.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/lockstep/wire.h"
#include "shard_fixture.h"
#include "support/counting_room_store.h"

namespace parlor::host {
namespace {

using lockstep::Kind;
using lockstep::Message;
using lockstep::RoomState;
using std::chrono::milliseconds;
using std::chrono::seconds;

Message Input(std::uint32_t frame) {
  return {.kind = Kind::kInput, .frame = frame, .value = frame + 100};
}

class ShardKeepingTest : public ShardTest {
 protected:
  // The store outlives it.
  ~ShardKeepingTest() override { shard_.reset(); }

  void Make(const ShardOptions& options = {}) {
    ShardTest::Make(options);
    shard_->SetStore(&store_);
  }
  // Another process, with what this one's store has.
  void MakeAgain(const ShardOptions& options = {}) {
    Make(options);
    for (const KeptRoom& room : store_.kept.rooms()) {
      EXPECT_TRUE(shard_->Restore(now_, room.number, room.state));
    }
  }
  void Say(Client& client, const Message& message) {
    client.Say(message);
    while (pump_.Pump(now_) > 0) {
    }
  }
  static std::string TokenOf(const Client& client) {
    return lockstep::TokenText(client.Last(Kind::kWelcome)->value);
  }

  test::CountingRoomStore store_;
};

TEST_F(ShardKeepingTest, KeepsAMatchWhenItsSeatsChange) {
  Make();
  auto a = Join(3, 2);
  EXPECT_EQ(store_.keeps, 0);  // a lobby has nobody to come back
  auto b = Join(3, 2);
  EXPECT_EQ(store_.keeps, 1);
  EXPECT_EQ(store_.State(3).seats[1].token, b->Last(Kind::kWelcome)->value);

  // Seats are kept with all that they said.
  Say(*a, Input(5));
  a->connection->Abort();
  Settle();
  EXPECT_EQ(store_.keeps, 2);
  EXPECT_EQ(store_.State(3).seats[0].last_input, 5);
  auto again = Join(3, 2, TokenOf(*a));
  EXPECT_EQ(store_.keeps, 3);
  again->connection->Close(CloseReason::kNormal);
  Settle();
  EXPECT_EQ(store_.keeps, 4);
  EXPECT_EQ(store_.State(3).seats[0].token, 0u);
  EXPECT_EQ(store_.forgets, 0);
}

TEST_F(ShardKeepingTest, KeepsWhatWasRelayedWithinASecondAndThenSleeps) {
  Make();
  auto a = Join(3, 2);
  auto b = Join(3, 2);
  const TimePoint idle = shard_->next_alarm();
  Pass(seconds(30));
  EXPECT_EQ(store_.keeps, 1);
  Say(*a, Input(5));
  const TimePoint due = shard_->next_alarm();
  EXPECT_GT(due, now_);
  EXPECT_LE(due, now_ + Shard::kKeepEvery);
  Pass(due - now_ - Duration(1));
  Say(*a, Input(6));
  EXPECT_EQ(shard_->next_alarm(), due);
  EXPECT_EQ(store_.keeps, 1);
  Pass(Duration(1));
  EXPECT_EQ(store_.keeps, 2);
  EXPECT_EQ(store_.State(3).seats[0].last_input, 6);

  // Nothing more to keep: the next alarm is the room's own.
  EXPECT_EQ(shard_->next_alarm(), idle);
  Pass(seconds(30));
  EXPECT_EQ(store_.keeps, 2);
  // What was not relayed is nothing new.
  Say(*a, Input(6));
  EXPECT_EQ(shard_->next_alarm(), idle);
}

TEST_F(ShardKeepingTest, ASeatThatChangesKeepsWhatWasDueToo) {
  Make();
  auto a = Join(3, 3);
  auto b = Join(3, 3);
  auto c = Join(3, 3);
  Say(*a, Input(5));
  b->connection->Abort();
  Settle();
  EXPECT_EQ(store_.State(3).seats[0].last_input, 5);
  EXPECT_EQ(store_.keeps, 2);
  Pass(seconds(2));
  EXPECT_EQ(store_.keeps, 2);
}

// Many rooms, of one seat each.
class ManyKeptRoomsTest : public ShardKeepingTest {
 protected:
  static constexpr std::uint32_t kRooms = 1'024;

  void SetUp() override {
    Make();
    for (std::uint32_t room = 0; room < kRooms; ++room) {
      clients_.push_back(Join(room, 1));
    }
    store_.keeps = 0;
  }
  void AllSay(std::uint32_t frame) {
    for (const auto& client : clients_) client->Say(Input(frame));
    while (pump_.Pump(now_) > 0) {
    }
  }
  int AtOnce() const { return static_cast<int>(shard_->keep_at_once()); }

  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(ManyKeptRoomsTest, AreSpreadOverTheSecond) {
  ASSERT_EQ(AtOnce(), 8);
  AllSay(0);
  // In a second every room once, a few at a time, at no time a crowd.
  int most = 0;
  const TimePoint end = now_ + Shard::kKeepEvery;
  std::uint32_t frame = 0;
  while (now_ < end) {
    now_ += milliseconds(1);
    const int before = store_.keeps;
    shard_->OnAlarm(now_);
    most = std::max(most, store_.keeps - before);
    if (now_ + milliseconds(16) < end && ++frame % 16 == 0) AllSay(frame);
  }
  EXPECT_LE(most, 3);
  EXPECT_GT(store_.keeps, static_cast<int>(kRooms) - 8);
  for (std::uint32_t room = 0; room < kRooms; ++room) {
    ASSERT_GE(store_.State(room).seats[0].last_input, 0) << room;
  }
}

TEST_F(ManyKeptRoomsTest, ALateLoopKeepsAFewAtATime) {
  AllSay(0);
  now_ += seconds(2);
  int turns = 0;
  while (shard_->next_alarm() <= now_ + milliseconds(1)) {
    now_ = std::max(now_, shard_->next_alarm());
    const int before = store_.keeps;
    shard_->OnAlarm(now_);
    ++turns;
    ASSERT_EQ(store_.keeps - before, AtOnce());
    // Nor is it more when a room's alarm or a newcomer falls into that time.
    shard_->OnAlarm(now_);
    shard_->Admit(now_, {.room = 5, .players = 1});
    ASSERT_EQ(store_.keeps - before, AtOnce());
  }
  EXPECT_EQ(turns, static_cast<int>(kRooms) / AtOnce());
  EXPECT_EQ(store_.keeps, static_cast<int>(kRooms));
}

TEST_F(ShardKeepingTest, ForgetsWhatEnds) {
  ShardOptions options;
  options.room.idle_ms = 3'000;
  Make(options);
  auto left = Join(0, 1);
  auto idle = Join(1, 1);
  auto waiting = Join(2, 2);
  EXPECT_EQ(store_.kept.size(), 2u);
  left->connection->Close(CloseReason::kNormal);
  Settle();
  EXPECT_EQ(store_.forgets, 1);
  EXPECT_FALSE(store_.has(0));
  // With something that was to be kept.
  Say(*idle, Input(1));
  idle->connection->Close(CloseReason::kNormal);
  Settle();
  EXPECT_EQ(store_.forgets, 2);
  auto again = Join(1, 1);
  Pass(seconds(3));
  EXPECT_EQ(again->text, "room idle");
  EXPECT_EQ(store_.forgets, 3);
  waiting->connection->Close(CloseReason::kNormal);
  Settle();
  EXPECT_EQ(store_.forgets, 3);  // of a lobby nothing is kept
}

TEST_F(ShardKeepingTest, ForgetsAllThatEndOtherwiseThanToBeginAgain) {
  Make();
  auto a = Join(0, 1);
  auto waiting = Join(1, 2);
  shard_->EndAll(now_, CloseReason::kHostLeft);
  EXPECT_EQ(store_.kept.size(), 0u);
  EXPECT_EQ(store_.forgets, 1);
}

TEST_F(ShardKeepingTest, ARestartLosesNothing) {
  Make();
  auto a = Join(0, 2);
  auto b = Join(0, 2);
  auto waiting = Join(1, 2);
  Pass(milliseconds(250));
  Say(*a, Input(5));
  Say(*b, {.kind = Kind::kHash, .frame = 30, .value = 1});
  a->Say(Input(6));  // nobody has read it yet
  const std::size_t heard = b->heard.size();
  shard_->EndAll(now_, CloseReason::kRestart);
  EXPECT_EQ(shard_->next_alarm(), kNever);
  Settle();
  EXPECT_EQ(a->code, 1012);
  EXPECT_EQ(waiting->code, 1012);
  EXPECT_EQ(shard_->connections(), 0u);
  EXPECT_EQ(b->heard.size(), heard);

  EXPECT_EQ(store_.kept.size(), 1u);
  const RoomState state = store_.State(0);
  EXPECT_EQ(state.seats[0].last_input, 5);
  EXPECT_EQ(state.seats[1].last_hash, 30);
  EXPECT_EQ(state.age_ms, 250);
}

TEST_F(ShardKeepingTest, ARestoredRoomIsThereForItsPlayersAlone) {
  Make();
  auto a = Join(7, 2);
  auto b = Join(7, 2);
  Say(*a, Input(5));
  shard_->EndAll(now_, CloseReason::kRestart);
  Settle();

  MakeAgain();
  EXPECT_EQ(shard_->rooms(), 1u);
  EXPECT_EQ(shard_->players(), 0u);
  EXPECT_EQ(shard_->Admit(now_, {.room = 7, .players = 3}).status, 409);
  auto stranger = Join(7, 2);
  EXPECT_EQ(stranger->code, 4000);
  auto b2 = Join(7, 2, TokenOf(*b));
  EXPECT_EQ(*b2->Last(Kind::kWelcome), *b->Last(Kind::kWelcome));
  EXPECT_EQ(b2->Last(Kind::kInput)->frame, 5u);
  EXPECT_EQ(b2->Last(Kind::kAway)->slot, 0);
  auto a2 = Join(7, 2, TokenOf(*a));
  EXPECT_EQ(shard_->players(), 2u);
  Say(*a2, Input(6));
  EXPECT_EQ(b2->Last(Kind::kInput)->frame, 6u);
}

TEST_F(ShardKeepingTest, ARestoredRoomEndsWhenNobodyReturns) {
  Make();
  auto a = Join(7, 2);
  auto b = Join(7, 2);
  const int keeps = store_.keeps;
  MakeAgain();
  Pass(milliseconds(19'999));
  EXPECT_EQ(shard_->rooms(), 1u);
  EXPECT_EQ(store_.keeps, keeps);  // nothing has changed
  Pass(milliseconds(1));
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_EQ(shard_->next_alarm(), kNever);
  EXPECT_EQ(store_.kept.size(), 0u);
}

TEST_F(ShardKeepingTest, ARoomThatIsTooOldEndsAtOnce) {
  Make();
  auto a = Join(7, 1);
  Pass(milliseconds(2'000));
  a->connection->Abort();
  Settle();
  ShardOptions options;
  options.room.lifetime_ms = 2'000;
  MakeAgain(options);
  EXPECT_EQ(shard_->next_alarm(), now_);
  Settle();
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_EQ(store_.kept.size(), 0u);
}

TEST_F(ShardKeepingTest, TakesBackOnlyWhatItRuns) {
  Make();
  auto a = Join(7, 4);
  a->Say({.kind = Kind::kStart});
  Settle();
  const RoomState state = store_.State(7);
  ShardOptions options;
  options.rooms = 8;
  options.seats = 3;
  Make(options);
  EXPECT_FALSE(shard_->Restore(now_, 7, state));  // its size
  options.seats = 4;
  Make(options);
  EXPECT_FALSE(shard_->Restore(now_, 8, state));
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_TRUE(shard_->Restore(now_, 7, state));
  EXPECT_EQ(shard_->FindRoom(7)->players(), 1);
}

TEST_F(ShardKeepingTest, TheHookTellsOfWhatIsToBeKept) {
  Make();
  std::vector<TimePoint> told;
  shard_->SetAlarmHook([&](TimePoint at) { told.push_back(at); });
  auto a = Join(0, 1);
  told.clear();
  Say(*a, Input(1));
  EXPECT_EQ(told, std::vector{shard_->next_alarm()});
}

}  // namespace
}  // namespace parlor::host
