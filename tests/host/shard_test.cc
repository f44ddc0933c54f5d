#include "parlor/host/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parlor/host/address.h"
#include "parlor/host/os_entropy.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"
#include "parlor/transports/memory_pipe.h"
#include "shard_fixture.h"
#include "support/seed.h"

namespace parlor::host {
namespace {

using lockstep::Kind;
using lockstep::Message;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(ShardTest, PlaysAMatchAndForgetsIt) {
  Make();
  auto a = Join(3, 2);
  EXPECT_EQ(a->Last(Kind::kLobby)->players, 2);
  auto b = Join(3, 2);
  ASSERT_TRUE(a->Last(Kind::kWelcome) && b->Last(Kind::kWelcome));
  EXPECT_EQ(a->Last(Kind::kWelcome)->frame, b->Last(Kind::kWelcome)->frame);

  a->Say({.kind = Kind::kInput, .slot = 9, .frame = 5, .value = 42});
  Settle();
  EXPECT_EQ(*b->Last(Kind::kInput), (Message{Kind::kInput, 0, 0, 0, 5, 42}));

  a->connection->Close(CloseReason::kNormal);
  Settle();
  EXPECT_TRUE(b->Last(Kind::kLeave));
  b->connection->Close(CloseReason::kNormal);
  Settle();
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_EQ(shard_->connections(), 0u);
  EXPECT_EQ(shard_->next_alarm(), kNever);
}

struct AdmitRow {
  const char* name;
  std::uint32_t room;
  int players;
  int status;
};

class AdmitTest : public ShardTest,
                  public testing::WithParamInterface<AdmitRow> {};

TEST_P(AdmitTest, Answers) {
  ShardOptions options;
  options.rooms = 10;
  options.seats = 8;
  Make(options);
  auto first = Join(1, 4);
  auto client = Join(GetParam().room, GetParam().players);
  EXPECT_EQ(client->refusal, GetParam().status);
  if (GetParam().status == 0) {
    EXPECT_EQ(client->closes, 0);
  } else {
    EXPECT_EQ(client->closes, 1);
    EXPECT_EQ(client->code, 1006);
    EXPECT_EQ(shard_->connections(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hellos, AdmitTest,
    testing::Values(AdmitRow{"SameSize", 1, 4, 0},
                    AdmitRow{"OtherSize", 1, 3, 409},
                    AdmitRow{"LastNumber", 9, 1, 0},
                    AdmitRow{"NoSuchNumber", 10, 4, 404},
                    AdmitRow{"HugeNumber", 0xffffffff, 4, 404},
                    AdmitRow{"NoPlayers", 2, 0, 400},
                    AdmitRow{"NegativePlayers", 2, -1, 400},
                    AdmitRow{"MostPlayers", 2, 8, 0},
                    AdmitRow{"TooManyPlayers", 2, 9, 400}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(ShardTest, AFullRoomCloses4000AndLivesOn) {
  Make();
  auto a = Join(0, 1);
  auto late = Join(0, 1);
  EXPECT_EQ(late->code, 4000);
  EXPECT_EQ(late->text, "room full");
  EXPECT_EQ(late->closes, 1);
  EXPECT_EQ(a->closes, 0);
  EXPECT_EQ(shard_->connections(), 1u);
}

TEST_F(ShardTest, AnEmptiedRoomIsAFreshOne) {
  Make();
  auto a = Join(0, 2);
  auto b = Join(0, 2);
  const Message old = *a->Last(Kind::kWelcome);
  a->connection->Close(CloseReason::kNormal);
  b->connection->Close(CloseReason::kNormal);
  Settle();
  // Another size is no conflict any more; seed and tokens are new.
  auto c = Join(0, 1);
  ASSERT_TRUE(c->Last(Kind::kWelcome));
  EXPECT_NE(c->Last(Kind::kWelcome)->frame, old.frame);
  EXPECT_NE(c->Last(Kind::kWelcome)->value, old.value);
}

TEST_F(ShardTest, AResumeOpensNoRoom) {
  Make();
  auto stranger = Join(0, 2, "1234abcd");
  EXPECT_EQ(stranger->code, 4002);
  EXPECT_EQ(stranger->text, "seat gone");
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_EQ(shard_->connections(), 0u);
}

TEST_F(ShardTest, ResumesThroughANewConnection) {
  Make();
  auto a = Join(0, 2);
  auto b = Join(0, 2);
  const Message welcome = *a->Last(Kind::kWelcome);
  a->connection->Abort();
  Settle();
  EXPECT_TRUE(b->Last(Kind::kAway));
  auto again = Join(0, 2, lockstep::TokenText(welcome.value));
  EXPECT_EQ(*again->Last(Kind::kWelcome), welcome);
  EXPECT_TRUE(b->Last(Kind::kResume));
}

TEST_F(ShardTest, AlarmsEndLobbiesAndHolds) {
  ShardOptions options;
  options.room.lobby_ms = 1'000;
  options.room.hold_ms = 500;
  Make(options);
  auto waiting = Join(0, 2);
  auto a = Join(1, 2);
  auto b = Join(1, 2);
  a->connection->Abort();
  Settle();
  EXPECT_LE(shard_->next_alarm(), now_ + milliseconds(500));
  Pass(milliseconds(499));
  EXPECT_FALSE(b->Last(Kind::kLeave));
  Pass(milliseconds(1));
  EXPECT_TRUE(b->Last(Kind::kLeave));
  Pass(milliseconds(500));
  EXPECT_EQ(waiting->code, 1001);
  EXPECT_EQ(waiting->text, "room not filled");
  EXPECT_EQ(shard_->rooms(), 1u);
}

TEST_F(ShardTest, RoomsOfOneInstantEndAFewAtATime) {
  constexpr std::uint32_t kCount = 2 * Shard::kRoomsPerAlarm + 1;
  Make();
  std::vector<std::unique_ptr<Client>> clients;
  for (std::uint32_t room = 0; room < kCount; ++room) {
    clients.push_back(Join(room, 2));
  }
  now_ += milliseconds(limits::kLobbyMs.fallback);
  std::vector<std::size_t> left;
  while (shard_->next_alarm() <= now_) {
    shard_->OnAlarm(now_);
    left.push_back(shard_->rooms());
  }
  EXPECT_EQ(left, (std::vector<std::size_t>{Shard::kRoomsPerAlarm + 1, 1, 0}));
}

TEST_F(ShardTest, ARoomWhoseTimeIsUpIsInNobodysWay) {
  ShardOptions options;
  options.room.lobby_ms = 1'000;
  Make(options);
  auto late = Join(0, 2);
  // The shard's alarm is late as well: the join is what ends the old room.
  now_ += milliseconds(1'000);
  auto fresh = Join(0, 3);
  EXPECT_EQ(late->text, "room not filled");
  EXPECT_EQ(fresh->closes, 0);
  EXPECT_EQ(fresh->Last(Kind::kLobby)->players, 3);
}

TEST_F(ShardTest, CountsTheSeatsThatAreConnected) {
  ShardOptions options;
  options.room.lobby_ms = 1'000;
  Make(options);
  EXPECT_EQ(shard_->players(), 0u);
  auto a = Join(0, 2);
  EXPECT_EQ(shard_->players(), 1u);
  auto b = Join(0, 2);
  auto waiting = Join(1, 2);
  auto full = Join(0, 2);
  EXPECT_EQ(shard_->players(), 3u);
  EXPECT_EQ(shard_->rooms(), 2u);
  a->connection->Abort();  // held, and not connected
  Settle();
  EXPECT_EQ(shard_->players(), 2u);
  Pass(milliseconds(1'000));
  EXPECT_EQ(waiting->closes, 1);
  EXPECT_EQ(shard_->players(), 1u);
  b->connection->Close(CloseReason::kNormal);
  Settle();
  EXPECT_EQ(shard_->players(), 0u);
  EXPECT_EQ(shard_->rooms(), 1u);  // held for its other seat
}

TEST_F(ShardTest, EndAllClosesEverybody) {
  Make();
  auto a = Join(0, 2);
  auto b = Join(1, 1);
  shard_->EndAll(now_, CloseReason::kHostLeft);
  Settle();
  for (const auto* client : {a.get(), b.get()}) {
    EXPECT_EQ(client->code, 1001);
    EXPECT_EQ(client->text, "host left");
    EXPECT_EQ(client->closes, 1);
  }
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_EQ(shard_->connections(), 0u);
}

class JoinRateTest : public ShardTest {
 protected:
  void SetUp() override {
    ShardOptions options;
    options.rooms = 10;
    options.room_joins_per_minute = 3;
    Make(options);
    options_ = options;
  }

  Refusal Ask(std::uint32_t room, const Address& from, int players = 2) {
    return shard_->Admit(now_, {.room = room, .players = players}, from);
  }

  // `from` has joined room 1 as often as it may.
  void Exhaust() {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(Ask(1, from_).status, 0) << i;
  }

  ShardOptions options_;
  const Address from_ = Address::Parse("192.0.2.1").value();
  const Address other_ = Address::Parse("192.0.2.2").value();
};

TEST_F(JoinRateTest, MayChange) {
  Exhaust();
  options_.room_joins_per_minute = 4;
  shard_->SetOptions(options_);
  EXPECT_EQ(Ask(1, from_).status, 0);
  EXPECT_EQ(Ask(1, from_).status, 429);
  options_.room_joins_per_minute = 2;
  shard_->SetOptions(options_);
  EXPECT_EQ(Ask(1, from_).status, 429);
  EXPECT_EQ(Ask(2, from_).status, 0);
  EXPECT_EQ(Ask(2, from_).status, 0);
  EXPECT_EQ(Ask(2, from_).status, 429);
}

TEST_F(JoinRateTest, IsOfOneAddressIntoOneRoom) {
  Exhaust();
  now_ += milliseconds(500);
  EXPECT_EQ(Ask(1, from_).status, 429);
  EXPECT_EQ(Ask(1, from_).retry_after_s, 60u);
  EXPECT_EQ(Ask(1, other_).status, 0);
  EXPECT_EQ(Ask(2, from_).status, 0);
  now_ += milliseconds(59'499);
  EXPECT_EQ(Ask(1, from_).retry_after_s, 1u);
  now_ += milliseconds(1);
  EXPECT_EQ(Ask(1, from_).status, 0);
}

TEST_F(JoinRateTest, ComesBehindTheNumbersAndAheadOfTheSize) {
  auto first = Join(1, 2);
  // What is refused by its numbers is no join; what is by its size is one.
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Ask(10, from_).status, 404);
    EXPECT_EQ(Ask(1, from_, 0).status, 400);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask(1, from_, 3).status, 409);
  EXPECT_EQ(Ask(1, from_, 3).status, 429);
  EXPECT_EQ(Ask(1, from_).status, 429);
  EXPECT_EQ(Ask(1, from_, 0).status, 400);
  EXPECT_EQ(Ask(10, from_).status, 404);
}

TEST_F(JoinRateTest, LeavesResumesAlone) {
  Exhaust();
  for (int i = 0; i < 5; ++i) {
    const Hello hello{.room = 1, .players = 2, .resume = "1234abcd"};
    EXPECT_EQ(shard_->Admit(now_, hello, from_).status, 0);
  }
  EXPECT_EQ(Ask(1, from_).status, 429);
  // Nor did they count in a room that nobody has joined.
  for (int i = 0; i < 5; ++i) {
    const Hello hello{.room = 2, .players = 2, .resume = ""};
    EXPECT_EQ(shard_->Admit(now_, hello, from_).status, 0);
  }
  EXPECT_EQ(Ask(2, from_).status, 0);
}

TEST_F(JoinRateTest, LeavesThisProcessAlone) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Ask(1, Address()).status, 0);
  EXPECT_EQ(Ask(1, from_).status, 0);
  // Who cannot be told apart is counted as one.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask(1, Address::Unknown()).status, 0);
  EXPECT_EQ(Ask(1, Address::Unknown()).status, 429);
}

TEST_F(JoinRateTest, OneJoinCountsOnce) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Ask(1, from_).status, 0) << i;
    PipePair pipe = MakePipe(pump_, pump_);
    shard_->Attach(now_, std::move(pipe.second), {.room = 1, .players = 2});
    Settle();
  }
  EXPECT_EQ(Ask(1, from_).status, 429);
}

TEST_F(JoinRateTest, OutlivesTheRoom) {
  Exhaust();
  auto client = Join(1, 2);
  EXPECT_EQ(shard_->rooms(), 1u);
  client->connection->Close(CloseReason::kNormal);
  Settle();
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_EQ(Ask(1, from_).status, 429);
}

class AlarmHookTest : public ShardTest {
 protected:
  void SetUp() override {
    ShardOptions options;
    options.room.lobby_ms = 1'000;
    options.room.hold_ms = 500;
    Make(options);
    shard_->SetAlarmHook([this](TimePoint at) {
      EXPECT_EQ(at, shard_->next_alarm());
      told_.push_back(at);
    });
  }

  // What the hook told since it was asked last.
  std::vector<TimePoint> Told() { return std::exchange(told_, {}); }

 private:
  std::vector<TimePoint> told_;
};

TEST_F(AlarmHookTest, TellsOfAnEarlierAlarm) {
  auto a = Join(0, 2);
  EXPECT_EQ(Told(), std::vector{now_ + milliseconds(1'000)});
  now_ += milliseconds(10);
  auto later = Join(1, 3);
  EXPECT_EQ(Told(), std::vector<TimePoint>());

  // In the event of a connection: a drop begins a hold.
  auto b = Join(0, 2);
  Pass(milliseconds(10));
  Told();
  const TimePoint before = shard_->next_alarm();
  b->connection->Abort();
  while (pump_.Pump(now_) > 0) {
  }
  ASSERT_LT(shard_->next_alarm(), before);
  EXPECT_EQ(Told(), std::vector{now_ + milliseconds(500)});
}

// A loop that looks at next_alarm() after OnAlarm, and else hears the hook,
// never sleeps too long.
TEST_F(AlarmHookTest, ALoopThatListensIsNeverLate) {
  Random random(test::TestSeed());
  std::vector<std::unique_ptr<Client>> clients;
  TimePoint alarm = kNever;
  int woken = 0;
  for (int step = 0; step < 2'000; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    now_ += random.Between(0, 100) * kMillisecond;
    if (alarm <= now_) {
      shard_->OnAlarm(now_);
      alarm = shard_->next_alarm();
      Told();
      ++woken;
    }
    if (random.Chance(1, 3)) {
      const std::uint32_t room = random.Below(4);
      clients.push_back(std::make_unique<Client>());
      Client& client = *clients.back();
      client.connection =
          connector_->Connect(now_, {.room = room, .players = 2}, &client);
    } else if (!clients.empty()) {
      Client& client =
          *clients[random.Below(static_cast<std::uint32_t>(clients.size()))];
      if (random.Chance(1, 2)) {
        client.connection->Abort();
      } else {
        client.connection->Close(CloseReason::kNormal);
      }
    }
    while (pump_.Pump(now_) > 0) {
    }
    std::erase_if(clients,
                  [](const auto& client) { return client->closes > 0; });
    for (const TimePoint at : Told()) alarm = std::min(alarm, at);
    ASSERT_LE(alarm, shard_->next_alarm());
  }
  EXPECT_GT(woken, 50);
}

TEST(ShardOptionsTest, NamesTheOptionThatIsOut) {
  ShardOptions options;
  options.seats = 33;
  EXPECT_EQ(ValidateOptions(options).message(), "seats: 33 is not in 1..32");
  options.seats = 8;
  options.rooms = 0;
  EXPECT_EQ(ValidateOptions(options).message(), "rooms: 0 is not in 1..65536");
  options.rooms = 1;
  options.room_joins_per_minute = 0;
  EXPECT_EQ(ValidateOptions(options).message(),
            "room_joins_per_minute: 0 is not in 1..100000");
}

TEST(OsEntropyTest, FillsAllOfIt) {
  OsEntropy entropy;
  std::vector<std::byte> bytes(1'000);
  entropy.Fill(bytes);
  int zeros = 0;
  for (std::byte byte : bytes) zeros += byte == std::byte{0} ? 1 : 0;
  EXPECT_LT(zeros, 30);
}

}  // namespace
}  // namespace parlor::host
