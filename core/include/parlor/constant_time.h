// The one comparison for secrets: tokens, codes, digests.
#ifndef PARLOR_CONSTANT_TIME_H_
#define PARLOR_CONSTANT_TIME_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace parlor {

// True when both hold the same bytes. Takes the same time whatever they hold;
// the lengths are not secret, and different ones answer false at once.
bool ConstantTimeEquals(std::span<const std::byte> a,
                        std::span<const std::byte> b);

// The same for resume tokens.
bool ConstantTimeEquals(std::uint32_t a, std::uint32_t b);

}  // namespace parlor

#endif  // PARLOR_CONSTANT_TIME_H_
