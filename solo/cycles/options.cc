#include "cycles/state.h"
#include "parlor/check.h"

namespace parlor::cycles {
namespace {

constexpr bool FitsEvery() {
  for (const Size size : kSizes) {
    if (size.width > kWidthMax || size.height > kHeightMax) return false;
    if (size.width < 24 || size.height < 16) return false;
  }
  return true;
}
static_assert(FitsEvery());

}  // namespace

std::optional<int> FindSize(int width, int height) {
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    if (kSizes[i].width == width && kSizes[i].height == height) {
      return static_cast<int>(i);
    }
  }
  return std::nullopt;
}

bool IsValid(const Options& options) {
  return options.players >= kPlayersMin && options.players <= kPlayersMax &&
         options.level <= Level::kHard && options.size >= 0 &&
         options.size < static_cast<int>(kSizes.size());
}

std::uint8_t ModeOf(const Options& options) {
  PARLOR_CHECK(IsValid(options));
  return static_cast<std::uint8_t>(static_cast<int>(options.level) << 6 |
                                   options.size);
}

std::optional<Options> FromMode(std::uint8_t mode, int players) {
  const Options options{.players = players,
                        .level = static_cast<Level>(mode >> 6),
                        .size = mode & 63};
  if (!IsValid(options)) return std::nullopt;
  return options;
}

}  // namespace parlor::cycles
