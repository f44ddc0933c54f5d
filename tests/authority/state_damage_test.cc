// State messages cut off at each length and with each of their bits flipped, by
// both codecs: refused, or a state that a room could have sent.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "authority/random_schema.h"
#include "authority/state_forms.h"
#include "authority/state_frames.h"
#include "authority/state_game.h"
#include "authority/state_model.h"
#include "parlor/authority/state_receiver.h"
#include "parlor/authority/values.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/random.h"
#include "support/flip_bits.h"
#include "support/seed.h"

namespace parlor::authority {
namespace {

using Bytes = std::vector<std::byte>;

// A message, and the one before it that its receiver has.
struct Frame {
  Bytes baseline;
  Bytes bytes;
};

class StateDamageTest : public testing::TestWithParam<std::string> {
 protected:
  const WireStateCodec& codec_ =
      GetParam() == "json" ? JsonStateCodec() : BinaryStateCodec();

  // A baseline, a delta and a recovery of a game some steps on.
  std::vector<Frame> Frames(StateGame& game) {
    const RowTable& table = game.table();
    for (int i = 0; i < 10; ++i) game.Step();
    game.table().TakeBaseline();
    const Bytes baseline = WriteBaseline(codec_, table, 5);
    for (int i = 0; i < 5; ++i) game.Step();
    const OwnWords own{6, {1'000, -2, 70'000}, {0, 12'345, -1}, true};
    return {{baseline, baseline},
            {baseline, WriteDelta(codec_, table, 6, &own)},
            {baseline, WriteRecovery(codec_, table, 6)}};
  }

  // A receiver as it is when the frame comes.
  static void Prepare(const WireStateCodec& codec, const Frame& frame,
                      StateReceiver& receiver) {
    if (frame.bytes == frame.baseline) return;
    ASSERT_EQ(receiver.Apply(codec.message_kind(), frame.baseline),
              StateOutcome::kBaseline);
  }

  void ExpectHarmless(const Schema& schema, const Frame& frame,
                      const Bytes& damaged) {
    StateReceiver receiver(schema);
    Prepare(codec_, frame, receiver);
    const ModelRows before = ModelOf(receiver.rows());
    const StateOutcome outcome = receiver.Apply(codec_.message_kind(), damaged);
    if (outcome == StateOutcome::kStale ||
        outcome == StateOutcome::kMalformed) {
      EXPECT_EQ(Difference(before, ModelOf(receiver.rows())), "");
      return;
    }
    ++taken_;
    CheckRows(receiver.rows());
    StateForms forms(schema);
    if (frame.bytes != frame.baseline) forms.Check(codec_, frame.baseline);
    EXPECT_TRUE(forms.Check(codec_, damaged));
  }

  int taken_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Codecs, StateDamageTest,
                         testing::Values("binary", "json"),
                         [](const auto& row) { return row.param; });

TEST_P(StateDamageTest, CutOffAtEachLength) {
  Random random(test::TestSeed(), 7);
  const Schema schema = RandomSchema(random, 6);
  StateGame game(schema, random.Next());
  for (const Frame& frame : Frames(game)) {
    StateReceiver receiver(schema);
    Prepare(codec_, frame, receiver);
    for (std::size_t length = 0; length < frame.bytes.size(); ++length) {
      const Bytes cut(frame.bytes.data(), frame.bytes.data() + length);
      ASSERT_EQ(receiver.Apply(codec_.message_kind(), cut),
                StateOutcome::kMalformed)
          << length << " of " << frame.bytes.size();
    }
    ASSERT_LT(receiver.Apply(codec_.message_kind(), frame.bytes),
              StateOutcome::kStale);
  }
}

TEST_P(StateDamageTest, EachBitFlipped) {
  Random random(test::TestSeed(), 8);
  const Schema schema = RandomSchema(random, 3);
  StateGame game(schema, random.Next());
  for (const Frame& frame : Frames(game)) {
    for (std::size_t bit = 0; bit < 8 * frame.bytes.size(); ++bit) {
      SCOPED_TRACE(testing::Message() << "bit " << bit);
      Bytes damaged = frame.bytes;
      damaged[bit / 8] ^= std::byte{1} << (bit % 8);
      ExpectHarmless(schema, frame, damaged);
      if (HasFatalFailure()) return;
    }
  }
  // Some of them make another number of one.
  EXPECT_GT(taken_, 100);
}

TEST_P(StateDamageTest, SeveralBitsFlipped) {
  Random random(test::TestSeed(), 9);
  for (int round = 0; round < 20; ++round) {
    const Schema schema = RandomSchema(random, 6);
    StateGame game(schema, random.Next());
    for (const Frame& frame : Frames(game)) {
      for (int i = 0; i < 40; ++i) {
        Bytes damaged = frame.bytes;
        test::FlipBits(random, damaged);
        ExpectHarmless(schema, frame, damaged);
      }
    }
  }
  EXPECT_GT(taken_, 20);
}

}  // namespace
}  // namespace parlor::authority
