#include <xxhash.h>

#include <bit>

#include "cycles/state.h"

namespace parlor::cycles {

// The bytes are hashed as they lie in memory.
static_assert(std::endian::native == std::endian::little);

std::uint64_t Hash64(const State& state) {
  const std::size_t cells =
      static_cast<std::size_t>(state.width) * state.height;
  return XXH3_64bits(&state, offsetof(State, cells) + cells);
}

std::uint32_t Hash32(const State& state) {
  const std::uint64_t hash = Hash64(state);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace parlor::cycles
