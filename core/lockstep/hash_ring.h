// HashRing: the latest state hashes of one seat, by frame. Peers are at most
// 2 * delay + 1 frames apart, so a few places are enough; an older hash gives
// way to a newer one.
#ifndef PARLOR_CORE_LOCKSTEP_HASH_RING_H_
#define PARLOR_CORE_LOCKSTEP_HASH_RING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace parlor::lockstep {

class HashRing {
 public:
  // Holds the hashes of any `frames` frames in a row. All frames given to it
  // are multiples of `hash_every`.
  HashRing(int frames, int hash_every)
      : hash_every_(static_cast<std::uint32_t>(hash_every)),
        places_(static_cast<std::size_t>(frames / hash_every + 1)) {}

  void Put(std::uint32_t frame, std::uint32_t hash) {
    Place& place = places_[IndexOf(frame)];
    place.frame = frame;
    place.hash = hash;
  }

  std::optional<std::uint32_t> Find(std::uint32_t frame) const {
    const Place& place = places_[IndexOf(frame)];
    if (place.frame != frame) return std::nullopt;
    return place.hash;
  }

 private:
  struct Place {
    std::int64_t frame = -1;
    std::uint32_t hash = 0;
  };

  std::size_t IndexOf(std::uint32_t frame) const {
    return frame / hash_every_ % places_.size();
  }

  std::uint32_t hash_every_;
  std::vector<Place> places_;
};

}  // namespace parlor::lockstep

#endif  // PARLOR_CORE_LOCKSTEP_HASH_RING_H_
