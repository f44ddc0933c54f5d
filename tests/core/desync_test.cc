#include "parlor/lockstep/desync.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parlor/lockstep/state_description.h"
#include "support/desync_party.h"
#include "support/status_matchers.h"
#include "support/toy_game.h"

namespace parlor::test {
namespace {

using lockstep::DesyncDump;
using lockstep::DesyncJudge;
using lockstep::DesyncKind;
using lockstep::DesyncOptions;
using lockstep::DesyncRecorder;
using lockstep::DesyncReport;
using lockstep::DesyncText;
using lockstep::FindDesync;
using lockstep::Match;

constexpr std::size_t kEntities = 50;
// x of entity 9, its lowest bit but two.
constexpr EntityGame::Flip kFlip{.frame = 99, .entity = 9, .bit = 2};

DesyncReport Found(const std::vector<DesyncDump>& dumps,
                   const lockstep::FreshGame& fresh = nullptr) {
  const auto report = FindDesync(dumps, fresh);
  EXPECT_THAT(report, IsOk());
  return report.ok() ? *report : DesyncReport{};
}

TEST(DesyncTest, NothingDiffers) {
  DesyncParty party(3, kEntities);
  party.Start();
  party.RunTo(200);
  const DesyncReport report = Found(party.Dumps());
  EXPECT_EQ(report.kind, DesyncKind::kNone);
  EXPECT_EQ(DesyncText(report), "no difference");
}

TEST(DesyncTest, TheMajorityIsRight) {
  DesyncParty party(4, kEntities);
  party.seats[2].game->flip = kFlip;
  party.Start();
  party.RunTo(140);
  const DesyncReport report = Found(party.Dumps());
  EXPECT_EQ(report.kind, DesyncKind::kState);
  EXPECT_EQ(report.judge, DesyncJudge::kMajority);
  EXPECT_EQ(report.odd, std::vector{2});
  const std::int32_t right = [&] {
    DesyncParty again(1, kEntities);
    again.Start();
    for (std::uint32_t f = 0; f < 100; ++f) {
      again.seats[0].game->Step(f, DesyncParty::Inputs(4, f), 0);
    }
    return again.seats[0].game->world().entities[9].x;
  }();
  EXPECT_EQ(
      DesyncText(report),
      "frame 100: seat 2 differs from seats 0, 1, 3\n  entities[9].x is " +
          std::to_string(right ^ 4) + ", elsewhere " + std::to_string(right));
}

TEST(DesyncTest, OfTwoSeatsTheGameKnowsWhoIsRight) {
  for (const std::size_t odd : {0u, 1u}) {
    DesyncParty party(2, kEntities);
    party.seats[odd].game->flip = kFlip;
    party.Start();
    party.RunTo(140);
    EXPECT_EQ(Found(party.Dumps()).judge, DesyncJudge::kNobody);
    EXPECT_THAT(DesyncText(Found(party.Dumps())),
                testing::StartsWith("frame 100: seat 1 differs from seat 0; "
                                    "who is right is not known\n  entities[9]"
                                    ".x is "));
    const DesyncReport report = Found(party.Dumps(), FreshEntities(kEntities));
    EXPECT_EQ(report.judge, DesyncJudge::kResimulation);
    EXPECT_EQ(report.odd, std::vector{static_cast<int>(odd)});
    EXPECT_EQ(report.frame, 100u);
    EXPECT_TRUE(report.exact);
    ASSERT_EQ(report.sides[1].differences_total, 1u);
    EXPECT_EQ(report.sides[1].differences[0].path, "entities[9].x");
  }
}

TEST(DesyncTest, ThreeSidesAreNoMajority) {
  DesyncParty party(3, kEntities);
  party.seats[0].game->flip = kFlip;
  party.seats[1].game->flip = kFlip;
  party.seats[1].game->flip->bit = 33;
  party.Start();
  party.RunTo(140);
  EXPECT_EQ(Found(party.Dumps()).judge, DesyncJudge::kNobody);
  const DesyncReport report = Found(party.Dumps(), FreshEntities(kEntities));
  EXPECT_EQ(report.odd, (std::vector{0, 1}));
  const std::string text = DesyncText(report);
  EXPECT_THAT(text, testing::HasSubstr("seat 0 and seat 1 differ from seat 2"));
  EXPECT_THAT(text, testing::HasSubstr("\n  seat 0: entities[9].x is "));
  EXPECT_THAT(text, testing::HasSubstr("\n  seat 1: entities[9].y is "));
}

TEST(DesyncTest, OneDumpIsEnoughWithTheGame) {
  DesyncParty party(2, kEntities);
  party.seats[1].game->flip = kFlip;
  party.Start();
  party.RunTo(140);
  std::vector<DesyncDump> dumps = party.Dumps();
  EXPECT_THAT(FindDesync({&dumps[1], 1}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  DesyncReport report = Found({dumps[1]}, FreshEntities(kEntities));
  EXPECT_EQ(report.frame, 100u);
  EXPECT_EQ(report.odd, std::vector{1});
  EXPECT_THAT(
      DesyncText(report),
      testing::StartsWith("frame 100: seat 1 differs from what the game "
                          "makes here\n  entities[9].x is "));
  // The other one did as the game does, and heard another hash.
  dumps[0].desync = 120;
  dumps[0].desync_seat = 1;
  dumps[0].agreed = 90;
  report = Found({dumps[0]}, FreshEntities(kEntities));
  EXPECT_EQ(report.odd, std::vector{1});
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(DesyncText(report),
            "frame 120 or earlier: seat 1 differs from seat 0; run again, the "
            "game makes what seat 0 had");
}

TEST(DesyncTest, AnotherBuildIsRunAgainByEither) {
  DesyncParty party(2, kEntities);
  auto& odd = party.seats[1];
  odd.game = std::make_unique<EntityGame>(kEntities, 2);
  odd.recorder = std::make_unique<DesyncRecorder>(*odd.game);
  party.Start();
  party.RunTo(90);
  for (const std::uint32_t rules : {1u, 2u}) {
    const DesyncReport report =
        Found(party.Dumps(), FreshEntities(kEntities, rules));
    EXPECT_EQ(report.frame, 64u);
    EXPECT_EQ(report.judge, DesyncJudge::kResimulation);
    EXPECT_EQ(report.odd, std::vector{rules == 1 ? 1 : 0});
    ASSERT_EQ(report.sides[1].differences_total, 1u);
    EXPECT_EQ(report.sides[1].differences[0].path, "entities[7].dx");
  }
}

// With only some states kept, hashes still tell the frame, and a fault that
// repeats itself comes out of the frames in between.
TEST(DesyncTest, BetweenTwoStatesTheFramesAreRunAgain) {
  DesyncParty party(3, kEntities, {.state_every = 10});
  auto& odd = party.seats[1];
  odd.game = std::make_unique<EntityGame>(kEntities, 2);
  odd.recorder = std::make_unique<DesyncRecorder>(
      *odd.game, DesyncOptions{.state_every = 10});
  party.Start();
  party.RunTo(90);
  DesyncReport report = Found(party.Dumps());
  EXPECT_EQ(report.frame, 64u);
  EXPECT_TRUE(report.exact);
  EXPECT_EQ(report.shown, 70u);
  EXPECT_THAT(DesyncText(report),
              testing::AllOf(testing::HasSubstr("\n  by frame 70:"),
                             testing::HasSubstr("entities[7].x is ")));
  // Of the right side by this build, of the odd one not: its next state tells.
  report = Found(party.Dumps(), FreshEntities(kEntities));
  EXPECT_EQ(report.shown, 70u);
  // One dump of that build, by the right one: at once.
  report = Found({party.Dumps()[1]}, FreshEntities(kEntities, 1));
  EXPECT_EQ(report.frame, 64u);
  EXPECT_EQ(report.odd, std::vector{1});
}

TEST(DesyncTest, OtherRulesAreSeenAtFrameZero) {
  DesyncParty party(2, kEntities);
  party.Start();
  Match other = party.MatchOf(1);
  other.delay = 3;
  party.seats[1].recorder->OnStart(other);
  const DesyncReport report = Found(party.Dumps());
  EXPECT_EQ(report.kind, DesyncKind::kMatch);
  EXPECT_EQ(DesyncText(report),
            "frame 0: seat 1 differs from seat 0; other rules or options, or "
            "another delay; who is right is not known\n"
            "  delay is 3, elsewhere 2");
}

TEST(DesyncTest, OtherInputsAreTold) {
  DesyncParty party(3, kEntities);
  party.Start();
  party.RunTo(40);
  for (std::size_t s = 0; s < 3; ++s) {
    std::vector<std::uint32_t> inputs = {1, 2, 3};
    if (s == 1) inputs[0] = 9;
    party.seats[s].recorder->Step(40, inputs, 0);
  }
  const DesyncReport report = Found(party.Dumps());
  EXPECT_EQ(report.kind, DesyncKind::kInputs);
  EXPECT_EQ(DesyncText(report),
            "frame 40: seat 1 differs in the inputs from seats 0, 2\n"
            "  inputs[0] is 9, elsewhere 1");
}

// It ran them with its own words, and nobody ever got those.
TEST(DesyncTest, WhoLostItsLinkForGoodIsNotWrong) {
  DesyncParty party(3, kEntities);
  party.Start();
  party.RunTo(40);
  for (std::uint32_t frame = 40; frame < 60; ++frame) {
    for (std::size_t s = 0; s < 2; ++s) {
      const std::vector<std::uint32_t> inputs = {1, 2, 0};
      party.seats[s].recorder->Step(frame, inputs, 4);
    }
    if (frame > 42) continue;
    party.seats[2].recorder->Step(frame, std::vector{1u, 2u, 3u}, 0);
  }
  EXPECT_EQ(Found(party.Dumps()).kind, DesyncKind::kNone);
}

TEST(DesyncTest, AGameWithoutADescriptionIsToldToTheFrame) {
  ToyGame games[2];
  std::vector<DesyncDump> dumps;
  for (ToyGame& game : games) {
    DesyncRecorder recorder(game);
    recorder.OnStart({.seat = static_cast<int>(dumps.size()),
                      .players = 2,
                      .size = 2,
                      .delay = 2});
    for (std::uint32_t frame = 0; frame < 50; ++frame) {
      if (frame == 20 && dumps.empty()) game.Corrupt();
      recorder.Step(frame, std::vector{1u, 2u}, 0);
    }
    dumps.push_back(recorder.Dump());
  }
  EXPECT_EQ(DesyncText(Found(dumps)),
            "frame 21: seat 1 differs from seat 0; who is right is not known");
  const auto fresh = [] { return std::make_unique<ToyGame>(); };
  const DesyncReport report = Found(dumps, fresh);
  EXPECT_EQ(report.odd, std::vector{0});
}

TEST(DesyncTest, DumpsThatDoNotBelongTogetherAreRefused) {
  DesyncParty party(2, kEntities);
  party.Start();
  party.RunTo(10);
  const auto refused = [](const std::vector<DesyncDump>& dumps,
                          const std::string& text) {
    EXPECT_THAT(FindDesync(dumps), StatusIs(absl::StatusCode::kInvalidArgument,
                                            testing::HasSubstr(text)));
  };
  refused({}, "no dumps");
  std::vector<DesyncDump> dumps = party.Dumps();
  refused({dumps[0], dumps[0]}, "seat 0: two dumps");
  dumps[1].match.seed = 8;
  refused(dumps, "seat 1: a dump of another match");
  dumps = party.Dumps();
  dumps[1].frames.clear();
  refused(dumps, "seat 1: no frames");
  // Apart by as much as there can be: a look at each frame between them would
  // take minutes.
  dumps = party.Dumps();
  for (lockstep::DesyncFrame& frame : dumps[1].frames) {
    frame.frame += 0xffff0000;
  }
  refused(dumps, "no frame is in two of the dumps");
}

TEST(DesyncTest, BuildsThatDescribeThemselvesOtherwiseAreTold) {
  DesyncParty party(2, kEntities);
  party.seats[1].game->flip = kFlip;
  party.Start();
  party.RunTo(110);
  std::vector<DesyncDump> dumps = party.Dumps();
  dumps[1].schema->fields[4].fields[0].fields[6].name = "bag";
  const DesyncReport report = Found(dumps);
  EXPECT_EQ(report.kind, DesyncKind::kBuild);
  EXPECT_THAT(
      DesyncText(report),
      testing::HasSubstr("its state is another one from entities[].items on"));
}

// ---- The recorder

struct MemoryRow {
  std::size_t entities;
  std::size_t bytes_max;
  std::size_t frames;  // the least that are kept
  bool keeps_states = true;
};

class DesyncMemoryTest : public testing::TestWithParam<MemoryRow> {};

TEST_P(DesyncMemoryTest, IsBounded) {
  const MemoryRow& row = GetParam();
  DesyncParty party(4, row.entities, {.bytes_max = row.bytes_max});
  party.Start();
  std::size_t least = SIZE_MAX;
  for (std::uint32_t frame = 1; frame < 700; ++frame) {
    party.RunTo(frame);
    ASSERT_LE(party.seats[0].recorder->bytes(), row.bytes_max);
    if (frame > 100) {
      least = std::min(least, party.seats[0].recorder->frames());
    }
  }
  EXPECT_GE(least, row.frames);
  const DesyncDump dump = party.seats[0].recorder->Dump();
  EXPECT_EQ(dump.frames.back().frame, 699u);
  EXPECT_EQ(dump.frames.back().state.has_value(), row.keeps_states);
  for (const auto& frame : dump.frames) {
    EXPECT_EQ(frame.frame, dump.frames[0].frame + (&frame - &dump.frames[0]));
    EXPECT_EQ(frame.ran, frame.frame != 699u);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, DesyncMemoryTest,
                         testing::Values(MemoryRow{1, 1u << 16, 60},
                                         MemoryRow{100, 1u << 18, 40},
                                         MemoryRow{100, 1u << 16, 8},
                                         MemoryRow{200, 1u << 16, 60, false},
                                         MemoryRow{1'000, 1u << 21, 40}),
                         [](const auto& row) {
                           return std::to_string(row.param.entities) + "In" +
                                  std::to_string(row.param.bytes_max);
                         });

struct Mark {
  std::uint32_t sum = 0;
  std::uint16_t beat = 0;
};
template <class Fields>
void DescribeState(Fields& fields, Mark& mark) {
  fields("sum", mark.sum)("beat", mark.beat);
}

// Of 6 bytes: a difference is always larger than what it is the difference of.
class SmallGame final : public lockstep::Game {
 public:
  void OnStart(const Match& match) override { mark_ = {.sum = match.seed}; }
  std::uint32_t Input(std::uint32_t) override { return 0; }
  void Step(std::uint32_t frame, std::span<const std::uint32_t>,
            std::uint32_t) override {
    mark_.sum = mark_.sum * 31 + frame;
    ++mark_.beat;
  }
  std::uint32_t Hash() override { return mark_.sum; }
  lockstep::DescribedState* described() override { return &view_; }

 private:
  Mark mark_;
  lockstep::StateView<Mark> view_{mark_};
};

TEST(DesyncRecorderTest, KeepsAMinuteOfASmallState) {
  SmallGame game;
  DesyncRecorder recorder(game);
  recorder.OnStart({.players = 2, .size = 2, .seed = 7, .delay = 2});
  const std::vector<std::uint32_t> inputs(2);
  for (std::uint32_t f = 0; f < 8'000; ++f) recorder.Step(f, inputs, 0);
  // Less the group that gives way.
  EXPECT_GE(recorder.frames(), 3'600u * 7 / 8);
  const DesyncDump dump = recorder.Dump();
  ASSERT_EQ(dump.frames.size(), recorder.frames());
  EXPECT_EQ(dump.frames.back().frame, 8'000u);
  // They are what the game has there.
  SmallGame again;
  again.OnStart(dump.match);
  std::uint32_t ran = 0;
  for (const lockstep::DesyncFrame& frame : dump.frames) {
    for (; ran < frame.frame; ++ran) again.Step(ran, inputs, 0);
    std::vector<std::byte> state;
    ASSERT_TRUE(again.described()->Save(state));
    ASSERT_EQ(frame.state, state) << frame.frame;
  }
}

TEST(DesyncRecorderTest, StandsStillWhenItIsFrozen) {
  DesyncParty party(1, kEntities);
  party.Start();
  party.RunTo(50);
  DesyncRecorder& recorder = *party.seats[0].recorder;
  recorder.Freeze();
  EXPECT_TRUE(recorder.frozen());
  party.RunTo(5'000);
  EXPECT_EQ(recorder.Dump().frames.back().frame, 50u);
  EXPECT_EQ(recorder.Hash(), party.seats[0].game->Hash());
}

TEST(DesyncRecorderTest, OptionsAreChecked) {
  const auto bad = [](const DesyncOptions& options, const std::string& text) {
    EXPECT_THAT(ValidateOptions(options),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::StartsWith(text)));
  };
  EXPECT_THAT(ValidateOptions(DesyncOptions{}), IsOk());
  bad({.bytes_max = 65'535}, "bytes_max: 65535 is not in 65536..");
  bad({.state_every = 0}, "state_every: 0 is not in 1..");
  bad({.game = "a\n"}, "game: ");
  bad({.game = std::string(65, 'a')}, "game: ");
}

}  // namespace
}  // namespace parlor::test
