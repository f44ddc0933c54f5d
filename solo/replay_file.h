// The replay file: what one match of a game needs to be played again, and the
// hashes that prove it was. Written as the match happens, so that a crash
// leaves a readable prefix; read as if an enemy had written it.
//
// All integers are little-endian; `varint` is LEB128 in its shortest form.
//
//   header, 48 bytes
//     0  8  magic "PARLREP" 1a
//     8  2  format version: 1
//    10  2  game: 1 is Cycles
//    12  4  version of the game's rules
//    16  4  the match's seed
//    20  1  seats of the match, 1..32
//    21  1  size: players, the game's own bots included, seats..255
//    22  1  mode byte of START (the game's options)
//    23  1  input delay, 1..31
//    24  8  zero
//    32  8  hash of the state before frame 0
//    40  8  XXH3-64 of bytes 0..39
//
//   record, repeated
//     0  1  type: 1 frames, 2 end
//     1  2  payload size in bytes
//     3  .  payload
//        8  XXH3-64 of everything in the record before it, seeded with the
//           record's offset in the file, so that records cannot change places
//
//   payload of frames
//     varint  first frame: the one after the last record's, 0 in the first
//     varint  count, 1..30: a hash comes at least as often as the room's HASH
//     columns: the bots mask, then the input word of each seat, each as runs
//             of (varint length, varint value) that add up to count; two
//             neighbouring runs differ in value
//     8       hash of the state after the last of these frames
//
//   payload of end, always the last record
//     varint  frames in the file
//     8       hash of the state after them
//
// A file that stops before its end record is torn: the records before the tear
// are as good as ever.
#ifndef PARLOR_SOLO_REPLAY_FILE_H_
#define PARLOR_SOLO_REPLAY_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace parlor::solo {

inline constexpr std::uint16_t kReplayVersion = 1;
inline constexpr std::uint16_t kReplayGameCycles = 1;
inline constexpr int kReplaySeatsMax = 32;
inline constexpr int kReplayBlockFrames = 30;
// 24 hours at 60 frames a second of the worst record there is would be larger,
// what players do is 5 MB; a file above this is none of ours.
inline constexpr std::size_t kReplayBytesMax = std::size_t{1} << 28;

struct ReplayHeader {
  std::uint16_t game = kReplayGameCycles;
  std::uint32_t rules_version = 0;
  std::uint32_t seed = 0;
  int seats = 1;
  int size = 1;
  std::uint8_t mode = 0;
  int delay = 1;
  std::uint64_t start_hash = 0;

  friend bool operator==(const ReplayHeader&, const ReplayHeader&) = default;
};

struct ReplayFrame {
  std::uint32_t frame = 0;
  std::uint32_t bots = 0;
  std::array<std::uint32_t, kReplaySeatsMax> inputs{};  // header.seats of them
  std::optional<std::uint64_t> hash;  // of the state after it, where recorded

  friend bool operator==(const ReplayFrame&, const ReplayFrame&) = default;
};

// Makes the bytes of a replay, record by record. What was taken out by
// TakeBytes() is a valid prefix of the file.
class ReplayEncoder {
 public:
  explicit ReplayEncoder(const ReplayHeader& header);

  // True when a record is full: call CloseBlock with the state's hash.
  bool Add(std::span<const std::uint32_t> inputs, std::uint32_t bots);
  void CloseBlock(std::uint64_t hash);
  // Frames were added since the last CloseBlock.
  bool block_open() const { return count_ > 0; }
  // After the last CloseBlock; nothing may follow.
  void Finish(std::uint64_t hash);

  // The bytes since the last call. Valid until the next call of any kind.
  std::span<const std::byte> TakeBytes();

 private:
  using Column = std::array<std::uint32_t, kReplayBlockFrames>;

  void WriteRecord(std::uint8_t type, std::span<const std::byte> payload);

  std::vector<Column> columns_;  // the bots mask, then each seat
  int count_ = 0;
  std::uint32_t frames_ = 0;  // in closed blocks
  std::uint64_t offset_ = 0;  // of the next record
  bool finished_ = false;
  std::vector<std::byte> pending_;
  std::vector<std::byte> taken_;
  std::vector<std::byte> payload_;
};

// Reads a replay from memory. Everything is checked before the first frame is
// given out. The bytes must outlive the reader.
class ReplayReader {
 public:
  // InvalidArgument: not a replay, another version, or damaged. DataLoss: the
  // file is torn, and `partial` was not asked for. The text says what is
  // wrong and at which byte.
  static absl::StatusOr<ReplayReader> Open(std::span<const std::byte> bytes,
                                           bool partial = false);

  const ReplayHeader& header() const { return header_; }
  std::uint32_t frames() const { return frames_; }
  // Where the file is torn; absent when it is whole.
  std::optional<std::size_t> torn_at() const { return torn_at_; }

  // The next frame, or false after the last one.
  bool Next(ReplayFrame& frame);
  void Rewind();

 private:
  using Column = std::array<std::uint32_t, kReplayBlockFrames>;
  enum class Record : std::uint8_t { kFrames, kEnd, kTorn };

  explicit ReplayReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  absl::Status ReadHeader();
  absl::Status CheckRecords(bool partial);
  absl::StatusOr<Record> ReadRecord();
  absl::Status ReadFrames(std::span<const std::byte> payload);
  absl::Status ReadEnd(std::span<const std::byte> payload);

  std::span<const std::byte> bytes_;
  ReplayHeader header_;
  std::uint32_t frames_ = 0;
  std::optional<std::size_t> torn_at_;

  std::size_t offset_ = 0;        // of the next record
  std::uint32_t next_frame_ = 0;  // the first one after the current block
  std::uint64_t last_hash_ = 0;   // of the current block
  std::vector<Column> columns_;   // of the current block
  int count_ = 0;                 // frames in it
  int at_ = 0;                    // of these, given out
};

// A replay file being written. Each record is flushed as it is complete.
class ReplayWriter {
 public:
  // Replaces the file. Fails when it cannot be made.
  static absl::StatusOr<ReplayWriter> Create(const std::string& path,
                                             const ReplayHeader& header);

  bool Add(std::span<const std::uint32_t> inputs, std::uint32_t bots) {
    return encoder_.Add(inputs, bots);
  }
  bool block_open() const { return encoder_.block_open(); }
  absl::Status CloseBlock(std::uint64_t hash);
  // Writes the end record and closes the file.
  absl::Status Finish(std::uint64_t hash);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  ReplayWriter(std::string path, std::FILE* file, const ReplayHeader& header)
      : path_(std::move(path)), file_(file), encoder_(header) {}
  absl::Status Flush();

  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  ReplayEncoder encoder_;
};

// Makes the file of a recording, before there is anything to write into it.
// AlreadyExists: it would replace a file, and the file is not empty.
absl::Status ClaimReplayFile(const std::string& path);

// "0x" and 16 digits.
std::string HashText(std::uint64_t hash);

// The whole file, at most kReplayBytesMax.
absl::StatusOr<std::vector<std::byte>> ReadReplayBytes(const std::string& path);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_REPLAY_FILE_H_
