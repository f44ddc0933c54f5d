#include "program/report.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "logic/gate.h"
#include "logic/minute_rates.h"
#include "parlor/entropy.h"
#include "parlor/host/shard.h"
#include "parlor/host/sqlite_access_store.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/room_log.h"
#include "parlor/time.h"
#include "stream/stream_loop.h"

namespace parlor::host_program {
namespace {

constexpr std::uint64_t kKiB = 1'024;

// Of an idle seated connection: measured 1,781 bytes over WebSocket and 1,605
// over TCP (README, Numbers); at most 2 KiB is what net_memory_test holds it
// to. TLS takes some 14 KB more (bench/README.md).
constexpr std::uint64_t kConnectionBytes = 2 * kKiB;
constexpr std::uint64_t kTlsBytes = 16 * kKiB;
// What a shard keeps of a room beside the room itself: its entry, its places in
// two tables and its alarm.
constexpr std::uint64_t kRoomEntryBytes = 256;
// A request head (contract: 8 KiB) and a body (1 KiB).
constexpr std::uint64_t kUnseatedBytes = 9 * kKiB;
// A loop's epoll, timer and wake-up; a listening socket; stdin, stdout, stderr
// and some to spare for what the system's libraries open.
constexpr std::uint64_t kLoopDescriptors = 3;
constexpr std::uint64_t kOtherDescriptors = 32;
// Of the access store: its database and what SQLite has beside it (the log, its
// index, and one for a time), and of kept matches the file, its successor and
// their folder while one takes the other's place.
constexpr std::uint64_t kAccessDescriptors = 4;
constexpr std::uint64_t kStateDescriptors = 3;
// SQLite's page cache (2,000 KiB unless it is told otherwise), and the hashes
// of codes, 128 KiB, at the file, at its watcher and at the gate.
constexpr std::uint64_t kAccessBytes = 3 * kKiB * kKiB;
// A pass and its device in the store's queue, with whom to answer.
constexpr std::uint64_t kUseBytes = 256;
// What a shard and the file remember of each room beside the match: where it
// lies, and when it is kept next.
constexpr std::uint64_t kKeptRoomBytes = 128;
// What a room's recording has not written yet: its lobby, a chunk twice, and of
// a room of the most seats that was taken back, that it was.
constexpr std::uint64_t kRecordedRoomBytes =
    lockstep::RoomLog::kLobbyBytesMax + 48 * kKiB;

// "1,024"
std::string Grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string BytesText(std::uint64_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < kKiB) return absl::StrCat(bytes, " ", kUnits[0]);
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  while (value >= 1'024 && unit + 1 < kUnits.size()) {
    value /= 1'024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::uint64_t Unsigned(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

std::uint64_t RoomBytes(const host::ShardOptions& options) {
  SeededEntropy entropy(1);
  return lockstep::Room(TimePoint(), static_cast<int>(options.seats),
                        options.room, entropy)
      .memory_bytes();
}

}  // namespace

std::vector<MemoryTerm> MemoryTerms(const host::ServerOptions& options) {
  const std::uint64_t link = kConnectionBytes + (options.tls ? kTlsBytes : 0);
  std::vector<MemoryTerm> terms = {
      {"connections", Unsigned(options.connections), link},
      {"lanes of connections", Unsigned(options.connections),
       options.stream.reliable_bytes_max},
      {"messages half read", Unsigned(options.connections),
       options.stream.message_bytes_max},
      {"rooms", Unsigned(options.shard.rooms),
       RoomBytes(options.shard) + kRoomEntryBytes},
      {"requests of who has no seat", Unsigned(options.unseated),
       kUnseatedBytes},
      // Attempts and failures.
      {"rates of addresses", 2 * host::Gate::kAddressesMax,
       host::MinuteRates::kKeyBytesMax},
      {"join rates of rooms", Unsigned(options.shards) * host::Shard::kJoinsMax,
       host::MinuteRates::kKeyBytesMax},
      {"buffers of threads", Unsigned(options.shards) + 1,
       stream::kLoopBytesMax},
  };
  if (options.access_store != nullptr) {
    terms.push_back({"the access file", 1, kAccessBytes});
    terms.push_back({"passes that are looked up", host::kUsesMax, kUseBytes});
  }
  if (!options.state_path.empty()) {
    terms.push_back({"what is kept of rooms, beside them",
                     Unsigned(options.shard.rooms), kKeptRoomBytes});
  }
  if (!options.record_path.empty()) {
    terms.push_back({"recordings of rooms", Unsigned(options.shard.rooms),
                     kRecordedRoomBytes});
  }
  return terms;
}

std::string ListeningText(const host::ServerOptions& options,
                          std::uint16_t port, std::uint16_t tcp_port) {
  const bool v6 = options.address.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + options.address + "]" : options.address;
  const auto line = [&](const char* scheme, std::uint16_t at) {
    return absl::StrCat("listening on ", scheme, "://", host, ":", at, "\n");
  };
  std::string text = line(options.tls ? "https" : "http", port);
  if (tcp_port != 0) text += line(options.tls ? "tls" : "tcp", tcp_port);
  return text;
}

std::string WorstCaseText(const host::ServerOptions& options) {
  const std::uint64_t rooms = Unsigned(options.shard.rooms);
  const std::uint64_t seats = Unsigned(options.shard.seats);
  const std::uint64_t rate = Unsigned(options.shard.room.message_rate_per_s);
  const std::uint64_t in = rooms * seats * rate;
  return absl::StrCat(
      "worst case: ", Grouped(rooms), " rooms x ", Grouped(seats), " seats x ",
      Grouped(rate), " messages a second = ", Grouped(in), " in and ",
      Grouped(in * (seats - 1)), " relayed to the other seats\n");
}

std::string MemoryText(const host::ServerOptions& options) {
  std::uint64_t sum = 0;
  std::string lines;
  for (const MemoryTerm& term : MemoryTerms(options)) {
    sum += term.bytes();
    absl::StrAppend(&lines, "  ", BytesText(term.bytes()), ": ",
                    absl::string_view(term.name.data(), term.name.size()), ", ",
                    Grouped(term.count), " x ", BytesText(term.each), "\n");
  }
  if (const std::size_t rooms = options.shard.play_rooms.size(); rooms > 0) {
    absl::StrAppend(&lines, "  and what the games of ", Grouped(rooms),
                    " hosted rooms take\n");
  }
  return absl::StrCat("memory at the worst: ", BytesText(sum),
                      ", the system's socket buffers aside\n", lines);
}

std::uint64_t DescriptorsNeeded(const host::ServerOptions& options) {
  return Unsigned(options.connections) +
         (Unsigned(options.shards) + 1) * kLoopDescriptors + kOtherDescriptors +
         (options.access_store != nullptr ? kAccessDescriptors : 0) +
         (options.state_path.empty() ? 0 : kStateDescriptors) +
         (options.record_path.empty() ? 0 : Unsigned(options.shard.rooms) + 1);
}

}  // namespace parlor::host_program
