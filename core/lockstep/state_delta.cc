#include "lockstep/state_delta.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "parlor/byte_io.h"

namespace parlor::lockstep::state {
namespace {

constexpr std::size_t kWord = 8;
constexpr std::size_t kBlock = 64 * kWord;

using Block = std::array<std::byte, kBlock>;

// A block of `state` that is filled up with zeros.
void LoadBlock(std::span<const std::byte> state, std::size_t at, Block& block) {
  const std::size_t size =
      at >= state.size() ? 0 : std::min(kBlock, state.size() - at);
  if (size != 0) std::memcpy(block.data(), state.data() + at, size);
  std::memset(block.data() + size, 0, kBlock - size);
}

// The words that differ, as a mask.
std::uint64_t ChangedWords(const std::byte* from, const std::byte* to) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < kBlock / kWord; ++i) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, from + i * kWord, kWord);
    std::memcpy(&b, to + i * kWord, kWord);
    mask |= std::uint64_t{a != b} << i;
  }
  return mask;
}

void PutWords(const std::byte* words, std::uint64_t mask,
              std::vector<std::byte>& out) {
  Block packed;
  std::size_t size = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto word = static_cast<std::size_t>(std::countr_zero(mask));
    std::memcpy(packed.data() + size, words + word * kWord, kWord);
    size += kWord;
  }
  out.insert(out.end(), packed.begin(),
             packed.begin() + static_cast<std::ptrdiff_t>(size));
}

}  // namespace

bool MakeDelta(std::span<const std::byte> from, std::span<const std::byte> to,
               std::size_t bytes_max, std::vector<std::byte>& out) {
  const std::size_t size_max = std::min(bytes_max, to.size());
  constexpr std::size_t kPieceMax = 10 + 8 + kBlock;
  out.clear();
  // All that one piece can go beyond before that is seen.
  out.reserve(size_max + kPieceMax);
  ByteWriter writer(out);
  writer.VarUint(to.size());
  Block a;
  Block b;
  std::size_t same = 0;
  for (std::size_t at = 0; at < to.size(); at += kBlock) {
    const bool whole = at + kBlock <= from.size() && at + kBlock <= to.size();
    if (!whole) {
      LoadBlock(from.first(std::min(from.size(), to.size())), at, a);
      LoadBlock(to, at, b);
    }
    const std::byte* const in_from = whole ? from.data() + at : a.data();
    const std::byte* const in_to = whole ? to.data() + at : b.data();
    if (std::memcmp(in_from, in_to, kBlock) == 0) {
      ++same;
      continue;
    }
    const std::uint64_t mask = ChangedWords(in_from, in_to);
    writer.VarUint(same);
    writer.U64(mask);
    PutWords(in_to, mask, out);
    same = 0;
    if (out.size() >= size_max) return false;
  }
  return out.size() < size_max;
}

bool ApplyDelta(std::span<const std::byte> delta, std::size_t bytes_max,
                std::vector<std::byte>& state) {
  ByteReader reader(delta);
  const std::size_t size = reader.VarUint(bytes_max);
  if (!reader.ok()) return false;
  state.resize(size);
  std::size_t at = 0;
  while (reader.remaining() > 0) {
    // Of a whole state's blocks, so that nothing below overflows.
    at += reader.VarUint(size / kBlock) * kBlock;
    for (std::uint64_t mask = reader.U64(); mask != 0; mask &= mask - 1) {
      const auto bytes = reader.Bytes(kWord);
      const std::size_t word =
          at + static_cast<std::size_t>(std::countr_zero(mask)) * kWord;
      if (!reader.ok() || word >= size) return false;
      std::memcpy(state.data() + word, bytes.data(),
                  std::min(kWord, size - word));
    }
    if (!reader.ok()) return false;
    at += kBlock;
  }
  return true;
}

}  // namespace parlor::lockstep::state
