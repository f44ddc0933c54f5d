// A fuzzer's bytes are a body's length, or that it is chunked, and what follows
// its head. Nothing may assert, and:
//  - the result does not depend on how the bytes were cut, nor on what is
//    behind the body;
//  - no more is kept than the limit allows, nor is more read without an end;
//  - a body that is taken, written again in one chunk, reads the same.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logic/http_body.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::host {
namespace {

using Progress = HttpBody::Progress;

constexpr std::size_t kMax = 1'024;

struct Outcome {
  Progress progress = Progress::kMore;
  std::size_t taken = 0;
  std::string text;

  bool operator==(const Outcome&) const = default;
};

// In pieces of the sizes that `sizes` has, over and over.
Outcome Read(std::optional<std::uint64_t> length, std::string_view wire,
             std::span<const std::uint8_t> sizes) {
  HttpBody body(length, kMax);
  std::vector<std::byte> bytes(AsBytes(wire).begin(), AsBytes(wire).end());
  std::span<std::byte> nothing;
  Outcome outcome{.progress = body.Feed(nothing)};
  for (std::size_t i = 0;
       outcome.progress == Progress::kMore && outcome.taken < bytes.size();
       ++i) {
    const std::size_t piece =
        sizes.empty() ? bytes.size() : sizes[i % sizes.size()] + 1u;
    const std::size_t size = std::min(piece, bytes.size() - outcome.taken);
    std::span<std::byte> input = std::span(bytes).subspan(outcome.taken, size);
    outcome.progress = body.Feed(input);
    PARLOR_CHECK(outcome.progress != Progress::kMore || input.empty());
    outcome.taken += size - input.size();
  }
  outcome.text = body.text();
  return outcome;
}

std::string InOneChunk(std::string_view text) {
  std::string wire;
  if (!text.empty()) {
    std::array<char, 16> digits{};
    const auto [end, error] = std::to_chars(
        digits.data(), digits.data() + digits.size(), text.size(), 16);
    PARLOR_CHECK(error == std::errc{});
    wire.append(digits.data(), end).append("\r\n").append(text).append("\r\n");
  }
  return wire.append("0\r\n\r\n");
}

void Check(std::optional<std::uint64_t> length, std::string_view wire,
           std::span<const std::uint8_t> sizes) {
  const Outcome whole = Read(length, wire, {});
  PARLOR_CHECK(Read(length, wire, sizes) == whole);
  PARLOR_CHECK(Read(length, wire, std::array<std::uint8_t, 1>{}) == whole);
  PARLOR_CHECK(whole.text.size() <= kMax);
  PARLOR_CHECK(whole.taken <= kMax + 1 + kHttpChunkLinesMax);
  if (length) PARLOR_CHECK(whole.progress != Progress::kBad);
  if (whole.progress == Progress::kMore) return;
  PARLOR_CHECK(Read(length, wire.substr(0, whole.taken), {}) == whole);
  if (whole.progress != Progress::kDone) return;
  PARLOR_CHECK(!length || (*length == whole.text.size() &&
                           whole.text == wire.substr(0, whole.taken)));
  const Outcome again = Read(std::nullopt, InOneChunk(whole.text), sizes);
  PARLOR_CHECK(again.progress == Progress::kDone && again.text == whole.text);
}

}  // namespace
}  // namespace parlor::host

// Two bytes of length, four sizes of pieces, then what is on the wire.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size < 6) return 0;
  const std::span<const std::uint8_t> bytes(data, size);
  const std::uint64_t length = (data[0] * 256u + data[1]) % 1'100;
  const std::string_view wire = parlor::AsText(std::as_bytes(bytes.subspan(6)));
  parlor::host::Check(length, wire, bytes.subspan(2, 4));
  parlor::host::Check(std::nullopt, wire, bytes.subspan(2, 4));
  return 0;
}
