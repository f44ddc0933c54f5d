// One game, by every way into a room of it: within a process over the memory
// pipe, on a listen server with the host's own seat, and on a dedicated host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "authority/tag.h"
#include "host/server_fixture.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/hosted_game.h"
#include "parlor/authority/message.h"
#include "parlor/authority/room_authority.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/close_reason.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/local_connector.h"
#include "parlor/host/play_room.h"
#include "parlor/host/shard.h"
#include "parlor/hosted_game.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "support/status_matchers.h"

namespace parlor::test {
namespace {

using testing::ElementsAre;

host::PlayRoom TagRoom(std::string_view settings = "{}") {
  auto make = TagGame().configure(
      settings, [](std::string_view line) { ADD_FAILURE() << line; });
  EXPECT_TRUE(make.ok()) << make.status();
  return {.key = "tag", .open = true, .make = *std::move(make)};
}

// Where the players are, and what turns it all.
struct Way {
  std::function<bool(const std::function<bool()>&)> until;
  std::function<TimePoint()> now;
};

int Connected(const TagClient& client) {
  return static_cast<int>(std::ranges::count_if(
      client.roster, [](const auto& player) { return player.connected; }));
}

// All join; the last one runs, and the others see it; it is lost, and comes
// back to its seat and its runner; it leaves, and its runner is gone.
void PlayTag(const Way& way,
             const std::vector<std::unique_ptr<Connector>>& ways,
             std::vector<std::unique_ptr<TagClient>>& players) {
  const int count = static_cast<int>(ways.size());
  for (int i = 0; i < count; ++i) {
    // Of one room, with both codecs.
    TagClient& player = *players.emplace_back(
        std::make_unique<TagClient>(i % 2 == 0 ? "binary" : "json"));
    player.Connect(*ways[static_cast<std::size_t>(i)], way.now(), "tag");
    ASSERT_TRUE(way.until([&] { return player.welcome.has_value(); }));
    EXPECT_EQ(player.welcome->seat, i);
    EXPECT_EQ(player.welcome->player, "p" + std::to_string(i + 1));
    EXPECT_EQ(player.welcome->codec, i % 2 == 0 ? "binary" : "json");
  }
  TagClient& runner = *players.back();
  const std::uint32_t row = runner.welcome->entity;
  const auto all = [&](const std::function<bool(const TagClient&)>& holds) {
    return way.until([&] {
      return std::ranges::all_of(
          players, [&](const auto& player) { return holds(*player); });
    });
  };
  ASSERT_TRUE(all([&](const TagClient& each) {
    return Connected(each) == count && each.Place(row) == 0.0F;
  }));
  // No faster than a room lets: a tick takes one.
  TimePoint next_step{};
  ASSERT_TRUE(way.until([&] {
    if (way.now() >= next_step) {
      runner.Run(1);
      next_step = way.now() + 20 * kMillisecond;
    }
    return std::ranges::all_of(players, [&](const auto& each) {
      return each->Place(row).value_or(0) > 1;
    });
  }));

  runner.Lose();
  ASSERT_TRUE(
      way.until([&] { return Connected(*players.front()) == count - 1; }));
  EXPECT_TRUE(players.front()->Place(row).has_value());
  const authority::WelcomeFrame before = *runner.welcome;
  runner.Connect(*ways.back(), way.now(), "tag");
  ASSERT_TRUE(way.until([&] { return runner.welcome != before; }));
  EXPECT_EQ(runner.welcome->player, before.player);
  EXPECT_EQ(runner.welcome->seat, before.seat);
  EXPECT_EQ(runner.welcome->entity, row);
  ASSERT_TRUE(all([&](const TagClient& each) {
    return Connected(each) == count && each.Place(row).value_or(0) > 1;
  }));

  runner.Leave();
  ASSERT_TRUE(way.until([&] { return !runner.open(); }));
  ASSERT_TRUE(way.until([&] {
    return !players.front()->Place(row) &&
           Connected(*players.front()) == count - 1;
  }));
}

// Virtual time, one thread, no socket.
class TagInMemory : public testing::Test {
 protected:
  void Make() {
    shard_ = std::make_unique<host::Shard>(options_, entropy_);
    way_ = {.until =
                [this](const std::function<bool()>& done) {
                  for (int i = 0; i < 10'000 && !done(); ++i) Turn();
                  return done();
                },
            .now = [this] { return now_; }};
  }
  void Turn() {
    while (pump_.Pump(now_) > 0) {
    }
    now_ = std::min(now_ + 5 * kMillisecond,
                    std::max(shard_->next_alarm(), now_ + kMillisecond));
    shard_->OnAlarm(now_);
  }
  std::unique_ptr<Connector> MakeWay() {
    return std::make_unique<host::LocalConnector>(pump_, pump_, *shard_);
  }

  TimePoint now_{std::chrono::seconds(100)};
  SeededEntropy entropy_{7};
  PipePump pump_;
  host::ShardOptions options_;
  std::unique_ptr<host::Shard> shard_;
  Way way_;
};

TEST_F(TagInMemory, IsPlayedByThree) {
  options_.play_rooms = {TagRoom()};
  Make();
  std::vector<std::unique_ptr<Connector>> ways;
  for (int i = 0; i < 3; ++i) ways.push_back(MakeWay());
  std::vector<std::unique_ptr<TagClient>> players;
  PlayTag(way_, ways, players);
  EXPECT_EQ(shard_->players(), 2u);
}

// A drain waits for nobody's room, and for one that somebody may come back to
// until they have left it. Nothing of it is trouble to log.
TEST_F(TagInMemory, ADrainEndsRoomsAsTheyAreEmpty) {
  options_.play_rooms = {TagRoom(), TagRoom()};
  options_.play_rooms[1].key = "club";
  Make();
  const std::unique_ptr<Connector> way = MakeWay();
  const auto join = [&](TagClient& client, std::string key) {
    client.Connect(*way, now_, std::move(key));
    return way_.until([&] { return client.welcome.has_value(); });
  };
  TagClient held("json");
  TagClient left("json");
  ASSERT_TRUE(join(held, "tag") && join(left, "club"));
  held.Lose();
  left.Leave();
  ASSERT_TRUE(way_.until([&] { return !left.open(); }));
  ASSERT_TRUE(way_.until([&] { return shard_->players() == 0; }));
  EXPECT_EQ(shard_->rooms(), 2u);

  shard_->Drain(now_);
  EXPECT_EQ(shard_->rooms(), 1u);
  TagClient late("json");
  late.Connect(*way, now_, "club");
  ASSERT_TRUE(way_.until([&] { return !late.open(); }));
  EXPECT_EQ(late.close, "503 ");
  const authority::WelcomeFrame before = *held.welcome;
  held.Connect(*way, now_, "tag");
  ASSERT_TRUE(way_.until([&] { return *held.welcome != before; }));
  EXPECT_EQ(held.welcome->player, before.player);
  held.Leave();
  ASSERT_TRUE(way_.until([&] { return shard_->rooms() == 0; }));
}

// Ten ticks in a row that failed end it, which is told in two lines.
TEST_F(TagInMemory, OneThatFailsEndsAndIsToldInFewLines) {
  class Failing final : public authority::RoomAuthority {
   public:
    const authority::Schema& schema() const noexcept override {
      return TagSchema();
    }
    const authority::Messages& messages() const noexcept override {
      return messages_;
    }
    void AddPlayer(authority::Context&, const authority::Player&) override {}
    void RemovePlayer(authority::Context&, const authority::Player&) override {}
    void Step(authority::Context&,
              std::span<const authority::SeatInput>) override {
      throw std::runtime_error("what the game threw");
    }
    void WriteState(authority::Context&, authority::RowTable&) override {}

   private:
    authority::Messages messages_;
  };
  std::vector<std::string> log;
  options_.play_rooms = {
      {.key = "tag",
       .open = true,
       .make = authority::MakeRoomFactory(
           {.protocol = "tag-1"}, [] { return std::make_unique<Failing>(); },
           [&](std::string_view line) { log.emplace_back(line); })}};
  Make();
  const std::unique_ptr<Connector> way = MakeWay();
  TagClient client("json");
  client.Connect(*way, now_, "tag");
  ASSERT_TRUE(way_.until([&] { return !client.open(); }));
  EXPECT_EQ(client.close, "4004 room ended");
  EXPECT_THAT(log, ElementsAre("failed_tick step", "ended room_ended"));
  EXPECT_EQ(shard_->rooms(), 0u);
}

// The host's own seat first, then its friends.
class TagOnAServer : public ServerFixture,
                     public testing::WithParamInterface<int> {
 protected:
  TagOnAServer() : ServerFixture(GetParam()) {
    options.gate.open = false;
    options.gate.codes = {"config-code-1"};
    options.shard.play_rooms = {TagRoom()};
  }

  const Way way_{
      .until =
          [this](const std::function<bool()>& done) { return Until(done); },
      .now = [] { return Now(); }};
};

INSTANTIATE_TEST_SUITE_P(Shards, TagOnAServer, testing::Values(0, 1, 3),
                         ShardsName);

TEST_P(TagOnAServer, IsPlayedByTheHostAndItsFriends) {
  options.closed = true;
  Start();
  std::vector<std::unique_ptr<Connector>> ways;
  ways.push_back(server->MakeConnector(pump));
  ways.push_back(Network("tcp"));
  ways.push_back(Network("ws"));
  std::vector<std::unique_ptr<TagClient>> players;
  server->Open();
  PlayTag(way_, ways, players);
  EXPECT_TRUE(Until([&] { return server->figures().players == 2; }));
  server->Stop(CloseReason::kHostLeft);
  EXPECT_TRUE(
      Until([&] { return !players[0]->open() && !players[1]->open(); }));
  EXPECT_EQ(players[1]->close, "1001 host left");
}

TEST_P(TagOnAServer, IsPlayedOnADedicatedHostUntilItEnds) {
  options.drain_ms = 0;
  Start();
  std::vector<std::unique_ptr<Connector>> ways;
  for (const std::string_view scheme : {"ws", "tcp", "tcp", "ws"}) {
    ways.push_back(Network(scheme));
  }
  std::vector<std::unique_ptr<TagClient>> players;
  PlayTag(way_, ways, players);
  server->Drain();
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
  EXPECT_TRUE(
      Until([&] { return !players[0]->open() && !players[1]->open(); }));
  EXPECT_EQ(players[0]->close, "4004 room ended");
  EXPECT_EQ(players[1]->close, "4004 room ended");
}

// Each on a thread of its own, where there are three.
TEST_P(TagOnAServer, RoomsArePlayedBesideOneAnother) {
  constexpr std::size_t kRooms = 3;
  options.shard.play_rooms.clear();
  for (std::size_t i = 0; i < kRooms; ++i) {
    options.shard.play_rooms.push_back(TagRoom());
    options.shard.play_rooms.back().key = "tag-" + std::to_string(i);
  }
  Start();
  const std::unique_ptr<Connector> way = Network("ws");
  std::vector<std::unique_ptr<TagClient>> players;
  for (std::size_t i = 0; i < 2 * kRooms; ++i) {
    players.push_back(
        std::make_unique<TagClient>(i < kRooms ? "binary" : "json"));
    players.back()->Connect(*way, Now(),
                            options.shard.play_rooms[i % kRooms].key);
  }
  ASSERT_TRUE(Until([&] {
    return std::ranges::all_of(
        players, [](const auto& each) { return each->welcome.has_value(); });
  }));
  // Everybody runs, and sees the other of the room run.
  TimePoint next_step{};
  ASSERT_TRUE(Until([&] {
    if (Now() >= next_step) {
      for (const auto& each : players) each->Run(1);
      next_step = Now() + 20 * kMillisecond;
    }
    for (std::size_t i = 0; i < players.size(); ++i) {
      const TagClient& other = *players[(i + kRooms) % players.size()];
      if (players[i]->Place(other.welcome->entity).value_or(0) <= 1) {
        return false;
      }
    }
    return true;
  }));
  EXPECT_EQ(server->figures().rooms, kRooms);
  EXPECT_EQ(server->figures().players, players.size());
}

// Two joins a minute, and a link that fails again and again.
TEST_P(TagOnAServer, WhoComesBackIsNotCountedAsAJoin) {
  options.shard.room_joins_per_minute = 2;
  Start();
  const std::unique_ptr<Connector> way = Network("ws");
  TagClient player("json");
  player.Connect(*way, Now(), "tag");
  ASSERT_TRUE(Until([&] { return player.welcome.has_value(); }));
  for (int i = 0; i < 4; ++i) {
    const authority::WelcomeFrame before = *player.welcome;
    player.Lose();
    player.Connect(*way, Now(), "tag");
    ASSERT_TRUE(Until([&] {
      return *player.welcome != before || !player.open();
    })) << i;
    ASSERT_EQ(player.close, "");
    EXPECT_EQ(player.welcome->player, before.player);
  }
}

// ---- What a configuration file says of a room.

struct SettingsRow {
  const char* name;
  std::string settings;
  std::string error;
};

class TagSettings : public testing::TestWithParam<SettingsRow> {};

TEST_P(TagSettings, AreRefusedByTheirPath) {
  EXPECT_THAT(TagGame().configure(GetParam().settings, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, TagSettings,
    testing::Values(
        SettingsRow{"Above", R"({"maxPlayers":257})",
                    "/maxPlayers: 257 is not in 1..256"},
        SettingsRow{"Below", R"({"tickHz":0})", "/tickHz: 0 is not in 10..240"},
        SettingsRow{"Text", R"({"graceMs":"15s"})",
                    "/graceMs: is not a whole number"},
        SettingsRow{"Fraction", R"({"tickHz":60.0})",
                    "/tickHz: is not a whole number"},
        SettingsRow{"Huge", R"({"inputRate":18446744073709551615})",
                    "/inputRate: 9223372036854775807 is not in 1..480"},
        SettingsRow{"Unknown", R"({"players":4})",
                    "/players: there is no such setting"},
        SettingsRow{"FasterThanTicks", R"({"tickHz":10,"snapshotHz":20})",
                    "/snapshotHz: 20 is above the ticks a second, 10"},
        SettingsRow{"NoObject", "[]", ": is not an object"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(TagInMemory, SettingsReachTheRoom) {
  options_.play_rooms = {
      TagRoom(R"({"maxPlayers":1,"tickHz":30,"snapshotHz":30,"graceMs":7})")};
  Make();
  const std::unique_ptr<Connector> way = MakeWay();
  TagClient only("json");
  only.Connect(*way, now_, "tag");
  ASSERT_TRUE(way_.until([&] { return only.welcome.has_value(); }));
  EXPECT_EQ(only.welcome->tick_hz, 30);
  EXPECT_EQ(only.welcome->snapshot_hz, 30);
  EXPECT_EQ(only.welcome->grace_ms, 7);
  TagClient other("json");
  other.Connect(*way, now_, "tag");
  ASSERT_TRUE(way_.until([&] { return !other.open(); }));
  EXPECT_EQ(other.close, "4000 room full");
}

}  // namespace
}  // namespace parlor::test
