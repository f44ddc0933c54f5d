// AccessCodes: the invite codes of a host, of which it keeps the SHA-256 only.
#ifndef PARLOR_HOST_LOGIC_ACCESS_CODES_H_
#define PARLOR_HOST_LOGIC_ACCESS_CODES_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parlor::host {

// Empty: it may be a code (gate_options.h says which). Otherwise why not, in
// words that hold nothing of it.
std::string_view WhatIsWrongWithCode(std::string_view code);

class AccessCodes {
 public:
  // Codes with nothing wrong.
  explicit AccessCodes(std::span<const std::string> codes);

  // Whether `text`, trimmed and in any case, is one of them. Takes as long for
  // every text of a length, and compares it with all of them.
  bool Has(std::string_view text) const;

 private:
  using Digest = std::array<std::byte, 32>;

  static Digest Hash(std::string_view code);

  std::vector<Digest> digests_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_ACCESS_CODES_H_
