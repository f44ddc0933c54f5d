// A replay log out of a file, and its moments.
#ifndef PARLOR_SOLO_REPLAY_RECORDING_H_
#define PARLOR_SOLO_REPLAY_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/time.h"

namespace parlor::replay_program {

struct Recording {
  std::string path;
  std::vector<std::byte> bytes;  // what log reads; moves keep its place
  lockstep::ReplayLogReader log;
};

// A file that was cut off is taken as far as it goes, and log.warning() says
// so; with `partial` one that is damaged too. Errors begin with the file and
// name the byte.
absl::StatusOr<Recording> Load(const std::string& path, bool partial);
// The same of bytes that were read from there.
absl::StatusOr<Recording> Parse(const std::string& path,
                                std::vector<std::byte> bytes, bool partial);

// "parlor-replay: FILE: ...", a line for what is wrong with it, or "".
std::string WarningOf(const Recording& recording);
// "parlor-replay: TEXT", in one printable line.
std::string ErrorLine(std::string_view text);

// What frame the match was at then, and when a frame was reached: by the
// file's index, and evenly in the second between two of its places.
std::uint32_t FrameAt(const lockstep::ReplayLogReader& log, Duration at);
Duration TimeOf(const lockstep::ReplayLogReader& log, std::uint32_t frame);

// "1:02:03.400", "2:03.400".
std::string TimeText(Duration time);
// "90", "90.5", "1:30", "1:02:03.4": hours and minutes may be left out.
std::optional<Duration> ParseTime(std::string_view text);

// "seat 2", "seats 0, 1 and 3"; the mask is not empty.
std::string SeatsText(std::uint32_t seats);
// "12,345"
std::string CountText(std::uint64_t count);
// "1 hash", "12,345 hashes"
std::string CountText(std::uint64_t count, std::string_view one,
                      std::string_view many);

}  // namespace parlor::replay_program

#endif  // PARLOR_SOLO_REPLAY_RECORDING_H_
