// What is UTF-8, decided in one place, so that every transport takes and
// refuses the same text (connection.h, rule 7).
#ifndef PARLOR_UTF8_H_
#define PARLOR_UTF8_H_

#include <cstddef>
#include <span>

namespace parlor {

// True for whole, well-formed UTF-8 (RFC 3629 section 4): every character in
// its shortest form, no surrogates, nothing above U+10FFFF, none cut off at the
// end. No bytes at all are UTF-8; so is U+0000.
bool IsUtf8(std::span<const std::byte> bytes);

}  // namespace parlor

#endif  // PARLOR_UTF8_H_
