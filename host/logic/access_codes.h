// AccessCodes: the invite codes of a host, of which it keeps the SHA-256 only:
// those of its options, and those of its AccessStore, which may change.
#ifndef PARLOR_HOST_LOGIC_ACCESS_CODES_H_
#define PARLOR_HOST_LOGIC_ACCESS_CODES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/host/access_store.h"

namespace parlor::host {

// Without the white space of ASCII around it.
std::string_view Trimmed(std::string_view text);

// Empty: it may be a code (gate_options.h says which). Otherwise why not, in
// words that hold nothing of it.
std::string_view WhatIsWrongWithCode(std::string_view code);

// What is stored of a code: neither what is around it nor its case counts.
Sha256 HashCode(std::string_view code);

class AccessCodes {
 public:
  // Each of these takes the place of what was set before. Of the options, codes
  // with nothing wrong.
  void SetOwn(std::span<const std::string> codes);
  // Of the store. More than kCodesMax are too many to compare with every
  // attempt: the first of them let in.
  void SetStored(std::vector<Sha256> codes);

  // Whether `text`, trimmed and in any case, is one of all these. Takes as long
  // for every text of a length, and compares it with all of them.
  bool Has(std::string_view text) const;

 private:
  std::vector<Sha256> own_;
  std::vector<Sha256> stored_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_ACCESS_CODES_H_
