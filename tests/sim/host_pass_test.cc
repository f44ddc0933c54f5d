// Passes at a host in virtual time: the gate reads them, the store, which may
// take its time or never answer, says whether they let in.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "logic/pass.h"
#include "parlor/connector.h"
#include "parlor/host/access_store.h"
#include "parlor/host/memory_access_store.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/host_fixture.h"
#include "support/lockstep_client.h"

namespace parlor::test {
namespace {

using host::PassAnswer;
using sim::kWorldBeginsS;
using ::testing::IsEmpty;

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";

// Answers when the test says so.
class SlowStore final : public host::AccessStore {
 public:
  void WatchCodes(CodesHook hook) override { watched = hook != nullptr; }
  void UsePass(const host::PassUse& /*use*/, PassHook answer) override {
    asked.push_back(std::move(answer));
  }
  void Refresh() override {}

  std::vector<PassHook> asked;
  bool watched = false;
};

class SimHostPassTest : public SimHostTest {
 protected:
  SimHostPassTest() {
    options_.gate = {.passes = true, .pass_secret = std::string(kSecret)};
  }

  void UseMemory() {
    memory_ = std::make_shared<host::MemoryAccessStore>(
        [this] {
          return kWorldBeginsS + executor_.now().time_since_epoch() / kSecond;
        },
        [this](std::function<void()> task) {
          executor_.After(kMillisecond, std::move(task));
        });
    options_.access_store = memory_;
  }
  void UseSlow() {
    slow_ = std::make_shared<SlowStore>();
    options_.access_store = slow_;
  }

  static Hello WithPass(std::uint64_t id, std::string_view device = "a",
                        std::int64_t lasts_s = 3'600) {
    Hello hello{.room = 1, .players = 8};
    hello.access =
        "pass." +
        host::WritePass({.id = id, .expires_s = kWorldBeginsS + lasts_s},
                        kSecret);
    hello.device = "device.0123456789abcdef" + std::string(device);
    return hello;
  }

  std::shared_ptr<host::MemoryAccessStore> memory_;
  std::shared_ptr<SlowStore> slow_;
};

INSTANTIATE_TEST_SUITE_P(Via, SimHostPassTest, ::testing::ValuesIn(kAllVias),
                         ViaName);

TEST_P(SimHostPassTest, LetsInTheDeviceThatUsedItFirst) {
  UseMemory();
  EXPECT_EQ(Answer(WithPass(1, "a")), "open");
  EXPECT_EQ(Answer(WithPass(1, "a")), "open");
  EXPECT_EQ(Answer(WithPass(1, "b")), "refused 403");
  EXPECT_EQ(Answer(WithPass(2, "b")), "open");
  Hello forged = WithPass(3);
  forged.access.back() = forged.access.back() == 'A' ? 'B' : 'A';
  EXPECT_EQ(Answer(forged), "refused 403");
}

TEST_P(SimHostPassTest, ExpiresByTheWorldsTime) {
  UseMemory();
  const Hello hello = WithPass(1, "a", 3'600);
  RunFor(3'598'000);
  EXPECT_EQ(Answer(hello), "open");
  RunFor(2'000);
  EXPECT_EQ(Answer(hello), "refused 403");
}

TEST_P(SimHostPassTest, IsRevokedWhileTheHostRuns) {
  UseMemory();
  EXPECT_EQ(Answer(WithPass(1)), "open");
  memory_->RevokePass(1, kWorldBeginsS + 3'600);
  EXPECT_EQ(Answer(WithPass(1)), "refused 403");
}

TEST_P(SimHostPassTest, CodesOfTheStoreLetInFromTheStart) {
  UseMemory();
  ASSERT_TRUE(memory_->AddCode("GOODCODE42").ok());
  const Hello hello{.room = 1, .players = 8, .access = std::string(kCode)};
  EXPECT_EQ(Answer(hello), "open");
  ASSERT_TRUE(memory_->RevokeCode("GOODCODE42").ok());
  EXPECT_EQ(Answer(hello), "refused 403");
  // The next process watches it anew.
  host_->CrashNow(sim::Host::Crash::kProcess);
  ASSERT_TRUE(memory_->AddCode("GOODCODE42").ok());
  host_->Start();
  EXPECT_EQ(Answer(hello), "open");
}

// Those who wait are connected and have no seat.
TEST_P(SimHostPassTest, WaitsForTheStore) {
  UseSlow();
  LockstepClient& player = Ask(WithPass(1));
  RunFor(1'000);
  EXPECT_THAT(player.heard, IsEmpty());
  EXPECT_EQ(host_->figures().unseated, 1u);
  EXPECT_EQ(host_->figures().connections, 1u);
  ASSERT_EQ(slow_->asked.size(), 1u);
  slow_->asked[0](PassAnswer::kLetIn);
  RunFor(100);
  EXPECT_EQ(First(player), "open");
  EXPECT_EQ(host_->figures().unseated, 0u);
  EXPECT_EQ(host_->figures().players, 1u);
}

TEST_P(SimHostPassTest, AStoreThatDoesNotAnswerLetsNobodyIn) {
  UseSlow();
  LockstepClient& player = Ask(WithPass(1));
  RunFor(4'900);
  EXPECT_THAT(player.heard, IsEmpty());
  RunFor(200);
  EXPECT_EQ(First(player), "refused 503");
  // Nobody waits for it any more.
  slow_->asked[0](PassAnswer::kLetIn);
  RunFor(100);
  EXPECT_EQ(host_->figures().players, 0u);
}

TEST_P(SimHostPassTest, ADrainThatBeganMeanwhileRefuses) {
  UseSlow();
  LockstepClient& player = Ask(WithPass(1));
  RunFor(100);
  host_->Drain();
  slow_->asked[0](PassAnswer::kLetIn);
  RunFor(100);
  EXPECT_EQ(First(player), "refused 503");
}

TEST_P(SimHostPassTest, AnAnswerMayComeWhenTheProcessIsNoMore) {
  UseSlow();
  LockstepClient& player = Ask(WithPass(1));
  RunFor(100);
  EXPECT_TRUE(slow_->watched);
  host_->CrashNow(sim::Host::Crash::kProcess);
  EXPECT_FALSE(slow_->watched);
  slow_->asked[0](PassAnswer::kLetIn);
  RunFor(100);
  EXPECT_EQ(First(player), "close 1006 ");
}

}  // namespace
}  // namespace parlor::test
