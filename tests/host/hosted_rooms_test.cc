// Hosted rooms on a shard, with clients on memory pipes, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/address.h"
#include "parlor/host/local_connector.h"
#include "parlor/host/play_room.h"
#include "parlor/host/shard.h"
#include "parlor/hosted_room.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "support/echo_client.h"
#include "support/echo_room.h"
#include "support/status_matchers.h"

namespace parlor::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::EchoClient;
using test::EchoRoom;
using testing::ElementsAre;
using testing::HasSubstr;

class HostedRoomsTest : public testing::Test {
 protected:
  HostedRoomsTest() {
    options_.rooms = 4;
    options_.play_rooms = {Echo("arena"), Echo("den")};
    Make();
  }
  ~HostedRoomsTest() override {
    for (EchoClient& client : clients_) client.connection.reset();
  }

  PlayRoom Echo(std::string key, std::size_t seats = 3) {
    return {.key = std::move(key), .make = [this, seats](TimePoint, Entropy&) {
              ++made_;
              return std::make_unique<EchoRoom>(seats);
            }};
  }
  void Make() {
    connector_.reset();
    shard_ = std::make_unique<Shard>(options_, entropy_);
    shard_->SetAlarmHook([this](TimePoint at) { woken_at_ = at; });
    connector_ = std::make_unique<LocalConnector>(pump_, pump_, *shard_);
  }

  EchoClient& Connect(std::string key, std::string identity = {}) {
    EchoClient& client = clients_.emplace_back();
    client.connection = connector_->Connect(
        now_, {.play = std::move(key), .identity = std::move(identity)},
        &client);
    Settle();
    return client;
  }
  EchoClient& Join(std::string key, std::string identity = {}) {
    EchoClient& client = Connect(std::move(key), std::move(identity));
    Say(client, "join");
    return client;
  }
  void Say(EchoClient& client, std::string_view text) {
    client.Say(text);
    Settle();
  }
  void Settle() {
    while (pump_.Pump(now_) > 0) {
    }
  }
  void Pass(Duration time) {
    now_ += time;
    shard_->OnAlarm(now_);
    Settle();
  }

  TimePoint now_{seconds(100)};
  SeededEntropy entropy_{7};
  PipePump pump_;
  ShardOptions options_;
  TimePoint woken_at_ = kNever;
  int made_ = 0;
  std::unique_ptr<Shard> shard_;
  std::unique_ptr<LocalConnector> connector_;
  std::list<EchoClient> clients_;
};

TEST_F(HostedRoomsTest, IsOpenedByTheFirstWhoComesAndCountsItsSeats) {
  EXPECT_EQ(shard_->rooms(), 0u);
  EchoClient& a = Connect("arena");
  EXPECT_EQ(shard_->rooms(), 1u);
  EXPECT_EQ(shard_->connections(), 1u);
  EXPECT_EQ(shard_->players(), 0u);
  Say(a, "join");
  EXPECT_EQ(shard_->players(), 1u);
  EchoClient& b = Join("arena", "somebody");
  EXPECT_EQ(shard_->players(), 2u);
  EXPECT_EQ(made_, 1);
  EXPECT_THAT(a.Take(), ElementsAre("open", "+0 ", "+1 somebody"));
  Say(b, "hello");
  EXPECT_THAT(a.Take(), ElementsAre("1: hello"));
  b.connection->Close(CloseReason::kNormal);
  Settle();
  EXPECT_EQ(shard_->players(), 1u);
  EXPECT_EQ(shard_->connections(), 1u);
  EXPECT_EQ(shard_->rooms(), 1u);
}

TEST_F(HostedRoomsTest, KnowsNoOtherKeyAndMixesNoRooms) {
  EchoClient& a = Join("arena");
  EchoClient& b = Join("den");
  EXPECT_THAT(Connect("cellar").Take(), ElementsAre("refused 404"));
  EXPECT_THAT(Connect("Arena").Take(), ElementsAre("refused 404"));
  Say(b, "x");
  EXPECT_THAT(a.Take(), ElementsAre("open", "+0 "));
  EXPECT_THAT(b.Take(), ElementsAre("open", "+0 ", "0: x"));
  EXPECT_EQ(shard_->FindPlayRoom("arena")->seated(), 1);
  EXPECT_EQ(shard_->FindPlayRoom("cellar"), nullptr);
  EXPECT_EQ(shard_->FindRoom(0), nullptr) << "the numbers are another kind's";
}

// The identity of a pass comes with the hello, another adapter's with the
// connection; the gate's counts.
TEST_F(HostedRoomsTest, TellsTheRoomWhoItIs) {
  class Known final : public Connection {
   public:
    explicit Known(std::unique_ptr<Connection> under)
        : under_(std::move(under)) {}
    void SetHandler(ConnectionHandler* handler) override {
      under_->SetHandler(handler);
    }
    using Connection::Send;
    SendResult Send(Lane lane, MessageKind kind,
                    std::span<const std::byte> bytes) override {
      return under_->Send(lane, kind, bytes);
    }
    std::size_t queued_bytes(Lane lane) const override {
      return under_->queued_bytes(lane);
    }
    using Connection::Close;
    void Close(CloseCode code, std::string_view text) override {
      under_->Close(code, text);
    }
    void Abort() override { under_->Abort(); }
    bool is_open() const override { return under_->is_open(); }
    std::string_view identity() const override { return "its own"; }

   private:
    std::unique_ptr<Connection> under_;
  };
  class Room final : public HostedRoom {
   public:
    explicit Room(std::vector<std::string>& seen) : seen_(seen) {}
    void Admit(TimePoint, Connection&, std::string_view identity) override {
      seen_.emplace_back(identity);
    }
    void OnMessage(TimePoint, Connection&, MessageKind,
                   std::span<const std::byte>) override {}
    void OnControl(TimePoint, Connection&) override {}
    void OnClose(TimePoint, Connection&, CloseCode) override {}
    void OnAlarm(TimePoint) override {}
    TimePoint next_alarm() const override { return kNever; }
    void Drain(TimePoint) override {}
    void End(TimePoint, CloseReason) override {}
    bool ended() const override { return false; }
    int seated() const override { return 0; }
    std::uint64_t resumes() const override { return 0; }

   private:
    std::vector<std::string>& seen_;
  };
  std::vector<std::string> seen;
  options_.play_rooms = {{.key = "arena", .make = [&](TimePoint, Entropy&) {
                            return std::make_unique<Room>(seen);
                          }}};
  Make();
  for (const char* identity : {"", "a pass"}) {
    PipePair pipe = MakePipe(pump_, pump_);
    EchoClient& client = clients_.emplace_back();
    pipe.first->SetHandler(&client);
    client.connection = std::move(pipe.first);
    const Hello hello{.play = "arena", .identity = identity};
    ASSERT_EQ(shard_->Admit(now_, hello).status, 0);
    shard_->Attach(now_, std::make_unique<Known>(std::move(pipe.second)),
                   hello);
  }
  EXPECT_THAT(seen, ElementsAre("its own", "a pass"));
}

TEST_F(HostedRoomsTest, WakesRoomsAtTheirAlarms) {
  EchoClient& client = Connect("arena");
  EXPECT_EQ(woken_at_, now_ + EchoRoom::kJoinTime);
  EXPECT_EQ(shard_->next_alarm(), now_ + EchoRoom::kJoinTime);
  Pass(EchoRoom::kJoinTime - milliseconds(1));
  EXPECT_THAT(client.Take(), ElementsAre("open"));
  Pass(milliseconds(1));
  EXPECT_THAT(client.Take(), ElementsAre("close 1008 refused"));
  EXPECT_EQ(shard_->next_alarm(), kNever);
}

// Both kinds' alarms are one shard's.
TEST_F(HostedRoomsTest, TheEarlierAlarmOfBothKindsCounts) {
  options_.room.lobby_ms = 500;
  Make();
  Connect("arena");
  EchoClient& lobby = clients_.emplace_back();
  lobby.connection =
      connector_->Connect(now_, {.room = 1, .players = 2}, &lobby);
  EXPECT_EQ(shard_->next_alarm(), now_ + milliseconds(500));
  EXPECT_EQ(shard_->rooms(), 2u);
  Pass(milliseconds(500));
  EXPECT_EQ(shard_->rooms(), 1u);
  EXPECT_EQ(shard_->next_alarm(), now_ + milliseconds(500));
}

TEST_F(HostedRoomsTest, ManyAlarmsOfOneInstantTakeTurns) {
  options_.play_rooms.clear();
  for (int i = 0; i < 20; ++i) {
    options_.play_rooms.push_back(Echo("r" + std::to_string(i)));
  }
  Make();
  for (int i = 0; i < 20; ++i) Connect("r" + std::to_string(i));
  now_ += EchoRoom::kJoinTime;
  int turns = 0;
  for (; shard_->next_alarm() <= now_; ++turns) shard_->OnAlarm(now_);
  EXPECT_GT(turns, 1);
  Settle();
  for (EchoClient& client : clients_) {
    EXPECT_EQ(client.heard.back(), "close 1008 refused");
  }
}

TEST_F(HostedRoomsTest, OneThatEndsIsOpenedAnewAndKnowsNobodyOfBefore) {
  EchoClient& a = Join("arena");
  EchoClient& slow = Join("arena");
  // Its link is up while the close is on its way: what it says goes nowhere.
  a.Say("drop");
  pump_.Pump(now_);
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_EQ(shard_->players(), 0u);
  if (slow.connection != nullptr) slow.Say("join");
  EchoClient& b = Join("arena");
  EXPECT_EQ(made_, 2);
  EXPECT_THAT(b.Take(), ElementsAre("open", "+0 "));
  EXPECT_THAT(a.Take(),
              ElementsAre("open", "+0 ", "+1 ", "close 4004 room ended"));
  EXPECT_EQ(slow.heard.back(), "close 4004 room ended");
  EXPECT_EQ(shard_->players(), 1u);
  EXPECT_EQ(shard_->connections(), 1u);
}

TEST_F(HostedRoomsTest, OneThatCannotBeOpenedHarmsNoOther) {
  int tries = 0;
  options_.play_rooms = {
      {.key = "throws",
       .make = [&](TimePoint, Entropy&) -> std::unique_ptr<HostedRoom> {
         if (++tries == 1) throw std::runtime_error("no level");
         return std::make_unique<EchoRoom>();
       }},
      {.key = "none", .make = [](TimePoint, Entropy&) { return nullptr; }},
      Echo("arena")};
  Make();
  EXPECT_THAT(Connect("throws").Take(), ElementsAre("refused 503"));
  EXPECT_THAT(Connect("none").Take(), ElementsAre("refused 503"));
  EXPECT_THAT(Join("arena").Take(), ElementsAre("open", "+0 "));
  EXPECT_EQ(shard_->rooms(), 1u);
  EXPECT_THAT(Join("throws").Take(), ElementsAre("open", "+0 "));
}

TEST_F(HostedRoomsTest, JoinsOfAnAddressIntoOneRoomAreCounted) {
  options_.room_joins_per_minute = 2;
  Make();
  const Address from = Address::Parse("192.0.2.1").value();
  const Address other = Address::Parse("192.0.2.2").value();
  const auto admit = [&](std::string key, const Address& address) {
    return shard_->Admit(now_, {.play = std::move(key)}, address);
  };
  EXPECT_EQ(admit("arena", from).status, 0);
  EXPECT_EQ(admit("arena", from).status, 0);
  EXPECT_EQ(admit("arena", from).status, 429);
  EXPECT_EQ(admit("arena", from).retry_after_s, 60u);
  EXPECT_EQ(admit("arena", other).status, 0);
  EXPECT_EQ(admit("arena", Address()).status, 0) << "of this process";
  EXPECT_EQ(admit("den", from).status, 0);
  EXPECT_EQ(admit("cellar", from).status, 404);
  const Hello lockstep{.room = 0, .players = 2};
  EXPECT_EQ(shard_->Admit(now_, lockstep, from).status, 0)
      << "another kind's room of the same number";
}

// A link that comes and goes locks nobody out; a guess at a seat is a join.
TEST_F(HostedRoomsTest, WhoComesBackDidNotJoin) {
  options_.room_joins_per_minute = 2;
  Make();
  const Address from = Address::Parse("192.0.2.1").value();
  const Hello hello{.play = "arena"};
  const auto come = [&](std::string_view word) -> EchoClient& {
    PipePair pipe = MakePipe(pump_, pump_);
    EchoClient& client = clients_.emplace_back();
    pipe.first->SetHandler(&client);
    client.connection = std::move(pipe.first);
    EXPECT_EQ(shard_->Admit(now_, hello, from).status, 0);
    shard_->Attach(now_, std::move(pipe.second), hello, from);
    Say(client, word);
    return client;
  };
  EchoClient* player = &come("join");
  for (int i = 0; i < 10; ++i) {
    player->connection->Abort();
    Settle();
    player->connection.reset();
    now_ += seconds(1);
    player = &come("resume 0");
    EXPECT_THAT(player->Take(), ElementsAre("open", "~0"));
    Say(*player, "hello");
  }
  EXPECT_THAT(come("resume 1").Take(),
              ElementsAre("open", "close 4002 seat gone"));
  EXPECT_EQ(shard_->Admit(now_, hello, from).status, 429);
}

TEST_F(HostedRoomsTest, ADrainLetsSeatsComeBackAndNobodyElse) {
  EchoClient& a = Join("arena");
  EchoClient& b = Join("arena");
  b.connection->Abort();
  Settle();
  b.connection.reset();
  shard_->Drain(now_);
  EXPECT_THAT(Join("arena").Take(), ElementsAre("open", "close 1008 refused"));
  EchoClient& back = Connect("arena");
  Say(back, "resume 1");
  EXPECT_THAT(back.Take(), ElementsAre("open", "~1"));
  EXPECT_THAT(a.Take(), ElementsAre("open", "+0 ", "+1 ", "~1"));
  // Nobody can have a seat in there.
  EXPECT_THAT(Connect("den").Take(), ElementsAre("refused 503"));
  EXPECT_EQ(made_, 1);
}

TEST_F(HostedRoomsTest, AtTheEndEachRoomSaysItsOwnWord) {
  EchoClient& seated = Join("arena");
  EchoClient& comer = Connect("den");
  EchoClient& lockstep = clients_.emplace_back();
  lockstep.connection =
      connector_->Connect(now_, {.room = 1, .players = 2}, &lockstep);
  Settle();
  shard_->EndAll(now_, CloseReason::kRestart);
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_EQ(shard_->players(), 0u);
  EXPECT_EQ(shard_->next_alarm(), kNever);
  Settle();
  EXPECT_EQ(seated.heard.back(), "close 4004 room ended");
  EXPECT_EQ(comer.heard.back(), "close 4004 room ended");
  EXPECT_EQ(lockstep.heard.back(), "close 1012 restart");
  EXPECT_EQ(shard_->connections(), 0u);
}

TEST_F(HostedRoomsTest, AtAnyOtherEndTheHostsReasonCounts) {
  EchoClient& seated = Join("arena");
  shard_->EndAll(now_, CloseReason::kHostLeft);
  Settle();
  EXPECT_EQ(seated.heard.back(), "close 1001 host left");
}

TEST_F(HostedRoomsTest, NewOptionsAreForRoomsThatAreOpenedThen) {
  Join("arena");
  options_.play_rooms = {Echo("arena", 1), Echo("den", 1)};
  shard_->SetOptions(options_);
  EXPECT_THAT(Join("arena").Take(), ElementsAre("open", "+1 "));
  Join("den");
  EXPECT_THAT(Join("den").Take(), ElementsAre("open", "close 4000 room full"));
}

// A connection that is cut off in the shard's end is no longer looked at.
TEST_F(HostedRoomsTest, DiesWithPeopleInIt) {
  EchoClient& a = Join("arena");
  connector_.reset();
  shard_.reset();
  Settle();
  EXPECT_EQ(a.heard.back(), "close 1006 ");
}

struct OptionsRow {
  const char* name;
  std::vector<std::string> keys;
  bool make = true;
  const char* error;
};

class PlayRoomOptionsTest : public testing::TestWithParam<OptionsRow> {};

TEST_P(PlayRoomOptionsTest, NamesTheField) {
  ShardOptions options;
  for (const std::string& key : GetParam().keys) {
    options.play_rooms.push_back({.key = key, .make = {}});
    if (!GetParam().make) continue;
    options.play_rooms.back().make = [](TimePoint, Entropy&) {
      return std::make_unique<EchoRoom>();
    };
  }
  EXPECT_THAT(ValidateOptions(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(GetParam().error)));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, PlayRoomOptionsTest,
    testing::Values(
        OptionsRow{.name = "Empty",
                   .keys = {"a", ""},
                   .error = "play_rooms[1].key: \"\" is not 1 to 64 of"},
        OptionsRow{.name = "Slash",
                   .keys = {"a/b"},
                   .error = "play_rooms[0].key: \"a/b\" is not 1 to 64 of"},
        OptionsRow{.name = "Twice",
                   .keys = {"a", "b", "a"},
                   .error = "play_rooms[2].key: \"a\" is another room's"},
        OptionsRow{.name = "NoFactory",
                   .keys = {"a"},
                   .make = false,
                   .error = "play_rooms[0].make: there is none"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace parlor::host
