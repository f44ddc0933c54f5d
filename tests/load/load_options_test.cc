#include "load/load_options.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "support/status_matchers.h"

namespace parlor::load {
namespace {

using testing::HasSubstr;

absl::StatusOr<LoadOptions> Parse(std::vector<const char*> arguments) {
  return ParseLoadOptions(arguments);
}

TEST(LoadOptionsTest, HasDefaultsForAllButTheServer) {
  const auto options = Parse({"--connect", "127.0.0.1:8787"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->host, "127.0.0.1");
  EXPECT_EQ(options->port, 8'787);
  EXPECT_EQ(options->rooms, 64u);
  EXPECT_EQ(options->seats, 8);
  EXPECT_EQ(options->rate, 60u);
  EXPECT_EQ(options->phases, LoadOptions::Phases::kSpread);
  EXPECT_EQ(options->loop, LoadOptions::Loop::kOpen);
  EXPECT_EQ(options->timed_seats(), 1);
  EXPECT_EQ(options->seconds, 10);
  EXPECT_EQ(options->warm_seconds, 2);
  EXPECT_FALSE(options->server_pid.has_value());
  EXPECT_FALSE(options->cpu.has_value());
  EXPECT_EQ(options->addresses, 1);
  EXPECT_EQ(options->idle, 0u);
  EXPECT_EQ(options->seed, 1u);
  EXPECT_FALSE(options->json);
}

TEST(LoadOptionsTest, TakesEveryFlag) {
  const auto options = Parse({"--json",
                              "--connect",
                              "127.1.2.3:1",
                              "--rooms",
                              "250",
                              "--seats",
                              "4",
                              "--rate",
                              "240",
                              "--phases",
                              "step",
                              "--loop",
                              "closed",
                              "--seconds",
                              "2.5",
                              "--warm-seconds",
                              "0",
                              "--cpu",
                              "0",
                              "--server-pid",
                              "17",
                              "--idle",
                              "2000",
                              "--addresses",
                              "16",
                              "--seed",
                              "18446744073709551615"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->host, "127.1.2.3");
  EXPECT_EQ(options->port, 1);
  EXPECT_EQ(options->rooms, 250u);
  EXPECT_EQ(options->seats, 4);
  EXPECT_EQ(options->rate, 240u);
  EXPECT_EQ(options->phases, LoadOptions::Phases::kStep);
  EXPECT_EQ(options->loop, LoadOptions::Loop::kClosed);
  EXPECT_EQ(options->timed_seats(), 4);
  EXPECT_EQ(options->seconds, 2.5);
  EXPECT_EQ(options->warm_seconds, 0);
  EXPECT_EQ(options->server_pid, 17);
  EXPECT_EQ(options->cpu, 0);
  EXPECT_EQ(options->addresses, 16);
  EXPECT_EQ(options->idle, 2'000u);
  EXPECT_EQ(options->seed, 18'446'744'073'709'551'615u);
  EXPECT_TRUE(options->json);
}

struct Bad {
  const char* name;
  std::vector<const char*> arguments;  // behind --connect 127.0.0.1:1
  const char* says;
};

class BadLoadOptionsTest : public testing::TestWithParam<Bad> {};

TEST_P(BadLoadOptionsTest, AreToldInWords) {
  std::vector<const char*> arguments = {"--connect", "127.0.0.1:1"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(),
                   GetParam().arguments.end());
  EXPECT_THAT(Parse(arguments), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLoadOptionsTest,
    testing::Values(
        Bad{"unknown", {"--room", "1"}, "--room: is no flag of room_load"},
        Bad{"unknown_last", {"-x"}, "-x: is no flag of room_load"},
        Bad{"no_value", {"--rooms"}, "--rooms: needs a value"},
        Bad{"rooms_none",
            {"--rooms", "0"},
            "--rooms 0: is not a whole number from 1 to 65536"},
        Bad{"rooms_text", {"--rooms", "8x"}, "--rooms 8x: is not"},
        Bad{"rooms_sign", {"--rooms", "-1"}, "--rooms -1: is not"},
        Bad{"rooms_empty", {"--rooms", ""}, "--rooms : is not"},
        Bad{"control", {"--rooms", "\033[2J"}, "--rooms \\x1b[2J: is not"},
        Bad{"seats_one",
            {"--seats", "1"},
            "--seats 1: is not a whole number from 2 to 32"},
        Bad{"seats_many", {"--seats", "33"}, "from 2 to 32"},
        Bad{"rate", {"--rate", "1001"}, "from 1 to 1000"},
        Bad{"phases",
            {"--phases", "both"},
            "--phases both: is not spread or step"},
        Bad{"loop", {"--loop", "half"}, "--loop half: is not open or closed"},
        Bad{"timed_none",
            {"--timed", "0"},
            "--timed 0: is not a whole number from 1 to 32, or all"},
        Bad{"timed_word", {"--timed", "both"}, "--timed both: is not"},
        Bad{"timed_many",
            {"--timed", "5", "--seats", "4"},
            "--timed 5: a room has only --seats 4"},
        Bad{"timed_closed",
            {"--timed", "1", "--loop", "closed"},
            "--timed 1: not with --loop closed, which times all seats"},
        Bad{"timed_closed_all",
            {"--loop", "closed", "--timed", "all"},
            "--timed all: not with --loop closed"},
        Bad{"seconds",
            {"--seconds", "0"},
            "--seconds 0: is not a number of seconds from 0.1 to 86400"},
        Bad{"seconds_nan", {"--seconds", "nan"}, "--seconds nan: is not"},
        Bad{"warm", {"--warm-seconds", "-1"}, "--warm-seconds -1: is not"},
        Bad{"connect_name",
            {"--connect", "localhost:1"},
            "--connect localhost:1: is not a numeric IPv4 address and a port"},
        Bad{"connect_port", {"--connect", "127.0.0.1:65536"}, "is not"},
        Bad{"connect_no_port", {"--connect", "127.0.0.1"}, "is not"},
        Bad{"idle_pid", {"--idle", "8"}, "--idle 8: needs --server-pid"},
        Bad{"addresses",
            {"--connect", "10.0.0.1:1", "--addresses", "2"},
            "--addresses 2: only with --connect to an address of 127/8"},
        Bad{"too_many",
            {"--rooms", "65536", "--seats", "32"},
            "2097152 connections"}),
    [](const auto& row) { return row.param.name; });

TEST(LoadOptionsTest, TimesSomeSeatsOfEachRoom) {
  const auto some =
      Parse({"--connect", "127.0.0.1:1", "--timed", "3", "--seats", "4"});
  ASSERT_THAT(some, IsOk());
  EXPECT_EQ(some->timed_seats(), 3);
  // All but one, which comes round.
  for (std::uint32_t room = 0; room < 8; ++room) {
    for (int seat = 0; seat < 4; ++seat) {
      EXPECT_EQ(some->IsTimed(room, seat),
                seat != static_cast<int>((room + 3) % 4))
          << "room " << room << ", seat " << seat;
    }
  }
  const auto all = Parse({"--connect", "127.0.0.1:1", "--timed", "all"});
  ASSERT_THAT(all, IsOk());
  EXPECT_EQ(all->timed_seats(), 8);
  EXPECT_TRUE(all->IsTimed(3, 2));
}

TEST(LoadOptionsTest, NeedsAServer) {
  EXPECT_THAT(Parse({}), StatusIs(absl::StatusCode::kInvalidArgument,
                                  HasSubstr("--connect is missing")));
}

}  // namespace
}  // namespace parlor::load
