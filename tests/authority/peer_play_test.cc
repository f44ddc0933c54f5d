// A peer in play: state, inputs, the own body, messages, and rooms that mean
// it ill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "authority/peer_fixture.h"
#include "parlor/authority/peer.h"
#include "parlor/authority/systems.h"
#include "parlor/random.h"
#include "support/flip_bits.h"
#include "support/seed.h"

namespace parlor::authority {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// ---- State

TEST_F(PeerTest, AppliesTheNewestAtTheNextStepAndAcksIt) {
  row_ = rows_.Add(kPlayerKind);
  Play();
  SetHp(7);
  SayBaseline();
  EXPECT_EQ(Hp(), -1);
  EXPECT_TRUE(Step());
  EXPECT_EQ(Hp(), 7);
  EXPECT_EQ(peer_->tick(), 33u);
  EXPECT_THAT(TakeSent(), ElementsAre("ack 33", "input 1", "rtt"));
  SetHp(8);
  SayDelta();
  EXPECT_TRUE(Step());
  EXPECT_EQ(Hp(), 8);
  EXPECT_THAT(TakeSent(), ElementsAre("ack 36", "input 2"));
  EXPECT_TRUE(Step());
  EXPECT_THAT(TakeSent(), ElementsAre("input 3"));
}

TEST_F(PeerTest, ReadsJsonAsWell) {
  PlayWithRow();
  SetHp(5);
  rows_.TakeBaseline();
  const auto bytes = WriteBaseline(JsonStateCodec(), rows_, tick_ += 3);
  link().Say(now_, bytes, MessageKind::kText);
  SetHp(6);
  const auto delta = WriteDelta(JsonStateCodec(), rows_, tick_ += 3);
  link().Say(now_, delta, MessageKind::kText);
  Step();
  EXPECT_EQ(Hp(), 6);
  EXPECT_THAT(TakeOthers(), ElementsAre("ack 36", "ack 39"));
}

TEST_F(PeerTest, OldFramesChangeNothing) {
  PlayWithRow();
  SetHp(1);
  const auto old = Delta();
  SetHp(2);
  SayDelta();
  Step();
  SayBytes(old);
  Step();
  EXPECT_EQ(Hp(), 2);
  EXPECT_EQ(peer_->counters().stale, 1u);
}

// The state lane overtook the reliable one.
TEST_F(PeerTest, ADeltaThatIsFasterThanItsBaselineIsNotApplied) {
  PlayWithRow();
  SetHp(3);
  rows_.TakeBaseline();
  const auto baseline = WriteBaseline(BinaryStateCodec(), rows_, tick_ += 3);
  SetHp(4);
  SayDelta();
  Step();
  EXPECT_EQ(Hp(), 0);
  SayBytes(baseline);
  Step();
  EXPECT_EQ(Hp(), 3);
  SayDelta();
  Step();
  EXPECT_EQ(Hp(), 4);
}

// In one step it finds its baseline there.
TEST_F(PeerTest, ABaselineComesBeforeWhatRefersToIt) {
  PlayWithRow();
  SetHp(3);
  rows_.TakeBaseline();
  const auto baseline = WriteBaseline(BinaryStateCodec(), rows_, tick_ += 3);
  SetHp(4);
  SayDelta();
  SayBytes(baseline);
  Step();
  EXPECT_EQ(Hp(), 4);
}

TEST_F(PeerTest, WhatWaitsIsBoundedAndTheNewestIsShown) {
  PlayWithRow();
  for (int i = 1; i <= 1'000; ++i) {
    SetHp(i);
    if (i % 20 == 0) SayBaseline();
    SayDelta();
  }
  Step();
  EXPECT_EQ(Hp(), 1'000);
  // Of 50 baselines one was applied, of 1,000 deltas one.
  EXPECT_EQ(peer_->counters().skipped, 49u + 999u);
  EXPECT_THAT(TakeOthers(), ElementsAre("ack 3180", "ack 3183"));
}

TEST_F(PeerTest, ARecoveryIsShownUntilABaselineComes) {
  PlayWithRow();
  SetHp(5);
  SayRecovery();
  Step();
  EXPECT_EQ(Hp(), 5);
  EXPECT_TRUE(peer_->shows_recovery());
  EXPECT_EQ(peer_->counters().recoveries, 1u);
  EXPECT_THAT(TakeOthers(), ElementsAre("ack 36"));
  SayBaseline();
  Step();
  EXPECT_FALSE(peer_->shows_recovery());
  EXPECT_EQ(Hp(), 5);
}

TEST_F(PeerTest, TheLastStateIsShownUntilTheNewConnectionHasOne) {
  PlayWithRow();
  SetHp(9);
  SayDelta();
  Step();
  DropLink();
  Step();
  EXPECT_EQ(Hp(), 9);
  Reconnect();
  Say(Welcome(2));
  Step();
  EXPECT_EQ(Hp(), 9);
  // A delta for a baseline of before the drop is none of this connection's.
  SayDelta();
  Step();
  EXPECT_EQ(peer_->counters().stale, 1u);
  SetHp(10);
  SayBaseline();
  Step();
  EXPECT_EQ(Hp(), 10);
}

// ---- Resync

TEST_F(PeerTest, WhoSleptAsksForABaselineOnceASecond) {
  PlayWithRow();
  now_ += 1'500 * kMs;
  Step();
  EXPECT_THAT(TakeOthers(), ElementsAre("resync"));
  now_ += 100 * kMs;
  Step();
  EXPECT_THAT(TakeOthers(), IsEmpty());
  // Nothing came: again.
  for (int i = 0; i < 60; ++i) Step();
  EXPECT_THAT(TakeOthers(), ElementsAre("resync"));
  SayBaseline();
  for (int i = 0; i < 120; ++i) {
    if (i % 3 == 0) SayDelta();
    Step();
  }
  EXPECT_THAT(TakeOthers(), testing::Not(testing::Contains("resync")));
  EXPECT_EQ(peer_->counters().resyncs, 2u);
}

TEST_F(PeerTest, FramesThatNeverApplyAskForABaseline) {
  PlayWithRow();
  rows_.TakeBaseline();  // lost
  for (int i = 0; i < 150; ++i) {
    if (i % 3 == 0) SayDelta();
    Step();
  }
  EXPECT_THAT(TakeOthers(), ElementsAre("resync", "resync"));
}

// ---- Where others are drawn

TEST_F(PeerTest, DrawsTransformsBetweenSnapshots) {
  PlayWithRow();
  const auto at = [&](float x) {
    ASSERT_TRUE(
        rows_.SetTransform(row_, {.position = {x, 0, 0}, .rotation = {}}));
  };
  for (int i = 0; i <= 40; ++i) {
    at(static_cast<float>(i) * 0.05F);
    SayDelta();
    for (int step = 0; step < 3; ++step) Step();
  }
  // 50 ms after the newest came.
  peer_->SetDrawTime(now_ - kStep);
  EXPECT_NEAR(peer_->Drawn(row_)->position.x, 2 - 0.0167F * 1, 0.003);
  EXPECT_FALSE(peer_->Drawn(row_ + 1).has_value());
  EXPECT_GT(peer_->drawn_behind(), Duration{});
  // Another world: its row 1 was never there.
  rows_.NewEpoch();
  row_ = rows_.Add(kPlayerKind);
  at(70);
  SayBaseline();
  Step();
  peer_->SetDrawTime(now_);
  EXPECT_EQ(peer_->Drawn(row_)->position.x, 70);
}

// ---- Inputs

TEST_F(PeerTest, OneInputAStepWithSeqsFromOneOnEachConnection) {
  Play();
  Step();
  Step({.held = 4, .axes = {100, 0, 0, 0}});
  Step({.held = 4});
  EXPECT_THAT(TakeSent(),
              ElementsAre("input 1", "rtt", "input 2 held 4 pressed 4 x 100",
                          "input 3 held 4"));
  EXPECT_EQ(peer_->seq(), 3u);
  DropLink();
  Reconnect();
  Say(Welcome(2));
  TakeSent();
  EXPECT_EQ(peer_->seq(), 0u);
  Step({.held = 4});
  EXPECT_THAT(TakeSent(), ElementsAre("input 1 held 4 pressed 4", "rtt"));
}

TEST_F(PeerTest, WhatHappensBetweenStepsIsCollected) {
  Play();
  peer_->Press(1);
  peer_->Press(8);
  peer_->Shift(0, 300);
  peer_->Shift(0, -100);
  Step({.held = 2});
  Step({.held = 2});
  peer_->Shift(0, 2'000'000'000);
  peer_->Shift(0, 2'000'000'000);
  Step({.held = 2});
  EXPECT_THAT(TakeSent(),
              ElementsAre("input 1 held 2 pressed 11 shifted 200", "rtt",
                          "input 2 held 2", "input 3 held 2 shifted 32767"));
}

TEST_F(PeerTest, WhatWasPressedWhileAwayIsForgotten) {
  Play();
  DropLink();
  peer_->Press(1);
  peer_->Shift(0, 5);
  EXPECT_FALSE(Step({.held = 2}));
  Reconnect();
  peer_->Press(1);
  Say(Welcome(2));
  TakeSent();
  Step();
  EXPECT_THAT(TakeSent(), ElementsAre("input 1", "rtt"));
}

TEST_F(PeerTest, WithoutFocusEverythingIsReleasedOnce) {
  Play();
  Step({.held = 6, .axes = {50, 0, 0, 0}});
  peer_->Press(1);
  peer_->Shift(0, 7);
  peer_->SetFocus(false);
  peer_->Press(1);
  Step({.held = 6, .axes = {50, 0, 0, 0}});
  Step({.held = 6, .axes = {50, 0, 0, 0}});
  peer_->SetFocus(true);
  Step({.held = 2});
  EXPECT_THAT(TakeSent(),
              ElementsAre("input 1 held 6 pressed 6 x 50", "rtt", "input 2",
                          "input 3", "input 4 held 2 pressed 2"));
}

TEST_F(PeerTest, AcksOfInputs) {
  Play();
  for (int i = 0; i < 5; ++i) Step();
  Say(TickFrame{.tick = 40, .ack = 4, .entity = 9});
  EXPECT_EQ(peer_->acked_seq(), 4u);
  EXPECT_EQ(peer_->entity(), 9u);
  // An input that was never sent.
  Say(TickFrame{.tick = 41, .ack = 6, .entity = 9});
  EXPECT_EQ(peer_->acked_seq(), 4u);
}

TEST_F(PeerTest, MeasuresTheRoundTrip) {
  Play();
  EXPECT_FALSE(peer_->rtt().has_value());
  const auto answer = [&](Duration time) {
    std::optional<RttFrame> asked;
    while (!asked) {
      Step();
      for (const auto& bytes : link().TakeSent()) {
        const auto frame = ParseClientFrame(std::string_view(
            reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        if (const auto* rtt = std::get_if<RttFrame>(&frame)) asked = *rtt;
      }
    }
    now_ += time;
    Say(RoomRttFrame{.at = asked->at, .server = 1});
    // Once is enough.
    Say(RoomRttFrame{.at = asked->at, .server = 1});
  };
  answer(80 * kMs);
  EXPECT_EQ(peer_->rtt(), 80 * kMs);
  EXPECT_EQ(peer_->counters().ignored, 1u);
  answer(160 * kMs);
  EXPECT_EQ(peer_->rtt(), 90 * kMs);
}

// ---- The own body

// A metre a second along x.
void Drift(OwnBody& body, const InputFrame&, Duration step) {
  body.position.x += static_cast<float>(step.count()) / 1e9F;
}

OwnBody Own(std::uint32_t seq, float x) {
  return {.seq = seq, .position = {x, 0, 0}, .velocity = {}};
}

class PeerBodyTest : public PeerTest {
 protected:
  void Begin() {
    PlayWithRow({.move = Drift});
    SayDelta(Own(0, 0));
    Step();
  }
  float x() const { return peer_->body()->position.x; }
};

TEST_F(PeerBodyTest, IsPredictedAndPutRight) {
  Begin();
  for (int i = 0; i < 10; ++i) Step();
  EXPECT_EQ(peer_->body()->seq, 12u);
  EXPECT_NEAR(x(), 12 / 60.0F, 1e-4);
  // Half a metre behind, as of input 6.
  SayDelta(Own(6, 6 / 60.0F - 0.5F));
  Step();
  EXPECT_NEAR(x(), 13 / 60.0F - 0.5F, 2e-3);
  EXPECT_EQ(peer_->prediction().corrections, 1u);
}

TEST_F(PeerBodyTest, ATeleportOfItsRowIsNoCorrection) {
  Begin();
  for (int i = 0; i < 10; ++i) Step();
  ASSERT_TRUE(rows_.Teleport(row_, {.position = {40, 0, 0}, .rotation = {}}));
  SayDelta(Own(6, 40));
  Step();
  EXPECT_NEAR(x(), 40 + 7 / 60.0F, 2e-3);
  EXPECT_EQ(peer_->prediction().corrections, 0u);
  EXPECT_EQ(peer_->prediction().teleports, 1u);
  // The snapshot of one may have no own body, or be lost.
  ASSERT_TRUE(rows_.Teleport(row_, {.position = {80, 0, 0}, .rotation = {}}));
  SayBaseline();
  Step();
  SayDelta(Own(8, 80));
  Step();
  EXPECT_EQ(peer_->prediction().corrections, 0u);
  EXPECT_EQ(peer_->prediction().teleports, 2u);
}

TEST_F(PeerBodyTest, AnotherRowIsAnotherBody) {
  Begin();
  for (int i = 0; i < 10; ++i) Step();
  row_ = rows_.Add(kPlayerKind);
  Say(TickFrame{.tick = 40, .ack = 5, .entity = row_});
  SayDelta(Own(6, 30));
  Step();
  EXPECT_EQ(peer_->prediction().corrections, 0u);
  EXPECT_NEAR(x(), 30 + 7 / 60.0F, 2e-3);
}

TEST_F(PeerBodyTest, AReconnectStartsTheRecordAgain) {
  Begin();
  for (int i = 0; i < 10; ++i) Step();
  const float before = x();
  DropLink();
  Reconnect();
  Say(Welcome(2));
  EXPECT_EQ(x(), before);
  SayBaseline();
  Step();
  SayDelta(Own(0, 5));
  Step();
  EXPECT_NEAR(x(), 5 + 2 / 60.0F, 1e-4);
  EXPECT_EQ(peer_->prediction().corrections, 0u);
}

TEST_F(PeerTest, WithoutAMovementThereIsNoBody) {
  PlayWithRow();
  SayDelta(Own(0, 5));
  Step();
  EXPECT_EQ(peer_->body(), nullptr);
  EXPECT_EQ(peer_->prediction().corrections, 0u);
}

// ---- Messages and the context

TEST_F(PeerTest, MessagesAreHandedOverForOneStep) {
  Play();
  Say(RoomMsgFrame{.from = 1, .name = "vote", .payload = "[1]"});
  Say(RoomMsgFrame{.from = kAuthoritySender, .name = "vote", .payload = "2"});
  Say(RoomMsgFrame{.from = 1, .name = "unknown", .payload = "2"});
  Say(RoomMsgFrame{.from = 1, .name = "aos:vote", .payload = "2"});
  Say(RoomMsgFrame{
      .from = 1, .name = "vote", .payload = "\"0123456789abcdef\""});
  EXPECT_THAT(peer_->messages(), IsEmpty());
  Step();
  ASSERT_EQ(peer_->messages().size(), 2u);
  EXPECT_EQ(peer_->messages()[0].from, 1);
  EXPECT_EQ(peer_->messages()[0].name, "vote");
  EXPECT_EQ(peer_->messages()[0].payload, "[1]");
  EXPECT_EQ(peer_->messages()[1].from, -1);
  EXPECT_EQ(peer_->counters().received, 2u);
  EXPECT_EQ(peer_->counters().dropped, 3u);
  Step();
  EXPECT_THAT(peer_->messages(), IsEmpty());
}

TEST_F(PeerTest, MessagesThatWaitAreBounded) {
  Play();
  for (int i = 0; i < 3'000; ++i) {
    Say(RoomMsgFrame{.from = 1, .name = "vote", .payload = std::to_string(i)});
  }
  Step();
  ASSERT_EQ(peer_->messages().size(), Peer::kMessagesMax);
  EXPECT_EQ(peer_->messages().back().payload, "2999");
  EXPECT_EQ(peer_->counters().overflown, 3'000 - Peer::kMessagesMax);
}

TEST_F(PeerTest, SendsWhatPassesItsCheck) {
  Make();
  EXPECT_FALSE(peer_->Send("vote", "1"));
  EXPECT_EQ(peer_->counters().unsent, 0u);
  Play();
  EXPECT_TRUE(peer_->Send("vote", "{}"));
  EXPECT_FALSE(peer_->Send("vote", "{"));
  EXPECT_FALSE(peer_->Send("aos:vote", "1"));
  EXPECT_FALSE(peer_->Send("other", "1"));
  EXPECT_EQ(peer_->counters().unsent, 3u);
  EXPECT_THAT(TakeSent(),
              ElementsAre(R"({"t":"msg","name":"vote","payload":{}})"));
}

TEST_F(PeerTest, TheRosterAndTheOwnEntity) {
  row_ = 5;
  Play();
  Say(RosterFrame{
      .players = {{.id = "p1", .seat = 0, .name = "Eve", .host = true},
                  {.id = "p3", .seat = 2, .name = "Ann"}},
      .locked = true});
  EXPECT_TRUE(peer_->locked());
  EXPECT_EQ(peer_->context().host(), 0);
  EXPECT_EQ(peer_->context().player(2)->name, "Ann");
  EXPECT_EQ(peer_->context().player(2)->entity, 5u);
  Say(TickFrame{.tick = 40, .entity = 8});
  EXPECT_EQ(peer_->context().player(2)->entity, 8u);
  EXPECT_EQ(peer_->context().player(0)->entity, 0u);
}

TEST_F(PeerTest, ClientSystemsAreForTheirOwnPage) {
  PlayWithRow();
  Say(RosterFrame{.players = {{.id = "p1", .seat = 0, .name = "Eve"},
                              {.id = "p3", .seat = 2, .name = "Ann"}}});
  Say(RoomMsgFrame{.from = 0, .name = "vote", .payload = "1"});
  Step({.held = 3});
  TakeSent();
  Systems systems;
  int runs = 0;
  systems.Add("authority", On::kAuthority, [&](Context&) { runs += 100; });
  systems.Add("page", On::kClient, [&](Context& context) {
    ++runs;
    EXPECT_EQ(context.role(), Role::kClient);
    EXPECT_EQ(context.local_seat(), 2);
    EXPECT_EQ(context.tick_hz(), 60);
    EXPECT_EQ(context.tick(), tick_);
    EXPECT_EQ(context.input(2).held, 3u);
    EXPECT_EQ(context.input(0).held, 0u);
    EXPECT_EQ(context.messages().size(), 1u);
    EXPECT_TRUE(context.Send("vote", "7", 0));
    EXPECT_FALSE(context.Possess(2, 4));
    context.NewEpoch();
    // Shared rows are not in its table, and cannot be written.
    EXPECT_FALSE(context.rows().Set(row_, kHp, 99));
    EXPECT_NE(context.rows().Add(kPlayerKind), 0u);
    context.Local([&] { EXPECT_TRUE(context.Send("vote", "8")); });
  });
  systems.Run(peer_->context());
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(Hp(), 0);
  EXPECT_EQ(peer_->rows().size(), 1u);
  EXPECT_THAT(TakeSent(),
              ElementsAre(R"({"t":"msg","name":"vote","payload":7})"));
  // Another world is without what the page made.
  EXPECT_EQ(peer_->context().rows().size(), 1u);
  rows_.NewEpoch();
  SayBaseline();
  Step();
  EXPECT_EQ(peer_->context().rows().size(), 0u);
}

TEST_F(PeerTest, TheAuthoritysCameraAndHudWin) {
  Play();
  Say(RosterFrame{.players = {{.id = "p1", .seat = 0, .name = "Eve"},
                              {.id = "p3", .seat = 2, .name = "Ann"}}});
  EXPECT_EQ(peer_->camera(), "null");
  Context& context = peer_->context();
  EXPECT_TRUE(context.SetCamera(2, R"({"own":1})"));
  EXPECT_TRUE(context.SetHud(2, R"({"own":2})"));
  EXPECT_TRUE(context.SetHud(0, R"({"others":2})"));
  EXPECT_FALSE(context.SetHud(1, R"({"nobody":2})"));
  EXPECT_FALSE(context.SetHud(2, "[]"));
  EXPECT_EQ(peer_->counters().unsent, 1u);
  EXPECT_EQ(peer_->camera(), R"({"own":1})");
  Say(TickFrame{.tick = 40,
                .events = {{.kind = TickEvent::Kind::kCamera,
                            .value = R"({"theirs":1})"}}});
  EXPECT_EQ(peer_->camera(), R"({"theirs":1})");
  EXPECT_EQ(peer_->hud(), R"({"own":2})");
  EXPECT_TRUE(context.SetCamera(2, R"({"own":3})"));
  EXPECT_EQ(peer_->camera(), R"({"theirs":1})");
  // It lets go.
  Say(TickFrame{
      .tick = 41,
      .events = {{.kind = TickEvent::Kind::kCamera, .value = "null"}}});
  EXPECT_EQ(peer_->camera(), R"({"own":3})");
}

// ---- Rooms that mean it ill

TEST_F(PeerTest, AStateFrameThatNoRoomSendsEndsIt) {
  PlayWithRow();
  SetHp(1);
  std::vector<std::byte> bytes = Delta();
  bytes.push_back(std::byte{0});
  SayBytes(bytes);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  EXPECT_FALSE(Step());
  EXPECT_EQ(peer_->end(), PeerEnd::kProtocol);
  EXPECT_EQ(peer_->end_text(),
            "the host does not speak like a room of this game");
  EXPECT_EQ(link().close_code(), close_code::kProtocolError);
  EXPECT_EQ(Hp(), 0);
  // What still comes does nothing.
  SayText("{");
  EXPECT_FALSE(Step());
}

TEST_F(PeerTest, ATextThatNoRoomSendsEndsIt) {
  for (const char* const text :
       {"{", "[]", R"({"t":"tick"})", R"({"t":"tick","t":"tick"})",
        R"({"t":"roster","players":[{}],"locked":false})"}) {
    Play();
    SayText(text);
    EXPECT_EQ(peer_->end(), PeerEnd::kProtocol) << text;
    EXPECT_EQ(link().close_code(), close_code::kProtocolError);
  }
  Play();
  Say(Welcome(2));
  EXPECT_EQ(peer_->end(), PeerEnd::kProtocol);
}

TEST_F(PeerTest, WhatANewerRoomSaysIsIgnored) {
  Play();
  SayText(R"({"t":"weather","wind":3})");
  Say(ErrorFrame{.code = ErrorCode::kBudget, .message = "slow down"});
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  EXPECT_EQ(peer_->counters().ignored, 1u);
  EXPECT_EQ(peer_->counters().errors, 1u);
  EXPECT_EQ(peer_->last_error(), ErrorCode::kBudget);
}

// Damaged, repeated and out of order: it plays on or ends, in order.
TEST_F(PeerTest, DamagedFramesDoNoHarm) {
  const std::uint64_t seed = test::TestSeed();
  Random random(seed);
  int ended = 0;
  for (int run = 0; run < 400; ++run) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " run " << run);
    rows_.NewEpoch();
    PlayWithRow({.move = Drift});
    using Bytes = std::vector<std::byte>;
    std::vector<std::pair<MessageKind, Bytes>> frames;
    const auto add = [&](const std::string& text) {
      const auto bytes = AsBytes(text);
      frames.emplace_back(MessageKind::kText,
                          Bytes(bytes.begin(), bytes.end()));
    };
    for (int i = 0; i < 4; ++i) {
      SetHp(i);
      if (i == 2) rows_.TakeBaseline();
      const OwnWords own = *QuantiseOwn(Own(1, 1));
      frames.emplace_back(
          MessageKind::kBinary,
          WriteDelta(BinaryStateCodec(), rows_, tick_ += 3, &own));
    }
    frames.emplace_back(MessageKind::kBinary,
                        WriteBaseline(BinaryStateCodec(), rows_, tick_ += 3));
    frames.emplace_back(MessageKind::kBinary,
                        WriteRecovery(BinaryStateCodec(), rows_, tick_ += 3));
    const auto json = WriteDelta(JsonStateCodec(), rows_, tick_ += 3);
    frames.emplace_back(MessageKind::kText, json);
    add(Write(TickFrame{.tick = 40, .ack = 1, .entity = row_}));
    add(Write(RosterFrame{.players = {{.id = "p3", .seat = 2, .name = "A"}}}));
    add(Write(RoomMsgFrame{.from = 0, .name = "vote", .payload = "1"}));
    add(Write(RoomRttFrame{.at = 5'000, .server = 5}));
    for (int i = 0; i < 30 && peer_->state() == PeerState::kPlaying; ++i) {
      auto [kind, bytes] =
          frames[random.Below(static_cast<std::uint32_t>(frames.size()))];
      if (random.Chance(1, 3)) test::FlipBits(random, bytes);
      if (random.Chance(1, 8)) {
        bytes.resize(random.Below(static_cast<std::uint32_t>(bytes.size())));
      }
      link().Say(now_, bytes, kind);
      if (random.Chance(1, 2)) Step();
      peer_->SetDrawTime(now_);
      peer_->Drawn(row_);
    }
    if (peer_->state() == PeerState::kPlaying) continue;
    ++ended;
    EXPECT_EQ(peer_->end(), PeerEnd::kProtocol);
    EXPECT_EQ(link().close_code(), close_code::kProtocolError);
  }
  EXPECT_GT(ended, 100);
}

}  // namespace
}  // namespace parlor::authority
