#include "load/load_options.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "parlor/printable.h"
#include "parlor/status.h"

namespace parlor::load {
namespace {

constexpr std::string_view kHelp =
    R"(Usage: room_load --connect 127.0.0.1:PORT [options]
Loads a server of lockstep rooms, checks every byte that it relays and measures
it: latency, throughput, and what it costs the server.

  --connect HOST:PORT   where the server is: a numeric IPv4 address
  --rooms N             rooms, numbered from 0 (64)
  --seats N             seats of each, 2 to 32 (8)
  --rate N              frames a second of a seat, 1 to 1000 (60)
  --phases spread|step  each seat sends at its own moment of the step, or all
                        of them at once (spread)
  --loop open|closed    frames are sent by the clock, or as soon as the frame
                        before is complete (open)
  --timed N|all         how many seats of each room have their latencies
                        measured; the others are checked just as completely,
                        but read in turn, every 25 ms, so that this program is
                        not the limit (open loop: 1; a closed one times all)
  --seconds S           how long to measure (10)
  --warm-seconds S      load before that, which is not measured (2)
  --join-seconds S      gives up when the server is silent that long while
                        clients join (10)
  --drain-seconds S     what has not come in the end counts as lost when the
                        server was silent that long (3)
  --server-pid PID      the server's process: its processor time and memory
  --cpu N               run on core N alone
  --addresses N         come from N addresses, 127.0.0.1 and up, in turn (1)
  --idle COUNT          no load: seat COUNT connections that say nothing, and
                        tell what each costs in the server's memory; with
                        --server-pid
  --seed N              of the phases (1)
  --json                one JSON object instead of a table

Exit codes:
  0  measured; every byte was right
  1  the server lost, repeated, reordered or changed a message
  2  no measurement: a bad flag, a server that refuses or closes, too few files
  3  measured, but this program was the limit: the figures are its own

In step (--phases step) all frames are due at one moment, from which latencies
count: the time that this program takes to send them all is in them.
)";

// The most of each; beyond them a mistake is likelier than a wish.
constexpr std::uint32_t kRoomsMax = 65'536;
constexpr std::uint32_t kRateMax = 1'000;
constexpr std::uint32_t kConnectionsMax = 1'000'000;
constexpr int kAddressesMax = 65'536;
constexpr pid_t kProcessMax = 4'194'304;  // the kernel's PID_MAX_LIMIT
constexpr double kSecondsMax = 86'400;

absl::Status Bad(std::string_view flag, std::string_view value,
                 std::string_view allowed) {
  return InvalidArgument(std::string(flag) + " " + Printable(value) +
                         ": is not " + std::string(allowed));
}

template <typename Number>
absl::Status ReadNumber(std::string_view flag, std::string_view value,
                        Number least, Number most, Number* into) {
  Number number{};
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() &&
      number >= least && number <= most) {
    *into = number;
    return absl::OkStatus();
  }
  return Bad(flag, value,
             "a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most));
}

absl::Status ReadSeconds(std::string_view flag, std::string_view value,
                         double least, double* into) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number,
                      std::chars_format::fixed);
  // The comparisons are false of what is no number.
  if (error == std::errc() && end == value.data() + value.size() &&
      number >= least && number <= kSecondsMax) {
    *into = number;
    return absl::OkStatus();
  }
  return Bad(flag, value,
             least > 0 ? "a number of seconds from 0.1 to 86400"
                       : "a number of seconds from 0 to 86400");
}

absl::Status ReadConnect(std::string_view value, LoadOptions& options) {
  const std::size_t colon = value.rfind(':');
  if (colon != std::string_view::npos) {
    options.host = value.substr(0, colon);
    in_addr address{};
    std::uint16_t port = 0;
    if (inet_pton(AF_INET, options.host.c_str(), &address) == 1 &&
        ReadNumber<std::uint16_t>("", value.substr(colon + 1), 1, 65'535, &port)
            .ok()) {
      options.port = port;
      return absl::OkStatus();
    }
  }
  return Bad("--connect", value,
             "a numeric IPv4 address and a port, as in "
             "127.0.0.1:8787");
}

template <typename Choice>
absl::Status ReadChoice(std::string_view flag, std::string_view value,
                        Choice first, Choice second, Choice* into) {
  for (const Choice choice : {first, second}) {
    if (value != Name(choice)) continue;
    *into = choice;
    return absl::OkStatus();
  }
  return Bad(flag, value,
             std::string(Name(first)) + " or " + std::string(Name(second)));
}

absl::Status ReadTimed(std::string_view flag, std::string_view value,
                       LoadOptions& options) {
  int& timed = options.timed.emplace(LoadOptions::kAllSeats);
  if (value == "all" || ReadNumber(flag, value, 1, 32, &timed).ok()) {
    return absl::OkStatus();
  }
  return Bad(flag, value, "a whole number from 1 to 32, or all");
}

// NotFound: there is no such flag.
absl::Status ReadFlag(std::string_view flag, std::string_view value,
                      LoadOptions& options) {
  using Phases = LoadOptions::Phases;
  using Loop = LoadOptions::Loop;
  if (flag == "--connect") return ReadConnect(value, options);
  if (flag == "--rooms") {
    return ReadNumber(flag, value, 1u, kRoomsMax, &options.rooms);
  }
  if (flag == "--seats") return ReadNumber(flag, value, 2, 32, &options.seats);
  if (flag == "--rate") {
    return ReadNumber(flag, value, 1u, kRateMax, &options.rate);
  }
  if (flag == "--phases") {
    return ReadChoice(flag, value, Phases::kSpread, Phases::kStep,
                      &options.phases);
  }
  if (flag == "--loop") {
    return ReadChoice(flag, value, Loop::kOpen, Loop::kClosed, &options.loop);
  }
  if (flag == "--timed") return ReadTimed(flag, value, options);
  if (flag == "--seconds") {
    return ReadSeconds(flag, value, 0.1, &options.seconds);
  }
  if (flag == "--warm-seconds") {
    return ReadSeconds(flag, value, 0, &options.warm_seconds);
  }
  if (flag == "--join-seconds") {
    return ReadSeconds(flag, value, 0.1, &options.join_seconds);
  }
  if (flag == "--drain-seconds") {
    return ReadSeconds(flag, value, 0.1, &options.drain_seconds);
  }
  if (flag == "--server-pid") {
    return ReadNumber(flag, value, 1, kProcessMax,
                      &options.server_pid.emplace());
  }
  if (flag == "--cpu") {
    return ReadNumber(flag, value, 0, 1'023, &options.cpu.emplace());
  }
  if (flag == "--addresses") {
    return ReadNumber(flag, value, 1, kAddressesMax, &options.addresses);
  }
  if (flag == "--idle") {
    return ReadNumber(flag, value, 1u, kConnectionsMax, &options.idle);
  }
  if (flag == "--seed") {
    return ReadNumber(flag, value, std::uint64_t{0},
                      std::numeric_limits<std::uint64_t>::max(), &options.seed);
  }
  return MakeStatus(absl::StatusCode::kNotFound, "");
}

absl::Status CheckTimed(const LoadOptions& options) {
  if (!options.timed) return absl::OkStatus();
  const bool all = *options.timed == LoadOptions::kAllSeats;
  const std::string flag =
      "--timed " + (all ? "all" : std::to_string(*options.timed));
  if (options.loop == LoadOptions::Loop::kClosed) {
    return InvalidArgument(flag +
                           ": not with --loop closed, which times all seats: "
                           "each waits for what it receives");
  }
  if (!all && *options.timed > options.seats) {
    return InvalidArgument(flag + ": a room has only --seats " +
                           std::to_string(options.seats));
  }
  return absl::OkStatus();
}

absl::Status CheckTogether(const LoadOptions& options) {
  if (options.host.empty()) {
    return InvalidArgument(
        "--connect is missing: as in --connect "
        "127.0.0.1:8787");
  }
  if (options.addresses > 1 && !options.host.starts_with("127.")) {
    return InvalidArgument("--addresses " + std::to_string(options.addresses) +
                           ": only with --connect to an address of 127/8, "
                           "since that is where they are");
  }
  if (options.idle > 0 && !options.server_pid) {
    return InvalidArgument("--idle " + std::to_string(options.idle) +
                           ": needs --server-pid, whose memory it tells");
  }
  const std::uint64_t connections =
      std::uint64_t{options.rooms} * static_cast<std::uint64_t>(options.seats);
  if (connections > kConnectionsMax) {
    return InvalidArgument("--rooms " + std::to_string(options.rooms) +
                           " with --seats " + std::to_string(options.seats) +
                           ": " + std::to_string(connections) +
                           " connections; at most 1000000");
  }
  return CheckTimed(options);
}

}  // namespace

absl::StatusOr<LoadOptions> ParseLoadOptions(
    std::span<const char* const> arguments) {
  LoadOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view flag = arguments[i];
    if (flag == "--json") {
      options.json = true;
      continue;
    }
    const bool last = i + 1 == arguments.size();
    absl::Status status =
        ReadFlag(flag, last ? std::string_view() : arguments[i + 1], options);
    if (absl::IsNotFound(status)) {
      return InvalidArgument(Printable(flag) +
                             ": is no flag of room_load; "
                             "--help lists them");
    }
    if (last) return InvalidArgument(std::string(flag) + ": needs a value");
    if (!status.ok()) return status;
    ++i;
  }
  absl::Status status = CheckTogether(options);
  if (!status.ok()) return status;
  return options;
}

std::string_view LoadHelp() { return kHelp; }

std::string_view Name(LoadOptions::Phases phases) {
  return phases == LoadOptions::Phases::kSpread ? "spread" : "step";
}

std::string_view Name(LoadOptions::Loop loop) {
  return loop == LoadOptions::Loop::kOpen ? "open" : "closed";
}

}  // namespace parlor::load
