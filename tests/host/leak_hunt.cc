#include "leak_hunt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

#include "parlor/check.h"
#include "parlor/printable.h"

namespace parlor::test {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace

LeakHunt::LeakHunt() { Forbid("what a client said", kLeakMark); }

std::string LeakHunt::Mark() {
  return std::string(kLeakMark) + std::to_string(++marks_);
}

void LeakHunt::Forbid(std::string_view name, std::string_view secret) {
  PARLOR_CHECK(secret.size() >= 6);
  secrets_.push_back({std::string(name), Lower(secret)});
  secrets_.push_back({std::string(name) + ", in hexadecimal", Hex(secret)});
  const std::string lower = Lower(secret);
  if (lower != secret) {
    secrets_.push_back(
        {std::string(name) + ", in hexadecimal and lower case", Hex(lower)});
  }
}

void LeakHunt::ForbidToken(std::uint32_t token) {
  if (token < 1u << 20) return;
  secrets_.push_back({"a resume token", std::to_string(token)});
  std::string hex(8, '\0');
  const auto end = std::to_chars(hex.data(), hex.data() + 8, token, 16).ptr;
  hex.resize(static_cast<std::size_t>(end - hex.data()));
  secrets_.push_back({"a resume token, in hexadecimal", hex});
}

void LeakHunt::Look(std::string_view where, std::string_view text,
                    std::initializer_list<std::string_view> allowed) {
  std::string rest(text);
  for (const std::string_view one : allowed) {
    if (one.empty()) continue;
    const std::size_t at = rest.find(one);
    if (at == std::string::npos) {
      ADD_FAILURE() << where << ": not in it: " << one;
      continue;
    }
    // Nothing grows together.
    rest.replace(at, one.size(), "\n");
  }
  texts_.push_back({std::string(where), Lower(rest)});
}

std::vector<std::string> LeakHunt::Find() const {
  constexpr std::size_t kAround = 60;
  std::vector<std::string> found;
  for (const Text& text : texts_) {
    for (const Secret& secret : secrets_) {
      const std::size_t at = text.text.find(secret.text);
      if (at == std::string::npos) continue;
      const std::size_t from = at - std::min(at, kAround);
      found.push_back(
          secret.name + " in '" + text.where + "': " +
          Printable(text.text.substr(from, 2 * kAround + secret.text.size())));
    }
  }
  return found;
}

}  // namespace parlor::test
