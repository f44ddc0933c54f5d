// The bytes of a replay log that are not events: header, chunks and the sum
// that guards both. REPLAY.md describes them.
#ifndef PARLOR_CORE_LOCKSTEP_REPLAY_LAYOUT_H_
#define PARLOR_CORE_LOCKSTEP_REPLAY_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/lockstep/replay_log.h"

namespace parlor::lockstep::replay {

inline constexpr std::size_t kSumBytes = 4;
// The header without its name and its sum.
inline constexpr std::size_t kFixedBytes = 61;
inline constexpr std::size_t kChunkHeadBytes = 13;
inline constexpr std::size_t kChunkAround = kChunkHeadBytes + kSumBytes;
// A chunk is closed at this size or this age, whichever comes first; the
// largest event is 184 bytes. A reader takes larger ones.
inline constexpr std::size_t kChunkFull = 4'096;
inline constexpr std::uint32_t kChunkTicks = 10'000;  // a second
inline constexpr std::size_t kEventBytesMax = 65'535;
inline constexpr std::uint32_t kTickMax = 0xffffffff;

enum class ChunkType : std::uint8_t {
  kEvents = 1,
  kKeyframe = 2,
  kKept = 3,
  kEnd = 4,
};

struct ChunkHead {
  ChunkType type{};
  std::uint32_t size = 0;  // of the payload
  std::uint32_t tick = 0;
  std::uint32_t frame = 0;
};

// Of the offset, as 8 bytes, and then `bytes`: so that nothing right can be
// moved to another place. CRC-32 as in zlib, PNG and Ethernet: any language has
// it to check a file with, it finds every burst of up to 32 bits, and at 1 KB a
// second it need not be the fastest. Abseil's is newer than Debian 12, and
// nothing without a secret would keep anybody from forging.
std::uint32_t Sum(std::uint64_t offset, std::span<const std::byte> bytes);

void AppendHeader(const ReplayHeader& header, std::vector<std::byte>& out);
// InvalidArgument: "byte 8: ...". Answers how long it is.
absl::StatusOr<std::size_t> ParseHeader(std::span<const std::byte> bytes,
                                        ReplayHeader& header);

// Appends a chunk that begins at `offset` of the file.
void AppendChunk(std::uint64_t offset, const ChunkHead& head,
                 std::span<const std::byte> payload,
                 std::vector<std::byte>& out);
// The head of a chunk at the begin of `bytes`, which has kChunkHeadBytes.
ChunkHead LoadChunkHead(std::span<const std::byte> bytes);

// "byte 8: what".
absl::Status DamagedAt(std::uint64_t offset, std::string_view what);

// As room_state.h, with the seat's number + 1 for its token.
void AppendKept(const ReplayHeader& header, const ReplayKept& kept,
                std::vector<std::byte>& out);
absl::StatusOr<ReplayKept> ParseKept(std::span<const std::byte> bytes,
                                     const ReplayHeader& header);

}  // namespace parlor::lockstep::replay

#endif  // PARLOR_CORE_LOCKSTEP_REPLAY_LAYOUT_H_
