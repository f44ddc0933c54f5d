// What room_load is asked for on its command line.
#ifndef PARLOR_BENCH_LOAD_LOAD_OPTIONS_H_
#define PARLOR_BENCH_LOAD_LOAD_OPTIONS_H_

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace parlor::load {

struct LoadOptions {
  std::string host;  // numeric, IPv4
  std::uint16_t port = 0;

  std::uint32_t rooms = 64;
  int seats = 8;            // 2..32
  std::uint32_t rate = 60;  // frames a second; of an open loop
  // Whether a seat sends its frames at a moment of the step that is its own, or
  // all of them do at once.
  enum class Phases : std::uint8_t { kSpread, kStep };
  Phases phases = Phases::kSpread;
  // Open: a seat sends by the clock, whatever comes back. Closed: it sends
  // frame k + 1 as soon as all others' frame k is in.
  enum class Loop : std::uint8_t { kOpen, kClosed };
  Loop loop = Loop::kOpen;
  // How many seats of a room are timed: 1..seats, or kAllSeats. Those are read
  // as soon as something is there, and only what they receive is in the
  // latencies. To read every message of every seat by itself would take more
  // of this program's core than most servers take of theirs. The other seats
  // are checked as completely, but read in turn. nullopt: one of an open loop,
  // and all of a closed one, which would wait for its own turns otherwise.
  static constexpr int kAllSeats = std::numeric_limits<int>::max();
  std::optional<int> timed;

  double seconds = 10;  // that are measured
  double warm_seconds =
      2;  // before them; with `idle`, the wait after the joins
  double join_seconds = 10;  // of silence while clients join, until the run is
                             // given up
  double drain_seconds = 3;  // of silence in the end, until what is missing is
                             // taken for lost
  std::optional<pid_t> server_pid;
  std::optional<int> cpu;  // run on that core alone
  int addresses = 1;       // of 127/8, in turn, from 127.0.0.1 on
  std::uint32_t idle = 0;  // that many connections and no load; 0: load
  std::uint64_t seed = 1;  // of the phases and of the masking keys
  bool json = false;

  // `timed` as a number of seats: 1..seats.
  int timed_seats() const {
    if (loop == Loop::kClosed) return seats;
    return std::min(timed.value_or(1), seats);
  }
  // `seat` is one of that many from seat `room % seats` on, around: so that
  // every number is as often timed.
  bool IsTimed(std::uint32_t room, int seat) const {
    const int first = static_cast<int>(room % static_cast<unsigned>(seats));
    return (seat - first + seats) % seats < timed_seats();
  }
};

// `arguments` without the program's name. InvalidArgument, with the flag, the
// value and what is allowed.
absl::StatusOr<LoadOptions> ParseLoadOptions(
    std::span<const char* const> arguments);

// What --help prints.
std::string_view LoadHelp();

// As the command line and the report spell them.
std::string_view Name(LoadOptions::Phases phases);
std::string_view Name(LoadOptions::Loop loop);

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_LOAD_OPTIONS_H_
