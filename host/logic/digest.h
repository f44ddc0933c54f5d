// DigestOf: SHA-256, of what is stored in place of a secret.
#ifndef PARLOR_HOST_LOGIC_DIGEST_H_
#define PARLOR_HOST_LOGIC_DIGEST_H_

#include <cstddef>
#include <span>

#include "parlor/host/access_store.h"

namespace parlor::host {

Sha256 DigestOf(std::span<const std::byte> bytes);

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_DIGEST_H_
