// Where a client draws what others move: between snapshots that jitter, get
// lost and stall, by a clock that is not the authority's.
#include "parlor/authority/interpolation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parlor/random.h"
#include "support/seed.h"

namespace parlor::authority {
namespace {

using testing::TestWithParam;
using testing::Values;

constexpr int kTickHz = 60;
constexpr int kSnapshotHz = 20;
constexpr std::uint32_t kTicksASnapshot = kTickHz / kSnapshotHz;
constexpr Duration kMs = kMillisecond;
constexpr Duration kInterval = 50 * kMs;
constexpr TimePoint kStart{Duration(7'000'000'000)};
constexpr std::uint32_t kRow = 9;

Transform Place(float x, float y = 0) {
  return {.position = {x, y, 0}, .rotation = {}};
}

double Metres(const Vec3& a, const Vec3& b) {
  return std::hypot(double{a.x} - double{b.x}, double{a.y} - double{b.y},
                    double{a.z} - double{b.z});
}

double Seconds(Duration time) {
  return static_cast<double>(time.count()) / 1e9;
}

// A snapshot a call, of one row that is where its tick says, exactly when it
// was sent unless told otherwise.
class InterpolationTest : public testing::Test {
 protected:
  static TimePoint SentAt(std::uint32_t tick) {
    return kStart + Duration(std::int64_t{tick} * 1'000'000'000 / kTickHz);
  }
  void Hear(std::uint32_t tick, float x, std::int64_t teleports = 0,
            Duration late = {}) {
    const RowPlace row{kRow, Place(x), teleports};
    drawn_.Add(SentAt(tick) + late, tick, std::span(&row, 1));
  }
  // A metre a second, from tick 0 on.
  void HearMoving(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t tick = first; tick <= last; tick += kTicksASnapshot) {
      Hear(tick, static_cast<float>(tick) / kTickHz);
    }
  }
  float At(TimePoint now) {
    drawn_.SetTime(now);
    const std::optional<Transform> place = drawn_.Drawn(kRow);
    EXPECT_TRUE(place.has_value());
    return place ? place->position.x : -1;
  }

  Interpolator drawn_{kTickHz, kSnapshotHz};
};

TEST_F(InterpolationTest, DrawsOneSendIntervalBehindTheNewest) {
  EXPECT_FALSE(drawn_.Drawn(kRow).has_value());
  drawn_.SetTime(kStart);
  EXPECT_FALSE(drawn_.Drawn(kRow).has_value());
  HearMoving(0, 60);
  EXPECT_NEAR(At(SentAt(60)), 1 - 0.05F, 1e-4);
  EXPECT_EQ(drawn_.behind(), kInterval);
  EXPECT_NEAR(At(SentAt(60) + 20 * kMs), 1 - 0.03F, 1e-4);
  EXPECT_NEAR(At(SentAt(60) + 50 * kMs), 1, 1e-4);
  EXPECT_EQ(drawn_.behind(), Duration{});
  EXPECT_FALSE(drawn_.Drawn(kRow + 1).has_value());
}

TEST_F(InterpolationTest, GoesOnForSixtyMillisecondsAndThenStands) {
  HearMoving(0, 60);
  EXPECT_NEAR(At(SentAt(60) + 80 * kMs), 1.03F, 1e-4);
  EXPECT_NEAR(At(SentAt(60) + 110 * kMs), 1.06F, 1e-4);
  EXPECT_NEAR(At(SentAt(60) + 111 * kMs), 1.06F, 1e-4);
  EXPECT_NEAR(At(SentAt(60) + 5'000 * kMs), 1.06F, 1e-4);
  EXPECT_EQ(drawn_.behind(), -60 * kMs);
}

TEST_F(InterpolationTest, OneSnapshotStands) {
  Hear(0, 4);
  EXPECT_EQ(At(kStart), 4);
  EXPECT_EQ(At(kStart + kSecond), 4);
}

// The stall is of the link: snapshots of its time never come.
TEST_F(InterpolationTest, AStallIsNotPlayedFaster) {
  HearMoving(0, 60);
  EXPECT_NEAR(At(SentAt(60) + 3'000 * kMs), 1.06F, 1e-4);
  HearMoving(240, 300);
  // There at once, and from there on at its own pace.
  float last = At(SentAt(300));
  EXPECT_NEAR(last, 5 - 0.05F, 1e-3);
  for (int frame = 1; frame <= 6; ++frame) {
    const float x = At(SentAt(300) + frame * Duration(16'666'667));
    EXPECT_NEAR(x - last, 1.0F / 60, 1e-3) << frame;
    last = x;
  }
}

// The first snapshot after it, alone, too.
TEST_F(InterpolationTest, TheFirstSnapshotAfterAStallShowsWhereThingsAre) {
  HearMoving(0, 60);
  At(SentAt(60) + 1'900 * kMs);
  Hear(180, 3);
  EXPECT_NEAR(At(SentAt(180)), 3 - 0.05F, 1e-3);
}

TEST_F(InterpolationTest, ATeleportIsNeverDrawnOnTheWay) {
  HearMoving(0, 60);
  Hear(63, 100, 1);
  Hear(66, 100.05F, 1);
  for (Duration late{}; late < 200 * kMs; late += kMs) {
    const float x = At(SentAt(60) + late);
    const bool is_there = late >= 100 * kMs;
    EXPECT_NEAR(x, is_there ? 100 : 1, 0.11F) << late.count();
  }
}

// Two teleports between two snapshots count, though the place may be near.
TEST_F(InterpolationTest, ATeleportAsTheNewestIsNotGoneOnFrom) {
  HearMoving(0, 60);
  Hear(63, 2, 5);
  EXPECT_NEAR(At(SentAt(63) + 49 * kMs), 1, 1e-4);
  EXPECT_EQ(At(SentAt(63) + 50 * kMs), 2);
  EXPECT_EQ(At(SentAt(63) + 100 * kMs), 2);
}

TEST_F(InterpolationTest, RowsAppearAndGo) {
  const std::vector<RowPlace> one = {{5, Place(1), 0}};
  const std::vector<RowPlace> two = {{3, Place(7), 0}, {5, Place(2), 0}};
  const std::vector<RowPlace> moved = {{3, Place(8), 0}};
  drawn_.Add(SentAt(0), 0, one);
  drawn_.Add(SentAt(3), 3, two);
  drawn_.SetTime(SentAt(3) + 25 * kMs);
  EXPECT_NEAR(drawn_.Drawn(5)->position.x, 1.5F, 1e-4);
  // Its time has not come: at its first place.
  EXPECT_EQ(drawn_.Drawn(3)->position.x, 7);
  drawn_.Add(SentAt(6), 6, moved);
  EXPECT_FALSE(drawn_.Drawn(5).has_value());
  EXPECT_EQ(drawn_.Drawn(3)->position.x, 7);
  drawn_.SetTime(SentAt(6) + 25 * kMs);
  EXPECT_NEAR(drawn_.Drawn(3)->position.x, 7.5F, 1e-4);
  // One that went and came back is not blended with what it was.
  drawn_.Add(SentAt(9), 9, one);
  drawn_.SetTime(SentAt(9) + 25 * kMs);
  EXPECT_EQ(drawn_.Drawn(5)->position.x, 1);
}

TEST_F(InterpolationTest, AnotherWorldBeginsAfresh) {
  HearMoving(0, 60);
  At(SentAt(60));
  drawn_.Clear();
  EXPECT_FALSE(drawn_.Drawn(kRow).has_value());
  Hear(63, 50);
  EXPECT_EQ(At(SentAt(63)), 50);
  Hear(66, 51);
  EXPECT_NEAR(At(SentAt(66) + 25 * kMs), 50.5F, 1e-3);
}

TEST_F(InterpolationTest, ALongBlendHasItsEndsExactly) {
  for (std::uint32_t tick = 0; tick < 60 * 60; tick += kTicksASnapshot) {
    Hear(tick, static_cast<float>(tick));
    At(SentAt(tick));
  }
  EXPECT_NEAR(At(SentAt(3'597) + 50 * kMs), 3'597, 0.01F);
}

// ---- Turning

TEST(Nlerp, TakesTheShorterWayAndKeepsItsLength) {
  const float half = std::sqrt(0.5F);
  const Quat none{0, 0, 0, 1};
  const Quat quarter{0, 0, half, half};
  const Quat eighth = Nlerp(none, quarter, 0.5F);
  EXPECT_NEAR(eighth.z, std::sin(std::acos(-1.0) / 8), 1e-6);
  EXPECT_NEAR(eighth.w, std::cos(std::acos(-1.0) / 8), 1e-6);
  // The same rotation, written with the other sign.
  const Quat again = Nlerp(none, {0, 0, -half, -half}, 0.5F);
  EXPECT_NEAR(again.z, eighth.z, 1e-6);
  EXPECT_NEAR(again.w, eighth.w, 1e-6);
  for (const float share : {0.0F, 0.3F, 1.0F, 1.7F, 2.0F, 50.0F}) {
    const Quat q = Nlerp(none, {1, 0, 0, 0}, share);
    EXPECT_NEAR(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w, 1, 1e-5);
  }
  // Beyond, as far again and no further.
  EXPECT_EQ(Nlerp(none, quarter, 2), Nlerp(none, quarter, 9));
}

// ---- The clock

// An authority whose clock runs `ppm` millionths fast sends to a client that
// draws 60 pictures a second. The row goes round a circle.
struct Conditions {
  Duration length = 60 * kSecond;
  int ppm = 0;
  Duration delay = 40 * kMs;
  std::uint32_t jitter_ms = 0;  // 0..this more, evenly
  std::uint32_t loss_percent = 0;
  std::uint64_t seed = 1;
};

struct Seen {
  double jump_m = 0;        // the largest from one picture to the next
  double off_m = 0;         // the furthest from where it was meant to be drawn
  Duration stood{};         // how long, at most, the link made the row stand
  Duration behind_least{};  // of the last minute, smoothed over a second
  Duration behind_most{};
  std::uint64_t back = 0;  // pictures of an earlier moment than the one before
};

constexpr double kSpeed = 5;   // m/s
constexpr double kRadius = 4;  // m

Vec3 OnCircle(double seconds) {
  const double angle = seconds * kSpeed / kRadius;
  return {static_cast<float>(kRadius * std::cos(angle)),
          static_cast<float>(kRadius * std::sin(angle)), 0};
}

class Watcher {
 public:
  explicit Watcher(const Conditions& run) : run_(run), random_(run.seed) {}

  Seen Watch() {
    Send();
    const auto pictures = run_.length.count() * 60 / 1'000'000'000;
    for (std::int64_t picture = 0; picture < pictures; ++picture) {
      const TimePoint now =
          kStart + Duration(picture * 1'000'000'000 / 60 + 3'000'000);
      while (next_ <= now) Send();
      Deliver(now);
      drawn_.SetTime(now);
      if (const auto place = drawn_.Drawn(kRow)) Look(now, *place);
    }
    return seen_;
  }

 private:
  struct Flying {
    TimePoint at;
    std::uint32_t tick;
  };

  // On the authority's clock, as the client's would tell it.
  Duration OnOurs(Duration theirs) const {
    return theirs - theirs / 1'000'000 * run_.ppm;
  }
  void Send() {
    const Duration theirs(std::int64_t{tick_} * 1'000'000'000 / kTickHz);
    const TimePoint sent = kStart + OnOurs(theirs);
    const std::uint32_t jitter_us = random_.Below(run_.jitter_ms * 1'000 + 1);
    if (!random_.Chance(run_.loss_percent, 100)) {
      flying_.push_back({sent + run_.delay + jitter_us * kMicrosecond, tick_});
    }
    tick_ += kTicksASnapshot;
    next_ = kStart +
            OnOurs(Duration(std::int64_t{tick_} * 1'000'000'000 / kTickHz));
  }
  // What overtook another is what counts, as in the state lane.
  void Deliver(TimePoint now) {
    std::sort(flying_.begin(), flying_.end(),
              [](const Flying& a, const Flying& b) { return a.at < b.at; });
    while (!flying_.empty() && flying_.front().at <= now) {
      const Flying one = flying_.front();
      flying_.erase(flying_.begin());
      if (heard_ && one.tick <= *heard_) continue;
      if (heard_) {
        // As late as that snapshot was, at most, against what is usual.
        const Duration gap((one.tick - *heard_) * 1'000'000'000LL / kTickHz);
        const Duration late = run_.jitter_ms * kMs / 2;
        seen_.stood =
            std::max(seen_.stood,
                     gap + late - kInterval - Interpolator::kExtrapolationMax);
      }
      heard_ = one.tick;
      const RowPlace row{
          kRow,
          {.position = OnCircle(static_cast<double>(one.tick) / kTickHz),
           .rotation = {}},
          0};
      drawn_.Add(one.at, one.tick, std::span(&row, 1));
    }
  }
  void Look(TimePoint now, const Transform& place) {
    const Duration moment =
        Duration(std::int64_t{*heard_} * 1'000'000'000 / kTickHz) -
        drawn_.behind();
    // The clock finds itself in the first seconds.
    const bool is_settled = now - kStart > 5 * kSecond;
    if (last_ && is_settled) {
      seen_.jump_m =
          std::max(seen_.jump_m, Metres(last_->position, place.position));
      const double off = Metres(place.position, OnCircle(Seconds(moment)));
      seen_.off_m = std::max(seen_.off_m, off);
      if (moment < moment_) ++seen_.back;
    }
    last_ = place;
    moment_ = moment;
    Measure(now, moment);
  }
  // How long after it was sent a moment is drawn, over the last minute.
  void Measure(TimePoint now, Duration moment) {
    const Duration late = now - (kStart + OnOurs(moment));
    sum_ += late;
    if (++count_ < 60) return;
    const Duration mean = sum_ / count_;
    sum_ = {};
    count_ = 0;
    if (now < kStart + run_.length - 60 * kSecond) return;
    const bool is_first = seen_.behind_most == Duration{};
    seen_.behind_least = is_first ? mean : std::min(seen_.behind_least, mean);
    seen_.behind_most = std::max(seen_.behind_most, mean);
  }

  const Conditions run_;
  Random random_;
  Interpolator drawn_{kTickHz, kSnapshotHz};
  std::uint32_t tick_ = 0;
  TimePoint next_ = kStart;
  std::vector<Flying> flying_;
  std::optional<std::uint32_t> heard_;
  std::optional<Transform> last_;
  Duration moment_{};
  Duration sum_{};
  std::int64_t count_ = 0;
  Seen seen_;
};

// A picture at 60 Hz is 83 mm from the one before where all is even.
constexpr double kEvenJump = kSpeed / 60;

struct LinkRow {
  const char* name;
  std::uint32_t jitter_ms;
  std::uint32_t loss_percent;
  double jump_m;  // the most there may be
  double off_m;   // the chord of a gap is not its arc
};

class LinkTest : public TestWithParam<LinkRow> {};

TEST_P(LinkTest, MovesEvenly) {
  const LinkRow& row = GetParam();
  const std::uint64_t seed = test::TestSeed();
  double largest = 0;
  for (std::uint64_t run = 0; run < 20; ++run) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " run " << run);
    const Seen seen = Watcher({.jitter_ms = row.jitter_ms,
                               .loss_percent = row.loss_percent,
                               .seed = seed * 1'000 + run})
                          .Watch();
    // What it missed while it stood comes at once.
    EXPECT_LE(seen.jump_m, row.jump_m + kSpeed * Seconds(seen.stood));
    EXPECT_LE(seen.off_m, row.off_m);
    EXPECT_EQ(seen.back, 0u);
    largest = std::max(largest, seen.jump_m);
  }
  std::printf("largest jump a picture: %.0f mm\n", largest * 1e3);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, LinkTest,
    Values(LinkRow{"Even", 0, 0, kEvenJump * 1.02, 0.01},
           LinkRow{"Jitter", 30, 0, kEvenJump * 1.2, 0.03},
           LinkRow{"Loss", 0, 10, kEvenJump * 1.2, 0.1},
           LinkRow{"JitterAndLoss", 30, 10, kEvenJump * 1.2, 0.1}),
    [](const auto& row) { return std::string(row.param.name); });

class DriftTest : public TestWithParam<int> {};

// Twice what the worst crystal does: 0.36 s in half an hour.
TEST_P(DriftTest, HalfAnHourApartStaysTogether) {
  const Conditions run{.length = 1'800 * kSecond,
                       .ppm = GetParam(),
                       .jitter_ms = 20,
                       .loss_percent = 2,
                       .seed = test::TestSeed()};
  const Seen seen = Watcher(run).Watch();
  // On the way 40 ms and 10 of jitter, and one interval behind.
  EXPECT_GT(seen.behind_least, 92 * kMs);
  EXPECT_LT(seen.behind_most, 108 * kMs);
  EXPECT_LE(seen.jump_m, kEvenJump * 1.6 + kSpeed * Seconds(seen.stood));
  EXPECT_EQ(seen.back, 0u);
}

INSTANTIATE_TEST_SUITE_P(Ppm, DriftTest, Values(-200, 200));

TEST(TickClock, AnOldFirstSnapshotIsForgotten) {
  TickClock clock(kTickHz, kInterval);
  // The room's last baseline, 0.8 s old, and then what is new.
  clock.Hear(kStart + 800 * kMs, 0);
  clock.Hear(kStart + 800 * kMs, 48);
  EXPECT_EQ(clock.At(kStart + 800 * kMs), clock.Of(48));
}

TEST(TickClock, OneThatWasHeldUpChangesNothing) {
  TickClock clock(kTickHz, kInterval);
  for (std::uint32_t tick = 0; tick < 60; tick += 3) {
    clock.Hear(kStart + clock.Of(tick), tick);
  }
  const Duration before = clock.At(kStart);
  clock.Hear(kStart + clock.Of(60) + 2 * kSecond, 60);
  EXPECT_EQ(clock.At(kStart), before);
}

// A room that was stopped for a minute, and a link that became slower.
TEST(TickClock, WhatStaysLateIsFollowed) {
  for (const Duration late : {60 * kSecond, 400 * kMs}) {
    TickClock clock(kTickHz, kInterval);
    std::uint32_t tick = 0;
    for (; tick < 60; tick += 3) clock.Hear(kStart + clock.Of(tick), tick);
    for (; tick < 75; tick += 3) {
      EXPECT_EQ(clock.At(kStart), Duration{}) << tick;
      clock.Hear(kStart + clock.Of(tick) + late, tick);
    }
    EXPECT_EQ(clock.At(kStart), -late);
  }
}

TEST(TickClock, ASmallChangeIsSlewedTo) {
  TickClock clock(kTickHz, kInterval);
  std::uint32_t tick = 0;
  for (; tick < 60; tick += 3) clock.Hear(kStart + clock.Of(tick), tick);
  Duration last{};
  for (; tick < 600; tick += 3) {
    clock.Hear(kStart + clock.Of(tick) + 150 * kMs, tick);
    EXPECT_LE(last - clock.At(kStart), kInterval / 10);
    last = clock.At(kStart);
  }
  EXPECT_NEAR(Seconds(last), -0.150, 0.001);
}

TEST_F(InterpolationTest, TheMomentDrawnNeverGoesBack) {
  std::uint32_t tick = 0;
  for (; tick < 60; tick += 3) Hear(tick, 0);
  float x = 0;
  Duration drawn = -kSecond;
  for (; tick < 360; tick += 3) {
    const Duration late = 400 * kMs;
    Hear(tick, x += 1, 0, late);
    for (int picture = 0; picture < 3; ++picture) {
      At(SentAt(tick) + late + picture * Duration(16'666'667));
      const Duration moment =
          Duration(std::int64_t{tick} * 1'000'000'000 / kTickHz) -
          drawn_.behind();
      EXPECT_GE(moment, drawn);
      drawn = moment;
    }
  }
  // An interval behind again, of what comes later now.
  EXPECT_NEAR(Seconds(drawn_.behind()), 0.050 - 2 * 0.0166667, 0.001);
}

}  // namespace
}  // namespace parlor::authority
