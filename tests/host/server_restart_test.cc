// Matches that outlive their server: kept in a file, taken back by the next.
// A server that is destroyed without Stop leaves what a process that is killed
// does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "host/server_fixture.h"
#include "host/server_player.h"
#include "parlor/close_reason.h"
#include "parlor/connector.h"
#include "parlor/host/server.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "parlor/transports/net_connector.h"
#include "support/lockstep_client.h"
#include "support/status_matchers.h"
#include "support/temp_folder.h"

namespace parlor::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ServerRestartTest : public PlayersFixture,
                          public testing::WithParamInterface<int> {
 protected:
  ServerRestartTest() : PlayersFixture(GetParam()) {
    options.state_path = folder.At("matches");
    options.drain_ms = 0;
  }

  // As if the process had been killed.
  void Kill() {
    server.reset();
    for (LockstepClient& client : clients) {
      EXPECT_TRUE(Until([&] { return client.connection == nullptr; }));
      client.Take();
    }
  }

  // Two clients in a room for two, which plays.
  std::pair<LockstepClient*, LockstepClient*> Match(std::uint32_t room) {
    LockstepClient& first = Join(room, 2);
    Hear(first, 2);
    LockstepClient& second = Join(room, 2);
    EXPECT_THAT(Hear(second, 2), ElementsAre("open", "WELCOME 1"));
    EXPECT_THAT(Hear(first, 1), ElementsAre("WELCOME 0"));
    return {&first, &second};
  }
  LockstepClient& Resume(std::uint32_t room, std::uint32_t token) {
    return Join(
        *Network(),
        {.room = room, .players = 2, .resume = lockstep::TokenText(token)});
  }
  bool ResumesSeat(std::uint32_t room, std::uint32_t token, int seat) {
    const auto heard = Hear(Resume(room, token), 2);
    return heard.size() >= 2 && heard[1] == "WELCOME " + std::to_string(seat);
  }

  const TempFolder folder;
};

INSTANTIATE_TEST_SUITE_P(Shards, ServerRestartTest, testing::Values(0, 1, 3),
                         ShardsName);

TEST_P(ServerRestartTest, SeatsResumeAfterItWasKilled) {
  Start();
  EXPECT_THAT(log(), Not(Contains(HasSubstr("taken back"))));
  const auto [first, second] = Match(3);
  Kill();
  Start();
  EXPECT_THAT(log(), Contains("1 match with 2 seats taken back"));
  // The room plays: nobody else comes in.
  EXPECT_THAT(Hear(Join(3, 2), 2), ElementsAre("open", "close 4000 room full"));
  EXPECT_THAT(Hear(Join(3, 3), 1), ElementsAre("refused 409"));
  EXPECT_THAT(Hear(Resume(3, first->token ^ second->token), 2),
              ElementsAre("open", "close 4002 seat gone"));
  EXPECT_THAT(Hear(Resume(4, first->token), 2),
              ElementsAre("open", "close 4002 seat gone"));

  LockstepClient& back = Resume(3, first->token);
  EXPECT_THAT(Hear(back, 4),
              ElementsAre("open", "WELCOME 0", "RESUME 0 2", "AWAY 1 2"));
  EXPECT_EQ(back.token, first->token);
  EXPECT_THAT(Hear(Resume(3, second->token), 4),
              ElementsAre("open", "WELCOME 1", "RESUME 1 2", "RESUME 0 2"));
  EXPECT_THAT(Hear(back, 1), ElementsAre("RESUME 1 2"));
  EXPECT_EQ(server->figures().rooms, 1u);
}

TEST_P(ServerRestartTest, AMatchGoesOnAfterItWasKilled) {
  Start();
  options.port = server->port();
  AddPlayer(Network());
  AddPlayer(Network());
  // Twice: what was taken back is kept as well.
  for (std::uint32_t kills = 0; kills < 3; ++kills) {
    PlayTo(300 * (kills + 1));
    for (const auto& player : players) {
      EXPECT_EQ(player->peer.counters().resumes, kills);
      player->frames = 0;  // it plays on, and is cut off anywhere
    }
    server.reset();
    Start();
  }
  PlayTo(1'500);
}

TEST_P(ServerRestartTest, ADrainKeepsTheLastThingThatWasSaid) {
  Start();
  const auto [first, second] = Match(3);
  for (std::uint32_t frame = 0; frame < 100; ++frame) second->Input(frame);
  EXPECT_EQ(Hear(*first, 100).back(), "INPUT 1 0 0 99 99");
  server->Drain();
  EXPECT_THAT(Hear(*first, 1), ElementsAre("close 1012 restart"));
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
  server.reset();
  Start();
  // WELCOME, RESUME, the 64 last of its inputs, and AWAY.
  const auto heard = Hear(Resume(3, first->token), 1 + 2 + 64 + 1);
  ASSERT_EQ(heard.size(), 68u);
  EXPECT_EQ(heard[3], "INPUT 1 0 0 36 36");
  EXPECT_EQ(heard[66], "INPUT 1 0 0 99 99");
  EXPECT_EQ(heard[67], "AWAY 1 2");
}

// Killed, it has them still if they are a second old.
TEST_P(ServerRestartTest, KeepsWhatWasSaidASecondAgo) {
  Start();
  const auto [first, second] = Match(3);
  second->Input(7);
  const TimePoint said = Now();
  EXPECT_THAT(Hear(*first, 1), ElementsAre("INPUT 1 0 0 7 7"));
  EXPECT_TRUE(Until([&] { return Now() > said + 1'100 * kMillisecond; }));
  Kill();
  Start();
  EXPECT_THAT(Hear(Resume(3, first->token), 5),
              ElementsAre("open", "WELCOME 0", "RESUME 0 2", "INPUT 1 0 0 7 7",
                          "AWAY 1 2"));
}

TEST_P(ServerRestartTest, WhoHasLeftStaysOut) {
  Start();
  const auto [first, second] = Match(3);
  first->connection->Close(CloseReason::kNormal);
  EXPECT_THAT(Hear(*second, 1), ElementsAre("LEAVE 0 2"));
  Kill();
  Start();
  EXPECT_THAT(log(), Contains("1 match with 1 seat taken back"));
  EXPECT_THAT(Hear(Resume(3, first->token), 2),
              ElementsAre("open", "close 4002 seat gone"));
  EXPECT_THAT(Hear(Resume(3, second->token), 4),
              ElementsAre("open", "WELCOME 1", "RESUME 1 2", "LEAVE 0 2"));
}

TEST_P(ServerRestartTest, AnyOtherEndIsForGood) {
  for (const CloseReason reason :
       {CloseReason::kHostLeft, CloseReason::kRestart}) {
    Start();
    const LockstepClient& client = *Match(3).first;
    server->Stop(reason);
    EXPECT_TRUE(Until([&] { return server->stopped(); }));
    Kill();
    Start();
    if (reason == CloseReason::kHostLeft) {
      EXPECT_THAT(log(), Not(Contains(HasSubstr("taken back"))));
      EXPECT_THAT(Hear(Resume(3, client.token), 2),
                  ElementsAre("open", "close 4002 seat gone"));
    } else {
      EXPECT_TRUE(ResumesSeat(3, client.token, 0));
    }
    Kill();
  }
}

TEST_P(ServerRestartTest, ALobbyIsNotKept) {
  Start();
  Hear(Join(3, 2), 2);
  Kill();
  Start();
  EXPECT_EQ(Hear(Join(3, 3), 2),
            (std::vector<std::string>{"open", "LOBBY 0 3 1"}));
}

TEST_P(ServerRestartTest, RoomsFindTheirWayToOtherShards) {
  Start();
  std::vector<std::uint32_t> tokens;
  for (std::uint32_t room = 0; room < 5; ++room) {
    tokens.push_back(Match(room).second->token);
  }
  for (const int shards : {2, 4, 0, 1}) {
    Kill();
    options.shards = shards;
    Start();
    EXPECT_THAT(log(), Contains("5 matches with 10 seats taken back"));
    EXPECT_THAT(log().back(), HasSubstr("listening"));
    for (std::uint32_t room = 0; room < 5; ++room) {
      EXPECT_TRUE(ResumesSeat(room, tokens[room], 1)) << room;
    }
    EXPECT_EQ(server->figures().rooms, 5u);
  }
}

TEST_P(ServerRestartTest, LeavesOutTheRoomsItDoesNotRun) {
  Start();
  const std::uint32_t inside = Match(3).first->token;
  Match(4);
  Match(15);
  Kill();
  options.shard.rooms = 4;
  Start();
  EXPECT_THAT(log(), Contains(HasSubstr(": 2 matches left out")));
  EXPECT_THAT(log(), Contains("1 match with 2 seats taken back"));
  EXPECT_TRUE(ResumesSeat(3, inside, 0));
}

TEST_P(ServerRestartTest, AStartWithoutItsPortLeavesTheFile) {
  Start();
  const auto [first, second] = Match(3);
  Kill();
  // Whose port another server has, and whose rooms are fewer.
  host::ServerOptions other = options;
  other.state_path.clear();
  const auto holder = host::Server::Create(other, entropy);
  ASSERT_TRUE(holder.ok());
  options.port = (*holder)->port();
  options.shard.rooms = 1;
  EXPECT_EQ(host::Server::Create(options, entropy).status().code(),
            absl::StatusCode::kUnavailable);
  options.port = 0;
  options.shard.rooms = 16;
  Start();
  EXPECT_TRUE(ResumesSeat(3, first->token, 0));
}

// Longer than what was left of it when the server went down.
TEST_P(ServerRestartTest, AHoldBeginsAnew) {
  options.shard.room.hold_ms = 1'500;
  Start();
  const std::uint32_t token = Match(3).first->token;
  clients.front().connection->Abort();
  EXPECT_THAT(Hear(clients.back(), 1), ElementsAre("AWAY 0 2"));
  const TimePoint dropped = Now();
  EXPECT_TRUE(Until([&] { return Now() > dropped + 1'000 * kMillisecond; }));
  server.reset();
  const TimePoint starting = Now();  // the hold begins on the server's thread
  Start();
  EXPECT_TRUE(Until([&] { return Now() > dropped + 1'800 * kMillisecond; }));
  EXPECT_TRUE(ResumesSeat(3, token, 0));
  // The other one never comes, and the one that did goes.
  clients.back().connection->Close(CloseReason::kNormal);
  EXPECT_TRUE(Until([&] { return server->figures().rooms == 0; }));
  EXPECT_GE(Now(), starting + 1'500 * kMillisecond);
  server.reset();
  const std::size_t lines = log().size();
  Start();
  EXPECT_EQ(log().size(), lines + 2);  // it listens on two ports
}

TEST_P(ServerRestartTest, ADamagedFileIsSetAsideAndTold) {
  Start();
  const std::uint32_t token = Match(3).first->token;
  Kill();
  std::fstream file(options.state_path,
                    std::ios::in | std::ios::out | std::ios::binary);
  constexpr std::streamoff kPlace = 64 * 4 + 40;
  file.seekg(kPlace);
  const int was = file.get();
  file.seekp(kPlace);
  file.put(static_cast<char>(was ^ 1));
  file.close();
  Start();
  EXPECT_THAT(log(), Contains(HasSubstr("is refused: room 3")));
  EXPECT_THAT(folder.Names(), ElementsAre("matches", "matches.refused-1"));
  EXPECT_THAT(Hear(Resume(3, token), 2),
              ElementsAre("open", "close 4002 seat gone"));
}

TEST_P(ServerRestartTest, TellsWhyItCannotHaveTheFile) {
  Start();
  const auto try_another = [this] {
    return host::Server::Create(options, entropy).status();
  };
  EXPECT_THAT(try_another(),
              StatusIs(absl::StatusCode::kUnavailable,
                       testing::AllOf(HasSubstr("server.state_path: "),
                                      HasSubstr("in use by another"))));
  options.state_path = folder.At("nowhere/matches");
  EXPECT_THAT(try_another(), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("server.state_path: ")));
  EXPECT_THAT(folder.Names(), ElementsAre("matches"));
}

}  // namespace
}  // namespace parlor::test
