// Statuses from std text. Debian's Abseil has a string_view of its own, which
// std::string_view does not convert to; this is the one place that knows.
#ifndef PARLOR_STATUS_H_
#define PARLOR_STATUS_H_

#include <string_view>

#include "absl/status/status.h"

namespace parlor {

inline absl::Status MakeStatus(absl::StatusCode code, std::string_view text) {
  return absl::Status(code, absl::string_view(text.data(), text.size()));
}

inline absl::Status InvalidArgument(std::string_view text) {
  return MakeStatus(absl::StatusCode::kInvalidArgument, text);
}

inline std::string_view StatusText(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace parlor

#endif  // PARLOR_STATUS_H_
