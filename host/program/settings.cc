#include "program/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parlor/byte_io.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "parlor/utf8.h"

namespace parlor::host_program {
namespace {

constexpr std::string_view kNetwork = "Network";
constexpr std::string_view kAccess = "Who may come in";
constexpr std::string_view kRooms = "Rooms";
constexpr std::string_view kCaps = "Caps";
constexpr std::string_view kProcess = "Process";

// What a line of --help is made of is here; the rest of it (default, range)
// comes from the limit.
const std::array kRows = {
    Row{"port", kNetwork, Kind::kNumber, &Settings::port, "N",
        "HTTP and WebSocket; 0: one that is free", &kPort, "server.port"},
    Row{"bind", kNetwork, Kind::kText, &Settings::bind, "ADDRESS",
        "Numeric; 0.0.0.0 (or ::) lets other machines in", nullptr,
        "server.address"},
    Row{"tcp-port", kNetwork, Kind::kNumber, &Settings::tcp_port, "N",
        "A second port, for parlor over TCP; none unless given", &kPort,
        "server.tcp_port"},
    Row{"tls-cert", kNetwork, Kind::kText, &Settings::tls_cert, "FILE",
        "Certificate chain, PEM: both ports speak TLS"},
    Row{"tls-key", kNetwork, Kind::kText, &Settings::tls_key, "FILE",
        "Its key, PEM"},
    Row{"base-path", kNetwork, Kind::kText, &Settings::base_path, "PATH",
        "In front of all paths, as in /games", nullptr, "server.base_path"},

    Row{"invite", kAccess, Kind::kSecrets, &Settings::codes, "CODE",
        "A code that lets in, 10 to 64 characters; may be repeated.\nWhat is "
        "on the command line is visible to all users of this\nmachine (ps): "
        "prefer the file",
        nullptr, "server.gate.codes"},
    Row{"open", kAccess, Kind::kSwitch, &Settings::open, "",
        "Everyone may come in, without a code", nullptr, "server.gate.open"},
    Row{"origin", kAccess, Kind::kTexts, &Settings::origins, "ORIGIN",
        "A page that may connect, as in https://play.example; may be\n"
        "repeated; without any, every page may",
        nullptr, "server.gate.origins"},
    Row{"access", kAccess, Kind::kText, &Settings::access, "FILE",
        "Where 'parlor-host invite' and 'parlor-host pass' keep the\ncodes and "
        "passes that they make; made when there is none",
        nullptr, "server.access_store"},
    Row{"passes", kAccess, Kind::kSwitch, &Settings::passes, "",
        "Passes let in too; needs --pass-secret and --access", nullptr,
        "server.gate.passes"},
    Row{"pass-secret", kAccess, Kind::kText, &Settings::pass_secret, "FILE",
        "Holds what passes are signed with, 32 bytes or more, for no\nother "
        "user to read; 'parlor-host pass secret FILE' makes one",
        nullptr, "server.gate.pass_secret"},
    Row{"pass-days", kAccess, Kind::kNumber, &Settings::pass_days, "N",
        "How long a pass may last", &limits::kPassDays,
        "server.gate.pass_days"},
    Row{"pass-devices", kAccess, Kind::kNumber, &Settings::pass_devices, "N",
        "From how many devices one may be used", &limits::kPassDevices,
        "server.gate.pass_devices"},
    Row{"trusted-proxy", kAccess, Kind::kTexts, &Settings::trusted_proxies,
        "CIDR",
        "A proxy of yours in front, as in 10.0.0.0/8 or ::1, whose\n"
        "X-Forwarded-For says who comes; may be repeated",
        nullptr, "server.gate.trusted_proxies"},

    Row{"play", kRooms, Kind::kObjects, &Settings::play, "", "", nullptr,
        "server.shard.play_rooms"},
    Row{"rooms", kRooms, Kind::kNumber, &Settings::rooms, "N",
        "Rooms, numbered from 0", &limits::kRooms, "server.shard.rooms"},
    Row{"seats", kRooms, Kind::kNumber, &Settings::seats, "N",
        "Most seats of a room", &limits::kSeats, "server.shard.seats"},
    Row{"hold", kRooms, Kind::kDuration, &Settings::hold_ms, "TIME",
        "How long a dropped seat is kept", &limits::kHoldMs,
        "server.shard.room.hold_ms"},
    Row{"lobby", kRooms, Kind::kDuration, &Settings::lobby_ms, "TIME",
        "How long a room may wait to be filled", &limits::kLobbyMs,
        "server.shard.room.lobby_ms"},
    Row{"idle", kRooms, Kind::kDuration, &Settings::idle_ms, "TIME",
        "How long a match may go without a message", &limits::kIdleMs,
        "server.shard.room.idle_ms"},
    Row{"lifetime", kRooms, Kind::kDuration, &Settings::lifetime_ms, "TIME",
        "How long a room lives", &limits::kLifetimeMs,
        "server.shard.room.lifetime_ms"},
    Row{"gather", kRooms, Kind::kDuration, &Settings::gather_ms, "TIME",
        "How long an input may wait for the others of its frame, to\nbe sent "
        "with them; 0s: it does not",
        &limits::kGatherMs, "server.shard.room.gather_ms"},

    Row{"message-rate", kCaps, Kind::kNumber, &Settings::message_rate, "N",
        "Messages a second of a seat", &limits::kMessageRate,
        "server.shard.room.message_rate_per_s"},
    Row{"message-burst", kCaps, Kind::kNumber, &Settings::message_burst, "N",
        "Messages at once of a seat", &limits::kMessageBurst,
        "server.shard.room.message_burst"},
    Row{"join-rate", kCaps, Kind::kNumber, &Settings::join_rate, "N",
        "Joins, resumes and invite checks a minute, of an address",
        &limits::kAddressRate, "server.gate.joins_per_minute"},
    Row{"room-join-rate", kCaps, Kind::kNumber, &Settings::room_join_rate, "N",
        "Joins a minute of an address into one room", &limits::kRoomJoinRate,
        "server.shard.room_joins_per_minute"},
    Row{"connections", kCaps, Kind::kNumber, &Settings::connections, "N",
        "Connections in all", &limits::kConnections, "server.connections"},
    Row{"unseated", kCaps, Kind::kNumber, &Settings::unseated, "N",
        "Connections without a seat; the oldest goes first", &limits::kUnseated,
        "server.unseated"},
    Row{"unseated-per-address", kCaps, Kind::kNumber,
        &Settings::unseated_per_address, "N", "The same, of one address",
        &limits::kUnseatedPerAddress, "server.unseated_per_address"},

    Row{"shards", kProcess, Kind::kNumber, &Settings::shards, "N",
        "Threads that run rooms; one a core", &kShards, "server.shards"},
    Row{"drain", kProcess, Kind::kDuration, &Settings::drain_ms, "TIME",
        "How long matches may go on after SIGTERM", &limits::kDrainMs,
        "server.drain_ms"},
    Row{"state", kProcess, Kind::kText, &Settings::state, "FILE",
        "Keep the matches in FILE, and take them back at the next start",
        nullptr, "server.state_path"},
    Row{"record", kProcess, Kind::kText, &Settings::record, "FOLDER",
        "Record each match in a file of its own, in FOLDER", nullptr,
        "server.record_path"},
};

struct Unit {
  std::string_view name;
  std::int64_t ms;
};
// The largest first.
constexpr std::array kUnits = {Unit{"h", limits::kHourMs},
                               Unit{"m", limits::kMinuteMs}, Unit{"s", 1'000},
                               Unit{"ms", 1}};

// A value in a message; longer ones are cut.
constexpr std::size_t kShownMax = 80;

absl::Status Bad(std::string_view where, std::string_view text) {
  std::string line(where);
  line.append(": ").append(text);
  return InvalidArgument(line);
}

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// `text` is digits. What no 64 bits hold is more than every ceiling.
std::int64_t Saturated(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value
                              : std::numeric_limits<std::int64_t>::max();
}

std::string Written(Kind kind, std::int64_t value) {
  return kind == Kind::kDuration ? DurationText(value) : std::to_string(value);
}

// The limit's rule, in the unit that the user writes.
absl::Status InRange(const Limit& limit, Kind kind, std::string_view where,
                     std::string_view text, std::int64_t value) {
  if (CheckLimit(limit, where, value).ok()) return absl::OkStatus();
  return Bad(where, Shown(text) + " is not in " + Written(kind, limit.floor) +
                        ".." + Written(kind, limit.ceiling));
}

absl::StatusOr<std::int64_t> ParseDuration(const Row& row, const Given& given) {
  const std::string_view text = given.values[0];
  const std::size_t digits =
      std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == text.size() && digits > 0) {
    const std::string shown = Shown(text);
    return Bad(given.where, shown + " has no unit: such as " + shown + "s or " +
                                shown + "ms");
  }
  const auto unit = std::find_if(
      kUnits.begin(), kUnits.end(),
      [&](const Unit& each) { return each.name == text.substr(digits); });
  if (digits == 0 || unit == kUnits.end()) {
    return Bad(given.where,
               Shown(text) + " is not a duration such as 2s or 500ms");
  }
  const std::int64_t count = Saturated(text.substr(0, digits));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t value = count > most / unit->ms ? most : count * unit->ms;
  absl::Status status = InRange(*row.limit, row.kind, given.where, text, value);
  if (!status.ok()) return status;
  return value;
}

// Names of files and addresses go to the system as they are, and --print-config
// writes them as JSON. `index`, where there may be several.
absl::Status CheckText(const Row& row, const Given& given, std::size_t index) {
  const std::string& text = given.values[index];
  std::string where = given.where;
  if (row.kind != Kind::kText) absl::StrAppend(&where, "[", index, "]");
  if (text.find('\0') != std::string::npos) {
    return Bad(where, "has a NUL in it");
  }
  if (!IsUtf8(AsBytes(text))) return Bad(where, "is not UTF-8");
  return absl::OkStatus();
}

absl::Status ApplyNumber(const Row& row, const Given& given,
                         Settings& settings) {
  const absl::StatusOr<std::int64_t> value =
      row.kind == Kind::kDuration
          ? ParseDuration(row, given)
          : ReadNumber(*row.limit, given.where, given.values[0]);
  if (!value.ok()) return value.status();
  if (const auto* plain = std::get_if<std::int64_t Settings::*>(&row.member)) {
    settings.** plain = *value;
  } else {
    settings.*std::get<std::optional<std::int64_t> Settings::*>(row.member) =
        *value;
  }
  return absl::OkStatus();
}

absl::Status ApplyText(const Row& row, const Given& given, Settings& settings) {
  const std::string& value = given.values[0];
  if (absl::Status status = CheckText(row, given, 0); !status.ok()) {
    return status;
  }
  if (const auto* plain = std::get_if<std::string Settings::*>(&row.member)) {
    settings.** plain = value;
    return absl::OkStatus();
  }
  if (value.empty()) return Bad(given.where, "the file has no name");
  settings.*std::get<std::optional<std::string> Settings::*>(row.member) =
      value;
  return absl::OkStatus();
}

absl::Status ApplyTexts(const Row& row, const Given& given,
                        Settings& settings) {
  for (std::size_t i = 0; i < given.values.size(); ++i) {
    if (absl::Status status = CheckText(row, given, i); !status.ok()) {
      return status;
    }
  }
  settings.*std::get<std::vector<std::string> Settings::*>(row.member) =
      given.values;
  return absl::OkStatus();
}

}  // namespace

std::span<const Row> Rows() { return kRows; }

const Row* FindRow(std::string_view name) {
  const auto* found =
      std::find_if(kRows.begin(), kRows.end(),
                   [&](const Row& row) { return row.name == name; });
  return found == kRows.end() ? nullptr : found;
}

absl::Status Apply(const Row& row, const Given& given, Settings& settings) {
  switch (row.kind) {
    case Kind::kNumber:
    case Kind::kDuration:
      return ApplyNumber(row, given, settings);
    case Kind::kText:
    case Kind::kObjects:
      return ApplyText(row, given, settings);
    case Kind::kTexts:
    case Kind::kSecrets:
      return ApplyTexts(row, given, settings);
    case Kind::kSwitch:
      settings.*std::get<bool Settings::*>(row.member) =
          given.values[0] == "true";
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> ReadNumber(const Limit& limit,
                                        std::string_view where,
                                        std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (!IsDigits(digits)) {
    return Bad(where, Shown(text) + " is not a whole number");
  }
  const std::int64_t value = negative ? -Saturated(digits) : Saturated(digits);
  absl::Status status = InRange(limit, Kind::kNumber, where, text, value);
  if (!status.ok()) return status;
  return value;
}

std::vector<std::string_view> Differences(const Settings& a,
                                          const Settings& b) {
  std::vector<std::string_view> names;
  for (const Row& row : kRows) {
    const bool same = std::visit(
        [&](auto member) { return a.*member == b.*member; }, row.member);
    if (!same) names.push_back(row.name);
  }
  return names;
}

std::string DurationText(std::int64_t ms) {
  if (ms == 0) return "0s";
  const auto* unit =
      std::find_if(kUnits.begin(), kUnits.end(),
                   [&](const Unit& each) { return ms % each.ms == 0; });
  return absl::StrCat(ms / unit->ms,
                      absl::string_view(unit->name.data(), unit->name.size()));
}

std::string RangeText(const Row& row, const Settings& defaults) {
  if (const auto* text = std::get_if<std::string Settings::*>(&row.member)) {
    const std::string& value = defaults.**text;
    return value.empty() ? "" : absl::StrCat("[", value, "]");
  }
  if (row.limit == nullptr) return "";
  const std::string range =
      absl::StrCat(Written(row.kind, row.limit->floor), " to ",
                   Written(row.kind, row.limit->ceiling), "]");
  const auto* plain = std::get_if<std::int64_t Settings::*>(&row.member);
  if (plain == nullptr) return absl::StrCat("[", range);
  return absl::StrCat("[", Written(row.kind, defaults.**plain), "; ", range);
}

std::string Shown(std::string_view value) {
  if (value.empty()) return "\"\"";
  if (value.size() <= kShownMax) return Printable(value);
  return Printable(value.substr(0, kShownMax)) + "...";
}

std::string ToJson(const Settings& settings) {
  // Nothing in it is what the writer throws at: Apply takes UTF-8 alone.
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Row& row : kRows) {
    if (row.kind == Kind::kSecrets) continue;
    const std::string key(row.name);
    std::visit(
        [&](auto member) {
          const auto& value = settings.*member;
          if constexpr (requires { value.has_value(); }) {
            if (value) out[key] = *value;
          } else if constexpr (std::is_same_v<decltype(member),
                                              std::int64_t Settings::*>) {
            if (row.kind == Kind::kDuration) {
              out[key] = DurationText(value);
            } else {
              out[key] = value;
            }
          } else {
            out[key] = value;
          }
        },
        row.member);
    if (row.kind == Kind::kObjects) {
      out[key] = nlohmann::ordered_json::parse(out[key].get<std::string>());
    }
  }
  return out.dump(2) + "\n";
}

host::ServerOptions ToServerOptions(const Settings& settings) {
  host::ServerOptions server;
  server.address = settings.bind;
  server.port = static_cast<std::uint16_t>(settings.port);
  if (settings.tcp_port) {
    server.tcp_port = static_cast<std::uint16_t>(*settings.tcp_port);
  }
  server.base_path = settings.base_path;
  server.shards = static_cast<int>(settings.shards);
  server.shard.rooms = settings.rooms;
  server.shard.seats = settings.seats;
  server.shard.room_joins_per_minute = settings.room_join_rate;
  server.shard.room.hold_ms = settings.hold_ms;
  server.shard.room.lobby_ms = settings.lobby_ms;
  server.shard.room.idle_ms = settings.idle_ms;
  server.shard.room.lifetime_ms = settings.lifetime_ms;
  server.shard.room.gather_ms = settings.gather_ms;
  server.shard.room.message_rate_per_s = settings.message_rate;
  server.shard.room.message_burst = settings.message_burst;
  server.gate.codes = settings.codes;
  server.gate.open = settings.open;
  server.gate.origins = settings.origins;
  server.gate.passes = settings.passes;
  server.gate.pass_days = settings.pass_days;
  server.gate.pass_devices = settings.pass_devices;
  server.gate.trusted_proxies = settings.trusted_proxies;
  server.gate.joins_per_minute = settings.join_rate;
  // A lockstep room takes messages of 12 bytes; a connection that announces
  // more is closed with the same code, before it can fill a buffer.
  server.stream.message_bytes_max =
      static_cast<std::size_t>(limits::kMessageBytes.floor);
  server.connections = settings.connections;
  server.unseated = settings.unseated;
  server.unseated_per_address = settings.unseated_per_address;
  server.drain_ms = settings.drain_ms;
  server.state_path = settings.state.value_or("");
  server.record_path = settings.record.value_or("");
  return server;
}

}  // namespace parlor::host_program
