#include "logic/access_codes.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "logic/digest.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/constant_time.h"
#include "parlor/host/access_store.h"
#include "parlor/host/gate_options.h"
#include "stream/http_head.h"

namespace parlor::host {
namespace {

constexpr std::size_t kCodeMin = 10;
constexpr std::size_t kCodeMax = 64;

}  // namespace

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && absl::ascii_isspace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view WhatIsWrongWithCode(std::string_view code) {
  code = Trimmed(code);
  if (code.size() < kCodeMin || code.size() > kCodeMax) {
    return "a code has 10 to 64 characters";
  }
  // It travels as the subprotocol "invite.<code>".
  if (!stream::IsHttpToken(code)) {
    return "a code has letters, digits and !#$%&'*+-.^_`|~ only";
  }
  return {};
}

Sha256 HashCode(std::string_view code) {
  std::string text(Trimmed(code));
  absl::AsciiStrToUpper(&text);
  const Sha256 digest = DigestOf(AsBytes(text));
  OPENSSL_cleanse(text.data(), text.size());
  return digest;
}

void AccessCodes::SetOwn(std::span<const std::string> codes) {
  own_.clear();
  own_.reserve(codes.size());
  for (const std::string& code : codes) {
    PARLOR_CHECK(WhatIsWrongWithCode(code).empty());
    own_.push_back(HashCode(code));
  }
}

void AccessCodes::SetStored(std::vector<Sha256> codes) {
  stored_ = std::move(codes);
  stored_.resize(std::min(stored_.size(), kCodesMax));
}

bool AccessCodes::Has(std::string_view text) const {
  const Sha256 digest = HashCode(text);
  bool found = false;
  for (const std::vector<Sha256>* codes : {&own_, &stored_}) {
    for (const Sha256& code : *codes) {
      const bool same = ConstantTimeEquals(code, digest);
      found = found || same;
    }
  }
  return found;
}

}  // namespace parlor::host
