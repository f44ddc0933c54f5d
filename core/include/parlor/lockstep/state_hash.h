// The hash of a described state, for Game::Hash. Link parlor::state_hash, which
// is there where xxHash is (libxxhash-dev); core has Abseil alone.
//
// XXH3 over the saved bytes: order counts, so that two entities that change
// places do not cancel out. 10,000 entities of 32 bytes take 15 us where they
// lie as they are saved, 63 us field by field (bench/README.md): less than a
// hundredth of a step at 60 Hz. So nothing is kept up to date while the game
// runs, which would be wrong for every field that was forgotten.
#ifndef PARLOR_LOCKSTEP_STATE_HASH_H_
#define PARLOR_LOCKSTEP_STATE_HASH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "parlor/lockstep/state_description.h"

namespace parlor::lockstep {

namespace state {

class HashSink final : public StateSink {
 public:
  HashSink();
  HashSink(const HashSink&) = delete;
  HashSink& operator=(const HashSink&) = delete;

  Room Begin();
  std::uint64_t Finish(const std::byte* next);

 private:
  struct Xxh3;

  Room MakeRoom(std::byte* next, std::size_t size) override;
  Room Take(std::byte* next, const std::byte* bytes, std::size_t size) override;

  // XXH3's state: a hash each frame allocates nothing.
  alignas(64) std::array<std::byte, 576> memory_;
  std::array<std::byte, 1'024> buffer_;
};

}  // namespace state

template <class T>
std::uint64_t HashState64(const T& value) {
  state::HashSink sink;
  StateWriter writer(sink, sink.Begin());
  writer("", const_cast<T&>(value));
  return sink.Finish(writer.next());
}

// Its halves xor-ed, for a HASH message.
template <class T>
std::uint32_t HashState(const T& value) {
  const std::uint64_t hash = HashState64(value);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_STATE_HASH_H_
