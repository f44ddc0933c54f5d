// Passes: their bytes, and that nothing but what the secret signed is one.
#include "logic/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "support/hex.h"

namespace parlor::host {
namespace {

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr Pass kPass{
    .id = 0x0123456789abcdef, .expires_s = 1'800'000'000, .devices = 2};

// Made by another implementation (Python's hmac and base64).
constexpr std::string_view kText =
    "Ae_Nq4lnRSMBANJJawAAAAAC.n4uVTgONB5llILFSUv0YHbgAAfb2SPcKubR8ujnJa_0";

std::string Escaped(const std::string& bytes) {
  return absl::WebSafeBase64Escape(bytes);
}
std::string Unescaped(std::string_view text) {
  std::string bytes;
  EXPECT_TRUE(absl::WebSafeBase64Unescape(std::string(text), &bytes));
  return bytes;
}

TEST(PassTest, IsThisText) {
  EXPECT_EQ(WritePass(kPass, kSecret), kText);
  EXPECT_EQ(ReadPass(kText, kSecret), kPass);
}

TEST(PassTest, WhatIsWrittenIsRead) {
  for (const std::uint64_t id : {0ull, 1ull, 1ull << 63, ~0ull}) {
    for (const std::int64_t expires_s :
         {std::int64_t{0}, std::int64_t{1}, INT64_MAX, INT64_MIN}) {
      for (std::int64_t devices = 1; devices <= 16; ++devices) {
        const Pass pass{.id = id, .expires_s = expires_s, .devices = devices};
        const std::string text = WritePass(pass, kSecret);
        EXPECT_EQ(text.size(), kText.size());
        EXPECT_EQ(ReadPass(text, kSecret), pass);
      }
    }
  }
}

// Each bit of what was signed, and of the signature.
TEST(PassTest, EveryBitCounts) {
  const std::string payload = Unescaped(kText.substr(0, 24));
  const std::string signature = Unescaped(kText.substr(25));
  ASSERT_EQ(payload.size(), 18u);
  ASSERT_EQ(signature.size(), 32u);
  ASSERT_EQ(Escaped(payload) + '.' + Escaped(signature), kText);
  for (std::size_t bit = 0; bit < 8 * (18 + 32); ++bit) {
    std::string both = payload + signature;
    both[bit / 8] = static_cast<char>(both[bit / 8] ^ (1 << bit % 8));
    const std::string text =
        Escaped(both.substr(0, 18)) + '.' + Escaped(both.substr(18));
    EXPECT_EQ(ReadPass(text, kSecret), std::nullopt) << "bit " << bit;
  }
}

// The library that reads base64 takes several spellings of the same bytes:
// whoever had a pass could make more of it, that no list of them knows.
TEST(PassTest, HasOneSpelling) {
  for (std::size_t at = 0; at < kText.size(); ++at) {
    for (int c = 0; c < 256; ++c) {
      std::string text(kText);
      if (text[at] == static_cast<char>(c)) continue;
      text[at] = static_cast<char>(c);
      EXPECT_EQ(ReadPass(text, kSecret), std::nullopt) << at << " " << c;
    }
  }
  for (std::size_t at = 0; at <= kText.size(); ++at) {
    for (const char* more : {"=", "==", ".", "A", " ", "\n", "-"}) {
      std::string text(kText);
      text.insert(at, more);
      EXPECT_EQ(ReadPass(text, kSecret), std::nullopt) << text;
    }
  }
  std::string standard(kText);
  std::replace(standard.begin(), standard.end(), '_', '/');
  EXPECT_EQ(ReadPass(standard, kSecret), std::nullopt);
}

TEST(PassTest, IsWhole) {
  for (std::size_t size = 0; size < kText.size(); ++size) {
    EXPECT_EQ(ReadPass(kText.substr(0, size), kSecret), std::nullopt) << size;
    EXPECT_EQ(ReadPass(kText.substr(kText.size() - size), kSecret),
              std::nullopt)
        << size;
  }
  // The signature of one, the payload of another.
  Pass longer = kPass;
  ++longer.expires_s;
  const std::string other = WritePass(longer, kSecret);
  EXPECT_EQ(
      ReadPass(other.substr(0, 25) + std::string(kText.substr(25)), kSecret),
      std::nullopt);
}

TEST(PassTest, IsOfItsSecret) {
  for (const std::string& secret :
       {std::string("0123456789abcdef0123456789abcdee"),
        std::string(kSecret) + "x", std::string(kSecret.substr(1)),
        std::string(32, '\0')}) {
    EXPECT_EQ(ReadPass(kText, secret), std::nullopt);
    EXPECT_EQ(ReadPass(WritePass(kPass, secret), secret), kPass);
  }
}

// Signed with the secret, by the other implementation: another version's, or
// for as many devices as no pass has.
TEST(PassTest, OfThisVersionAndOfSomeDevices) {
  for (const std::string_view text :
       {"AO_Nq4lnRSMBANJJawAAAAAC.MOHcZUPs14Du57b33cf1IZiaDjFmLDvzkCUhX5xnRZ8",
        "Au_Nq4lnRSMBANJJawAAAAAC.fd355b3AbqLbPzrDf64MlX7wYnVBdjslAG8HcixfSfU",
        "Ae_Nq4lnRSMBANJJawAAAAAA.joRXswtDYfDkfhGpNvMyHlWj37cXMUvRq7ysCs1OWfk",
        "Ae_Nq4lnRSMBANJJawAAAAAR.BTDGBf8YPeEfaQ15HWGBiUopvbXQ604nqv2bgIct9xw",
        "Ae_Nq4lnRSMBANJJawAAAAD_.4u914Vo9TjjAEKR2QO7hREokHd-"
        "FIU2FvXiP2jKCx4k"}) {
    EXPECT_EQ(ReadPass(text, kSecret), std::nullopt) << text;
  }
}

TEST(DeviceKeyTest, Has16To64CharactersOfBase64Url) {
  for (std::size_t size = 0; size <= 70; ++size) {
    EXPECT_EQ(IsDeviceKey(std::string(size, 'a')), size >= 16 && size <= 64)
        << size;
  }
  EXPECT_TRUE(IsDeviceKey("ABCXYZabcxyz0189-_"));
  for (int c = 0; c < 256; ++c) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9') || c == '-' || c == '_';
    for (const std::size_t at : {0u, 10u, 19u}) {
      std::string key(20, 'k');
      key[at] = static_cast<char>(c);
      EXPECT_EQ(IsDeviceKey(key), fits) << c;
    }
  }
}

TEST(DeviceKeyTest, IsStoredApartForEachPass) {
  const std::string key = "device-key_16chr";
  EXPECT_EQ(test::Hex(HashDevice(kPass.id, key)),
            "9b97f8fa422567a3003632201f1584afc4a7973de092480a2372327843e571f5");
  EXPECT_NE(HashDevice(kPass.id, key), HashDevice(kPass.id + 1, key));
  EXPECT_NE(HashDevice(kPass.id, key), HashDevice(kPass.id, key + "x"));
  // Their case counts.
  EXPECT_NE(HashDevice(kPass.id, key),
            HashDevice(kPass.id, "Device-key_16chr"));
}

}  // namespace
}  // namespace parlor::host
