#include "load/load_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "load/load.h"
#include "load/load_options.h"

namespace parlor::load {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Two seconds of 1,000 messages a second, 2 us each.
class LoadReportTest : public testing::Test {
 protected:
  LoadReportTest() {
    options.rooms = 4;
    options.seats = 3;
    result.seconds = 2;
    result.delivered = 2'000;
    for (int us = 1; us <= 1'000; ++us) result.message.Add(us * 1'000);
    result.frame.Add(5'000);
    result.server = ServerFigures{.cpu_ns = 4'000'000,
                                  .before = {1'000'000, 500'000},
                                  .after = {3'000'000, 600'000}};
    result.own_cpu_ns = 500'000'000;
    result.late.Add(7'000);
  }

  json Json() const { return json::parse(JsonReport(options, result)); }

  LoadOptions options;
  LoadResult result;
};

TEST_F(LoadReportTest, JsonHasEveryFigure) {
  json report = Json();
  // 1/64 is what the histogram may be off.
  EXPECT_NEAR(report["message_us"]["p50"].get<double>(), 500, 8);
  EXPECT_NEAR(report["message_us"]["p99"].get<double>(), 990, 16);
  EXPECT_NEAR(report["message_us"]["p999"].get<double>(), 999, 16);
  EXPECT_EQ(report["message_us"]["max"], 1'000);
  report.erase("message_us");
  EXPECT_EQ(report, json::parse(R"({
    "rooms": 4, "seats": 3, "rate": 60, "phases": "spread", "loop": "open",
    "timed": 1,
    "seconds": 2.0, "delivered": 2000, "delivered_per_s": 1000.0, "lost": 0,
    "violations": 0,
    "frame_us": {"p50": 5.0, "p99": 5.0, "p999": 5.0, "max": 5.0},
    "server_cpu_us_per_delivered": 2.0, "server_cpu_share": 0.002,
    "server_rss_bytes": 3000000,
    "generator": {"cpu_share": 0.25, "late_us": {"p99": 7.0, "max": 7.0},
                  "saturated": false}})"));
}

TEST_F(LoadReportTest, IsNullWhereTheProcessIsNotKnown) {
  result.server.reset();
  EXPECT_TRUE(Json()["server_cpu_us_per_delivered"].is_null());
  EXPECT_TRUE(Json()["server_cpu_share"].is_null());
  EXPECT_TRUE(Json()["server_rss_bytes"].is_null());
  EXPECT_THAT(TextReport(options, result), Not(HasSubstr("server")));
}

TEST_F(LoadReportTest, TellsWhatAnIdleConnectionCosts) {
  options.idle = 1'000;
  result.delivered = 0;
  result.seconds = 0;
  EXPECT_EQ(Json()["idle"], json::parse(R"({"connections": 1000,
                                "rss_bytes_per_connection": 2000.0})"));
  EXPECT_THAT(TextReport(options, result), HasSubstr("2000 bytes of it"));
  EXPECT_EQ(ExitCode(options, result), kExitRight);
}

TEST_F(LoadReportTest, TextHasThemToo) {
  const std::string text = TextReport(options, result);
  EXPECT_THAT(text, HasSubstr("4 rooms x 3 seats, 60 frames a second"));
  EXPECT_THAT(text, HasSubstr("2000, 1000 a second"));
  EXPECT_THAT(text, HasSubstr("2.000 us a delivered message, 0.002 of a core"));
  EXPECT_THAT(text, HasSubstr("1.0 MB (PSS 0.5) before, 3.0 MB (PSS 0.6)"));
  EXPECT_THAT(text, HasSubstr("0.250 of a core, late by 7.0 us (p99)"));
  EXPECT_EQ(Remarks(options, result), "");
}

TEST_F(LoadReportTest, TellsHowManySeatsAreTimed) {
  EXPECT_THAT(TextReport(options, result),
              HasSubstr("1 of the 3 seats of each room; all are checked"));
  options.timed = 2;
  EXPECT_THAT(TextReport(options, result), HasSubstr("2 of the 3 seats"));
  EXPECT_EQ(Json()["timed"], 2);
  options.timed = LoadOptions::kAllSeats;
  EXPECT_THAT(TextReport(options, result), HasSubstr("all seats"));
  EXPECT_EQ(Json()["timed"], 3);
  options.timed.reset();
  options.loop = LoadOptions::Loop::kClosed;
  EXPECT_EQ(Json()["timed"], 3);
}

TEST_F(LoadReportTest, IsSaturatedByItsShareOfTheCore) {
  result.own_cpu_ns = 1'700'000'000;
  EXPECT_EQ(ExitCode(options, result), kExitRight);
  result.own_cpu_ns = 1'702'000'000;
  EXPECT_EQ(ExitCode(options, result), kExitSaturated);
  EXPECT_EQ(Json()["generator"]["saturated"], true);
  EXPECT_THAT(Remarks(options, result),
              HasSubstr("SATURATED: this program used 0.85 of its core"));
  EXPECT_THAT(Remarks(options, result),
              HasSubstr("these figures are of the generator, not of the "
                        "server"));
}

TEST_F(LoadReportTest, IsSaturatedByLateSends) {
  // A step of 16.7 ms; one message of a hundred.
  for (int i = 0; i < 98; ++i) result.late.Add(1'000);
  result.late.Add(5'000'000);
  EXPECT_EQ(ExitCode(options, result), kExitRight);
  result.late.Add(5'000'000);
  EXPECT_EQ(ExitCode(options, result), kExitSaturated);
  EXPECT_THAT(
      Remarks(options, result),
      HasSubstr("SATURATED: one message in a hundred was sent 5000.0 us "
                "late or later"));
  options.loop = LoadOptions::Loop::kClosed;
  EXPECT_EQ(ExitCode(options, result), kExitRight);
}

// All are due at one moment: the last may be sent 12.5 ms later.
TEST_F(LoadReportTest, InStepMostOfAStepIsTheTimeToSend) {
  options.phases = LoadOptions::Phases::kStep;
  for (int i = 0; i < 98; ++i) result.late.Add(12'000'000);
  result.late.Add(13'000'000);
  EXPECT_EQ(ExitCode(options, result), kExitRight);
  result.late.Add(13'000'000);
  EXPECT_EQ(ExitCode(options, result), kExitSaturated);
}

TEST_F(LoadReportTest, AWrongServerComesFirst) {
  result.own_cpu_ns = 2'000'000'000;
  for (int i = 0; i < 10; ++i) result.findings.Add(2, 1, [] { return "late"; });
  EXPECT_EQ(ExitCode(options, result), kExitWrong);
  EXPECT_EQ(Json()["violations"], 10);
  EXPECT_THAT(Remarks(options, result), HasSubstr("room 2, seat 1: late\n"));
  EXPECT_THAT(Remarks(options, result), HasSubstr("and 2 more"));
}

TEST_F(LoadReportTest, ALostMessageIsWrong) {
  result.lost = 1;
  EXPECT_EQ(ExitCode(options, result), kExitWrong);
}

}  // namespace
}  // namespace parlor::load
