// The settings of parlor-host: its flags, its file, and what it says of both.
#include "program/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parlor/limits.h"
#include "program/config_file.h"
#include "program/settings.h"
#include "support/status_matchers.h"
#include "support/temp_folder.h"
#include "support/test_certificate.h"

namespace parlor::host_program {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr unsigned kCores = 3;
constexpr const char* kCode = "SESAME-OPEN-1";

std::variant<Options, Exit> Parse(std::vector<std::string> arguments) {
  std::vector<const char*> argv = {"parlor-host"};
  for (const std::string& argument : arguments) argv.push_back(argument.data());
  return ParseOptions(static_cast<int>(argv.size()), argv.data(), kCores);
}

Options Accepted(std::vector<std::string> arguments) {
  auto result = Parse(std::move(arguments));
  if (const Exit* exit = std::get_if<Exit>(&result)) {
    ADD_FAILURE() << exit->err;
    return {};
  }
  return std::get<Options>(std::move(result));
}

Exit Refused(std::vector<std::string> arguments) {
  auto result = Parse(std::move(arguments));
  if (std::holds_alternative<Options>(result)) {
    ADD_FAILURE() << "was taken";
    return {};
  }
  return std::get<Exit>(std::move(result));
}

// The one line on stderr, without the newline.
std::string RefusalOf(std::vector<std::string> arguments) {
  const Exit exit = Refused(std::move(arguments));
  EXPECT_EQ(exit.code, kExitRefused);
  EXPECT_EQ(exit.out, "");
  EXPECT_EQ(std::count(exit.err.begin(), exit.err.end(), '\n'), 1) << exit.err;
  return exit.err.substr(0, exit.err.size() - 1);
}

TEST(HostOptions, NothingAskedForIsTheDefaults) {
  const Options options = Accepted({});
  Settings defaults;
  defaults.shards = kCores;
  EXPECT_EQ(options.settings, defaults);
  EXPECT_EQ(options.server.address, "127.0.0.1");
  EXPECT_EQ(options.server.port, 8'787);
  EXPECT_EQ(options.server.tcp_port, std::nullopt);
  EXPECT_EQ(options.server.shards, 3);
  EXPECT_EQ(options.server.shard.rooms, limits::kRooms.fallback);
  EXPECT_FALSE(options.server.gate.open);
  EXPECT_FALSE(options.server.tls.has_value());
}

TEST(HostOptions, ThreadsAreAsManyAsCoresWithinTheirLimit) {
  const char* argv[] = {"parlor-host"};
  const auto with = [&](unsigned cores) {
    return std::get<Options>(ParseOptions(1, argv, cores)).settings.shards;
  };
  EXPECT_EQ(with(0), 1);  // the system does not say
  EXPECT_EQ(with(64), 64);
  EXPECT_EQ(with(100'000), host::kShardsMax);
}

// Each flag alone, and where it ends up.
TEST(HostOptions, EveryFlagReachesTheServer) {
  const Options options = Accepted({"--port=0",
                                    "--bind",
                                    "::1",
                                    "--tcp-port",
                                    "9000",
                                    "--base-path=/games",
                                    "--origin",
                                    "https://a.example",
                                    "--origin=https://b.example",
                                    "--invite",
                                    "abcdefghij",
                                    "--invite=-1234567890",
                                    "--rooms=010",
                                    "--seats",
                                    "32",
                                    "--hold",
                                    "1500ms",
                                    "--lobby",
                                    "2m",
                                    "--idle",
                                    "90s",
                                    "--lifetime",
                                    "24h",
                                    "--gather",
                                    "17ms",
                                    "--message-rate",
                                    "10000",
                                    "--message-burst",
                                    "20000",
                                    "--join-rate",
                                    "1",
                                    "--room-join-rate",
                                    "2",
                                    "--connections",
                                    "77",
                                    "--unseated",
                                    "88",
                                    "--unseated-per-address",
                                    "9",
                                    "--shards",
                                    "7",
                                    "--drain",
                                    "0s",
                                    "--pass-days",
                                    "400",
                                    "--pass-devices=16",
                                    "--trusted-proxy",
                                    "10.0.0.0/8",
                                    "--trusted-proxy=::1",
                                    "--access=codes.db",
                                    "--state",
                                    "matches",
                                    "--record=replays"});
  const host::ServerOptions& server = options.server;
  EXPECT_EQ(server.port, 0);
  EXPECT_EQ(server.address, "::1");
  EXPECT_EQ(server.tcp_port, 9'000);
  EXPECT_EQ(server.base_path, "/games");
  EXPECT_THAT(server.gate.origins,
              ElementsAre("https://a.example", "https://b.example"));
  EXPECT_THAT(server.gate.codes, ElementsAre("abcdefghij", "-1234567890"));
  EXPECT_EQ(server.shard.rooms, 10);
  EXPECT_EQ(server.shard.seats, 32);
  EXPECT_EQ(server.shard.room.hold_ms, 1'500);
  EXPECT_EQ(server.shard.room.lobby_ms, 120'000);
  EXPECT_EQ(server.shard.room.idle_ms, 90'000);
  EXPECT_EQ(server.shard.room.lifetime_ms, 86'400'000);
  EXPECT_EQ(server.shard.room.gather_ms, 17);
  EXPECT_EQ(server.shard.room.message_rate_per_s, 10'000);
  EXPECT_EQ(server.shard.room.message_burst, 20'000);
  EXPECT_EQ(server.gate.joins_per_minute, 1);
  EXPECT_EQ(server.shard.room_joins_per_minute, 2);
  EXPECT_EQ(server.connections, 77);
  EXPECT_EQ(server.unseated, 88);
  EXPECT_EQ(server.unseated_per_address, 9);
  EXPECT_EQ(server.shards, 7);
  EXPECT_EQ(server.drain_ms, 0);
  EXPECT_EQ(server.gate.pass_days, 400);
  EXPECT_EQ(server.gate.pass_devices, 16);
  EXPECT_THAT(server.gate.trusted_proxies, ElementsAre("10.0.0.0/8", "::1"));
  EXPECT_EQ(options.settings.access, "codes.db");
  EXPECT_EQ(server.access_store, nullptr);  // opened by who serves
  EXPECT_EQ(server.state_path, "matches");
  EXPECT_EQ(server.record_path, "replays");
  EXPECT_FALSE(server.gate.passes);
  EXPECT_EQ(server.gate.pass_secret, "");
  EXPECT_TRUE(Accepted({"--open"}).server.gate.open);
}

TEST(HostOptions, TheCertificateIsReadBeforeAnythingStarts) {
  test::TestAuthority authority;
  const TlsServerFiles files = authority.IssueLocal();
  const std::string& cert = files.certificate_path;
  const std::string& key = files.key_path;
  EXPECT_TRUE(Accepted({"--tls-cert", cert, "--tls-key", key}).server.tls);
  EXPECT_EQ(RefusalOf({"--tls-cert", cert}),
            "parlor-host: --tls-cert: needs --tls-key");
  EXPECT_EQ(RefusalOf({"--tls-key", key}),
            "parlor-host: --tls-key: needs --tls-cert");
  EXPECT_EQ(RefusalOf({"--tls-cert", "/no/such", "--tls-key", key}),
            "parlor-host: --tls-cert: /no/such: cannot be read: No such file "
            "or directory");
  EXPECT_THAT(
      RefusalOf({"--tls-cert", cert, "--tls-key", authority.path()}),
      StartsWith("parlor-host: --tls-key: " + authority.path() + ": holds no"));
}

// --- Flags that are refused, to the letter

struct BadRow {
  const char* name;
  std::vector<std::string> arguments;
  std::string text;  // behind "parlor-host: "
};

void PrintTo(const BadRow& row, std::ostream* out) { *out << row.name; }

class BadFlags : public ::testing::TestWithParam<BadRow> {};

TEST_P(BadFlags, AreOneLineWithTheFlagAndItsValue) {
  EXPECT_EQ(RefusalOf(GetParam().arguments), "parlor-host: " + GetParam().text);
}

// Of every row with a limit: one below and one above, one further than any
// integer, and what is no number. Made from the table, so that no row is left
// out; the ranges' own words are in the rows below.
TEST(HostOptions, EveryLimitHolds) {
  for (const Row& row : Rows()) {
    if (row.limit == nullptr) continue;
    SCOPED_TRACE(row.name);
    const bool duration = row.kind == Kind::kDuration;
    const std::string unit = duration ? "ms" : "";
    const auto with = [&](const std::string& value) {
      return std::vector<std::string>{"--" + std::string(row.name) + "=" +
                                      value};
    };
    const std::string flag = "parlor-host: --" + std::string(row.name) + ": ";
    for (const std::int64_t good : {row.limit->floor, row.limit->ceiling}) {
      EXPECT_TRUE(std::holds_alternative<Options>(
          Parse(with(std::to_string(good) + unit))))
          << good;
    }
    const std::string above = std::to_string(row.limit->ceiling + 1) + unit;
    EXPECT_THAT(RefusalOf(with(above)),
                StartsWith(flag + above + " is not in "));
    const std::string huge = "99999999999999999999" + unit;
    EXPECT_THAT(RefusalOf(with(huge)), StartsWith(flag + huge + " is not in "));
    if (row.limit->floor > 0) {
      EXPECT_THAT(RefusalOf(with("0" + unit)),
                  StartsWith(flag + "0" + unit + " is not in "));
    }
    EXPECT_EQ(RefusalOf(with("four")),
              flag + "four is not a " +
                  (duration ? "duration such as 2s or 500ms" : "whole number"));
    EXPECT_THAT(RefusalOf(with("")),
                StartsWith(flag.substr(0, flag.size() - 2)));
  }
}

// --- The caps that are promised to players and to the operator

struct Cap {
  std::string_view name;  // of the setting
  std::int64_t fallback;
  std::int64_t ceiling;
};

constexpr std::int64_t kMinute = 60'000;
constexpr Cap kCaps[] = {
    {"rooms", 1'024, 65'536},
    {"seats", 8, 32},
    {"message-rate", 240, 10'000},
    {"message-burst", 480, 20'000},
    {"join-rate", 60, 100'000},
    {"room-join-rate", 20, 100'000},
    {"lobby", 10 * kMinute, 60 * kMinute},
    {"idle", 5 * kMinute, 60 * kMinute},
    {"lifetime", 4 * 60 * kMinute, 24 * 60 * kMinute},
    {"hold", 20'000, 120'000},
    {"gather", 0, 100},
    {"unseated", 1'024, 65'536},
    {"unseated-per-address", 64, 65'536},
    {"connections", 65'536, 1'048'576},
    {"pass-days", 30, 400},
    {"pass-devices", 2, 16},
};

// As a flag takes it.
std::string Valued(const Row& row, std::int64_t value) {
  return std::to_string(value) + (row.kind == Kind::kDuration ? "ms" : "");
}

// At its ceiling, and one above: a flag, the file, and a program that made the
// server's options itself.
TEST(Caps, MoveUpToTheirCeilingAndNoFurther) {
  const test::TempFolder folder;
  for (const Cap& cap : kCaps) {
    SCOPED_TRACE(cap.name);
    const Row* const row = FindRow(cap.name);
    ASSERT_NE(row, nullptr);
    const auto member = std::get<std::int64_t Settings::*>(row->member);
    EXPECT_EQ(Settings().*member, cap.fallback);
    const std::string name(cap.name);
    const std::string at = Valued(*row, cap.ceiling);
    const std::string above = Valued(*row, cap.ceiling + 1);
    const auto in_file = [&](const std::string& value) {
      const bool text = row->kind == Kind::kDuration;
      const std::string quote = text ? "\"" : "";
      return folder.Write("host.json",
                          "{\"" + name + "\": " + quote + value + quote + "}");
    };

    EXPECT_EQ(Accepted({"--" + name, at}).settings.*member, cap.ceiling);
    EXPECT_THAT(
        RefusalOf({"--" + name, above}),
        StartsWith("parlor-host: --" + name + ": " + above + " is not in "));
    EXPECT_EQ(Accepted({"--config", in_file(at)}).settings.*member,
              cap.ceiling);
    const std::string path = in_file(above);
    EXPECT_THAT(RefusalOf({"--config", path}),
                StartsWith("parlor-host: " + path + ": \"" + name +
                           "\": " + above + " is not in "));

    Settings settings;
    settings.*member = cap.ceiling;
    EXPECT_THAT(host::ValidateOptions(ToServerOptions(settings)), IsOk());
    settings.*member = cap.ceiling + 1;
    const absl::Status status =
        host::ValidateOptions(ToServerOptions(settings));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                StartsWith(std::string(row->field) + ": " +
                           std::to_string(cap.ceiling + 1) + " is not in "));
  }
}

// Whatever has a limit, but for what is the process's own.
TEST(Caps, AreAllOfThem) {
  std::vector<std::string_view> rest;
  for (const Row& row : Rows()) {
    if (row.limit == nullptr) continue;
    const bool known =
        std::any_of(std::begin(kCaps), std::end(kCaps),
                    [&](const Cap& cap) { return cap.name == row.name; });
    if (!known) rest.push_back(row.name);
  }
  EXPECT_THAT(rest, ElementsAre("port", "tcp-port", "shards", "drain"));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadFlags,
    ::testing::Values(
        BadRow{"Unknown", {"--speed", "3"}, "--speed: there is no such flag"},
        BadRow{"UnknownShort", {"-x3"}, "-x: there is no such flag"},
        BadRow{
            "UnknownNewline", {"--a\nb"}, "--a\\x0ab: there is no such flag"},
        BadRow{
            "Word", {"--port", "0", "play"}, "argument 3 belongs to no flag"},
        BadRow{"NoValue", {"--hold"}, "--hold: 1 required TIME missing"},
        BadRow{
            "Twice", {"--hold", "2s", "--hold=3s"}, "--hold: is there twice"},
        BadRow{"ConfigTwice",
               {"--config", "a", "--config", "b"},
               "--config: is there twice"},
        BadRow{"Duration",
               {"--hold", "2x"},
               "--hold: 2x is not a duration such as 2s or 500ms"},
        BadRow{"DurationFraction",
               {"--hold", "1.5s"},
               "--hold: 1.5s is not a duration such as 2s or 500ms"},
        BadRow{"DurationNegative",
               {"--hold=-2s"},
               "--hold: -2s is not a duration such as 2s or 500ms"},
        BadRow{"DurationSpace",
               {"--hold", "2 s"},
               "--hold: 2 s is not a duration such as 2s or 500ms"},
        BadRow{"DurationUnitAlone",
               {"--hold", "ms"},
               "--hold: ms is not a duration such as 2s or 500ms"},
        BadRow{"DurationEmpty",
               {"--hold", ""},
               "--hold: \"\" is not a duration such as 2s or 500ms"},
        BadRow{"DurationBare",
               {"--hold", "20"},
               "--hold: 20 has no unit: such as 20s or 20ms"},
        BadRow{
            "DurationAbove", {"--hold", "3m"}, "--hold: 3m is not in 0s..2m"},
        BadRow{"DurationBelow",
               {"--lobby", "0s"},
               "--lobby: 0s is not in 1ms..1h"},
        BadRow{"DurationOverflow",
               {"--lifetime", "9223372036854775807h"},
               "--lifetime: 9223372036854775807h is not in 1ms..24h"},
        BadRow{"NumberAbove", {"--seats", "33"}, "--seats: 33 is not in 1..32"},
        BadRow{"NumberNegative", {"--seats=-1"}, "--seats: -1 is not in 1..32"},
        BadRow{"NumberHex",
               {"--seats", "0x8"},
               "--seats: 0x8 is not a whole number"},
        BadRow{"NumberFraction",
               {"--seats", "8.0"},
               "--seats: 8.0 is not a whole number"},
        BadRow{"NumberTrailing",
               {"--seats", "8 "},
               "--seats: 8  is not a whole number"},
        BadRow{"Port", {"--port", "65536"}, "--port: 65536 is not in 0..65535"},
        BadRow{"PortTwice",
               {"--port", "90", "--tcp-port", "90"},
               "--tcp-port: 90 is taken by --port"},
        BadRow{"Shards", {"--shards", "0"}, "--shards: 0 is not in 1..256"},
        BadRow{"BindName",
               {"--bind", "localhost"},
               "--bind: \"localhost\" is no numeric IPv4 or IPv6 address"},
        BadRow{"BindEscape",
               {"--bind", "\x1b[1m"},
               "--bind: \"\\x1b[1m\" is no numeric IPv4 or IPv6 address"},
        BadRow{"BindBrackets",
               {"--bind", "[::1,::2]"},
               "--bind: \"[::1,::2]\" is no numeric IPv4 or IPv6 address"},
        BadRow{"BindNotUtf8", {"--bind", "\xff"}, "--bind: is not UTF-8"},
        BadRow{"BasePath",
               {"--base-path", "games/"},
               "--base-path: \"games/\" is neither empty nor a path like "
               "\"/games\""},
        BadRow{"CertEmpty",
               {"--tls-cert", "", "--tls-key", "k"},
               "--tls-cert: the file has no name"},
        BadRow{"EqualsNothing",
               {"--hold=", "--port", "0"},
               "--hold: has no value"},
        BadRow{"ConfigEqualsNothing", {"--config="}, "--config: has no value"},
        BadRow{
            "ConfigEmpty", {"--config", ""}, "--config: the file has no name"},
        BadRow{"OpenValue", {"--open=no"}, "--open: takes no value"},
        BadRow{"PrintConfigValue",
               {"--print-config=x"},
               "--print-config: takes no value"},
        BadRow{"PassesValue", {"--passes=1"}, "--passes: takes no value"},
        BadRow{"Proxy",
               {"--trusted-proxy", "::1", "--trusted-proxy", "proxy.example"},
               "--trusted-proxy[1]: \"proxy.example\": is neither an address "
               "nor a network like \"10.0.0.0/8\""},
        BadRow{"StateEmpty", {"--state="}, "--state: has no value"},
        BadRow{"RecordEmpty", {"--record="}, "--record: has no value"},
        BadRow{
            "AccessEmpty", {"--access", ""}, "--access: the file has no name"},
        BadRow{"AccessTwice",
               {"--access", "a", "--access", "b"},
               "--access: is there twice"},
        BadRow{"OpenAndCode",
               {"--open", "--invite", kCode},
               "--open: who is open to everyone has no codes"}),
    [](const auto& row) { return row.param.name; });

TEST(HostOptions, LongValuesAreCut) {
  const std::string text = RefusalOf({"--hold", std::string(10'000, 'x')});
  EXPECT_EQ(text, "parlor-host: --hold: " + std::string(80, 'x') +
                      "... is not a duration such as 2s or 500ms");
}

TEST(HostOptions, AnOriginThatIsNoneIsNamedByItsPlace) {
  EXPECT_THAT(RefusalOf({"--origin", "https://a.example", "--origin",
                         "https://b.example/path"}),
              StartsWith("parlor-host: --origin[1]: "));
}

// Whatever is wrong with a code or around it, no message has it.
TEST(HostOptions, CodesAreNeverShown) {
  const std::string lost = "LOST-CODE-77";
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {{"--invite", kCode, "--invite", "SHORT-77"}, "--invite[1]"},
      {{"--invite", "has space 77"}, "--invite[0]"},
      {{"--invite", "\xff-CODE-77-CODE"}, "--invite[0]"},
      {{"--invite", kCode, lost}, "argument 3 belongs to no flag"},
      {{"--invite", "[" + lost + ",B]"}, "--invite[0]"},
      {{"--invit", lost}, "--invit: there is no such flag"},
      {{"--invit=" + lost}, "--invit: there is no such flag"},
      {{"-i" + lost}, "-i: there is no such flag"},
      {{"--invite", kCode, "--", lost}, "--: there is no such flag"},
      {{"--print-config=" + lost}, "--print-config: takes no value"},
      {{"--invite", kCode, "--seats", "33"}, "--seats: 33"},
      {{"--open=" + lost}, "--open"},
      {{lost}, "argument 1 belongs to no flag"},
  };
  for (const auto& [arguments, wanted] : rows) {
    SCOPED_TRACE(arguments.back());
    EXPECT_THAT(
        RefusalOf(arguments),
        AllOf(HasSubstr(wanted), Not(HasSubstr("77")), Not(HasSubstr(kCode))));
  }
}

TEST(HostOptions, HelpNamesEveryFlagWithDefaultAndRange) {
  const Exit help = Refused({"--help"});
  EXPECT_EQ(help.code, kExitOk);
  EXPECT_EQ(help.err, "");
  for (const Row& row : Rows()) {
    if (row.kind == Kind::kObjects) {
      EXPECT_THAT(help.out, HasSubstr("\"" + std::string(row.name) + "\""));
      continue;
    }
    EXPECT_THAT(help.out, HasSubstr("--" + std::string(row.name) + " "));
    EXPECT_THAT(help.out, HasSubstr(std::string(row.group) + ":"));
  }
  for (const char* text :
       {"[127.0.0.1]", "0.0.0.0", "[1024; 1 to 65536]", "[20s; 0s to 2m]",
        "[4h; 1ms to 24h]", "[3; 1 to 256]", "--config FILE ", "--print-config",
        "--version", "(ps)", "Exit codes", "500ms, 2s, 10m, 4h"}) {
    EXPECT_THAT(help.out, HasSubstr(text));
  }
  const Exit version = Refused({"--version"});
  EXPECT_EQ(version.code, kExitOk);
  EXPECT_THAT(version.out, StartsWith("parlor-host 0."));
}

// --- The file

class ConfigFile : public ::testing::Test {
 protected:
  std::string Write(std::string_view text) {
    return folder_.Write("host.json", text);
  }
  std::string WriteSecret(std::string_view text, mode_t mode = 0600) {
    return folder_.Write("secret", text, mode);
  }

  test::TempFolder folder_;
};

TEST_F(ConfigFile, SaysWhatFlagsSay) {
  const std::string path = Write(R"({
    "port": 0, "bind": "::1", "tcp-port": 9000, "base-path": "/games",
    "origin": ["https://a.example", "https://b.example"],
    "invite": ["SESAME-OPEN-1", "abcdefghij"], "open": false,
    "rooms": 10, "seats": 32, "hold": "1500ms", "lobby": "2m", "idle": "90s",
    "lifetime": "24h", "gather": "17ms", "message-rate": 10000, "message-burst": 20000,
    "join-rate": 1, "room-join-rate": 2, "connections": 77, "unseated": 88,
    "unseated-per-address": 9, "shards": 7, "drain": "0s", "access": "codes.db",
    "pass-days": 400, "pass-devices": 16, "trusted-proxy": ["::1"],
    "state": "matches", "record": "replays"})");
  const Settings flags = Accepted({"--port=0",
                                   "--bind=::1",
                                   "--tcp-port=9000",
                                   "--base-path=/games",
                                   "--origin=https://a.example",
                                   "--origin=https://b.example",
                                   "--invite=SESAME-OPEN-1",
                                   "--invite=abcdefghij",
                                   "--rooms=10",
                                   "--seats=32",
                                   "--hold=1500ms",
                                   "--lobby=2m",
                                   "--idle=90s",
                                   "--lifetime=24h",
                                   "--gather=17ms",
                                   "--message-rate=10000",
                                   "--message-burst=20000",
                                   "--join-rate=1",
                                   "--room-join-rate=2",
                                   "--connections=77",
                                   "--unseated=88",
                                   "--unseated-per-address=9",
                                   "--shards=7",
                                   "--drain=0s",
                                   "--access=codes.db",
                                   "--pass-days=400",
                                   "--pass-devices=16",
                                   "--trusted-proxy=::1",
                                   "--state=matches",
                                   "--record=replays"})
                             .settings;
  EXPECT_EQ(Accepted({"--config", path}).settings, flags);
}

TEST_F(ConfigFile, FlagsWinWhereverTheyStand) {
  const std::string path =
      Write(R"({"seats": 4, "hold": "1s", "origin": ["https://a.example"]})");
  const Settings settings =
      Accepted({"--seats=6", "--config", path, "--origin=https://b.example"})
          .settings;
  EXPECT_EQ(settings.seats, 6);
  EXPECT_EQ(settings.hold_ms, 1'000);
  EXPECT_THAT(settings.origins, ElementsAre("https://b.example"));
  EXPECT_TRUE(Accepted({"--open", "--config", Write(R"({"open": false})")})
                  .settings.open);
}

// A mistake in the file is one even where a flag wins; and a rule of two
// settings names the one that had the last word, where it stands.
TEST_F(ConfigFile, NamesItselfInRefusals) {
  std::string path = Write(R"({"hold": "2x"})");
  EXPECT_EQ(RefusalOf({"--config", path, "--hold", "2s"}),
            "parlor-host: " + path +
                ": \"hold\": 2x is not a duration such as 2s or 500ms");
  path = Write(R"({"open": true})");
  EXPECT_EQ(RefusalOf({"--config", path, "--invite", kCode}),
            "parlor-host: " + path +
                ": \"open\": who is open to everyone has no codes");
  path = Write(R"({"invite": ["SESAME-OPEN-1", "SHORT-77"]})");
  EXPECT_THAT(RefusalOf({"--config", path}),
              AllOf(StartsWith("parlor-host: " + path + ": \"invite\"[1]: "),
                    Not(HasSubstr("77"))));
  path = Write(R"({"port": 90})");
  EXPECT_EQ(RefusalOf({"--config", path, "--tcp-port", "90"}),
            "parlor-host: --tcp-port: 90 is taken by --port");
}

TEST_F(ConfigFile, ThatCannotBeReadIsRefused) {
  EXPECT_EQ(RefusalOf({"--config", "/no/such"}),
            "parlor-host: /no/such: cannot read it: No such file or directory");
  EXPECT_EQ(RefusalOf({"--config", "/"}),
            "parlor-host: /: cannot read it: Is a directory");
  const std::string path = Write(std::string(kConfigBytesMax, ' ') + "{}");
  EXPECT_EQ(RefusalOf({"--config", path}),
            "parlor-host: " + path + ": is larger than 1 MiB");
  EXPECT_EQ(Accepted({"--config", Write("{}")}).settings.seats, 8);
  // The last of the bytes that are taken.
  EXPECT_EQ(Accepted({"--config",
                      Write(std::string(kConfigBytesMax - 2, ' ') + "{}")})
                .settings.seats,
            8);
}

struct BadFile {
  const char* name;
  std::string_view text;
  std::string_view refusal;  // behind the file's name
};

void PrintTo(const BadFile& row, std::ostream* out) { *out << row.name; }

class BadConfig : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadConfig, IsOneLineWithItsPlace) {
  const absl::StatusOr<GivenRows> rows =
      ParseConfig(GetParam().text, "host.json");
  EXPECT_THAT(rows, StatusIs(absl::StatusCode::kInvalidArgument,
                             "host.json: " + std::string(GetParam().refusal)));
}

using namespace std::string_view_literals;

INSTANTIATE_TEST_SUITE_P(
    Rows, BadConfig,
    ::testing::Values(
        BadFile{"Empty", "", "ends too early"},
        BadFile{"CutOff", R"({"port": 1)", "ends too early"},
        BadFile{"CutInText", R"({"invite": ["LOST-CODE)", "ends too early"},
        BadFile{"List", "[]", "is not a JSON object"},
        BadFile{"Number", "3", "is not a JSON object"},
        BadFile{"Null", "null", "is not a JSON object"},
        BadFile{"Text", "\"LOST-CODE-77\"", "is not a JSON object"},
        BadFile{"Comment", "{\n  // seats\n  \"seats\": 4}",
                "line 2, column 3: is not JSON"},
        BadFile{"Trailing", "{}\n}", "line 2, column 1: is not JSON"},
        BadFile{"TrailingNul", "{}\0}"sv, "has a NUL in it"},
        BadFile{"TrailingComma", R"({"port": 1,})",
                "line 1, column 12: is not JSON"},
        BadFile{"SingleQuotes", "{'LOST-CODE-77': 1}",
                "line 1, column 2: is not JSON"},
        BadFile{"NoComma", R"({"invite": ["A" "LOST-CODE-77"]})",
                "line 1, column 30: is not JSON"},
        BadFile{"NotUtf8", "{\"bind\": \"\xff\"}",
                "line 1, column 11: is not JSON"},
        BadFile{"LoneSurrogate", R"({"bind": "\ud800"})",
                "line 1, column 17: is not JSON"},
        BadFile{"HexNumber", R"({"port": 0x10})",
                "line 1, column 11: is not JSON"},
        BadFile{"LeadingZero", R"({"port": 010})",
                "line 1, column 12: is not JSON"},
        BadFile{"Infinity", R"({"port": 1e999})",
                "\"port\": the number is too large"},
        BadFile{"InfinityInList", R"({"origin": ["a", 1e999]})",
                "\"origin\"[1]: the number is too large"},
        BadFile{"Unknown", R"({"holds": "2s"})",
                "\"holds\": there is no such setting"},
        BadFile{"UnknownCase", R"({"Hold": "2s"})",
                "\"Hold\": there is no such setting"},
        BadFile{"UnknownDashes", R"({"--hold": "2s"})",
                "\"--hold\": there is no such setting"},
        BadFile{"UnknownLine", R"({"a\nb": 1})",
                "\"a\\x0ab\": there is no such setting"},
        BadFile{"Config", R"({"config": "a"})",
                "\"config\": there is no such setting"},
        BadFile{"Twice", R"({"hold": "2s", "hold": "2s"})",
                "\"hold\": is there twice"},
        BadFile{"TwiceEmptyList", R"({"origin": [], "origin": []})",
                "\"origin\": is there twice"},
        BadFile{"NumberText", R"({"seats": "4"})",
                "\"seats\": a text where a number belongs"},
        BadFile{"NumberNull", R"({"seats": null})",
                "\"seats\": null where a number belongs"},
        BadFile{"NumberList", R"({"seats": [4]})",
                "\"seats\": a list where a number belongs"},
        BadFile{"DurationTrue", R"({"hold": true})",
                "\"hold\": true where a text such as \"2s\" or \"500ms\" "
                "belongs"},
        BadFile{"TextNumber", R"({"bind": 127})",
                "\"bind\": a number where a text belongs"},
        BadFile{"ListText", R"({"invite": "LOST-CODE-77"})",
                "\"invite\": a text where a list of texts belongs"},
        BadFile{"ListObject", R"({"invite": {"a": "LOST-CODE-77"}})",
                "\"invite\": an object where a list of texts belongs"},
        BadFile{"ListNumber", R"({"invite": ["LOST-CODE-77", 1234567890]})",
                "\"invite\"[1]: a number where a text belongs"},
        BadFile{"ListFalse", R"({"origin": [false]})",
                "\"origin\"[0]: false where a text belongs"},
        BadFile{"ListList", R"({"origin": [[]]})",
                "\"origin\"[0]: a list where a text belongs"},
        BadFile{"SwitchText", R"({"open": "true"})",
                "\"open\": a text where true or false belongs"},
        BadFile{"SwitchNumber", R"({"open": 1})",
                "\"open\": a number where true or false belongs"}),
    [](const auto& row) { return row.param.name; });

// Depth costs nothing: the second level is where it ends.
TEST(Config, DeepNestingIsRefusedAtOnce) {
  const std::string deep = R"({"origin": )" + std::string(500'000, '[');
  EXPECT_THAT(ParseConfig(deep, "f"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "f: \"origin\"[0]: a list where a text belongs"));
}

// Values have the rules of flags, and their words.
struct BadValue {
  const char* name;
  std::string text;
  std::string refusal;
};

void PrintTo(const BadValue& row, std::ostream* out) { *out << row.name; }

class BadConfigValue : public ::testing::TestWithParam<BadValue> {};

TEST_P(BadConfigValue, IsOneLineWithThePathAndTheValue) {
  const test::TempFolder folder;
  const std::string path = folder.Write("host.json", GetParam().text);
  EXPECT_EQ(RefusalOf({"--config", path}),
            "parlor-host: " + path + ": " + GetParam().refusal);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadConfigValue,
    ::testing::Values(
        BadValue{"Above", R"({"seats": 33})", "\"seats\": 33 is not in 1..32"},
        BadValue{"Negative", R"({"seats": -1})",
                 "\"seats\": -1 is not in 1..32"},
        BadValue{"Fraction", R"({"seats": 2.5})",
                 "\"seats\": 2.5 is not a whole number"},
        BadValue{"Exponent", R"({"seats": 1e1})",
                 "\"seats\": 1e1 is not a whole number"},
        BadValue{"Huge", R"({"seats": 99999999999999999999999})",
                 "\"seats\": 99999999999999999999999 is not in 1..32"},
        BadValue{"BareDuration", R"({"hold": 20})",
                 "\"hold\": 20 has no unit: such as 20s or 20ms"},
        BadValue{"Duration", R"({"drain": "81s"})",
                 "\"drain\": 81s is not in 0s..80s"},
        BadValue{"Bind", R"({"bind": "host.example"})",
                 "\"bind\": \"host.example\" is no numeric IPv4 or IPv6 "
                 "address"},
        BadValue{"BindNul", R"({"bind": "::\u0000"})",
                 "\"bind\": has a NUL in it"},
        BadValue{"CertAlone", R"({"tls-cert": "c.pem"})",
                 "\"tls-cert\": needs --tls-key"}),
    [](const auto& row) { return row.param.name; });

// --- The secret of passes

TEST_F(ConfigFile, TheSecretIsReadBeforeAnythingStarts) {
  const std::string secret(32, 's');
  for (const std::string_view end : {"", "\n", "\r\n"}) {
    const std::string path = WriteSecret(secret + std::string(end));
    const Options options =
        Accepted({"--passes", "--access=codes.db", "--pass-secret", path});
    EXPECT_TRUE(options.server.gate.passes);
    EXPECT_EQ(options.server.gate.pass_secret, secret);
  }
  // Those of a newline are part of it, the one at the end aside.
  const std::string path = WriteSecret(secret + "\n\n", 0400);
  EXPECT_EQ(Accepted({"--pass-secret", path}).server.gate.pass_secret,
            secret + "\n");
  const Options file =
      Accepted({"--config", Write(R"({"passes": true, "access": "codes.db",
                             "pass-secret": ")" +
                                  path + "\"}")});
  EXPECT_TRUE(file.server.gate.passes);
}

TEST_F(ConfigFile, PassesWithoutTheirSecretOrTheirFileAreRefused) {
  EXPECT_EQ(RefusalOf({"--passes", "--access=codes.db"}),
            "parlor-host: --passes: needs --pass-secret FILE; 'parlor-host "
            "pass secret FILE' makes one");
  const std::string config = Write(R"({"passes": true, "access": "codes.db"})");
  EXPECT_THAT(RefusalOf({"--config", config}),
              StartsWith("parlor-host: " + config +
                         ": \"passes\": needs --pass-secret FILE; "));
  const std::string secret = WriteSecret(std::string(32, 's'));
  EXPECT_EQ(RefusalOf({"--passes", "--pass-secret", secret}),
            "parlor-host: --passes: needs --access FILE, where it is kept "
            "which devices use a pass");
  EXPECT_EQ(RefusalOf({"--passes", "--open", "--access=codes.db",
                       "--pass-secret", secret}),
            "parlor-host: --open: who is open to everyone has no passes");
}

TEST_F(ConfigFile, ASecretThatIsNoneIsNamedWithItsFile) {
  const std::string good(32, 's');
  for (const mode_t mode : {0640, 0604, 0620, 0644, 0610, 0601, 0777}) {
    const std::string path = WriteSecret(good, mode);
    const std::string text = RefusalOf({"--pass-secret", path});
    EXPECT_THAT(text, StartsWith("parlor-host: --pass-secret: " + path +
                                 ": is open to other users (mode 0"));
    EXPECT_THAT(text, EndsWith("): chmod 600 " + path));
  }
  const std::string few = WriteSecret(std::string(31, 's') + "\n");
  EXPECT_EQ(RefusalOf({"--pass-secret", few}),
            "parlor-host: --pass-secret: " + few +
                ": holds 31 bytes, and a secret has 32 at least");
  const std::string config = Write(R"({"pass-secret": ")" + few + "\"}");
  EXPECT_THAT(RefusalOf({"--config", config}),
              StartsWith("parlor-host: " + config +
                         ": \"pass-secret\": " + few + ": holds 31 bytes"));
  const std::string long_one = WriteSecret(std::string(4'097, 's'));
  EXPECT_THAT(RefusalOf({"--pass-secret", long_one}),
              EndsWith(": is larger than 4096 bytes"));
  EXPECT_EQ(Accepted({"--pass-secret", WriteSecret(std::string(4'096, 's'))})
                .server.gate.pass_secret.size(),
            4'096u);
  EXPECT_EQ(RefusalOf({"--pass-secret", "/no/such"}),
            "parlor-host: --pass-secret: /no/such: cannot read it: No such "
            "file or directory; 'parlor-host pass secret FILE' makes one");
  EXPECT_EQ(RefusalOf({"--pass-secret", "/tmp"}),
            "parlor-host: --pass-secret: /tmp: is no file");
  EXPECT_EQ(RefusalOf({"--pass-secret", ""}),
            "parlor-host: --pass-secret: the file has no name");
}

// A pipe that nobody writes to would stop a start for ever.
TEST_F(ConfigFile, ASecretIsNotWaitedFor) {
  const std::string path = folder_.At("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(RefusalOf({"--pass-secret", path}), EndsWith(": is no file"));
}

TEST_F(ConfigFile, CodesThatOthersMayReadAreWarnedOf) {
  const std::string path = Write(R"({"invite": ["SESAME-OPEN-1"]})");
  const auto warnings = [&](mode_t mode) {
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return Accepted({"--config", path}).warnings;
  };
  const std::string warning =
      path + " holds invite codes, and other users may read it: chmod 600 " +
      path;
  EXPECT_THAT(warnings(0644), ElementsAre(warning));
  EXPECT_THAT(warnings(0640), ElementsAre(warning));
  EXPECT_THAT(warnings(0604), ElementsAre(warning));
  EXPECT_THAT(warnings(0600), ElementsAre());
  EXPECT_THAT(Accepted({"--config", Write(R"({"seats": 4})")}).warnings,
              ElementsAre());
}

// --- --print-config

TEST_F(ConfigFile, WhatIsPrintedIsTakenBack) {
  test::TestAuthority authority;
  const TlsServerFiles files = authority.IssueLocal();
  const std::string secret = WriteSecret(std::string(32, 's'));
  const std::vector<std::vector<std::string>> rows = {
      {},
      {"--open", "--shards=9"},
      {"--passes", "--pass-secret", secret, "--access=codes.db"},
      {"--trusted-proxy=10.0.0.0/8", "--state=matches", "--pass-days=1"},
      {"--record=replays"},
      {"--tcp-port=0", "--base-path=/g%C3%A9", "--hold=0s", "--lobby=90s"},
      {"--origin=https://a.example", "--origin=https://b.example:8443"},
      {"--tls-cert", files.certificate_path, "--tls-key", files.key_path},
  };
  for (const std::vector<std::string>& arguments : rows) {
    const Settings settings = Accepted(arguments).settings;
    auto asked = arguments;
    asked.emplace_back("--print-config");
    const Exit printed = Refused(asked);
    EXPECT_EQ(printed.code, kExitOk);
    EXPECT_EQ(printed.err, "");
    EXPECT_EQ(Accepted({"--config", Write(printed.out)}).settings, settings);
  }
}

TEST_F(ConfigFile, PrintedItIsWhole) {
  const Exit printed = Refused({"--print-config", "--shards=2"});
  EXPECT_EQ(printed.out, R"({
  "port": 8787,
  "bind": "127.0.0.1",
  "base-path": "",
  "open": false,
  "origin": [],
  "passes": false,
  "pass-days": 30,
  "pass-devices": 2,
  "trusted-proxy": [],
  "play": [],
  "rooms": 1024,
  "seats": 8,
  "hold": "20s",
  "lobby": "10m",
  "idle": "5m",
  "lifetime": "4h",
  "gather": "0s",
  "message-rate": 240,
  "message-burst": 480,
  "join-rate": 60,
  "room-join-rate": 20,
  "connections": 65536,
  "unseated": 1024,
  "unseated-per-address": 64,
  "shards": 2,
  "drain": "5s"
}
)");
}

TEST_F(ConfigFile, PrintedItHasNoCodesAndSaysSo) {
  const Exit printed =
      Refused({"--print-config", "--invite", kCode, "--invite=ABCDEFGHIJ"});
  EXPECT_EQ(printed.code, kExitOk);
  EXPECT_THAT(printed.out,
              AllOf(Not(HasSubstr("SESAME")), Not(HasSubstr("invite"))));
  EXPECT_EQ(printed.err,
            "parlor-host: left out, since they are secrets: 2 invite codes "
            "(\"invite\": [...])\n");
  EXPECT_EQ(Refused({"--print-config", "--seats=33"}).code, kExitRefused);
}

}  // namespace
}  // namespace parlor::host_program
