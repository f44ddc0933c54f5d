// The access store in memory: whom it lets in, and that it forgets.
#include "parlor/host/memory_access_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "logic/access_codes.h"
#include "parlor/host/access_store.h"
#include "parlor/host/gate_options.h"
#include "parlor/status.h"
#include "support/status_matchers.h"

namespace parlor::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Sha256 Device(int number) { return Sha256{static_cast<std::byte>(number)}; }

class MemoryAccessStoreTest : public testing::Test {
 protected:
  // What it says to one use, once its task has run.
  std::optional<PassAnswer> Use(std::uint64_t pass, int device,
                                std::int64_t devices_max = 2) {
    std::optional<PassAnswer> said;
    store_->UsePass({.pass = pass,
                     .device = Device(device),
                     .devices_max = devices_max,
                     .expires_s = expires_s_},
                    [&](PassAnswer answer) { said = answer; });
    EXPECT_EQ(said, std::nullopt) << "answered inside the call";
    RunTasks();
    return said;
  }

  void RunTasks() {
    for (const auto& task : std::exchange(tasks_, {})) task();
  }

  std::int64_t now_s_ = 1'000;
  std::int64_t expires_s_ = 2'000;
  std::vector<std::function<void()>> tasks_;
  std::optional<MemoryAccessStore> store_{std::in_place,
                                          [this] { return now_s_; },
                                          [this](std::function<void()> task) {
                                            tasks_.push_back(std::move(task));
                                          }};
};

TEST_F(MemoryAccessStoreTest, LocksAPassToItsFirstDevices) {
  EXPECT_EQ(Use(7, 1), PassAnswer::kLetIn);
  EXPECT_EQ(Use(7, 1), PassAnswer::kLetIn);
  EXPECT_EQ(Use(7, 2), PassAnswer::kLetIn);
  EXPECT_EQ(Use(7, 3), PassAnswer::kOtherDevice);
  EXPECT_EQ(Use(7, 1), PassAnswer::kLetIn);
  EXPECT_EQ(Use(7, 2), PassAnswer::kLetIn);
  // Another pass has devices of its own.
  EXPECT_EQ(Use(8, 3, 1), PassAnswer::kLetIn);
  EXPECT_EQ(Use(8, 1, 1), PassAnswer::kOtherDevice);
}

TEST_F(MemoryAccessStoreTest, ARevokedPassLetsNobodyIn) {
  EXPECT_EQ(Use(7, 1), PassAnswer::kLetIn);
  store_->RevokePass(7, expires_s_);
  EXPECT_EQ(Use(7, 1), PassAnswer::kRevoked);
  // Nor one that was never used, though more is told of it later.
  store_->RevokePass(8, now_s_ + 1);
  EXPECT_EQ(Use(8, 1), PassAnswer::kRevoked);
  now_s_ = expires_s_ - 1;
  EXPECT_EQ(Use(7, 1), PassAnswer::kRevoked);
  EXPECT_EQ(Use(8, 1), PassAnswer::kRevoked);
  EXPECT_EQ(Use(9, 1), PassAnswer::kLetIn);
}

TEST_F(MemoryAccessStoreTest, ForgetsWhatHasExpired) {
  for (std::uint64_t pass = 0; pass < 100; ++pass) {
    expires_s_ = now_s_ + 1 + static_cast<std::int64_t>(pass);
    EXPECT_EQ(Use(pass, 1), PassAnswer::kLetIn);
    if (pass % 2 == 0) store_->RevokePass(pass, expires_s_);
  }
  EXPECT_EQ(store_->passes(), 100u);
  now_s_ += kKeptAfterExpiryS;
  expires_s_ = now_s_ + 1'000;
  EXPECT_EQ(Use(1'000, 1), PassAnswer::kLetIn);
  EXPECT_EQ(store_->passes(), 101u);
  now_s_ += 61;
  EXPECT_EQ(Use(1'000, 1), PassAnswer::kLetIn);
  EXPECT_EQ(store_->passes(), 41u);
  now_s_ += 1'000 + kKeptAfterExpiryS;
  // Nobody is let in by one of those, nor kept of it.
  EXPECT_EQ(Use(0, 1), PassAnswer::kFailed);
  EXPECT_EQ(store_->passes(), 0u);
}

TEST_F(MemoryAccessStoreTest, KnowsWhatAClockThatIsSetBackBringsToLife) {
  EXPECT_EQ(Use(7, 1, 1), PassAnswer::kLetIn);
  store_->RevokePass(8, expires_s_);
  now_s_ = expires_s_ + 3'600;
  EXPECT_EQ(Use(7, 1, 1), PassAnswer::kFailed);
  EXPECT_EQ(Use(8, 1, 1), PassAnswer::kFailed);
  now_s_ = expires_s_ - 1;
  EXPECT_EQ(Use(7, 2, 1), PassAnswer::kOtherDevice);
  EXPECT_EQ(Use(8, 1, 1), PassAnswer::kRevoked);
}

TEST_F(MemoryAccessStoreTest, TellsItsCodes) {
  std::vector<std::vector<Sha256>> told;
  EXPECT_THAT(store_->AddCode("Summer-Cabin-7"), IsOk());
  store_->WatchCodes(
      [&](std::vector<Sha256> codes) { told.push_back(std::move(codes)); });
  const Sha256 first = HashCode("SUMMER-CABIN-7");
  const Sha256 second = HashCode("winter.house.9");
  EXPECT_THAT(told, ElementsAre(ElementsAre(first)));
  EXPECT_THAT(store_->AddCode(" winter.HOUSE.9\n"), IsOk());
  EXPECT_THAT(store_->RevokeCode("summer-cabin-7"), IsOk());
  EXPECT_THAT(told, ElementsAre(ElementsAre(first), ElementsAre(first, second),
                                ElementsAre(second)));
  store_->WatchCodes({});
  EXPECT_THAT(store_->RevokeCode("winter.house.9"), IsOk());
  EXPECT_THAT(told, SizeIs(3));
}

TEST_F(MemoryAccessStoreTest, SaysWhyItDoesNotTakeACode) {
  const absl::Status wrong = store_->AddCode("hush,hush,hush");
  EXPECT_THAT(wrong, StatusIs(absl::StatusCode::kInvalidArgument,
                              HasSubstr("letters, digits")));
  EXPECT_THAT(std::string(StatusText(wrong)), Not(HasSubstr("hush")));
  EXPECT_THAT(store_->AddCode("Summer-Cabin-7"), IsOk());
  EXPECT_THAT(store_->AddCode("summer-cabin-7"),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(store_->RevokeCode("winter.house.9"),
              StatusIs(absl::StatusCode::kNotFound));
  for (std::size_t i = 1; i < kCodesMax; ++i) {
    ASSERT_THAT(store_->AddCode("number-" + std::to_string(1'000 + i)), IsOk());
  }
  EXPECT_THAT(store_->AddCode("one-too-many"),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(MemoryAccessStoreTest, ItsEndDestroysWhatItHasNotAnswered) {
  const auto held = std::make_shared<int>();
  bool answered = false;
  store_->UsePass({.pass = 7, .devices_max = 1, .expires_s = expires_s_},
                  [held, &answered](PassAnswer) { answered = true; });
  EXPECT_EQ(held.use_count(), 2);
  store_ = std::nullopt;
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_THAT(tasks_, Not(IsEmpty()));
  RunTasks();
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace parlor::host
