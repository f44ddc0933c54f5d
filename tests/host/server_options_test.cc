// What a server's options may be, and how it is said which one may not.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/host/memory_access_store.h"
#include "parlor/host/server.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/tls.h"
#include "support/recording_connection.h"

namespace parlor::test {
namespace {

using host::ServerOptions;

struct Row {
  const char* name;
  std::function<void(ServerOptions&)> change;
  const char* message;  // empty: fine
};

// Some of the fields by their names: no warning, which CI makes an error, of
// the others.
TEST(Options, AreNamedInPart) {
  const ServerOptions server{.address = "::1",
                             .shard = {.rooms = 3},
                             .gate = {.open = true},
                             .drain_ms = 7};
  EXPECT_EQ(ValidateOptions(server), absl::OkStatus());
  EXPECT_EQ(server.shard.rooms, 3);
  EXPECT_EQ(server.shard.room.hold_ms, lockstep::RoomOptions().hold_ms);
  EXPECT_FALSE((NetConnectorOptions{.stream = {}}.tls.has_value()));
  EXPECT_EQ((NetListenerOptions{.port = 9}.address), "127.0.0.1");
  EXPECT_EQ((TlsClientOptions{.verify = false}.ca_path), "");
}

class ServerOptionsTest : public testing::TestWithParam<Row> {};

TEST_P(ServerOptionsTest, NamesTheFieldAndTheValue) {
  ServerOptions options;
  options.gate.open = true;
  GetParam().change(options);
  const absl::Status status = ValidateOptions(options);
  EXPECT_EQ(std::string(status.message()), GetParam().message);
  EXPECT_EQ(status.ok(), std::string(GetParam().message).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ServerOptionsTest,
    testing::Values(
        Row{"defaults", [](ServerOptions&) {}, ""},
        Row{"ipv6", [](ServerOptions& o) { o.address = "::"; }, ""},
        Row{"base", [](ServerOptions& o) { o.base_path = "/games/eu"; }, ""},
        Row{"no_threads", [](ServerOptions& o) { o.shards = 0; }, ""},
        Row{"name", [](ServerOptions& o) { o.address = "localhost"; },
            "server.address: \"localhost\" is no numeric IPv4 or IPv6 address"},
        Row{"slash", [](ServerOptions& o) { o.base_path = '/'; },
            "server.base_path: \"/\" is neither empty nor a path like "
            "\"/games\""},
        Row{"relative", [](ServerOptions& o) { o.base_path = "games"; },
            "server.base_path: \"games\" is neither empty nor a path like "
            "\"/games\""},
        Row{"query", [](ServerOptions& o) { o.base_path = "/a?b"; },
            "server.base_path: \"/a?b\" is neither empty nor a path like "
            "\"/games\""},
        Row{"shards", [](ServerOptions& o) { o.shards = 257; },
            "server.shards: 257 is not in 0..256"},
        Row{"shards_below", [](ServerOptions& o) { o.shards = -1; },
            "server.shards: -1 is not in 0..256"},
        Row{"rooms", [](ServerOptions& o) { o.shard.rooms = 0; },
            "server.shard.rooms: 0 is not in 1..65536"},
        Row{"seats", [](ServerOptions& o) { o.shard.seats = 33; },
            "server.shard.seats: 33 is not in 1..32"},
        Row{"room_joins",
            [](ServerOptions& o) { o.shard.room_joins_per_minute = 0; },
            "server.shard.room_joins_per_minute: 0 is not in 1..100000"},
        Row{"hold", [](ServerOptions& o) { o.shard.room.hold_ms = 120'001; },
            "server.shard.room.hold_ms: 120001 is not in 0..120000"},
        Row{"gate", [](ServerOptions& o) { o.gate.joins_per_minute = 0; },
            "server.gate.joins_per_minute: 0 is not in 1..100000"},
        Row{"passes_without_a_store",
            [](ServerOptions& o) {
              o.gate = {.passes = true, .pass_secret = std::string(32, 's')};
            },
            "server.gate.passes: they are locked to devices and revoked in "
            "server.access_store, and none is set"},
        Row{"passes",
            [](ServerOptions& o) {
              o.gate = {.passes = true, .pass_secret = std::string(32, 's')};
              o.access_store = std::make_shared<host::MemoryAccessStore>(
                  [] { return 0; }, [](const auto&) {});
            },
            ""},
        Row{"passes_without_a_secret",
            [](ServerOptions& o) {
              o.gate = {.passes = true};
              o.access_store = std::make_shared<host::MemoryAccessStore>(
                  [] { return 0; }, [](const auto&) {});
            },
            "server.gate.pass_secret: passes are signed with one, and none is "
            "set"},
        Row{"stream", [](ServerOptions& o) { o.stream.linger_ms = -1; },
            "server.stream.linger_ms: -1 is not in 0..60000"},
        Row{"connections", [](ServerOptions& o) { o.connections = 0; },
            "server.connections: 0 is not in 1..1048576"},
        Row{"unseated", [](ServerOptions& o) { o.unseated = 65'537; },
            "server.unseated: 65537 is not in 1..65536"},
        Row{"unseated_per_address",
            [](ServerOptions& o) { o.unseated_per_address = 0; },
            "server.unseated_per_address: 0 is not in 1..65536"},
        Row{"drain", [](ServerOptions& o) { o.drain_ms = 80'001; },
            "server.drain_ms: 80001 is not in 0..80000"},
        // 2 + 7 x 65 messages of 12 and 8 bytes.
        Row{"replay_of_eight",
            [](ServerOptions& o) { o.stream.reliable_bytes_max = 9'140; }, ""},
        Row{"less_than_a_replay",
            [](ServerOptions& o) { o.stream.reliable_bytes_max = 9'139; },
            "server.stream.reliable_bytes_max: 9139 does not hold a resume "
            "into a room of 8 seats, which takes 9140"},
        Row{"replay_of_32",
            [](ServerOptions& o) {
              o.shard.seats = 32;
              o.stream.reliable_bytes_max = 40'000;
            },
            "server.stream.reliable_bytes_max: 40000 does not hold a resume "
            "into a room of 32 seats, which takes 40340"}),
    [](const auto& row) { return row.param.name; });

// What the least of a lane is for: the longest answer to a resume into a room
// of 8, where everyone has said more than is replayed.
TEST(ReplayTest, TheLeastOfALaneIsWhatAResumeHears) {
  SeededEntropy entropy(1);
  lockstep::Room room(TimePoint(), 8, {}, entropy);
  std::array<RecordingConnection, 8> seats;
  for (RecordingConnection& seat : seats) room.Join(TimePoint(), seat);
  const RecordingConnection::Entry welcome = seats[0].Take().back();
  const std::uint32_t token =
      lockstep::Decode(std::span(welcome.bytes).first<lockstep::kMessageSize>())
          .value;
  for (std::uint32_t frame = 1; frame <= 70; ++frame) {
    const auto input =
        lockstep::Encode({.kind = lockstep::Kind::kInput, .frame = frame});
    for (RecordingConnection& seat : seats) {
      room.OnMessage(TimePoint(), seat, MessageKind::kBinary, input);
    }
  }
  for (std::size_t seat = 1; seat < 8; ++seat) {
    room.OnClose(TimePoint(), seats[seat], close_code::kDropped);
  }
  RecordingConnection back;
  room.Resume(TimePoint(), back, lockstep::TokenText(token));
  std::size_t bytes = 0;
  for (const RecordingConnection::Entry& entry : back.Take()) {
    bytes += entry.bytes.size() + kMessageOverhead;
  }
  EXPECT_EQ(bytes, 9'140u);
}

}  // namespace
}  // namespace parlor::test
