// The own body: moved at once, put right where the authority's differs, and
// nowhere else.
#include "parlor/authority/prediction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "parlor/authority/values.h"
#include "parlor/random.h"
#include "support/seed.h"

namespace parlor::authority {
namespace {

constexpr int kTickHz = 60;
constexpr std::uint64_t kJump = 1;

float Seconds(Duration time) { return static_cast<float>(time.count()) / 1e9F; }

// Runs, falls, stops at walls: what a small game's movement does.
void Walk(OwnBody& body, const InputFrame& input, Duration step) {
  const float s = Seconds(step);
  Vec3& v = body.velocity;
  const float wanted_x = 6 * static_cast<float>(input.axes[0]) / 32'767;
  const float wanted_z = 6 * static_cast<float>(input.axes[1]) / 32'767;
  const float grip = body.grounded ? 12 * s : 2 * s;
  v.x += (wanted_x - v.x) * grip;
  v.z += (wanted_z - v.z) * grip;
  if (body.grounded && (input.pressed & kJump) != 0) v.y = 5;
  v.y -= 9.81F * s;
  Vec3& p = body.position;
  p = {p.x + v.x * s, p.y + v.y * s, p.z + v.z * s};
  body.grounded = p.y <= 0;
  if (body.grounded) {
    p.y = 0;
    v.y = 0;
  }
  if (std::abs(p.x) > 20) {
    p.x = std::copysign(20.0F, p.x);
    v.x = 0;
  }
}

// As it comes over the wire.
OwnBody Quantised(OwnBody body) {
  for (float* metres : {&body.position.x, &body.position.y, &body.position.z}) {
    *metres = MetresOf(*QuantiseMetres(*metres));
  }
  for (float* speed : {&body.velocity.x, &body.velocity.y, &body.velocity.z}) {
    *speed = FloatOf(*QuantiseFloat(*speed));
  }
  return body;
}

// A metre a second along x, whatever the input.
void Drift(OwnBody& body, const InputFrame&, Duration step) {
  body.position.x += Seconds(step);
}
constexpr float kDriftStep = 1.0F / kTickHz;

InputFrame Input(std::uint32_t seq, std::int16_t x = 0) {
  return {.seq = seq, .axes = {x, 0, 0, 0}};
}

OwnBody At(std::uint32_t seq, float x) {
  return {.seq = seq, .position = {x, 0, 0}, .velocity = {}};
}

class PredictionTest : public testing::Test {
 protected:
  void Steps(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      predictor_.Step(Input(++seq_));
    }
  }
  float x() const { return predictor_.body()->position.x; }
  const PredictionCounters& counters() const { return predictor_.counters(); }

  Predictor predictor_{Drift, kTickHz};
  std::uint32_t seq_ = 0;
};

TEST_F(PredictionTest, MovesAtOnceFromTheFirstOwnBodyOn) {
  Steps(2);
  EXPECT_FALSE(predictor_.body().has_value());
  // What was sent meanwhile is played from there.
  predictor_.Correct(At(0, 5), false);
  EXPECT_NEAR(x(), 5 + 2 * kDriftStep, 1e-5);
  Steps(1);
  EXPECT_NEAR(x(), 5 + 3 * kDriftStep, 1e-5);
  EXPECT_EQ(predictor_.body()->seq, 3u);
  EXPECT_EQ(counters().corrections, 0u);
}

TEST_F(PredictionTest, TheFirstOwnBodyMayBeOfALaterStep) {
  Steps(4);
  predictor_.Correct(At(3, 5), false);
  EXPECT_NEAR(x(), 5 + kDriftStep, 1e-5);
  EXPECT_EQ(counters().corrections, 0u);
}

TEST_F(PredictionTest, UpToTwoCentimetresIsLetBe) {
  predictor_.Correct(At(0, 0), false);
  Steps(10);
  const float before = x();
  predictor_.Correct(At(4, 4 * kDriftStep + 0.0199F), false);
  predictor_.Correct(At(5, 5 * kDriftStep - 0.0199F), false);
  EXPECT_EQ(x(), before);
  EXPECT_EQ(counters().corrections, 0u);
}

TEST_F(PredictionTest, MoreIsPutRightAndLaterStepsPlayedAgain) {
  predictor_.Correct(At(0, 0), false);
  Steps(10);
  predictor_.Correct(At(4, 4 * kDriftStep + 0.0201F), false);
  EXPECT_NEAR(x(), 10 * kDriftStep + 0.0201F, 1e-5);
  EXPECT_EQ(predictor_.body()->seq, 10u);
  EXPECT_EQ(counters().corrections, 1u);
  EXPECT_NEAR(counters().last_m, 0.0201, 1e-5);
  // The record is of the new way.
  predictor_.Correct(At(7, 7 * kDriftStep + 0.0201F), false);
  EXPECT_EQ(counters().corrections, 1u);
  predictor_.Correct(At(8, 3), false);
  EXPECT_EQ(counters().corrections, 2u);
  EXPECT_NEAR(counters().largest_m, 3 - 8 * kDriftStep - 0.0201, 1e-4);
  predictor_.Correct(At(10, 1), false);
  EXPECT_EQ(x(), 1);
}

// The authority had no input in time and repeated the last one.
TEST_F(PredictionTest, TheSameStepMayBePutRightTwice) {
  predictor_.Correct(At(0, 0), false);
  Steps(6);
  predictor_.Correct(At(3, 4 * kDriftStep + 0.01F), false);
  predictor_.Correct(At(3, 4 * kDriftStep + 0.01F), false);
  EXPECT_EQ(counters().corrections, 1u);
  predictor_.Correct(At(3, 6 * kDriftStep + 0.01F), false);
  EXPECT_EQ(counters().corrections, 2u);
  EXPECT_NEAR(x(), 9 * kDriftStep + 0.01F, 1e-5);
}

// It was predicted for no input that the authority had applied none.
TEST_F(PredictionTest, BeforeTheFirstInputNothingIsACorrection) {
  predictor_.Correct(At(0, 0), false);
  Steps(3);
  predictor_.Correct(At(0, 4), false);
  EXPECT_NEAR(x(), 4 + 3 * kDriftStep, 1e-5);
  EXPECT_EQ(counters().corrections, 0u);
}

TEST_F(PredictionTest, ATeleportMovesWithoutBeingACorrection) {
  predictor_.Correct(At(0, 0), false);
  Steps(10);
  predictor_.Correct(At(4, 50), true);
  EXPECT_NEAR(x(), 50 + 6 * kDriftStep, 1e-4);
  EXPECT_EQ(counters().corrections, 0u);
  EXPECT_EQ(counters().teleports, 1u);
  // And is the way from there on.
  predictor_.Correct(At(6, 50 + 2 * kDriftStep), false);
  EXPECT_EQ(counters().corrections, 0u);
}

TEST_F(PredictionTest, AnOwnBodyOlderThanTheRecordIsTaken) {
  predictor_.Correct(At(0, 0), false);
  Steps(100);
  // 37..100 are held: compared as ever.
  predictor_.Correct(At(37, 37 * kDriftStep), false);
  EXPECT_EQ(counters().behind, 0u);
  EXPECT_NEAR(x(), 100 * kDriftStep, 1e-4);
  // Of 36 the place is not; all that came after it is.
  predictor_.Correct(At(36, 30), false);
  EXPECT_EQ(counters().behind, 1u);
  EXPECT_NEAR(x(), 30 + 64 * kDriftStep, 1e-4);
  // Inputs are gone as well: as far as the record goes.
  predictor_.Correct(At(5, 30), false);
  EXPECT_EQ(counters().behind, 2u);
  EXPECT_NEAR(x(), 30 + 64 * kDriftStep, 1e-4);
  EXPECT_EQ(counters().corrections, 0u);
}

TEST_F(PredictionTest, AnOwnBodyOfAnInputNobodySentIsIgnored) {
  predictor_.Correct(At(1, 9), false);
  EXPECT_FALSE(predictor_.body().has_value());
  predictor_.Correct(At(0, 0), false);
  Steps(3);
  const float before = x();
  predictor_.Correct(At(4, 9), true);
  predictor_.Correct(At(0xffffffff, 9), false);
  EXPECT_EQ(x(), before);
  EXPECT_EQ(counters().unsent, 3u);
  EXPECT_EQ(counters().teleports, 0u);
}

TEST_F(PredictionTest, AnotherConnectionStartsTheRecordAgain) {
  predictor_.Correct(At(0, 0), false);
  Steps(10);
  const float before = x();
  predictor_.Restart();
  // It stands where it was until the authority says more.
  EXPECT_EQ(x(), before);
  EXPECT_EQ(predictor_.body()->seq, 0u);
  seq_ = 0;
  Steps(2);
  EXPECT_EQ(x(), before);
  // An input of the old connection is none of this one.
  predictor_.Correct(At(7, 3), false);
  EXPECT_EQ(x(), before);
  predictor_.Correct(At(1, 3), false);
  EXPECT_NEAR(x(), 3 + kDriftStep, 1e-5);
  EXPECT_EQ(counters().corrections, 0u);
}

TEST(Prediction, MovesThatGoNowhereArePutRight) {
  Predictor predictor(
      [](OwnBody& body, const InputFrame&, Duration) {
        body.position.x = std::numeric_limits<float>::quiet_NaN();
      },
      kTickHz);
  predictor.Correct(At(0, 0), false);
  predictor.Step(Input(1));
  predictor.Correct(At(1, 2), false);
  EXPECT_EQ(predictor.body()->position.x, 2);
  EXPECT_EQ(predictor.counters().corrections, 1u);
}

// An authority that runs Walk too, whose own bodies come back some steps later,
// quantised, not all of them.
class Walker {
 public:
  explicit Walker(std::uint64_t seed) : random_(seed) {
    predictor_.Correct(Quantised(truth_), false);
  }

  void Step() {
    const InputFrame input = NextInput();
    predictor_.Step(input);
    Walk(truth_, input, kSecond / kTickHz);
    truth_.seq = input.seq;
    flying_.push_back(Quantised(truth_));
    const std::size_t late = 4 + random_.Below(8);
    if (flying_.size() <= late) return;
    while (flying_.size() > late + 1) flying_.pop_front();
    predictor_.Correct(flying_.front(), false);
  }
  // The authority alone knows: somebody ran into the player.
  void Push(float x) { truth_.position.x += x; }

  double OffM() const {
    const Vec3& a = predictor_.body()->position;
    const Vec3& b = truth_.position;
    return std::hypot(double{a.x} - double{b.x}, double{a.y} - double{b.y},
                      double{a.z} - double{b.z});
  }
  const PredictionCounters& counters() const { return predictor_.counters(); }
  Random& random() { return random_; }

 private:
  InputFrame NextInput() {
    InputFrame input{.seq = ++seq_};
    if (random_.Chance(1, 20)) {
      for (int i = 0; i < 2; ++i) axes_[i] = Axis(random_.Between(-1, 1));
    }
    input.axes = {axes_[0], axes_[1], 0, 0};
    if (random_.Chance(1, 40)) input.pressed = kJump;
    return input;
  }
  static std::int16_t Axis(std::int32_t way) {
    return static_cast<std::int16_t>(way * 32'767);
  }

  Random random_;
  Predictor predictor_{Walk, kTickHz};
  OwnBody truth_{.position = {}, .velocity = {}, .grounded = true};
  std::uint32_t seq_ = 0;
  std::int16_t axes_[2] = {};
  std::deque<OwnBody> flying_;
};

TEST(Prediction, WhatIsQuantisedIsNeverACorrection) {
  const std::uint64_t seed = test::TestSeed();
  Walker walker(seed);
  // Half an hour.
  for (int step = 0; step < 1'800 * kTickHz; ++step) {
    walker.Step();
    ASSERT_EQ(walker.counters().corrections, 0u)
        << "seed " << seed << " step " << step;
    ASSERT_LT(walker.OffM(), Predictor::kToleranceM);
  }
}

// Each push is one correction or, where an own body of before the push was
// replayed over it, never more than a few; and all is right again after it.
TEST(Prediction, PushesArePutRight) {
  const std::uint64_t seed = test::TestSeed();
  Walker walker(seed);
  for (int push = 1; push <= 200; ++push) {
    walker.Push(static_cast<float>(walker.random().Between(5, 100)) / 100);
    for (int step = 0; step < 60; ++step) walker.Step();
    SCOPED_TRACE(testing::Message() << "seed " << seed << " push " << push);
    ASSERT_GE(walker.counters().corrections, 1u);
    ASSERT_LE(walker.counters().corrections, 2u * static_cast<unsigned>(push));
    ASSERT_LT(walker.OffM(), Predictor::kToleranceM);
  }
}

}  // namespace
}  // namespace parlor::authority
