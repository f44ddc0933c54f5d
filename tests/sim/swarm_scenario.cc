#include "sim/swarm_scenario.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parlor/limits.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/swarm_draw.h"

namespace parlor::test {
namespace {

using FaultKind = SwarmFault::Kind;
using HostileKind = SwarmHostile::Kind;

SwarmHost DrawHost(Random& random) {
  SwarmHost host;
  host.shards = random.Between(1, 3);
  host.hold_ms = OneOf(random, {0, 1'000, 3'000, 3'000, 5'000, 8'000});
  host.idle_ms = random.Chance(1, 12) ? 4'000 : limits::kIdleMs.fallback;
  host.lobby_ms = random.Chance(1, 12) ? 3'000 : limits::kLobbyMs.fallback;
  host.drain_ms = OneOf(random, {0, 200, 1'500});
  host.keeps_matches = !random.Chance(1, 6);
  return host;
}

// From a stream of its own, so that a seed's scenario is what it was before
// rooms could gather.
void DrawGather(std::uint64_t seed, SwarmScenario& scenario) {
  Random random(seed * 0x9e3779b97f4a7c15u, /*stream=*/7);
  for (SwarmHost& host : scenario.hosts) {
    if (!random.Chance(2, 5)) continue;
    host.gather_ms = OneOf(random, {1, 8, 17, 17, 34, 100});
  }
}

// Rooms of one host have different numbers.
void DrawRooms(Random& random, SwarmScenario& scenario) {
  for (std::size_t host = 0; host < scenario.hosts.size(); ++host) {
    const int rooms = random.Chance(1, 4) ? 2 : 1;
    const std::uint32_t first = random.Below(10);
    for (int i = 0; i < rooms; ++i) {
      SwarmRoom room;
      room.host = host;
      room.number = first + static_cast<std::uint32_t>(i);
      room.size = OneOf(random, {2, 2, 3, 3, 4, 4, 5, 6, 8});
      room.delay = OneOf(random, {1, 2, 2, 2, 4, 7});
      if (random.Chance(2, 5)) {
        room.start_at = random.Between(1, room.size);
        room.start = Between(random, 300, 2'500);
      }
      scenario.rooms.push_back(room);
    }
  }
}

HostileKind DrawHostileKind(Random& random) {
  return OneOf(
      random,
      {HostileKind::kGuesser, HostileKind::kThief, HostileKind::kThief,
       HostileKind::kOldTokens, HostileKind::kSpeaker, HostileKind::kSpeaker,
       HostileKind::kFlooder, HostileKind::kMissizer, HostileKind::kIntruder});
}

// Up to half of a room's seats go to hostiles, and some hostiles have none.
void DrawHostiles(Random& random, SwarmScenario& scenario, std::size_t room,
                  int& seats) {
  if (random.Chance(2, 5)) return;
  const int count = random.Between(1, 3);
  for (int i = 0; i < count; ++i) {
    SwarmHostile hostile;
    hostile.kind = DrawHostileKind(random);
    hostile.room = room;
    hostile.at = Between(random, 0, 2'000);
    if (hostile.takes_seat()) {
      if (2 * (seats - 1) < scenario.rooms[room].size) continue;
      --seats;
      hostile.at = Between(random, 0, 800);
    } else {
      hostile.at = Between(random, 500, 5'000);
      const bool blind = hostile.kind == HostileKind::kGuesser ||
                         hostile.kind == HostileKind::kIntruder;
      if (blind && random.Chance(1, 5)) hostile.via = sim::Via::kWebSocket;
    }
    scenario.hostiles.push_back(hostile);
  }
}

void DrawClients(Random& random, SwarmScenario& scenario, std::size_t room,
                 int count) {
  // A few friends on one network, or everyone somewhere else.
  const std::size_t preset =
      random.Below(static_cast<std::uint32_t>(SwarmPresets().size()));
  const bool same = random.Chance(1, 3);
  const bool bytes = random.Chance(1, 10);
  for (int i = 0; i < count; ++i) {
    SwarmClient client;
    client.room = room;
    const std::size_t own =
        random.Below(static_cast<std::uint32_t>(SwarmPresets().size()));
    client.preset = same ? preset : own;
    client.clock_ppm = random.Chance(1, 3) ? random.Between(-400, 400) : 0;
    client.joins = Between(random, 0, 900);
    if (bytes && random.Chance(1, 2)) {
      client.via = random.Chance(1, 2) ? sim::Via::kWebSocket : sim::Via::kTcp;
    }
    scenario.clients.push_back(client);
  }
}

SwarmFault DrawFault(Random& random, const SwarmScenario& scenario,
                     std::int32_t trouble_ms) {
  SwarmFault fault;
  fault.at = Between(random, 200, trouble_ms);
  fault.preset =
      random.Below(static_cast<std::uint32_t>(SwarmPresets().size()));
  if (random.Chance(1, 10)) {
    fault.kind = OneOf(random, {FaultKind::kHostCrash, FaultKind::kHostCrash,
                                FaultKind::kHostPower, FaultKind::kHostDrain});
    fault.target =
        random.Below(static_cast<std::uint32_t>(scenario.hosts.size()));
    fault.time = Between(random, 50, 3'000);
    return fault;
  }
  fault.kind =
      OneOf(random, {FaultKind::kCut, FaultKind::kCut, FaultKind::kCut,
                     FaultKind::kCutUp, FaultKind::kCutDown, FaultKind::kReset,
                     FaultKind::kReset, FaultKind::kReset, FaultKind::kStall,
                     FaultKind::kStall, FaultKind::kConditions,
                     FaultKind::kCrash, FaultKind::kLeave});
  fault.target =
      random.Below(static_cast<std::uint32_t>(scenario.clients.size()));
  fault.time = random.Chance(2, 3) ? Between(random, 10, 1'500)
                                   : Between(random, 1'500, 9'000);
  return fault;
}

const char* Name(HostileKind kind) {
  static constexpr std::array<const char*, 7> kNames = {
      "guesser", "thief",    "old tokens", "speaker",
      "flooder", "missizer", "intruder"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

const char* NameOf(SwarmFault::Kind kind) {
  static constexpr std::array<const char*, 11> kNames = {
      "cut",   "cut up", "cut down",   "reset",      "stall",     "conditions",
      "crash", "leave",  "host crash", "host power", "host drain"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* NameOf(sim::Via via) {
  static constexpr std::array<const char*, 3> kNames = {"messages", "websocket",
                                                        "tcp"};
  return kNames[static_cast<std::size_t>(via)];
}

std::string MsText(Duration time) {
  return std::to_string(time / kMillisecond) + " ms";
}

// Awful is rare: most of what happens in it happens in mobile too, and sooner.
const std::vector<SwarmPreset>& SwarmPresets() {
  static const std::vector<SwarmPreset> presets = {
      {"perfect", sim::kPerfect}, {"lan", sim::kLan},
      {"lan", sim::kLan},         {"wifi", sim::kWifi},
      {"wifi", sim::kWifi},       {"mobile", sim::kMobile},
      {"mobile", sim::kMobile},   {"awful", sim::kAwful}};
  return presets;
}

SwarmScenario DrawScenario(std::uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15u, /*stream=*/6);
  SwarmScenario scenario;
  scenario.seed = seed;
  if (random.Chance(1, 4)) scenario.ties = Executor::Ties::kInOrder;
  const int hosts = random.Chance(1, 5) ? 2 : 1;
  for (int i = 0; i < hosts; ++i) scenario.hosts.push_back(DrawHost(random));
  DrawGather(seed, scenario);
  DrawRooms(random, scenario);
  for (std::size_t room = 0; room < scenario.rooms.size(); ++room) {
    int seats = scenario.rooms[room].size;
    DrawHostiles(random, scenario, room, seats);
    // Sometimes one too many, or too few for a room that fills.
    if (random.Chance(1, 10)) seats += random.Chance(1, 2) ? 1 : -1;
    DrawClients(random, scenario, room, seats);
  }
  const std::int32_t trouble_ms = random.Between(3'000, 12'000);
  scenario.trouble = trouble_ms * kMillisecond;
  if (scenario.clients.empty()) return scenario;
  const int faults =
      random.Chance(1, 8)
          ? 0
          : random.Between(
                1, static_cast<std::int32_t>(2 + 2 * scenario.clients.size()));
  for (int i = 0; i < faults; ++i) {
    scenario.faults.push_back(DrawFault(random, scenario, trouble_ms));
  }
  return scenario;
}

std::string Describe(const SwarmScenario& scenario) {
  std::string text =
      "  trouble for " + MsText(scenario.trouble) +
      (scenario.ties == Executor::Ties::kShuffled ? ", ties shuffled\n" : "\n");
  for (std::size_t i = 0; i < scenario.hosts.size(); ++i) {
    const SwarmHost& host = scenario.hosts[i];
    text += "  host " + std::to_string(i) + ": " + std::to_string(host.shards) +
            " shards, hold " + std::to_string(host.hold_ms) + " idle " +
            std::to_string(host.idle_ms) + " lobby " +
            std::to_string(host.lobby_ms) + " drain " +
            std::to_string(host.drain_ms) + " gather " +
            std::to_string(host.gather_ms) +
            (host.keeps_matches ? "\n" : ", keeps nothing\n");
  }
  for (std::size_t i = 0; i < scenario.rooms.size(); ++i) {
    const SwarmRoom& room = scenario.rooms[i];
    text += "  room " + std::to_string(i) + ": number " +
            std::to_string(room.number) + " of host " +
            std::to_string(room.host) + ", " + std::to_string(room.size) +
            " seats, delay " + std::to_string(room.delay);
    if (room.start_at > 0) {
      text += ", START at " + std::to_string(room.start_at) + " after " +
              MsText(room.start);
    }
    text += "\n";
  }
  for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
    const SwarmClient& client = scenario.clients[i];
    text += "  client " + std::to_string(i) + ": room " +
            std::to_string(client.room) + " after " + MsText(client.joins) +
            " by " + NameOf(client.via) + ", " +
            SwarmPresets()[client.preset].name + ", " +
            std::to_string(client.clock_ppm) + " ppm\n";
  }
  for (const SwarmHostile& hostile : scenario.hostiles) {
    text += "  " + std::string(Name(hostile.kind)) + ": room " +
            std::to_string(hostile.room) + " after " + MsText(hostile.at) +
            " by " + NameOf(hostile.via) + "\n";
  }
  for (const SwarmFault& fault : scenario.faults) {
    text += "  at " + MsText(fault.at) + ": " + NameOf(fault.kind) + " " +
            std::to_string(fault.target) + " for " + MsText(fault.time) + "\n";
  }
  return text;
}

}  // namespace parlor::test
