#include "logic/digest.h"

#include <openssl/evp.h>

#include <cstddef>
#include <span>

#include "parlor/check.h"
#include "parlor/host/access_store.h"

namespace parlor::host {

Sha256 DigestOf(std::span<const std::byte> bytes) {
  Sha256 digest;
  unsigned int size = 0;
  PARLOR_CHECK(EVP_Digest(bytes.data(), bytes.size(),
                          reinterpret_cast<unsigned char*>(digest.data()),
                          &size, EVP_sha256(), nullptr) == 1);
  PARLOR_CHECK(size == digest.size());
  return digest;
}

}  // namespace parlor::host
