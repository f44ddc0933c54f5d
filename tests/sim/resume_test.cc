// Exactly-once resume: whatever happens to links, tokens and closes, a seat is
// one player's, it is not lost before its hold ends, and not held after.
// PARLOR_SEQUENCES=100000 runs them all.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "sim/resume_run.h"
#include "support/seed.h"

namespace parlor::test {
namespace {

class ResumeTest : public testing::TestWithParam<ResumeAt> {};

TEST_P(ResumeTest, LeavesNoGhostAndLosesNoSeat) {
  const std::uint64_t seed = TestSeed();
  const std::uint64_t sequences = NumberFromEnv("PARLOR_SEQUENCES", 4'000);
  ResumeRun::Figures all;
  for (std::uint64_t i = 0; i < sequences; ++i) {
    ResumeRun run(seed + i, GetParam());
    const std::string broken = run.Run();
    ASSERT_EQ(broken, "")
        << "rerun: PARLOR_SEED=" << seed + i
        << " PARLOR_SEQUENCES=1 sim_resume_test --gtest_filter='*/"
        << (GetParam() == ResumeAt::kRoom ? 0 : 1) << "'";
    const ResumeRun::Figures& figures = run.figures();
    all.drops += figures.drops;
    all.resumes += figures.resumes;
    all.takeovers += figures.takeovers;
    all.wrong_tokens += figures.wrong_tokens;
    all.late_closes += figures.late_closes;
    all.freed += figures.freed;
    all.leaves += figures.leaves;
  }
  const auto count = [](std::uint64_t n) {
    return static_cast<unsigned long long>(n);
  };
  std::printf(
      "%llu sequences: %llu drops, %llu resumes, %llu takeovers, %llu wrong "
      "tokens, %llu late closes, %llu leaves, %llu holds ended\n",
      count(sequences), count(all.drops), count(all.resumes),
      count(all.takeovers), count(all.wrong_tokens), count(all.late_closes),
      count(all.leaves), count(all.freed));
  if (sequences < 1'000) return;
  // The sequences are of use only if they get everywhere.
  EXPECT_GT(all.resumes, sequences);
  EXPECT_GT(all.takeovers, sequences);
  EXPECT_GT(all.wrong_tokens, sequences);
  EXPECT_GT(all.late_closes, sequences);
  EXPECT_GT(all.freed, sequences);
}

INSTANTIATE_TEST_SUITE_P(At, ResumeTest,
                         testing::Values(ResumeAt::kRoom, ResumeAt::kShard));

}  // namespace
}  // namespace parlor::test
