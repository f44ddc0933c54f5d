#include "parlor/check.h"

#include <gtest/gtest.h>

namespace parlor {
namespace {

TEST(CheckTest, PassesWhatHolds) {
  int calls = 0;
  PARLOR_CHECK(++calls == 1);
  EXPECT_EQ(calls, 1);
  // Usable as one statement of an if without braces.
  if (calls == 1)
    PARLOR_CHECK(true);
  else
    PARLOR_CHECK(false);
}

TEST(CheckDeathTest, NamesFileLineAndCondition) {
  const int seats = 3;
  EXPECT_DEATH(PARLOR_CHECK(seats == 4),
               "check_test.cc:[0-9]+: check failed: seats == 4");
}

#ifdef NDEBUG
TEST(CheckTest, DcheckIsNotEvaluatedWithNdebug) {
  int calls = 0;
  PARLOR_DCHECK(++calls == 7);
  EXPECT_EQ(calls, 0);
}
#else
TEST(CheckDeathTest, DcheckIsACheckWithoutNdebug) {
  EXPECT_DEATH(PARLOR_DCHECK(1 == 2), "check failed: 1 == 2");
}
#endif

}  // namespace
}  // namespace parlor
