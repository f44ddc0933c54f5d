#include "parlor/authority/text_budget.h"

#include <gtest/gtest.h>

namespace parlor::authority {
namespace {

using Verdict = TextBudget::Verdict;

constexpr TimePoint kStart{kSecond};

class TextBudgetTest : public testing::Test {
 protected:
  Verdict Take() { return budget_.Take(now_); }
  // How many are let through until one is not.
  int TakeAll() {
    int taken = 0;
    while (Take() == Verdict::kOk) ++taken;
    return taken;
  }

  TimePoint now_ = kStart;
  TextBudget budget_{kStart};
};

TEST_F(TextBudgetTest, BeginsFull) {
  for (int i = 0; i < 40; ++i) EXPECT_EQ(Take(), Verdict::kOk) << i;
  EXPECT_EQ(Take(), Verdict::kFirstRefusal);
  EXPECT_EQ(Take(), Verdict::kRefused);
}

TEST_F(TextBudgetTest, RefillsByTwentyEveryFiveSeconds) {
  EXPECT_EQ(TakeAll(), 40);
  now_ += 5 * kSecond - Duration(1);
  EXPECT_EQ(TakeAll(), 0);
  now_ += Duration(1);
  EXPECT_EQ(TakeAll(), 20);
  EXPECT_EQ(TakeAll(), 0);
  now_ += 5 * kSecond;
  EXPECT_EQ(TakeAll(), 20);
}

// The refills are 5 s apart whenever one is asked for: none is lost, and none
// comes early, because the one before was late.
TEST_F(TextBudgetTest, RefillsKeepTheirTimes) {
  EXPECT_EQ(TakeAll(), 40);
  now_ += 8 * kSecond;
  EXPECT_EQ(TakeAll(), 20);
  now_ += 2 * kSecond - Duration(1);
  EXPECT_EQ(TakeAll(), 0);
  now_ += Duration(1);
  EXPECT_EQ(TakeAll(), 20);
}

TEST_F(TextBudgetTest, HoldsFortyAtMost) {
  for (int i = 0; i < 10; ++i) Take();
  now_ += 5 * kSecond;
  EXPECT_EQ(TakeAll(), 40);
  now_ += 10 * kSecond;
  EXPECT_EQ(TakeAll(), 40);
  now_ += 24 * 3'600 * kSecond;
  EXPECT_EQ(TakeAll(), 40);
}

TEST_F(TextBudgetTest, ARunOfRefusalsIsAnsweredOnceAndEndsWithTheNextText) {
  EXPECT_EQ(TakeAll(), 40);  // the first refusal of this run is in it
  for (int i = 0; i < 90; ++i) EXPECT_EQ(Take(), Verdict::kRefused) << i;
  now_ += 5 * kSecond;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Take(), Verdict::kOk) << i;
  EXPECT_EQ(Take(), Verdict::kFirstRefusal);
  for (int i = 2; i < 100; ++i) EXPECT_EQ(Take(), Verdict::kRefused) << i;
  EXPECT_EQ(Take(), Verdict::kDrop);
}

TEST_F(TextBudgetTest, WhoIsDroppedStaysSo) {
  EXPECT_EQ(TakeAll(), 40);
  for (int i = 2; i < 100; ++i) EXPECT_EQ(Take(), Verdict::kRefused) << i;
  EXPECT_EQ(Take(), Verdict::kDrop);
  now_ += 60 * kSecond;
  EXPECT_EQ(Take(), Verdict::kDrop);
}

}  // namespace
}  // namespace parlor::authority
