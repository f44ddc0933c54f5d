#include "sim/swarm_play_scenario.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "parlor/random.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/swarm_draw.h"
#include "sim/swarm_scenario.h"

namespace parlor::test {
namespace {

using FaultKind = SwarmFault::Kind;
using HostileKind = PlayHostileDraw::Kind;

std::size_t AnyPreset(Random& random) {
  return random.Below(static_cast<std::uint32_t>(SwarmPresets().size()));
}

sim::Via AnyVia(Random& random) {
  return random.Chance(1, 2) ? sim::Via::kWebSocket : sim::Via::kTcp;
}

PlayRoomDraw DrawRoom(Random& random, std::size_t number) {
  PlayRoomDraw room;
  room.key = "room-" + std::to_string(number);
  room.seats = OneOf(random, {1, 2, 3, 4, 4, 6, 8});
  room.tick_hz = OneOf(random, {10, 20, 30, 60, 60});
  room.snapshot_hz = std::min(room.tick_hz, OneOf(random, {5, 10, 20, 20, 60}));
  room.grace_ms = OneOf(random, {0, 1'000, 3'000, 3'000, 8'000});
  room.join_ms = random.Chance(1, 4) ? 1'000 : 10'000;
  room.inputs_waiting = random.Between(1, 2);
  room.end_when_empty = random.Chance(1, 4);
  room.json_only = random.Chance(1, 5);
  room.views = random.Chance(3, 5);
  room.throws = random.Chance(1, 3);
  if (random.Chance(1, 8)) {
    room.fails_at =
        1 + random.Below(static_cast<std::uint32_t>(8 * room.tick_hz));
  }
  return room;
}

void DrawPlayers(Random& random, PlayScenario& scenario, std::size_t room,
                 std::int32_t trouble_ms) {
  const int seats = scenario.rooms[room].seats;
  int players = random.Between(1, seats);
  if (random.Chance(1, 8)) players = seats + 1;  // one too many
  const bool bytes = random.Chance(1, 4);
  for (int i = 0; i < players; ++i) {
    PlayPlayer player;
    player.room = room;
    player.preset = AnyPreset(random);
    player.clock_ppm = random.Chance(1, 3) ? random.Between(-400, 400) : 0;
    player.codecs = OneOf(random, {0, 0, 0, 1, 2});
    player.predicts = random.Chance(1, 2);
    player.joins = random.Chance(1, 5) ? Between(random, 900, trouble_ms)
                                       : Between(random, 0, 900);
    if (bytes && random.Chance(1, 2)) player.via = AnyVia(random);
    scenario.players.push_back(player);
  }
}

void DrawHostiles(Random& random, PlayScenario& scenario, std::size_t room) {
  if (random.Chance(1, 3)) return;
  const int count = random.Between(1, 3);
  for (int i = 0; i < count; ++i) {
    PlayHostileDraw hostile;
    hostile.kind = OneOf(
        random,
        {HostileKind::kGuesser, HostileKind::kThief, HostileKind::kThief,
         HostileKind::kOldTokens, HostileKind::kTwin, HostileKind::kTwin,
         HostileKind::kGarbler, HostileKind::kGarbler, HostileKind::kAcker,
         HostileKind::kFlooder, HostileKind::kSilent, HostileKind::kIntruder});
    hostile.room = room;
    hostile.at = Between(random, 0, 4'000);
    if (random.Chance(1, 6)) hostile.via = AnyVia(random);
    scenario.hostiles.push_back(hostile);
  }
}

SwarmFault DrawFault(Random& random, const PlayScenario& scenario,
                     std::int32_t trouble_ms) {
  SwarmFault fault;
  fault.at = Between(random, 200, trouble_ms);
  fault.preset = AnyPreset(random);
  fault.kind = OneOf(
      random, {FaultKind::kCut, FaultKind::kCut, FaultKind::kCutUp,
               FaultKind::kCutDown, FaultKind::kReset, FaultKind::kReset,
               FaultKind::kReset, FaultKind::kStall, FaultKind::kStall,
               FaultKind::kConditions, FaultKind::kCrash, FaultKind::kLeave});
  fault.target =
      random.Below(static_cast<std::uint32_t>(scenario.players.size()));
  fault.time = random.Chance(2, 3) ? Between(random, 10, 1'500)
                                   : Between(random, 1'500, 9'000);
  return fault;
}

void DrawHostFaults(Random& random, SwarmScenario& scenario,
                    std::int32_t trouble_ms) {
  if (!random.Chance(1, 3)) return;
  SwarmFault fault;
  fault.kind = OneOf(random, {FaultKind::kHostCrash, FaultKind::kHostPower,
                              FaultKind::kHostDrain});
  fault.target =
      random.Below(static_cast<std::uint32_t>(scenario.hosts.size()));
  fault.at = Between(random, 1'000, trouble_ms);
  fault.time = Between(random, 50, 3'000);
  scenario.faults.push_back(fault);
}

const char* Name(HostileKind kind) {
  static constexpr std::array<const char*, 9> kNames = {
      "guesser", "thief",   "old tokens", "twin",    "garbler",
      "acker",   "flooder", "silent",     "intruder"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

PlayScenario DrawPlayScenario(SwarmKind kind, SwarmScenario& scenario) {
  PlayScenario drawn;
  if (kind == SwarmKind::kLockstep) return drawn;
  Random random(scenario.seed * 0x9e3779b97f4a7c15u, /*stream=*/8);
  const auto trouble_ms =
      static_cast<std::int32_t>(scenario.trouble / kMillisecond);
  if (kind == SwarmKind::kAuthority) {
    scenario.rooms.clear();
    scenario.clients.clear();
    scenario.hostiles.clear();
    scenario.faults.clear();
    DrawHostFaults(random, scenario, trouble_ms);
    for (SwarmHost& host : scenario.hosts) {
      host.patient = random.Chance(1, 2);
    }
  }
  const int rooms = random.Between(1, 3);
  for (int i = 0; i < rooms; ++i) {
    const auto room = static_cast<std::size_t>(i);
    drawn.rooms.push_back(DrawRoom(random, room));
    drawn.rooms[room].host =
        random.Below(static_cast<std::uint32_t>(scenario.hosts.size()));
    DrawPlayers(random, drawn, room, trouble_ms);
    DrawHostiles(random, drawn, room);
  }
  const int faults =
      random.Chance(1, 8)
          ? 0
          : random.Between(
                1, static_cast<std::int32_t>(2 + 2 * drawn.players.size()));
  for (int i = 0; i < faults; ++i) {
    drawn.faults.push_back(DrawFault(random, drawn, trouble_ms));
  }
  return drawn;
}

std::string Describe(const PlayScenario& scenario) {
  std::string text;
  for (const PlayRoomDraw& room : scenario.rooms) {
    text += "  " + room.key + ": of host " + std::to_string(room.host) + ", " +
            std::to_string(room.seats) + " seats, " +
            std::to_string(room.tick_hz) + " ticks and " +
            std::to_string(room.snapshot_hz) + " snapshots a second, grace " +
            std::to_string(room.grace_ms) + " join " +
            std::to_string(room.join_ms) + ", " +
            std::to_string(room.inputs_waiting) + " inputs wait" +
            (room.end_when_empty ? ", ends when empty" : "") +
            (room.json_only ? ", JSON" : "") + (room.views ? ", views" : "") +
            (room.throws ? ", throws" : "");
    if (room.fails_at > 0) {
      text += ", fails from tick " + std::to_string(room.fails_at);
    }
    text += "\n";
  }
  for (std::size_t i = 0; i < scenario.players.size(); ++i) {
    const PlayPlayer& player = scenario.players[i];
    text += "  player " + std::to_string(i) + ": room-" +
            std::to_string(player.room) + " after " + MsText(player.joins) +
            " by " + NameOf(player.via) + ", " +
            SwarmPresets()[player.preset].name + ", " +
            std::to_string(player.clock_ppm) + " ppm, codecs " +
            std::to_string(player.codecs) +
            (player.predicts ? ", predicts\n" : "\n");
  }
  for (const PlayHostileDraw& hostile : scenario.hostiles) {
    text += "  " + std::string(Name(hostile.kind)) + ": room-" +
            std::to_string(hostile.room) + " after " + MsText(hostile.at) +
            " by " + NameOf(hostile.via) + "\n";
  }
  for (const SwarmFault& fault : scenario.faults) {
    text += "  at " + MsText(fault.at) + ": " + NameOf(fault.kind) +
            " of player " + std::to_string(fault.target) + " for " +
            MsText(fault.time) + "\n";
  }
  return text;
}

}  // namespace parlor::test
