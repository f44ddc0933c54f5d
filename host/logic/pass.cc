#include "logic/pass.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "logic/digest.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/constant_time.h"
#include "parlor/host/access_store.h"
#include "parlor/limits.h"

namespace parlor::host {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kPayloadBytes = 1 + 8 + 8 + 1;
constexpr std::size_t kDeviceKeyMin = 16;
constexpr std::size_t kDeviceKeyMax = 64;

// Of base64 without padding.
constexpr std::size_t CharactersOf(std::size_t bytes) {
  return (bytes * 8 + 5) / 6;
}
constexpr std::size_t kPayloadText = CharactersOf(kPayloadBytes);
constexpr std::size_t kPassText =
    kPayloadText + 1 + CharactersOf(sizeof(Sha256));

std::string Escape(std::span<const std::byte> bytes) {
  const std::string_view text = AsText(bytes);
  return absl::WebSafeBase64Escape(absl::string_view(text.data(), text.size()));
}

// In its one spelling: the library also takes padding, and bits behind the last
// byte that say nothing.
std::optional<std::string> Unescape(std::string_view text) {
  std::string bytes;
  if (!absl::WebSafeBase64Unescape(absl::string_view(text.data(), text.size()),
                                   &bytes)) {
    return std::nullopt;
  }
  if (Escape(AsBytes(bytes)) != text) return std::nullopt;
  return bytes;
}

Sha256 Sign(std::span<const std::byte> payload, std::string_view secret) {
  constexpr std::size_t kKeyMax = std::numeric_limits<int>::max();
  PARLOR_CHECK(!secret.empty() && secret.size() <= kKeyMax);
  Sha256 signature;
  unsigned int size = 0;
  PARLOR_CHECK(
      HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(payload.data()),
           payload.size(), reinterpret_cast<unsigned char*>(signature.data()),
           &size) != nullptr);
  PARLOR_CHECK(size == signature.size());
  return signature;
}

}  // namespace

std::string WritePass(const Pass& pass, std::string_view secret) {
  PARLOR_CHECK(pass.devices >= 1 &&
               pass.devices <= limits::kPassDevices.ceiling);
  std::vector<std::byte> payload;
  ByteWriter writer(payload);
  writer.U8(kVersion);
  writer.U64(pass.id);
  writer.U64(static_cast<std::uint64_t>(pass.expires_s));
  writer.U8(static_cast<std::uint8_t>(pass.devices));
  return Escape(payload) + '.' + Escape(Sign(payload, secret));
}

std::optional<Pass> ReadPass(std::string_view text, std::string_view secret) {
  if (text.size() != kPassText || text[kPayloadText] != '.') {
    return std::nullopt;
  }
  const auto payload = Unescape(text.substr(0, kPayloadText));
  const auto signature = Unescape(text.substr(kPayloadText + 1));
  if (!payload || !signature) return std::nullopt;
  if (!ConstantTimeEquals(AsBytes(*signature),
                          Sign(AsBytes(*payload), secret))) {
    return std::nullopt;
  }
  ByteReader reader(AsBytes(*payload));
  const std::uint8_t version = reader.U8();
  Pass pass;
  pass.id = reader.U64();
  pass.expires_s = static_cast<std::int64_t>(reader.U64());
  pass.devices = reader.U8();
  if (!reader.AtEnd() || version != kVersion || pass.devices < 1 ||
      pass.devices > limits::kPassDevices.ceiling) {
    return std::nullopt;
  }
  return pass;
}

bool IsDeviceKey(std::string_view key) {
  return key.size() >= kDeviceKeyMin && key.size() <= kDeviceKeyMax &&
         std::all_of(key.begin(), key.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '-' || c == '_';
         });
}

std::string PassIdText(std::uint64_t id) {
  return absl::StrCat(absl::Hex(id, absl::kZeroPad16));
}

Sha256 HashDevice(std::uint64_t pass, std::string_view key) {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.U64(pass);
  writer.Bytes(AsBytes(key));
  return DigestOf(bytes);
}

}  // namespace parlor::host
