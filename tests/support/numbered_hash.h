// Some hash, another one for each number.
#ifndef PARLOR_TESTS_SUPPORT_NUMBERED_HASH_H_
#define PARLOR_TESTS_SUPPORT_NUMBERED_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "parlor/host/access_store.h"

namespace parlor::test {

inline host::Sha256 NumberedHash(std::uint32_t number) {
  host::Sha256 hash;
  hash.fill(std::byte{0xa5});
  std::memcpy(hash.data(), &number, sizeof(number));
  return hash;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_NUMBERED_HASH_H_
