#include "parlor/connector.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/strings/ascii.h"

namespace parlor {

bool IsPlayKey(std::string_view text) {
  constexpr std::size_t kLengthMax = 64;
  return !text.empty() && text.size() <= kLengthMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '_' || c == '-';
         });
}

}  // namespace parlor
