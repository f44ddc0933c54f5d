// What a fault planted in the client side could change without another test
// seeing it: what is left of an old connection, exact bounds, and tries.
#include <cstddef>
#include <cstdint>
#include <string>

#include "authority/peer_fixture.h"

namespace parlor::authority {
namespace {

class PeerEdgeTest : public PeerTest {
 protected:
  // Back in play on a new connection.
  void ComeBack(int token) {
    DropLink();
    Reconnect();
    Say(Welcome(token));
    ASSERT_EQ(peer_->state(), PeerState::kPlaying);
    TakeSent();
  }
};

TEST_F(PeerEdgeTest, WhoCameBackHasAllTriesAgain) {
  Play({.retries = 2});
  for (int token = 2; token < 6; ++token) ComeBack(token);
  EXPECT_EQ(peer_->tries(), 1);
  DropLink();
  EXPECT_EQ(peer_->tries(), 0);
  EXPECT_EQ(peer_->counters().resumes, 4u);
}

// Frames of the old connection that no step has seen are nothing to the new.
TEST_F(PeerEdgeTest, FramesOfTheOldConnectionAreForgotten) {
  PlayWithRow();
  SetHp(5);
  SayBaseline();
  SayDelta();
  ComeBack(2);
  Step();
  EXPECT_EQ(Hp(), 0);
  for (const std::string& text : TakeSent()) {
    EXPECT_FALSE(text.starts_with("ack")) << text;
  }
}

TEST_F(PeerEdgeTest, ADeltaOfTheOldConnectionIsForgotten) {
  PlayWithRow();
  SetHp(5);
  const auto late = Delta();
  ComeBack(2);
  SayBaseline();
  Step();
  SetHp(6);
  const std::uint64_t stale = peer_->counters().stale;
  SayBytes(late);
  ComeBack(3);
  Step();
  EXPECT_EQ(peer_->counters().stale, stale);
}

TEST_F(PeerEdgeTest, AnAnswerOfTheOldConnectionIsNoMeasure) {
  Play();
  Step();
  const RoomRttFrame answer{
      .at = static_cast<double>(now_.time_since_epoch() / kMs), .server = 1};
  ComeBack(2);
  const std::uint64_t ignored = peer_->counters().ignored;
  Say(answer);
  EXPECT_EQ(peer_->counters().ignored, ignored + 1);
  EXPECT_FALSE(peer_->rtt().has_value());
}

// A gate that says no means it; one that is busy does not.
TEST_F(PeerEdgeTest, AGateThatRefusesIsNotTriedAgain) {
  for (const std::uint16_t refusal : {403, 404}) {
    SCOPED_TRACE(refusal);
    Play();
    DropLink();
    const std::size_t calls = connector_.calls().size();
    while (connector_.calls().size() == calls) Wait(50 * kMs);
    link().Close(now_, close_code::kDropped, {}, refusal);
    EXPECT_EQ(peer_->end(), PeerEnd::kRefused);
    EXPECT_EQ(peer_->end_refusal(), refusal);
    EXPECT_EQ(peer_->next_alarm(), kNever);
  }
}

TEST_F(PeerEdgeTest, ARoomThatSaysNothingAfterItsWelcomeIsDeadInTwoSeconds) {
  Play();
  Wait(1'999 * kMs);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  Wait(1 * kMs);
  EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
  EXPECT_EQ(peer_->counters().dead_links, 1u);
}

TEST_F(PeerEdgeTest, APressWithoutFocusIsNotKeptForLater) {
  Play();
  peer_->SetFocus(false);
  peer_->Press(4);
  peer_->Shift(0, 9);
  peer_->SetFocus(true);
  Step();
  EXPECT_EQ(TakeSent().front(), "input 1");
}

// One that applies, and behind it as many as are kept that do not: it gave way.
TEST_F(PeerEdgeTest, AtMostFourFramesWait) {
  PlayWithRow();
  SetHp(5);
  SayDelta();
  rows_.TakeBaseline();  // which never arrives
  for (std::size_t i = 0; i < Peer::kStateFramesMax; ++i) SayDelta();
  Step();
  EXPECT_EQ(Hp(), 0);
  EXPECT_EQ(peer_->counters().stale, Peer::kStateFramesMax);
  EXPECT_EQ(peer_->counters().skipped, 1u);
}

}  // namespace
}  // namespace parlor::authority
