#include "load/room_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "load/findings.h"
#include "parlor/lockstep/wire.h"

namespace parlor::load {
namespace {

using lockstep::Message;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kRoom = 7;

// Three seats, each of which has sent ten frames.
class RoomCheckTest : public testing::Test {
 protected:
  RoomCheckTest() {
    for (int seat = 0; seat < 3; ++seat) {
      for (int frame = 0; frame < 10; ++frame) check.Send(seat);
    }
  }

  // Seat 1 receives that frame of `sender`.
  RoomCheck::Taken Take(int sender, std::uint32_t frame) {
    return check.Take(1, InputOf(kRoom, sender, frame), findings);
  }
  // The same, of all frames from `first` up to `end`.
  void TakeAll(int sender, std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t frame = first; frame < end; ++frame) {
      EXPECT_TRUE(Take(sender, frame).delivered);
    }
  }
  // What seat 1 had to say of it, and that nothing was delivered.
  std::string Refused(const Message& message) {
    EXPECT_FALSE(check.Take(1, message, findings).delivered);
    return findings.told().empty() ? "" : findings.told().back();
  }

  Findings findings;
  RoomCheck check{kRoom, 3};
};

TEST_F(RoomCheckTest, FindsNothingInARoomThatRelays) {
  for (std::uint32_t frame = 0; frame < 10; ++frame) {
    for (const auto& [seat, sender] :
         {std::tuple{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}) {
      EXPECT_TRUE(
          check.Take(seat, InputOf(kRoom, sender, frame), findings).delivered);
    }
  }
  check.Finish(findings);
  EXPECT_THAT(findings.told(), IsEmpty());
  for (int seat = 0; seat < 3; ++seat) EXPECT_EQ(check.Missing(seat), 0u);
}

TEST_F(RoomCheckTest, CompletesAFrameWhenTheLastOfItIsIn) {
  EXPECT_EQ(Take(0, 0).completed, 0u);
  EXPECT_EQ(Take(0, 1).completed, 0u);
  EXPECT_EQ(Take(0, 2).completed, 0u);
  EXPECT_EQ(check.waiting(1), 0u);
  EXPECT_EQ(Take(2, 0).completed, 1u);
  EXPECT_EQ(Take(2, 1).completed, 1u);
  EXPECT_EQ(check.waiting(1), 2u);
  EXPECT_EQ(Take(2, 2).completed, 1u);
  EXPECT_EQ(Take(2, 3).completed, 0u);
  EXPECT_EQ(check.waiting(0), 0u);
}

TEST_F(RoomCheckTest, CompletesSeveralFramesOverAGap) {
  TakeAll(0, 0, 4);
  const RoomCheck::Taken taken = Take(2, 2);
  EXPECT_TRUE(taken.delivered);
  EXPECT_EQ(taken.completed, 3u);
}

TEST_F(RoomCheckTest, FindsALostMessage) {
  TakeAll(0, 0, 5);
  EXPECT_TRUE(Take(0, 6).delivered);
  EXPECT_THAT(
      findings.told(),
      ElementsAre("room 7, seat 1: frame 6 of seat 0 came where frame 5 "
                  "was due"));
  TakeAll(0, 7, 10);
  TakeAll(2, 0, 10);
  EXPECT_EQ(check.Missing(1), 1u);
  EXPECT_EQ(findings.count(), 1u);
}

TEST_F(RoomCheckTest, FindsWhatIsLostInTheEnd) {
  TakeAll(0, 0, 10);
  TakeAll(2, 0, 3);
  check.Send(0);
  EXPECT_EQ(check.Missing(1), 8u);
  check.Finish(findings);
  // Seats 0 and 2 received nothing of anyone.
  EXPECT_THAT(
      findings.told(),
      ElementsAre("room 7, seat 0: lost 10 of the 10 messages of seat 1, the "
                  "last that came is frame -1",
                  "room 7, seat 0: lost 10 of the 10 messages of seat 2, the "
                  "last that came is frame -1",
                  "room 7, seat 1: lost 1 of the 11 messages of seat 0, the "
                  "last that came is frame 9",
                  "room 7, seat 1: lost 7 of the 10 messages of seat 2, the "
                  "last that came is frame 2",
                  HasSubstr("seat 2: lost 11 of the 11 messages of seat 0"),
                  HasSubstr("seat 2: lost 10 of the 10 messages of seat 1")));
}

TEST_F(RoomCheckTest, FindsARepeatedMessage) {
  TakeAll(0, 0, 5);
  EXPECT_EQ(Refused(InputOf(kRoom, 0, 4)),
            "room 7, seat 1: frame 4 of seat 0 came again, behind frame 4");
  EXPECT_EQ(Refused(InputOf(kRoom, 0, 0)),
            "room 7, seat 1: frame 0 of seat 0 came again, behind frame 4");
  EXPECT_EQ(check.Missing(1), 5u + 10u);
}

TEST_F(RoomCheckTest, FindsTwoThatWereSwapped) {
  TakeAll(0, 0, 5);
  EXPECT_TRUE(Take(0, 6).delivered);
  EXPECT_TRUE(Take(0, 5).delivered);
  EXPECT_THAT(
      findings.told(),
      ElementsAre(HasSubstr("frame 6 of seat 0 came where frame 5 was due"),
                  "room 7, seat 1: frame 5 of seat 0 came late, behind frame "
                  "6"));
  TakeAll(0, 7, 10);
  TakeAll(2, 0, 10);
  EXPECT_EQ(check.Missing(1), 0u);
}

TEST_F(RoomCheckTest, TakesALateMessageOnce) {
  EXPECT_TRUE(Take(0, 5).delivered);
  EXPECT_TRUE(Take(0, 3).delivered);
  EXPECT_THAT(Refused(InputOf(kRoom, 0, 3)), HasSubstr("came again"));
  EXPECT_TRUE(Take(0, 4).delivered);
  EXPECT_THAT(Refused(InputOf(kRoom, 0, 4)), HasSubstr("came again"));
  EXPECT_EQ(check.Missing(1), 3u + 4u + 10u);
}

TEST_F(RoomCheckTest, FindsAWrongSlot) {
  Message message = InputOf(kRoom, 0, 0);
  message.slot = 3;
  EXPECT_EQ(Refused(message),
            "room 7, seat 1: slot 3 in frame 0: the room has seats 0 to 2");
  message.slot = 1;
  EXPECT_EQ(Refused(message),
            "room 7, seat 1: frame 0 of seat 1 came back to its sender");
  message.slot = 2;
  EXPECT_THAT(Refused(message), HasSubstr("frame 0 of seat 2 has word 0x"));
}

TEST_F(RoomCheckTest, FindsAWrongByteWhereverItIs) {
  const Message right = InputOf(kRoom, 0, 0);
  for (int bit = 0; bit < 8; ++bit) {
    const auto flip = static_cast<std::uint8_t>(1 << bit);
    Message message = right;
    message.players ^= flip;
    EXPECT_THAT(Refused(message), HasSubstr("and was sent with"));
    message = right;
    message.mode ^= flip;
    EXPECT_THAT(Refused(message), HasSubstr("and was sent with"));
  }
  for (int bit = 0; bit < 32; ++bit) {
    Message message = right;
    message.value ^= std::uint32_t{1} << bit;
    Refused(message);
    message = right;
    message.frame ^= std::uint32_t{1} << bit;
    Refused(message);
  }
  EXPECT_EQ(findings.count(), 16u + 64u);
  EXPECT_EQ(findings.told().size(), Findings::kTold);
  EXPECT_TRUE(check.Take(1, right, findings).delivered);
}

TEST_F(RoomCheckTest, FindsWhatWasNeverSent) {
  EXPECT_EQ(Refused(InputOf(kRoom, 0, 10)),
            "room 7, seat 1: frame 10 of seat 0 came before it was sent");
  EXPECT_THAT(Refused(InputOf(kRoom, 0, 0xffffffff)),
              HasSubstr("frame 4294967295 of seat 0 came before it was sent"));
  EXPECT_EQ(check.Missing(1), 20u);
}

TEST_F(RoomCheckTest, FindsAMessageOfAnotherRoom) {
  EXPECT_THAT(Refused(InputOf(kRoom + 1, 0, 0)), HasSubstr("has word 0x"));
}

// What is said differs by room, seat and frame: else a message that went astray
// would be none.
TEST(InputOfTest, SaysSomethingElseEachTime) {
  std::set<std::tuple<std::uint32_t, std::uint8_t, std::uint8_t>> said;
  for (std::uint32_t room = 0; room < 20; ++room) {
    for (int seat = 0; seat < 8; ++seat) {
      for (std::uint32_t frame = 0; frame < 50; ++frame) {
        const Message message = InputOf(room, seat, frame);
        EXPECT_EQ(message.kind, lockstep::Kind::kInput);
        EXPECT_EQ(message.slot, seat);
        EXPECT_EQ(message.frame, frame);
        said.insert({message.value, message.players, message.mode});
      }
    }
  }
  EXPECT_EQ(said.size(), 20u * 8u * 50u);
}

}  // namespace
}  // namespace parlor::load
