// Matchers for statuses: EXPECT_THAT(status, StatusIs(code)), and with the
// text: StatusIs(code, HasSubstr("--seats")). Both take an absl::Status or an
// absl::StatusOr. IsOk() is StatusIs(kOk).
#ifndef PARLOR_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define PARLOR_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <gmock/gmock.h>

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/status.h"

namespace parlor::testing_support {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}

template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

}  // namespace parlor::testing_support

namespace parlor {

// `code` and `text` are values or matchers.
MATCHER_P2(StatusIs, code, text, "") {
  const absl::Status& status = testing_support::StatusOf(arg);
  *result_listener << "whose status is " << status.ToString();
  return testing::ExplainMatchResult(code, status.code(), result_listener) &&
         testing::ExplainMatchResult(text, std::string(StatusText(status)),
                                     result_listener);
}

template <typename Code>
auto StatusIs(Code code) {
  return StatusIs(code, testing::_);
}

inline auto IsOk() { return StatusIs(absl::StatusCode::kOk); }

}  // namespace parlor

#endif  // PARLOR_TESTS_SUPPORT_STATUS_MATCHERS_H_
