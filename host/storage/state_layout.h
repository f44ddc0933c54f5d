// StateLayout: where things are in a state file, and how they are sealed. Bytes
// only; state_file.cc reads and writes them.
//
//   header   64 bytes
//   lines    64 bytes for each room
//   (zeros up to a multiple of 4,096)
//   halves   two for each room, one after the other
//
//   header   0      16       20     24     28          32..63
//            magic  version  rooms  seats  half_bytes  SHA-256 of 0..31
//   line     0           4     8     12..31  32..63
//            half (1, 2) size  room  zero    SHA-256 of 0..31 and the state
//
// Integers are little-endian. The line of a room of which nothing is kept is
// zero throughout. No line crosses a page, and the halves of two rooms share
// none. The size of the file is that of its layout from the beginning; what was
// never written takes no blocks.
#ifndef PARLOR_HOST_STORAGE_STATE_LAYOUT_H_
#define PARLOR_HOST_STORAGE_STATE_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/statusor.h"

namespace parlor::host {

class StateLayout {
 public:
  static constexpr std::size_t kLineBytes = 64;
  using Line = std::array<std::byte, kLineBytes>;

  // What a line says of a room.
  struct Place {
    int half = 0;          // 0 or 1
    std::size_t size = 0;  // 1..half_bytes()
  };

  // 1..limits::kRooms.ceiling, 1..limits::kSeats.ceiling.
  StateLayout(std::int64_t rooms, std::int64_t seats);

  Line Header() const;
  // DataLoss, saying what is wrong with it: no header of ours.
  static absl::StatusOr<StateLayout> ParseHeader(const Line& header);

  static Line MakeLine(std::uint32_t room, int half,
                       std::span<const std::byte> state);
  // Nothing when nothing is kept. DataLoss: no line of this room. Its checksum
  // is asked with the state it speaks of: Matches.
  absl::StatusOr<std::optional<Place>> ParseLine(std::uint32_t room,
                                                 const Line& line) const;
  static bool Matches(const Line& line, std::span<const std::byte> state);

  std::int64_t rooms() const { return rooms_; }
  std::int64_t seats() const { return seats_; }
  std::size_t half_bytes() const { return half_bytes_; }

  // Offsets and sizes; those of the largest layout are 3.8e9.
  std::int64_t LineAt(std::int64_t room) const;
  std::int64_t HalfAt(std::int64_t room, int half) const;
  std::int64_t head_bytes() const {
    return LineAt(rooms_);
  }  // header and lines
  std::int64_t file_bytes() const { return HalfAt(rooms_, 0); }

 private:
  std::int64_t rooms_;
  std::int64_t seats_;
  std::size_t half_bytes_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_STORAGE_STATE_LAYOUT_H_
