// Peers against the real room, over memory pipes, in virtual time: a small game
// that both sides know, links that are lost and clients that sleep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parlor/authority/peer.h"
#include "parlor/authority/room.h"
#include "parlor/entropy.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::authority {
namespace {

using testing::ElementsAre;

constexpr Duration kMs = kMillisecond;
constexpr Duration kStep{16'666'667};
constexpr int kWalkerKind = 0;

Schema WalkSchema() {
  return *Schema::Create(
      {{.name = "walker", .fields = {}, .transform = true, .rows_max = 8}});
}

// Three metres a second to where the stick points, with some inertia.
void Walk(OwnBody& body, const InputFrame& input, Duration step) {
  const float s = static_cast<float>(step.count()) / 1e9F;
  const float wanted = 3 * static_cast<float>(input.axes[0]) / 32'767;
  body.velocity.x += (wanted - body.velocity.x) * 8 * s;
  body.position.x += body.velocity.x * s;
}

// A row a player, which walks. What is said is told to everybody.
class WalkGame final : public RoomAuthority {
 public:
  WalkGame(const Schema& schema, const Messages& messages)
      : schema_(schema), messages_(messages) {}

  const Schema& schema() const noexcept override { return schema_; }
  const Messages& messages() const noexcept override { return messages_; }
  void AddPlayer(Context& context, const Player& player) override {
    const RowId row = context.rows().Add(kWalkerKind);
    walkers[player.seat] = {row, {}};
    context.Possess(player.seat, row);
  }
  void RemovePlayer(Context& context, const Player& player) override {
    context.rows().Remove(walkers[player.seat].first);
    walkers.erase(player.seat);
  }
  void OnMessage(Context& context, int, std::string_view name,
                 std::string_view payload) override {
    context.Send(name, payload);
  }
  void Step(Context& context, std::span<const SeatInput> inputs) override {
    for (const SeatInput& input : inputs) {
      auto& [row, body] = walkers[input.seat];
      Walk(body, input.frame, kSecond / context.tick_hz());
    }
  }
  void WriteState(Context& context, RowTable& rows) override {
    for (const auto& [seat, walker] : walkers) {
      rows.SetTransform(walker.first,
                        {.position = walker.second.position, .rotation = {}});
    }
    // What each tick showed, to compare with.
    std::map<RowId, float>& shown = history[context.tick()];
    rows.ForEach([&](const RowView& row) {
      shown[row.id()] = row.GetTransform().position.x;
    });
  }
  std::optional<OwnBody> Own(int seat) override { return walkers[seat].second; }

  std::map<int, std::pair<RowId, OwnBody>> walkers;
  std::map<std::uint32_t, std::map<RowId, float>> history;

 private:
  const Schema& schema_;
  const Messages& messages_;
};

// A room, and clients whose pumps and steps are a quarter of a step apart from
// its own. Time passes in quarters of a step.
class PeerRoomTest : public testing::Test, private ConnectionHandler {
 protected:
  struct Client final : Connector {
    std::unique_ptr<Connection> Connect(TimePoint, const Hello&,
                                        ConnectionHandler* handler) override {
      auto [ours, theirs] = MakePipe(pump, test->pump_);
      ours->SetHandler(handler);
      theirs->SetHandler(test);
      test->ends_[theirs.get()] = std::move(theirs);
      return std::move(ours);
    }

    PeerRoomTest* test = nullptr;
    PipePump pump;
    std::unique_ptr<Peer> peer;
    Controls controls;
    bool asleep = false;
    std::vector<std::string> heard;  // messages
    double drawn_jump_m = 0;         // of row `watched`, a step
    RowId watched = 0;
    std::optional<float> drawn_x;
  };

  PeerRoomTest() {
    EXPECT_TRUE(messages_.Define({.name = "say"}).ok());
    auto game = std::make_unique<WalkGame>(schema_, messages_);
    game_ = game.get();
    room_ = std::make_unique<Room>(now_, RoomOptions{.protocol = "walk/1"},
                                   std::move(game), entropy_);
  }

  Client& Add(const std::string& name) {
    clients_.push_back(std::make_unique<Client>());
    Client& client = *clients_.back();
    client.test = this;
    client.peer =
        std::make_unique<Peer>(client, schema_, messages_,
                               PeerOptions{.protocol = "walk/1", .move = Walk});
    EXPECT_TRUE(client.peer->Join(now_, {}, {.name = name}).ok());
    return client;
  }

  void RunFor(Duration time) {
    const TimePoint until = now_ + time;
    for (; now_ < until; now_ += kStep / 4) {
      if (host_runs_) {
        pump_.Pump(now_);
        if (room_->next_alarm() <= now_) room_->OnAlarm(now_);
      }
      const int quarter = quarter_++ % 4;
      for (std::size_t c = 0; c < clients_.size(); ++c) {
        if (static_cast<int>(c % 4) == quarter) Turn(*clients_[c]);
      }
    }
  }

  void Turn(Client& client) {
    if (client.asleep) return;
    client.pump.Pump(now_);
    client.peer->OnAlarm(now_);
    client.peer->Step(now_, client.controls);
    for (const ReceivedMessage& message : client.peer->messages()) {
      client.heard.emplace_back(message.payload);
    }
    client.peer->SetDrawTime(now_);
    const auto place = client.peer->Drawn(client.watched);
    if (!place) return;
    const float x = place->position.x;
    if (client.drawn_x) {
      client.drawn_jump_m = std::max(
          client.drawn_jump_m, std::abs(double{x} - double{*client.drawn_x}));
    }
    client.drawn_x = x;
  }

  // Exactly what the room showed at the tick that the client is at.
  void ExpectSameState(const Client& client) {
    std::map<RowId, float> rows;
    client.peer->rows().ForEach([&](const RowView& row) {
      rows[row.id()] = row.GetTransform().position.x;
    });
    EXPECT_EQ(rows, game_->history[client.peer->tick()]);
    EXPECT_LE(room_->tick() - client.peer->tick(), 6u);
  }
  static double OffM(const OwnBody& a, const OwnBody& b) {
    return std::abs(double{a.position.x} - double{b.position.x});
  }

  Schema schema_ = WalkSchema();
  Messages messages_;
  SeededEntropy entropy_{1};
  TimePoint now_{Duration(1'000'000'000)};
  WalkGame* game_ = nullptr;
  std::unique_ptr<Room> room_;
  std::vector<std::unique_ptr<Client>> clients_;
  bool host_runs_ = true;

 private:
  void OnOpen(TimePoint now, Connection& connection) override {
    room_->Admit(now, connection, {});
  }
  void OnMessage(TimePoint now, Connection& connection, Lane, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    room_->OnMessage(now, connection, kind, bytes);
  }
  void OnClose(TimePoint now, Connection& connection,
               const CloseEvent& event) override {
    room_->OnClose(now, connection, event.code);
    ends_.erase(&connection);
  }

  PipePump pump_;
  int quarter_ = 0;
  std::map<Connection*, std::unique_ptr<Connection>> ends_;
};

TEST_F(PeerRoomTest, EveryoneSeesTheSameWorld) {
  Client& ann = Add("Ann");
  Client& ben = Add("Ben");
  RunFor(500 * kMs);
  EXPECT_EQ(ann.peer->seat(), 0);
  EXPECT_EQ(ben.peer->seat(), 1);
  EXPECT_EQ(ben.peer->players().size(), 2u);
  EXPECT_EQ(ben.peer->context().host(), 0);
  EXPECT_EQ(ben.peer->entity(), game_->walkers[1].first);
  ann.controls.axes[0] = 32'767;
  ben.watched = ann.peer->entity();
  for (int i = 0; i < 40; ++i) {
    RunFor(100 * kMs);
    ExpectSameState(ann);
    ExpectSameState(ben);
  }
  EXPECT_GT(game_->walkers[0].second.position.x, 10);
  EXPECT_EQ(ann.peer->counters().ignored, 0u);
  // The delta of a baseline's own tick, once a second, says nothing newer.
  EXPECT_LE(ann.peer->counters().stale, 6u);
  EXPECT_EQ(ann.peer->counters().resyncs, 0u);
  EXPECT_GT(ann.peer->acked_seq(), 200u);
  // Even on a link without jitter: 50 mm a step.
  EXPECT_GT(ben.drawn_jump_m, 0.045);
  EXPECT_LT(ben.drawn_jump_m, 0.06);
}

TEST_F(PeerRoomTest, TheOwnBodyIsAheadAndRight) {
  Client& ann = Add("Ann");
  RunFor(500 * kMs);
  for (int i = 0; i < 20; ++i) {
    ann.controls.axes[0] = i % 2 == 0 ? 32'767 : -20'000;
    RunFor(300 * kMs);
  }
  EXPECT_EQ(ann.peer->prediction().corrections, 0u);
  EXPECT_EQ(ann.peer->prediction().unsent, 0u);
  ann.controls.axes[0] = 0;
  RunFor(2'000 * kMs);
  EXPECT_LT(OffM(*ann.peer->body(), game_->walkers[0].second), 0.02);
  // Somebody ran into the player.
  game_->walkers[0].second.position.x += 1;
  RunFor(500 * kMs);
  EXPECT_EQ(ann.peer->prediction().corrections, 1u);
  EXPECT_NEAR(ann.peer->prediction().last_m, 1, 0.01);
  EXPECT_LT(OffM(*ann.peer->body(), game_->walkers[0].second), 0.02);
}

TEST_F(PeerRoomTest, MessagesGoUpAndDown) {
  Client& ann = Add("Ann");
  Client& ben = Add("Ben");
  RunFor(500 * kMs);
  EXPECT_TRUE(ann.peer->Send("say", "\"hello\""));
  EXPECT_TRUE(ann.peer->Send("say", "2"));
  RunFor(200 * kMs);
  EXPECT_THAT(ann.heard, ElementsAre("\"hello\"", "2"));
  EXPECT_THAT(ben.heard, ElementsAre("\"hello\"", "2"));
}

// The host stands still; the peer gives the link up and comes back to its seat.
TEST_F(PeerRoomTest, ADeadLinkIsComeBackFrom) {
  Client& ann = Add("Ann");
  Client& ben = Add("Ben");
  ann.controls.axes[0] = 32'767;
  RunFor(1'000 * kMs);
  host_runs_ = false;
  RunFor(2'100 * kMs);
  EXPECT_EQ(ann.peer->state(), PeerState::kReconnecting);
  host_runs_ = true;
  RunFor(2'000 * kMs);
  EXPECT_EQ(ann.peer->state(), PeerState::kPlaying);
  EXPECT_EQ(ann.peer->counters().dead_links, 1u);
  EXPECT_EQ(ann.peer->counters().resumes, 1u);
  EXPECT_EQ(ann.peer->welcome()->player, "p1");
  EXPECT_EQ(ben.peer->welcome()->player, "p2");
  EXPECT_EQ(room_->counters().resumes, 2u);
  EXPECT_EQ(ann.peer->prediction().corrections, 0u);
  ExpectSameState(ann);
  ExpectSameState(ben);
}

// Twice in a row, so that the token of a resume is used too.
TEST_F(PeerRoomTest, ALostLinkIsComeBackFromWithEachNewToken) {
  Client& ann = Add("Ann");
  RunFor(500 * kMs);
  for (std::uint64_t drop = 1; drop <= 3; ++drop) {
    ann.asleep = true;
    RunFor(7'000 * kMs);
    // The room gave up on it: nothing was acked for so long.
    EXPECT_EQ(room_->counters().evicted, drop);
    EXPECT_EQ(room_->held(), 1);
    ann.asleep = false;
    RunFor(1'500 * kMs);
    EXPECT_EQ(ann.peer->state(), PeerState::kPlaying);
    EXPECT_EQ(ann.peer->counters().resumes, drop);
    EXPECT_EQ(ann.peer->welcome()->player, "p1");
    ExpectSameState(ann);
  }
  EXPECT_EQ(room_->counters().resumes_refused, 0u);
}

TEST_F(PeerRoomTest, AfterAShortSleepItIsBackAtOnce) {
  Client& ann = Add("Ann");
  Client& ben = Add("Ben");
  ben.controls.axes[0] = 32'767;
  RunFor(1'000 * kMs);
  ann.asleep = true;
  RunFor(3'000 * kMs);
  EXPECT_GT(room_->counters().recoveries, 0u);
  ann.asleep = false;
  RunFor(400 * kMs);
  EXPECT_EQ(ann.peer->counters().resumes, 0u);
  EXPECT_EQ(ann.peer->counters().resyncs, 1u);
  EXPECT_FALSE(ann.peer->shows_recovery());
  ExpectSameState(ann);
}

TEST_F(PeerRoomTest, PastTheHoldTheSeatIsGone) {
  Client& ann = Add("Ann");
  RunFor(500 * kMs);
  ann.asleep = true;
  RunFor(22'000 * kMs);
  EXPECT_EQ(room_->players().size(), 0u);
  ann.asleep = false;
  RunFor(1'500 * kMs);
  EXPECT_EQ(ann.peer->end(), PeerEnd::kRefused);
  EXPECT_EQ(ann.peer->end_error(), ErrorCode::kResumeRefused);
}

TEST_F(PeerRoomTest, LeavingGivesTheSeatUpAtOnce) {
  Client& ann = Add("Ann");
  Client& ben = Add("Ben");
  RunFor(500 * kMs);
  ann.peer->Leave();
  RunFor(100 * kMs);
  EXPECT_TRUE(ann.peer->closed());
  EXPECT_EQ(room_->held(), 0);
  EXPECT_EQ(room_->players().size(), 1u);
  EXPECT_EQ(ben.peer->players().size(), 1u);
  EXPECT_EQ(ben.peer->rows().size(), 1u);
}

TEST_F(PeerRoomTest, ALockedRoomSaysSo) {
  for (int i = 0; i < 8; ++i) Add("Player");
  RunFor(500 * kMs);
  room_->SetLocked(now_, true);
  Client& late = Add("Late");
  RunFor(500 * kMs);
  EXPECT_EQ(late.peer->end(), PeerEnd::kRefused);
  EXPECT_EQ(late.peer->end_error(), ErrorCode::kLocked);
  EXPECT_EQ(late.peer->end_text(), "the room is locked");
}

}  // namespace
}  // namespace parlor::authority
