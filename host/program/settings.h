// The settings of parlor-host: one table from which the command line, the
// configuration file, --help and --print-config follow.
#ifndef PARLOR_HOST_PROGRAM_SETTINGS_H_
#define PARLOR_HOST_PROGRAM_SETTINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/host/server.h"
#include "parlor/limits.h"

namespace parlor::host_program {

// The program's own, beside limits.h.
inline constexpr Limit kPort{"port", 8'787, 0, 65'535};
inline constexpr Limit kShards{"shards", 1, 1, host::kShardsMax};

struct Settings {
  std::int64_t port = kPort.fallback;
  std::string bind = "127.0.0.1";
  std::optional<std::int64_t> tcp_port;
  std::optional<std::string> tls_cert;  // files
  std::optional<std::string> tls_key;
  std::string base_path;

  std::vector<std::string> codes;  // secret
  bool open = false;
  std::vector<std::string> origins;
  std::optional<std::string> access;  // a file
  bool passes = false;
  std::optional<std::string> pass_secret;  // the file that holds it
  std::int64_t pass_days = limits::kPassDays.fallback;
  std::int64_t pass_devices = limits::kPassDevices.fallback;
  std::vector<std::string> trusted_proxies;

  std::string play = "[]";  // a JSON list
  std::int64_t rooms = limits::kRooms.fallback;
  std::int64_t seats = limits::kSeats.fallback;
  std::int64_t hold_ms = limits::kHoldMs.fallback;
  std::int64_t lobby_ms = limits::kLobbyMs.fallback;
  std::int64_t idle_ms = limits::kIdleMs.fallback;
  std::int64_t lifetime_ms = limits::kLifetimeMs.fallback;
  std::int64_t gather_ms = limits::kGatherMs.fallback;

  std::int64_t message_rate = limits::kMessageRate.fallback;
  std::int64_t message_burst = limits::kMessageBurst.fallback;
  std::int64_t join_rate = limits::kAddressRate.fallback;
  std::int64_t room_join_rate = limits::kRoomJoinRate.fallback;
  std::int64_t connections = limits::kConnections.fallback;
  std::int64_t unseated = limits::kUnseated.fallback;
  std::int64_t unseated_per_address = limits::kUnseatedPerAddress.fallback;

  std::int64_t shards = kShards.fallback;
  std::int64_t drain_ms = limits::kDrainMs.fallback;
  std::optional<std::string> state;   // a file
  std::optional<std::string> record;  // a folder

  friend bool operator==(const Settings&, const Settings&) = default;
};

enum class Kind : std::uint8_t {
  kNumber,    // of its limit
  kDuration,  // of its limit, in milliseconds; "2s" when written
  kText,
  kTexts,    // may be given again and again
  kSecrets,  // the same, and never shown
  kSwitch,
  kObjects,  // a JSON list of objects, as its text; of the file alone
};

using Member =
    std::variant<std::int64_t Settings::*,
                 std::optional<std::int64_t> Settings::*,
                 std::string Settings::*,
                 std::optional<std::string> Settings::*,  // not empty
                 std::vector<std::string> Settings::*, bool Settings::*>;

struct Row {
  std::string_view name;   // in the file; the flag is "--" and it
  std::string_view group;  // in --help
  Kind kind{};
  Member member;
  std::string_view value;        // what --help calls it: "N"; of a switch, ""
  std::string_view help;         // without default and range
  const Limit* limit = nullptr;  // of numbers and durations
  // Where it ends up, as host::ValidateOptions names it.
  std::string_view field{};
};

// In the order of --help; those of a group together. Those of kObjects have no
// flag.
std::span<const Row> Rows();
// Null: there is none of that name.
const Row* FindRow(std::string_view name);

// What was given for one row, as text, and not checked yet.
struct Given {
  std::string where;                // "--hold", or: room.json: "hold"
  std::vector<std::string> values;  // one, unless kTexts or kSecrets
};
// By the row's name.
using GivenRows = std::map<std::string_view, Given>;

// Sets the row's member. InvalidArgument: `given.where`, the value (of a secret
// its index) and what is wrong with it; `settings` are as they were. A switch
// takes "true" and "false".
absl::Status Apply(const Row& row, const Given& given, Settings& settings);

// A whole number within `limit`, written in decimal digits alone.
// InvalidArgument as Apply's.
absl::StatusOr<std::int64_t> ReadNumber(const Limit& limit,
                                        std::string_view where,
                                        std::string_view text);

// The names of the rows that differ, in their order.
std::vector<std::string_view> Differences(const Settings& a, const Settings& b);

// The largest unit that writes it whole: "90s", "2m", "500ms", "0s".
std::string DurationText(std::int64_t ms);
// A row's default and range, as --help shows them; empty where it has neither.
std::string RangeText(const Row& row, const Settings& defaults);
// A value as messages show it: printable, and no longer than a line takes.
std::string Shown(std::string_view value);

// As a configuration file, without the secrets. Ends in a newline.
std::string ToJson(const Settings& settings);

// What the server is created with, but for what is read from files: TLS, the
// secret of passes and the access store; and for the hosted rooms.
host::ServerOptions ToServerOptions(const Settings& settings);

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_SETTINGS_H_
