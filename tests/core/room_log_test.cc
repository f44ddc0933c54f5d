#include "parlor/lockstep/room_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/room_script.h"
#include "support/replay_bytes.h"
#include "support/status_matchers.h"

namespace parlor::lockstep {
namespace {

using ::testing::IsEmpty;

class RoomLogTest : public ::testing::Test {
 protected:
  RoomLogTest() { script_.room().SetRecorder(&log_); }

  void Do(const std::string& line) { script_.Do(line); }
  // Eight bytes each time.
  void ComeAndGo(int times) {
    for (int i = 0; i < times; ++i) {
      Do("join b");
      Do("lose b 1000");
    }
  }

  test::MemoryReplaySink sink_;
  test::RoomScript script_{{.players = 3}};
  RoomLog log_{sink_, script_.now(), script_.room(), {}};
};

TEST_F(RoomLogTest, ALobbyThatComesToNothingLeavesNothing) {
  Do("join a");
  ComeAndGo(20);
  Do("lose a 1000");
  log_.Flush();
  EXPECT_THAT(sink_.bytes, IsEmpty());
}

TEST_F(RoomLogTest, AMatchHasItsLobbyToo) {
  Do("join a");
  ComeAndGo(20);
  EXPECT_THAT(sink_.bytes, IsEmpty());
  Do("a START 0 0 0");
  Do("lose a 1000");
  const auto log = ReplayLogReader::Open(sink_.bytes);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->events(), 1u + 2 * 20 + 4);
}

// What has a begin somewhere has an end there as well.
TEST_F(RoomLogTest, ALobbyInWhichTooMuchHappensIsWhole) {
  Do("join a");
  ComeAndGo(4'000);
  EXPECT_GT(sink_.bytes.size(), RoomLog::kLobbyBytesMax);
  Do("lose a 1000");
  const auto log = ReplayLogReader::Open(sink_.bytes);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->events(), 1u + 2 * 4'000 + 2);
  EXPECT_FALSE(log->match());
}

// Each event of a match is a chunk.
TEST_F(RoomLogTest, ItsSinkIsToldThatItIsFull) {
  Do("join a");
  Do("join b");
  Do("a START 0 0 0");
  ReplayEvent event;
  event.seat = 1;
  event.code = 1006;
  for (std::size_t i = 0; i < kReplayChunksMax - 10; ++i) {
    event.kind = i % 2 == 0 ? ReplayKind::kDrop : ReplayKind::kResume;
    log_.OnEvent(script_.now(), event);
  }
  EXPECT_EQ(log_.status(), absl::OkStatus());
  EXPECT_EQ(sink_.full, 0);
  for (int i = 0; i < 20; ++i) {
    event.kind = i % 2 == 0 ? ReplayKind::kDrop : ReplayKind::kResume;
    log_.OnEvent(script_.now(), event);
  }
  EXPECT_THAT(log_.status(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(sink_.full, 1);
}

}  // namespace
}  // namespace parlor::lockstep
