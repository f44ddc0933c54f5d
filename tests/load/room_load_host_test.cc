// room_load whole, against a real host over the loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "load/load_report.h"
#include "load/program.h"
#include "load/run_program.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "support/counting_allocator.h"
#include "support/net_turns.h"
#include "support/status_matchers.h"
#include "support/steady_now.h"

namespace parlor::test {
namespace {

using load::kExitFailed;
using load::Outcome;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

class RoomLoadTest : public testing::Test {
 protected:
  RoomLoadTest() {
    options.gate.open = true;
    options.gate.joins_per_minute = limits::kAddressRate.ceiling;
    options.shard.room_joins_per_minute = limits::kRoomJoinRate.ceiling;
    options.shard.room.message_rate_per_s = limits::kMessageRate.ceiling;
    options.shard.room.message_burst = limits::kMessageBurst.ceiling;
  }
  void Start() {
    auto created = host::Server::Create(options, entropy_);
    ASSERT_THAT(created, IsOk());
    server = *std::move(created);
  }
  // Every seat was given up in order, else it would be held: the host knows it
  // in one of its next turns.
  void ExpectEmpty() {
    const TimePoint patience = SteadyNow() + kPatience;
    while (server->figures().players > 0 && SteadyNow() < patience) {
      std::this_thread::yield();
    }
    EXPECT_EQ(server->figures().players, 0u);
  }
  // The report of a run in which all was right.
  json Measure(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Outcome outcome = RunRoomLoad(server->port(), std::move(arguments));
    EXPECT_THAT(outcome.code, IsRight()) << outcome.err;
    return json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  }

  host::ServerOptions options;
  std::unique_ptr<host::Server> server;

 private:
  host::OsEntropy entropy_;
};

TEST_F(RoomLoadTest, AnOpenLoopLosesNothing) {
  Start();
  const std::string own = std::to_string(getpid());
  const json report =
      Measure({"--rooms", "4", "--seats", "4", "--rate", "60", "--seconds", "1",
               "--warm-seconds", "0.2", "--server-pid", own});
  EXPECT_EQ(report["lost"], 0);
  EXPECT_EQ(report["violations"], 0);
  // 4 x 4 x 3 x 60 in a second, whenever on a busy machine.
  EXPECT_GT(report["delivered"], 1'000);
  EXPECT_GE(report["seconds"], 1.0);
  EXPECT_GT(report["message_us"]["p50"], 0.0);
  EXPECT_LE(report["message_us"]["p50"], report["message_us"]["max"]);
  EXPECT_GT(report["frame_us"]["p50"], 0.0);
  EXPECT_GT(report["server_cpu_us_per_delivered"], 0.0);
  EXPECT_GT(report["server_rss_bytes"], 1'000'000);
  EXPECT_GT(report["generator"]["cpu_share"], 0.0);
  ExpectEmpty();
}

TEST_F(RoomLoadTest, InStepTooAndAgainInTheSameRooms) {
  options.shards = 2;
  Start();
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(Measure({"--rooms", "4", "--seats", "4", "--phases", "step",
                       "--seconds", "0.3", "--warm-seconds", "0"})["lost"],
              0);
  }
}

TEST_F(RoomLoadTest, AClosedLoopLosesNothing) {
  Start();
  const json report =
      Measure({"--rooms", "4", "--seats", "4", "--loop", "closed", "--seconds",
               "0.5", "--warm-seconds", "0.1"});
  EXPECT_EQ(report["lost"], 0);
  EXPECT_GT(report["delivered"], 200);
  EXPECT_GT(report["frame_us"]["p50"], 0.0);
  EXPECT_TRUE(report["server_cpu_share"].is_null());
}

// Of the host either: see relay_bench.
TEST_F(RoomLoadTest, AllocatesNothingForAMessage) {
  Start();
  const auto run = [this](const char* seconds) {
    const std::uint64_t before = parlor_allocation_count();
    const json report =
        Measure({"--rooms", "2", "--seats", "8", "--loop", "closed",
                 "--seconds", seconds, "--warm-seconds", "0"});
    return std::pair(report["delivered"].get<double>(),
                     static_cast<double>(parlor_allocation_count() - before));
  };
  const auto [few, base] = run("0.1");
  const auto [many, all] = run("1");
  ASSERT_GT(many, few + 1'000);
  EXPECT_LT((all - base) / (many - few), 0.02);
}

TEST_F(RoomLoadTest, TellsWhatAnIdleConnectionCosts) {
  Start();
  // 5 rooms of 4, and one of 3.
  const json report =
      Measure({"--idle", "23", "--seats", "4", "--warm-seconds", "0.1",
               "--server-pid", std::to_string(getpid())});
  EXPECT_EQ(report["idle"]["connections"], 23);
  EXPECT_TRUE(report["idle"]["rss_bytes_per_connection"].is_number());
  ExpectEmpty();
}

TEST_F(RoomLoadTest, ComesFromManyAddresses) {
  options.gate.joins_per_minute = 5;
  Start();
  const Outcome refused =
      RunRoomLoad(server->port(), {"--rooms", "4", "--seats", "4"});
  EXPECT_EQ(refused.code, kExitFailed);
  EXPECT_THAT(refused.err, HasSubstr("the server refused with HTTP 429: too "
                                     "many joins from one address"));
  EXPECT_THAT(refused.out, IsEmpty());
  server.reset();
  Start();
  Measure({"--rooms", "4", "--seats", "4", "--addresses", "4", "--seconds",
           "0.1", "--warm-seconds", "0"});
}

TEST_F(RoomLoadTest, SaysWhyItWasThrownOut) {
  options.shard.room.message_rate_per_s = 20;
  options.shard.room.message_burst = 20;
  Start();
  const Outcome outcome = RunRoomLoad(
      server->port(), {"--rooms", "1", "--seats", "2", "--rate", "200",
                       "--seconds", "1", "--warm-seconds", "0"});
  EXPECT_EQ(outcome.code, kExitFailed);
  EXPECT_THAT(outcome.err,
              HasSubstr("the server closed the connection with 1008"));
  EXPECT_THAT(outcome.err, HasSubstr("--message-rate"));
}

}  // namespace
}  // namespace parlor::test
