#include "parlor/limits.h"

#include <string>

#include "parlor/status.h"

namespace parlor {

absl::Status CheckLimit(const Limit& limit, std::string_view path,
                        std::int64_t value) {
  if (value >= limit.floor && value <= limit.ceiling) return absl::OkStatus();
  return InvalidArgument(std::string(path) + ": " + std::to_string(value) +
                         " is not in " + std::to_string(limit.floor) + ".." +
                         std::to_string(limit.ceiling));
}

}  // namespace parlor
