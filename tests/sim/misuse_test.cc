// What a game's tests may get wrong: the program stops, and its last line says
// in words what was wrong, and of whom.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include "parlor/close_reason.h"
#include "parlor/connector.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/party.h"
#include "support/lockstep_client.h"
#include "support/toy_game.h"

namespace parlor::sim {
namespace {

struct Misuse {
  const char* name;
  std::function<void(Party& party)> run;
  const char* says;
};

void PrintTo(const Misuse& misuse, std::ostream* out) { *out << misuse.name; }

class MisuseDeathTest : public testing::TestWithParam<Misuse> {
 protected:
  Party party_;
};

TEST_P(MisuseDeathTest, IsToldInWords) {
  EXPECT_DEATH(GetParam().run(party_), GetParam().says);
}

std::string NameOf(const testing::TestParamInfo<Misuse>& row) {
  return row.param.name;
}

// ---- Options that are not valid

// Of a second host, or of a client.
Misuse BadHost(const char* name, const HostOptions& options, const char* says) {
  return {name, [options](Party& party) { party.world.AddHost(options); },
          says};
}
Misuse BadClient(const char* name, const ClientOptions& options,
                 const char* says) {
  return {name, [options](Party& party) { party.Invite(options); }, says};
}

INSTANTIATE_TEST_SUITE_P(
    Options, MisuseDeathTest,
    testing::Values(
        BadHost("NoRooms", {.shard = {.room = {}, .rooms = 0}},
                "server.shard.rooms: 0 is not in 1..65536"),
        BadHost("NoShards", {.shards = 0}, "server.shards: 0 is not in 1..256"),
        BadHost("HostStream", {.stream = {.ping_ms = -3}},
                "server.stream.ping_ms: -3 is not in"),
        BadClient("NoRate", {.rate_hz = 0},
                  "client 0.rate_hz: 0 is not in 1..1000"),
        BadClient("HighRate", {.rate_hz = 1'001},
                  "client 0.rate_hz: 1001 is not in 1..1000"),
        BadClient("Desync", {.desync = lockstep::DesyncOptions{.bytes_max = 1}},
                  "client 0.desync.bytes_max: 1 is not in 65536..1073741824"),
        BadClient("Clock", {.clock_ppm = -100'001},
                  "client 0.clock_ppm: -100001 is not in -100000..100000"),
        BadClient("Delay", {.peer = {.delay = 99}}, "delay: 99 is not in"),
        BadClient("ClientStream", {.stream = {.ping_ms = -3}},
                  "client 0.stream.ping_ms: -3 is not in"),
        Misuse{"NetworkOfOne",
               [](Party& party) {
                 test::ToyGame game;
                 party.world.AddClient(
                     game, {.up = {}, .down = {.latency = -kSecond}});
               },
               "client 0.down.latency: -1000000000 is not in 0.."},
        Misuse{"NetworkOfAll",
               [](Party&) {
                 Party other(
                     {.network = {.up = {.loss_ppm = 1'000'001}, .down = {}}});
                 other.Invite();
               },
               "client 0.up.loss_ppm: 1000001 is not in 0..1000000"},
        Misuse{"NetworkLater",
               [](Party& party) {
                 party.Invite().link().SetConditions(
                     {.up = {.bytes_per_s = 1}, .down = {}});
               },
               "client 0.up.bytes_per_s: 1 is not in 1000.."}),
    NameOf);

// ---- Verbs at the wrong time

const Hello kHello{.room = 1, .players = 2};

// `verb` of a host that has crashed.
Misuse OfNoProcess(const char* name, std::function<void(Host&)> verb,
                   const char* says) {
  return {name,
          [verb = std::move(verb)](Party& party) {
            party.host.CrashNow();
            verb(party.host);
          },
          says};
}

// What a client's turn, its game's step, or a condition does with the world.
Misuse WithinARun(const char* name, std::function<void(Party&)> run) {
  return {name, std::move(run),
          "a world is run by an event or a condition of its own"};
}

INSTANTIATE_TEST_SUITE_P(
    Verbs, MisuseDeathTest,
    testing::Values(
        Misuse{"JoinTwice",
               [](Party& party) { party.Add(2).Join(party.host, kHello); },
               "client 0: Join: it has joined before"},
        Misuse{"JoinAfterCrash",
               [](Party& party) {
                 Client& client = party.Invite();
                 client.Crash();
                 client.Join(party.host, kHello);
               },
               "client 0: Join: it has crashed"},
        Misuse{"JoinAfterLeave",
               [](Party& party) {
                 Client& client = party.Invite();
                 client.Leave();
                 client.Join(party.host, kHello);
               },
               "client 0: Join: it has left"},
        Misuse{"JoinOfAnotherWorld",
               [](Party& party) { party.Invite().Join(Party().host, kHello); },
               "client 0: Join: the host is of another world"},
        Misuse{"ConnectOfAnotherWorld",
               [](Party& party) {
                 test::LockstepClient stranger;
                 party.world.Connect(Party().host, kHello, Via::kMessages,
                                     &stranger);
               },
               "Connect: host 0 is of another world"},
        Misuse{"PeerOfACrashed",
               [](Party& party) {
                 Client& client = party.Invite();
                 client.Crash();
                 client.peer();
               },
               "client 0: peer: it has crashed"},
        Misuse{"OneGameOfTwo",
               [](Party& party) {
                 party.Add(2);
                 party.world.AddClient(*party.games[0]);
               },
               "client 1: its game is that of client 0 too"},
        OfNoProcess(
            "Drain", [](Host& host) { host.Drain(); },
            "host 0: Drain: it has crashed"),
        OfNoProcess(
            "Stop", [](Host& host) { host.Stop(CloseReason::kNormal); },
            "host 0: Stop: it has crashed"),
        OfNoProcess(
            "CrashTwice", [](Host& host) { host.CrashNow(); },
            "host 0: CrashNow: it has crashed"),
        Misuse{"StartTwice", [](Party& party) { party.host.Start(); },
               "host 0: Start: a process runs"},
        Misuse{"StartWhileItStops",
               [](Party& party) {
                 party.host.Stop(CloseReason::kRestart);
                 party.host.Start();
               },
               "host 0: Start: a process runs"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Runs, MisuseDeathTest,
    testing::Values(
        Misuse{"NoCondition",
               [](Party& party) { (void)party.world.RunUntil(nullptr); },
               "RunUntil: there is no function"},
        Misuse{"Backwards", [](Party& party) { party.world.RunFor(-kSecond); },
               "RunFor: ns: -1000000000 is not in 0.."},
        Misuse{"ForEver",
               [](Party& party) {
                 (void)party.world.RunUntil([] { return false; },
                                            Duration::max());
               },
               "RunUntil: ns: 9223372036854775807 is not in 0.."},
        Misuse{"StallForEver",
               [](Party& party) { party.Invite().Stall(Duration::max()); },
               "client 0: Stall: ns: 9223372036854775807 is not in 0.."},
        WithinARun("InAGamesStep",
                   [](Party& party) {
                     party.Add(1);
                     party.games[0]->on_step = [&party] {
                       party.world.RunFor(kSecond);
                     };
                     party.world.RunFor(kSecond);
                   }),
        WithinARun("InATurn",
                   [](Party& party) {
                     party.Add(1).SetOnStep(
                         [&party] { party.world.RunFor(kSecond); });
                     party.world.RunFor(kSecond);
                   }),
        WithinARun("InACondition",
                   [](Party& party) {
                     (void)party.world.RunUntil([&party] {
                       party.world.RunFor(kSecond);
                       return true;
                     });
                   })),
    NameOf);

}  // namespace
}  // namespace parlor::sim
