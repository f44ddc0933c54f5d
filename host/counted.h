// Counted: how many there are, as a log line says it.
#ifndef PARLOR_HOST_COUNTED_H_
#define PARLOR_HOST_COUNTED_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace parlor::host {

// "1 match", "2 matches".
inline std::string Counted(std::int64_t count, std::string_view one,
                           std::string_view many) {
  return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

}  // namespace parlor::host

#endif  // PARLOR_HOST_COUNTED_H_
