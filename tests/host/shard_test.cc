#include "parlor/host/shard.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parlor/host/local_connector.h"
#include "parlor/host/os_entropy.h"
#include "parlor/lockstep/wire.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::host {
namespace {

using lockstep::Kind;
using lockstep::Message;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A client that keeps what it hears.
class Client final : public ConnectionHandler {
 public:
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    heard.push_back(lockstep::Decode(bytes.first<lockstep::kMessageSize>()));
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    ++closes;
    code = event.code;
    refusal = event.refusal;
    text = event.text;
  }

  void Say(const Message& message) {
    connection->Send(Lane::kReliable, MessageKind::kBinary,
                     lockstep::Encode(message));
  }

  std::optional<Message> Last(Kind kind) const {
    for (auto it = heard.rbegin(); it != heard.rend(); ++it) {
      if (it->kind == kind) return *it;
    }
    return std::nullopt;
  }

  std::unique_ptr<Connection> connection;
  std::vector<Message> heard;
  int closes = 0;
  CloseCode code = 0;
  std::uint16_t refusal = 0;
  std::string text;
};

class ShardTest : public testing::Test {
 protected:
  void Make(const ShardOptions& options = {}) {
    shard_ = std::make_unique<Shard>(options, entropy_);
    connector_ = std::make_unique<LocalConnector>(pump_, pump_, *shard_);
  }

  std::unique_ptr<Client> Join(std::uint32_t room, int players,
                               std::optional<std::string> resume = {}) {
    auto client = std::make_unique<Client>();
    Hello hello{.room = room, .players = players};
    hello.resume = std::move(resume);
    client->connection = connector_->Connect(now_, hello, client.get());
    Settle();
    return client;
  }

  void Settle() {
    while (pump_.Pump(now_) > 0) {
    }
    shard_->OnAlarm(now_);
    while (pump_.Pump(now_) > 0) {
    }
  }

  void Pass(Duration time) {
    now_ += time;
    Settle();
  }

  TimePoint now_{seconds(100)};
  SeededEntropy entropy_{7};
  PipePump pump_;
  std::unique_ptr<Shard> shard_;
  std::unique_ptr<LocalConnector> connector_;
};

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

TEST_F(ShardTest, EndAllClosesEverybody) {
  Make();
  auto a = Join(0, 2);
  auto b = Join(1, 1);
  shard_->EndAll(CloseReason::kHostLeft);
  Settle();
  for (const auto* client : {a.get(), b.get()}) {
    EXPECT_EQ(client->code, 1001);
    EXPECT_EQ(client->text, "host left");
    EXPECT_EQ(client->closes, 1);
  }
  EXPECT_EQ(shard_->rooms(), 0u);
  EXPECT_EQ(shard_->connections(), 0u);
}

TEST(ShardOptionsTest, NamesTheOptionThatIsOut) {
  ShardOptions options;
  options.seats = 33;
  EXPECT_EQ(ValidateOptions(options).message(), "seats: 33 is not in 1..32");
  options.seats = 8;
  options.rooms = 0;
  EXPECT_EQ(ValidateOptions(options).message(), "rooms: 0 is not in 1..65536");
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
