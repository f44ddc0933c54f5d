#include "parlor/lockstep/wire.h"

#include <array>
#include <charconv>
#include <system_error>

namespace parlor::lockstep {

std::string TokenText(std::uint32_t token) {
  std::array<char, 8> digits;
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), token, 16);
  return std::string(digits.data(), end);
}

std::uint32_t ParseToken(std::string_view text) {
  if (text.empty() || text.size() > 8) return 0;
  std::uint32_t token = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, token, 16);
  return error == std::errc() && at == end ? token : 0;
}

}  // namespace parlor::lockstep
