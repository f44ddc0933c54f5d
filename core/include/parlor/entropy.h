// Where secrets (resume tokens) and room seeds come from. Core has no source
// of its own: a host passes the system's, a test a seeded one.
#ifndef PARLOR_ENTROPY_H_
#define PARLOR_ENTROPY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "parlor/random.h"

namespace parlor {

class Entropy {
 public:
  virtual ~Entropy() = default;

  // Fills all of `out`. A source that cannot do so ends the process: there is
  // no room to run without it.
  virtual void Fill(std::span<std::byte> out) = 0;

  // Four bytes from Fill, little-endian.
  std::uint32_t Draw32();
};

// The same bytes for the same seed: for tests, replays and the simulator.
// Anyone who knows the seed knows every token drawn from it.
class SeededEntropy final : public Entropy {
 public:
  explicit SeededEntropy(std::uint64_t seed) : random_(seed) {}
  void Fill(std::span<std::byte> out) override;

 private:
  Random random_;
};

}  // namespace parlor

#endif  // PARLOR_ENTROPY_H_
