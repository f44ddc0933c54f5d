// What a shard's recordings say of its rooms, and what they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parlor/host/shard.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/lockstep/wire.h"
#include "shard_fixture.h"
#include "support/counting_room_store.h"
#include "support/memory_room_records.h"

namespace parlor::host {
namespace {

using lockstep::Kind;
using lockstep::ReplayKind;
using ::testing::ElementsAre;

// "drop 1 1006"; what a field does not say is left out.
std::string Text(const lockstep::ReplayEvent& event) {
  static constexpr const char* kNames[] = {"input", "hash",  "frames", "join",
                                           "start", "begin", "drop",   "resume",
                                           "leave", "end"};
  std::string text = kNames[static_cast<std::size_t>(event.kind)];
  const auto add = [&text](std::uint32_t number) {
    text += " " + std::to_string(number);
  };
  switch (event.kind) {
    case ReplayKind::kInput:
    case ReplayKind::kHash:
      add(static_cast<std::uint32_t>(event.seat));
      add(event.frame);
      add(event.value);
      break;
    case ReplayKind::kStart:
    case ReplayKind::kBegin:
      add(static_cast<std::uint32_t>(event.players));
      add(event.mode);
      if (event.taken != 0) add(event.taken);
      break;
    case ReplayKind::kEnd:
      break;
    default:
      add(static_cast<std::uint32_t>(event.seat));
  }
  if (event.cause == lockstep::ReplayCause::kHoldOver) text += " hold over";
  if (event.code != 0) add(event.code);
  if (!event.text.empty()) text += " " + std::string(event.text);
  return text;
}

class ShardRecordingTest : public ShardTest {
 protected:
  ~ShardRecordingTest() override { shard_.reset(); }

  void Make(const ShardOptions& options = {}) {
    ShardTest::Make(options);
    shard_->SetStore(&store_);
    shard_->SetRecords(&records_);
  }
  void Say(Client& client, const lockstep::Message& message) {
    client.Say(message);
    Settle();
  }
  std::vector<std::string> Recorded(std::size_t index) {
    const auto& bytes = records_.recordings.at(index).bytes;
    auto log = lockstep::ReplayLogReader::Open(bytes, true);
    if (!log.ok()) return {std::string(log.status().message())};
    std::vector<std::string> events;
    lockstep::ReplayEvent event;
    while (log->Next(event)) events.push_back(Text(event));
    if (log->torn_at()) events.emplace_back("(torn)");
    return events;
  }

  test::CountingRoomStore store_;
  test::MemoryRoomRecords records_;
};

TEST_F(ShardRecordingTest, SaysAllThatHappensInARoom) {
  Make();
  auto a = Join(3, 3);
  auto b = Join(3, 3);
  Say(*a, {.kind = Kind::kStart, .players = 2, .mode = 6});
  Say(*a, {.kind = Kind::kInput, .frame = 2, .value = 70});
  Say(*b, {.kind = Kind::kHash, .frame = 0, .value = 9});
  Say(*b, {.kind = Kind::kHash, .frame = 0, .value = 8});     // stale
  Say(*b, {.kind = Kind::kWelcome, .frame = 5, .value = 8});  // ignored
  b->connection->Abort();
  Settle();
  auto back = Join(3, 3, lockstep::TokenText(b->Last(Kind::kWelcome)->value));
  a->connection->Close(CloseReason::kNormal);
  Settle();
  back->connection->Abort();
  Settle();
  now_ += kSecond * 20;
  shard_->OnAlarm(now_);
  EXPECT_EQ(shard_->rooms(), 0u);
  ASSERT_EQ(records_.recordings.size(), 1u);
  EXPECT_EQ(records_.recordings[0].number, 3u);
  EXPECT_THAT(
      Recorded(0),
      ElementsAre("join 0", "join 1", "start 2 6", "begin 2 6 3",
                  "input 0 2 70", "hash 1 0 9", "drop 1 1006", "resume 1",
                  "leave 0 1000", "drop 1 1006", "leave 1 hold over", "end"));
}

TEST_F(ShardRecordingTest, SaysWhoIsPutOutAndWhyARoomEnds) {
  Make();
  auto a = Join(1, 2);
  auto b = Join(1, 2);
  b->connection->Send(Lane::kReliable, MessageKind::kBinary,
                      std::vector<std::byte>(13));
  Settle();
  now_ += limits::kIdleMs.fallback * kMillisecond;
  shard_->OnAlarm(now_);
  EXPECT_THAT(Recorded(0),
              ElementsAre("join 0", "join 1", "begin 2 0 3",
                          "leave 1 1009 message size", "end 1001 room idle"));
}

TEST_F(ShardRecordingTest, ALobbyThatComesToNothingLeavesNothing) {
  Make();
  auto a = Join(1, 2);
  a->connection->Close(CloseReason::kNormal);
  Settle();
  auto b = Join(1, 2);
  shard_->EndAll(now_, CloseReason::kHostLeft);
  ASSERT_EQ(records_.recordings.size(), 2u);
  EXPECT_TRUE(records_.recordings[0].bytes.empty());
  EXPECT_TRUE(records_.recordings[1].bytes.empty());
}

// START is said as often as one likes: what is held back has an end.
TEST_F(ShardRecordingTest, ALongLobbyIsWritten) {
  Make();
  auto a = Join(1, 3);
  for (int i = 0; i < 10'000; ++i) {
    now_ += 10 * kMillisecond;
    Say(*a, {.kind = Kind::kStart, .players = 3});
  }
  EXPECT_GT(records_.recordings[0].bytes.size(), 16'000u);
  EXPECT_GT(Recorded(0).size(), 4'000u);
}

TEST_F(ShardRecordingTest, TheNextProcessRecordsAnewFromWhatWasKept) {
  Make();
  auto a = Join(1, 2);
  auto b = Join(1, 2);
  Say(*a, {.kind = Kind::kInput, .frame = 2, .value = 70});
  shard_->EndAll(now_, CloseReason::kRestart);
  EXPECT_EQ(Recorded(0).back(), "end 1012 restart");

  Make();
  for (const KeptRoom& room : store_.kept.rooms()) {
    EXPECT_TRUE(shard_->Restore(now_, room.number, room.state));
  }
  // It is there before anybody comes back.
  ASSERT_EQ(records_.recordings.size(), 2u);
  auto log =
      lockstep::ReplayLogReader::Open(records_.recordings[1].bytes, true);
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE(log->kept().has_value());
  ASSERT_EQ(log->kept()->seats.size(), 2u);
  EXPECT_EQ(log->kept()->seats[0].last_input, 2);
  EXPECT_EQ(log->kept()->seats[0].inputs.size(), 1u);
  auto back = Join(1, 2, lockstep::TokenText(a->Last(Kind::kWelcome)->value));
  EXPECT_THAT(Recorded(1), ElementsAre("resume 0", "(torn)"));
}

// What is kept is recorded too, so that the next process's recording joins.
TEST_F(ShardRecordingTest, ReachesAsFarAsWhatIsKept) {
  Make();
  auto a = Join(1, 2);
  auto b = Join(1, 2);
  Say(*a, {.kind = Kind::kInput, .frame = 2, .value = 70});
  EXPECT_EQ(Recorded(0)[3], "(torn)");
  Pass(Shard::kKeepEvery);
  EXPECT_EQ(store_.State(1).seats[0].last_input, 2);
  EXPECT_EQ(Recorded(0)[3], "input 0 2 70");
}

// std::ranges::search does not compile with clang 14.
bool Contains(const std::vector<std::byte>& all,
              const std::vector<std::byte>& part) {
  return std::search(all.begin(), all.end(), part.begin(), part.end()) !=
         all.end();
}

TEST_F(ShardRecordingTest, NoTokenIsInIt) {
  Make();
  auto a = Join(1, 2);
  auto b = Join(1, 2);
  const std::uint32_t tokens[] = {a->Last(Kind::kWelcome)->value,
                                  b->Last(Kind::kWelcome)->value};
  auto again = Join(1, 2, lockstep::TokenText(tokens[0]));
  shard_->EndAll(now_, CloseReason::kRestart);
  Make();
  for (const KeptRoom& room : store_.kept.rooms()) {
    EXPECT_TRUE(shard_->Restore(now_, room.number, room.state));
  }
  auto back = Join(1, 2, lockstep::TokenText(tokens[1]));
  for (const auto& recorded : records_.recordings) {
    EXPECT_GT(recorded.bytes.size(), 100u);
    for (const std::uint32_t token : tokens) {
      std::vector<std::byte> bytes(4);
      StoreU32(bytes.data(), token);
      EXPECT_FALSE(Contains(recorded.bytes, bytes));
      std::ranges::reverse(bytes);
      EXPECT_FALSE(Contains(recorded.bytes, bytes));
    }
  }
}

TEST_F(ShardRecordingTest, ASinkThatFailsIsNoConcernOfTheMatch) {
  Make();
  auto a = Join(1, 2);
  records_.killed = true;
  auto b = Join(1, 2);
  for (std::uint32_t frame = 2; frame < 400; ++frame) {
    now_ += kSecond / 60;
    Say(*a, {.kind = Kind::kInput, .frame = frame, .value = frame});
  }
  EXPECT_EQ(b->Last(Kind::kInput)->frame, 399u);
  records_.killed = false;
  b->connection->Abort();
  Settle();
  EXPECT_TRUE(records_.recordings[0].bytes.empty());
}

}  // namespace
}  // namespace parlor::host
