// What a test that failed in a TestWorld leaves behind, from the outside.
#include "parlor/sim/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/child_process.h"
#include "support/files.h"
#include "support/temp_folder.h"

namespace parlor::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds kPatience{60};

struct Outcome {
  int code;
  std::string output;
};

// `environment` is "PARLOR_SEED=7" and the like.
Outcome RunMatches(const std::vector<std::string>& environment,
                   const std::string& filter) {
  std::vector<std::string> arguments = {"/usr/bin/env", "-u", "PARLOR_SEED",
                                        "-u", "PARLOR_TRACE_DIR"};
  arguments.insert(arguments.end(), environment.begin(), environment.end());
  arguments.push_back(PARLOR_FAILING_MATCH);
  arguments.push_back("--gtest_filter=" + filter);
  test::ChildProcess child(arguments);
  const std::optional<int> code = child.AwaitEnd(kPatience);
  return {.code = code.value_or(-1), .output = child.output()};
}

constexpr const char* kFails = "Builds/FailingMatches.Fails/0";

TEST(TestWorldTest, AFailureSaysItsSeedAndHowToRunItAgain) {
  const Outcome outcome = RunMatches({}, kFails);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output,
              HasSubstr("the states differ before the first frame"));
  const std::string command = std::string("PARLOR_SEED=5 ") +
                              PARLOR_FAILING_MATCH +
                              " --gtest_filter=" + kFails + "\n";
  EXPECT_THAT(outcome.output,
              HasSubstr("the world's seed is 5; run it again:\n" + command));
}

TEST(TestWorldTest, TheCommandRunsThatTestAgain) {
  const Outcome outcome =
      RunMatches({"PARLOR_SEED=18446744073709551615"}, kFails);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("seed 18446744073709551615\n"));
  EXPECT_THAT(outcome.output, HasSubstr("PARLOR_SEED=18446744073709551615 "));
  EXPECT_THAT(outcome.output, HasSubstr("1 FAILED TEST\n"));
}

TEST(TestWorldTest, WhatPassesSaysNothing) {
  const Outcome outcome =
      RunMatches({"PARLOR_SEED=0x10"}, "FailingMatch.Passes");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("seed 16\n"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("PARLOR_SEED")));
}

TEST(TestWorldTest, ASeedThatIsNoneFailsTheTest) {
  for (const std::string text :
       {"", "abc", "7x", "-1", "0x", " 7", "1e3", "18446744073709551616"}) {
    SCOPED_TRACE(text);
    const Outcome outcome =
        RunMatches({"PARLOR_SEED=" + text}, "FailingMatch.Passes");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.output, HasSubstr("PARLOR_SEED is \"" + text +
                                          "\", which is no number from 0 to "
                                          "18446744073709551615"));
  }
}

TEST(TestWorldTest, AFailureLeavesItsTraceInTheFolder) {
  const test::TempFolder folder;
  const std::string path = folder.At("Builds_FailingMatches.Fails_0-9");
  const Outcome outcome = RunMatches(
      {"PARLOR_SEED=9", "PARLOR_TRACE_DIR=" + folder.path()}, "*FailingMatch*");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("-9.txt\n"));
  EXPECT_THAT(outcome.output, HasSubstr("-9.svg\n"));
  EXPECT_THAT(test::ReadFile(path + ".txt"), HasSubstr("WELCOME seat 1 of 2"));
  EXPECT_THAT(test::ReadFile(path + ".svg"), HasSubstr("<svg"));
  EXPECT_FALSE(std::filesystem::exists(folder.At("FailingMatch.Passes-9.txt")))
      << "of what passed, nothing";
}

TEST(TestWorldTest, AFolderThatIsNoneIsTold) {
  const Outcome outcome =
      RunMatches({"PARLOR_TRACE_DIR=/nowhere/at/all"}, kFails);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output,
              HasSubstr("trace: cannot write /nowhere/at/all/"));
}

}  // namespace
}  // namespace parlor::sim
