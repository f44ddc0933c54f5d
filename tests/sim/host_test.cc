// A host in virtual time, reached by whole messages and by bytes: the same is
// refused at either level, and its end, its crash and its next start are those
// of a dedicated host.
#include <memory>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/lockstep/room.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/host_fixture.h"
#include "sim/host_machine.h"
#include "support/echo_room.h"
#include "support/lockstep_client.h"

namespace parlor::test {
namespace {

using sim::Via;
using ::testing::ElementsAre;

INSTANTIATE_TEST_SUITE_P(Via, SimHostTest, ::testing::ValuesIn(kAllVias),
                         ViaName);

// ---- The gate

TEST_P(SimHostTest, RefusesInTheOrderOfTheContract) {
  options_.gate.open = false;
  options_.gate.codes = {"GOODCODE42"};
  options_.shard.rooms = 10;
  options_.shard.seats = 4;
  const std::string code(kCode);
  const std::string wrong = "invite.BADCODE4242";
  const struct {
    std::string_view name;
    Hello hello;
    std::string_view answer;
  } rows[] = {
      {"let in", {.room = 9, .players = 4, .access = code}, "open"},
      {"no such room",
       {.room = 10, .players = 2, .access = code},
       "refused 404"},
      {"no such room, before the size",
       {.room = 10, .access = wrong},
       "refused 404"},
      {"nobody", {.room = 1, .players = 0, .access = code}, "refused 400"},
      {"too many", {.room = 1, .players = 5, .access = code}, "refused 400"},
      {"too many, before the code",
       {.room = 1, .players = 5, .access = wrong},
       "refused 400"},
      {"no code", {.room = 1, .players = 2}, "refused 403"},
      {"wrong code", {.room = 1, .players = 2, .access = wrong}, "refused 403"},
      {"a resume without a code", Resume(1, 7), "refused 403"},
      {"another size",
       {.room = 9, .players = 3, .access = code},
       "refused 409"},
      {"another size, behind the code",
       {.room = 9, .players = 3, .access = wrong},
       "refused 403"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(Answer(row.hello), row.answer);
  }
}

// Three rooms on three shards: each is opened where it is looked for.
TEST_P(SimHostTest, HostedRoomsAreReachedByTheirKeys) {
  options_.shards = 3;
  for (const char* key : {"a", "b", "c"}) {
    options_.shard.play_rooms.push_back(
        {.key = key, .open = true, .make = [](TimePoint, Entropy&) {
           return std::make_unique<EchoRoom>();
         }});
  }
  EXPECT_EQ(Answer({.play = "d"}), "refused 404");
  for (const char* key : {"c", "a", "b"}) {
    SCOPED_TRACE(key);
    EXPECT_EQ(host_->FindPlayRoom(key), nullptr);
    EXPECT_EQ(Answer({.play = key}), "open");
    EXPECT_NE(host_->FindPlayRoom(key), nullptr);
  }
  EXPECT_EQ(host_->FindPlayRoom("d"), nullptr);
  EXPECT_EQ(host_->figures().rooms, 3u);
  host_->CrashNow(sim::Host::Crash::kProcess);
  EXPECT_EQ(host_->FindPlayRoom("a"), nullptr);
}

TEST_P(SimHostTest, ARoomThatIsFullOrASeatThatIsGoneIsTheRoomsToSay) {
  Match(3);
  LockstepClient& third = Ask({.room = 3, .players = 2});
  LockstepClient& gone = Ask(Resume(3, 0x1234));
  RunFor(100);
  EXPECT_THAT(third.heard, ElementsAre("open", "close 4000 room full"));
  EXPECT_THAT(gone.heard, ElementsAre("open", "close 4002 seat gone"));
}

TEST_P(SimHostTest, CountsEachMachinesAddress) {
  options_.gate.joins_per_minute = 3;
  const Hello hello{.room = 1, .players = 8};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Answer(hello), "open");
  EXPECT_EQ(Answer(hello), "refused 429");
  EXPECT_EQ(Answer(hello, AddHome()), "open");
  RunFor(60'000);
  EXPECT_EQ(Answer(hello), "open");
}

TEST_P(SimHostTest, CountsWhatAnAddressJoinsOneRoom) {
  options_.shard.room_joins_per_minute = 2;
  const Hello hello{.room = 1, .players = 8};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Answer(hello), "open");
  EXPECT_EQ(Answer(hello), "refused 429");
  EXPECT_EQ(Answer({.room = 2, .players = 8}), "open");
  EXPECT_EQ(Answer(hello, AddHome()), "open");
}

// One address, whichever way each comes.
TEST_P(SimHostTest, AllWaysOfAMachineAreOneAddress) {
  options_.gate.joins_per_minute = 3;
  const Hello hello{.room = 1, .players = 8};
  for (const Via via : kAllVias) {
    LockstepClient& player = AskBy(via, hello, *homes_[0]);
    RunFor(100);
    EXPECT_EQ(First(player), "open");
  }
  EXPECT_EQ(Answer(hello), "refused 429");
}

// ---- Rooms

TEST_P(SimHostTest, AMatchIsRelayed) {
  const auto [first, second] = Match(3);
  first->Input(5);
  second->Input(6);
  RunFor(100);
  EXPECT_THAT(first->Take(), ElementsAre("INPUT 1 0 0 6 6"));
  EXPECT_THAT(second->Take(), ElementsAre("INPUT 0 0 0 5 5"));
}

TEST_P(SimHostTest, FiguresAreThoseOfAllShards) {
  options_.shards = 2;
  Match(4);
  Match(5);
  Ask({.room = 6, .players = 2});
  RunFor(100);
  EXPECT_EQ(host_->figures().rooms, 3u);
  EXPECT_EQ(host_->figures().players, 5u);
  EXPECT_EQ(host_->figures().connections, 5u);
  EXPECT_EQ(host_->FindRoom(4)->seated(), 2);
  EXPECT_EQ(host_->FindRoom(5)->seated(), 2);
  EXPECT_EQ(host_->FindRoom(7), nullptr);
}

TEST_P(SimHostTest, EveryShardActsOnItsOwnDeadlines) {
  options_.shards = 2;
  options_.shard.room.lobby_ms = 10'000;
  LockstepClient& even = Ask({.room = 4, .players = 2});
  RunFor(5'000);
  LockstepClient& odd = Ask({.room = 5, .players = 2});
  RunFor(5'100);
  EXPECT_EQ(Last(even), "close 1001 room not filled");
  EXPECT_EQ(odd.closed_at, kNever);
  RunFor(5'000);
  EXPECT_EQ(Last(odd), "close 1001 room not filled");
  EXPECT_EQ(host_->figures().rooms, 0u);
}

}  // namespace
}  // namespace parlor::test
