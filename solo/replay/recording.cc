#include "replay/recording.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cinttypes>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "storage/replay_file.h"

namespace parlor::replay_program {
namespace {

using lockstep::ReplayLogReader;

constexpr std::int64_t kMillisecondsMax = 100LL * 3'600'000;  // 100 hours

// Where `at` lies between two places, as far from the first number.
std::int64_t Between(std::int64_t at, std::int64_t from, std::int64_t to,
                     std::int64_t first, std::int64_t last) {
  if (to <= from) return first;
  const std::int64_t passed = std::clamp(at, from, to) - from;
  // Neither is above 2^32 milliseconds or frames.
  return first + (last - first) * passed / (to - from);
}

std::int64_t Ms(Duration time) { return time / kMillisecond; }

}  // namespace

absl::StatusOr<Recording> Load(const std::string& path, bool partial) {
  absl::StatusOr<std::vector<std::byte>> bytes = host::ReadReplayBytes(path);
  if (!bytes.ok()) return bytes.status();
  return Parse(path, *std::move(bytes), partial);
}

absl::StatusOr<Recording> Parse(const std::string& path,
                                std::vector<std::byte> bytes, bool partial) {
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(bytes);
  if (!log.ok() && (partial || absl::IsDataLoss(log.status()))) {
    log = ReplayLogReader::Open(bytes, true);
  }
  if (!log.ok()) {
    return absl::Status(log.status().code(),
                        absl::StrCat(path, ": ", log.status().message()));
  }
  return Recording{
      .path = path, .bytes = std::move(bytes), .log = *std::move(log)};
}

std::string WarningOf(const Recording& recording) {
  if (!recording.log.torn_at()) return "";
  return ErrorLine(absl::StrCat(recording.path, ": ", recording.log.warning()));
}

std::string ErrorLine(std::string_view text) {
  return absl::StrCat("parlor-replay: ", Printable(text), "\n");
}

std::uint32_t FrameAt(const ReplayLogReader& log, Duration at) {
  const std::uint32_t first = log.FrameAt(at);
  if (at >= log.length()) return first;
  const Duration from = log.TimeOf(first);
  const Duration to = log.TimeOf(first + 1);
  return static_cast<std::uint32_t>(
      Between(Ms(at), Ms(from), Ms(to), first, log.FrameAt(to)));
}

Duration TimeOf(const ReplayLogReader& log, std::uint32_t frame) {
  const Duration to = log.TimeOf(frame);
  if (to == Duration{}) return to;
  const std::uint32_t first = log.FrameAt(to - Duration{1});
  const Duration from = log.TimeOf(first);
  return kMillisecond *
         Between(frame, first, log.FrameAt(to), Ms(from), Ms(to));
}

std::string TimeText(Duration time) {
  const std::int64_t ms = Ms(time);
  const std::int64_t minutes = ms / 60'000;
  const std::string seconds =
      absl::StrFormat("%02d.%03d", ms / 1'000 % 60, ms % 1'000);
  if (minutes < 60) return absl::StrCat(minutes, ":", seconds);
  return absl::StrFormat("%d:%02d:%s", minutes / 60, minutes % 60, seconds);
}

std::optional<Duration> ParseTime(std::string_view text) {
  std::int64_t ms = 0;
  for (int part = 0; part < 3; ++part) {
    const std::size_t colon = text.find(':');
    const bool last = colon == std::string_view::npos;
    const std::string_view digits = text.substr(0, colon);
    const char* const end = digits.data() + digits.size();
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(digits.data(), end, number);
    const bool whole = rest == end;
    if (error != std::errc() || digits.front() == '-' || (!whole && !last) ||
        number > kMillisecondsMax) {
      return std::nullopt;
    }
    ms = 60 * ms + 1'000 * number;
    if (ms > kMillisecondsMax) return std::nullopt;
    if (!last) {
      text.remove_prefix(colon + 1);
      continue;
    }
    if (whole) return ms * kMillisecond;
    // What is left is a fraction of up to three digits.
    const std::string_view tail(rest, static_cast<std::size_t>(end - rest));
    std::int64_t scale = 100;
    if (tail.size() < 2 || tail.size() > 4 || tail[0] != '.') {
      return std::nullopt;
    }
    for (const char c : tail.substr(1)) {
      if (c < '0' || c > '9') return std::nullopt;
      ms += (c - '0') * scale;
      scale /= 10;
    }
    return ms * kMillisecond;
  }
  return std::nullopt;
}

std::string SeatsText(std::uint32_t seats) {
  std::string out = std::has_single_bit(seats) ? "seat " : "seats ";
  bool first = true;
  while (seats != 0) {
    const int seat = std::countr_zero(seats);
    seats &= seats - 1;
    if (!first) out += seats == 0 ? " and " : ", ";
    first = false;
    absl::StrAppend(&out, seat);
  }
  return out;
}

std::string CountText(std::uint64_t count) {
  std::string out = std::to_string(count);
  for (std::size_t at = out.size(); at > 3;) {
    at -= 3;
    out.insert(at, ",");
  }
  return out;
}

std::string CountText(std::uint64_t count, std::string_view one,
                      std::string_view many) {
  return CountText(count).append(" ").append(count == 1 ? one : many);
}

}  // namespace parlor::replay_program
