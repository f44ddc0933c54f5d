#include <xxhash.h>

#include "cycles/state.h"

namespace parlor::cycles {

std::uint64_t Hash64(const State& state) {
  const std::span<const std::byte> bytes = SavedBytes(state);
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint32_t Hash32(const State& state) {
  const std::uint64_t hash = Hash64(state);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace parlor::cycles
