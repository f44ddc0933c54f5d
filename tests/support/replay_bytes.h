// Replay logs in memory, and their chunks: found by what REPLAY.md says of
// them, and summed by a plain CRC of its own, so that the code is not compared
// with itself.
#ifndef PARLOR_TESTS_SUPPORT_REPLAY_BYTES_H_
#define PARLOR_TESTS_SUPPORT_REPLAY_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/byte_io.h"
#include "parlor/lockstep/replay_log.h"

namespace parlor::test {

class MemoryReplaySink final : public lockstep::ReplaySink {
 public:
  absl::Status Write(std::span<const std::byte> part) override {
    if (!fail.ok()) return fail;
    bytes.insert(bytes.end(), part.begin(), part.end());
    ++writes;
    return absl::OkStatus();
  }

  void OnFull() override { ++full; }

  std::vector<std::byte> bytes;
  int writes = 0;
  int full = 0;
  absl::Status fail;
};

inline std::uint32_t PlainCrc32(std::uint64_t offset,
                                std::span<const std::byte> bytes) {
  std::vector<std::byte> all;
  ByteWriter(all).U64(offset);
  ByteWriter(all).Bytes(bytes);
  std::uint32_t crc = 0xffffffff;
  for (const std::byte byte : all) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    }
  }
  return ~crc;
}

inline constexpr std::size_t kReplayFixed = 61;      // of a header
inline constexpr std::size_t kReplayChunkHead = 13;  // of a chunk

// Where a replay's header ends, as far as there is one.
inline std::size_t ReplayHeaderEnd(std::span<const std::byte> bytes) {
  if (bytes.size() < kReplayFixed) return bytes.size() + 1;
  return kReplayFixed + std::to_integer<std::size_t>(bytes[60]) + 4;
}

// Where its header and each whole chunk end.
inline std::vector<std::size_t> ReplayEnds(std::span<const std::byte> bytes) {
  std::vector<std::size_t> ends;
  std::size_t at = ReplayHeaderEnd(bytes);
  while (at <= bytes.size()) {
    ends.push_back(at);
    if (bytes.size() - at < kReplayChunkHead) break;
    at += kReplayChunkHead + std::size_t{LoadU32(&bytes[at + 1])} + 4;
  }
  return ends;
}

// With right sums, as far as its chunks can be followed.
inline std::vector<std::byte> Resealed(std::vector<std::byte> bytes) {
  std::size_t begin = 0;
  for (const std::size_t end : ReplayEnds(bytes)) {
    const auto part = std::span(bytes).subspan(begin, end - begin - 4);
    StoreU32(&bytes[end - 4], PlainCrc32(begin, part));
    begin = end;
  }
  return bytes;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_REPLAY_BYTES_H_
