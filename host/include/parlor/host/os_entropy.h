// OsEntropy: the operating system's random bytes, for tokens and seeds.
#ifndef PARLOR_HOST_OS_ENTROPY_H_
#define PARLOR_HOST_OS_ENTROPY_H_

#include <cstddef>
#include <span>

#include "parlor/entropy.h"

namespace parlor::host {

class OsEntropy final : public Entropy {
 public:
  void Fill(std::span<std::byte> out) override;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_OS_ENTROPY_H_
