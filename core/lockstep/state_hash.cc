#include "parlor/lockstep/state_hash.h"

// All of it in this file: nothing to link. What it insists to inline, gcc's -Og
// refuses to.
#define XXH_INLINE_ALL
#ifndef NDEBUG
#define XXH_NO_INLINE_HINTS 1
#endif
#include <xxhash.h>

#include <new>

namespace parlor::lockstep::state {

struct HashSink::Xxh3 {
  XXH3_state_t state;

  static XXH3_state_t* In(std::array<std::byte, 576>& memory) {
    static_assert(sizeof(Xxh3) <= sizeof memory && alignof(Xxh3) <= 64);
    return &std::launder(reinterpret_cast<Xxh3*>(memory.data()))->state;
  }
};

HashSink::HashSink() { XXH3_64bits_reset(&(new (memory_.data()) Xxh3)->state); }

StateSink::Room HashSink::Begin() {
  return {buffer_.data(), buffer_.data() + buffer_.size()};
}

std::uint64_t HashSink::Finish(const std::byte* next) {
  XXH3_state_t* const state = Xxh3::In(memory_);
  XXH3_64bits_update(state, buffer_.data(),
                     static_cast<std::size_t>(next - buffer_.data()));
  return XXH3_64bits_digest(state);
}

StateSink::Room HashSink::MakeRoom(std::byte* next, std::size_t) {
  XXH3_64bits_update(Xxh3::In(memory_), buffer_.data(),
                     static_cast<std::size_t>(next - buffer_.data()));
  return Begin();
}

StateSink::Room HashSink::Take(std::byte* next, const std::byte* bytes,
                               std::size_t size) {
  MakeRoom(next, 0);
  XXH3_64bits_update(Xxh3::In(memory_), bytes, size);
  return Begin();
}

}  // namespace parlor::lockstep::state
