#include "logic/access_codes.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "parlor/check.h"
#include "parlor/constant_time.h"
#include "stream/http_head.h"

namespace parlor::host {
namespace {

constexpr std::size_t kCodeMin = 10;
constexpr std::size_t kCodeMax = 64;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && absl::ascii_isspace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

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

AccessCodes::AccessCodes(std::span<const std::string> codes) {
  digests_.reserve(codes.size());
  for (const std::string& code : codes) {
    PARLOR_CHECK(WhatIsWrongWithCode(code).empty());
    digests_.push_back(Hash(code));
  }
}

AccessCodes::Digest AccessCodes::Hash(std::string_view code) {
  std::string text(Trimmed(code));
  absl::AsciiStrToUpper(&text);
  Digest digest;
  unsigned int size = 0;
  PARLOR_CHECK(EVP_Digest(text.data(), text.size(),
                          reinterpret_cast<unsigned char*>(digest.data()),
                          &size, EVP_sha256(), nullptr) == 1);
  PARLOR_CHECK(size == digest.size());
  OPENSSL_cleanse(text.data(), text.size());
  return digest;
}

bool AccessCodes::Has(std::string_view text) const {
  const Digest digest = Hash(text);
  bool found = false;
  for (const Digest& stored : digests_) {
    const bool same = ConstantTimeEquals(stored, digest);
    found = found || same;
  }
  return found;
}

}  // namespace parlor::host
