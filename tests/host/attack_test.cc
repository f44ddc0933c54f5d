// A host under attack, over real sockets from many addresses of the loopback,
// while a match goes on: it loses no player and is never stopped, caps hold, a
// turn of the host's loops stays within its bounds, memory within the sum that
// the program prints, and afterwards everything is free again.
//
// Nothing here is timed: the match runs 60 frames a second, and an attack lasts
// until it has done its part and the match has gone on beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "host/server_fixture.h"
#include "host/server_player.h"
#include "logic/minute_rates.h"
#include "parlor/host/server.h"
#include "parlor/limits.h"
#include "parlor/lockstep/peer.h"
#include "parlor/time.h"
#include "parlor/transports/turn_work.h"
#include "program/report.h"
#include "stream/stream_loop.h"
#include "support/attack.h"
#include "support/attack_plans.h"
#include "support/counting_allocator.h"
#include "support/local_tls.h"

namespace parlor::test {
namespace {

using host::ServerFigures;
using host_program::MemoryTerm;
using lockstep::PeerState;

constexpr Duration kStep = 1'000 * kMillisecond / 60;
// What an attack has to leave the match, at least: a second of it.
constexpr std::uint32_t kFrames = 60;

// One look into the system finds 128 events at the most; a few tasks come
// before them, each of which several calls share.
constexpr std::size_t kTurnEventsMax = 128 + 8;
constexpr std::size_t kTurnBytesMax =
    stream::kTurnBytes + 64 * 1024 + 128 * stream::kLeastReadBytes;

class AttackTest : public PlayersFixture {
 protected:
  AttackTest() : PlayersFixture(1) {
    options.shard.room = {};  // a match of 60 frames a second fits the defaults
    options.connections = 1'200;
    options.unseated = 512;
    options.stream.reliable_bytes_max = 16 * 1024;
    options.stream.message_bytes_max = 1'024;
  }

  void StartMatch(std::string_view scheme = "ws") {
    Start();
    for (int i = 0; i < 2; ++i) {
      Player& player = AddPlayer(Network(scheme), 2, kMatchRoom);
      player.step = kStep;
      player.game.keep_frames = false;
    }
    ASSERT_TRUE(Plays(kFrames / 2));
    heap_before_ = parlor_allocated_bytes();
  }

  // The match goes on by so many frames, both players in it.
  bool Plays(std::uint32_t frames) {
    const std::uint32_t until = frame() + frames;
    return Until([&] { return frame() >= until || !undisturbed(); }) &&
           undisturbed();
  }
  std::uint32_t frame() const {
    return std::min(players[0]->peer.frame(), players[1]->peer.frame());
  }
  bool undisturbed() const {
    return std::ranges::all_of(players, [](const auto& player) {
      const lockstep::Peer& peer = player->peer;
      return peer.state() != PeerState::kEnded &&
             peer.counters().resumes == 0 && peer.desync() == -1;
    });
  }

  // Attacks until `done`, and until the match has gone on beside all of it.
  // Then ends the attack, and looks at what is left.
  AttackFigures Run(std::vector<AttackPlan> plans,
                    const std::function<bool(const Attack&)>& done) {
    std::uint64_t heap_most = 0;
    AttackFigures figures;
    {
      std::vector<std::unique_ptr<Attack>> attacks;
      for (AttackPlan& plan : plans) {
        addresses_ += plan.addresses;
        attacks.push_back(std::make_unique<Attack>(std::move(plan)));
      }
      const std::uint64_t heap_own = parlor_allocated_bytes() - heap_before_;
      turns.emplace_back([&](TimePoint now) {
        for (const auto& attack : attacks) attack->Turn(now);
        heap_most = std::max(heap_most, parlor_allocated_bytes());
        const ServerFigures now_there = server->figures();
        most_.unseated = std::max(most_.unseated, now_there.unseated);
        most_.connections = std::max(most_.connections, now_there.connections);
        most_.rooms = std::max(most_.rooms, now_there.rooms);
      });
      const std::uint32_t begin = frame();
      EXPECT_TRUE(Until([&] {
        return std::ranges::all_of(
                   attacks, [&](const auto& one) { return done(*one); }) &&
               frame() >= begin + kFrames;
      }));
      // And at its height.
      EXPECT_TRUE(Plays(kFrames / 2));
      turns.pop_back();
      CheckCaps(heap_most, heap_own);
      figures = attacks.front()->figures();
    }
    CheckAllIsFree();
    return figures;
  }

  // Rooms for all who are there at once. Who the end of an attack tears out of
  // his match is soon given up.
  void ExpectPlayers() {
    options.shard.rooms = kRoomsOfSeatedJoins;
    options.shard.room.hold_ms = 500;
    options.gate.joins_per_minute = limits::kAddressRate.ceiling;
    options.shard.room_joins_per_minute = limits::kRoomJoinRate.ceiling;
  }
  // And said goodbye to, whoever was told anything; nobody anything else.
  static void ExpectAllSeated(const AttackFigures& figures) {
    EXPECT_LE(figures.answers.at(1000), figures.seated);
    EXPECT_GE(figures.answers.at(1000) + 400, figures.seated);  // all sockets
    for (const auto& [answer, count] : figures.answers) {
      if (answer == 1000) continue;
      EXPECT_EQ(count, 0u) << answer;
    }
    RecordProperty("seated", static_cast<int>(figures.seated));
  }

  void CheckCaps(std::uint64_t heap_most, std::uint64_t heap_own) {
    // One is counted before the oldest goes.
    EXPECT_LE(most_.unseated, static_cast<std::uint64_t>(options.unseated) + 1);
    EXPECT_LE(most_.connections,
              static_cast<std::uint64_t>(options.connections));
    const TurnWork work = server->busiest_turn();
    EXPECT_LE(work.events, kTurnEventsMax);
    EXPECT_LE(work.bytes, kTurnBytesMax);
    EXPECT_LE(work.alarms, stream::kTurnAlarmsMax);
    EXPECT_LE(work.ends, stream::kTurnEndsMax);
    EXPECT_LE(heap_most, heap_before_ + heap_own + MemorySum());
    RecordProperty(
        "heap_kib",
        static_cast<int>((heap_most - heap_before_ - heap_own) / 1024));
    RecordProperty("rooms", static_cast<int>(most_.rooms));
    RecordProperty("turn_events", static_cast<int>(work.events));
    RecordProperty("turn_kib", static_cast<int>(work.bytes / 1024));
    RecordProperty("turn_alarms", static_cast<int>(work.alarms));
    RecordProperty("turn_ends", static_cast<int>(work.ends));
  }

  // The sum that parlor-host prints, but of the tables of addresses only what
  // the attackers fill.
  std::uint64_t MemorySum() const {
    std::uint64_t sum = KeptRates();
    for (const MemoryTerm& term : host_program::MemoryTerms(options)) {
      if (term.name.find("rates") == std::string_view::npos) {
        sum += term.bytes();
      }
    }
    return sum;
  }
  // Attempts, failures and joins into a room: memory that stays.
  std::uint64_t KeptRates() const {
    return 3 * (addresses_ + 1'024) * host::MinuteRates::kKeyBytesMax;
  }

  void CheckAllIsFree() {
    EXPECT_TRUE(Until([&] {
      const ServerFigures left = server->figures();
      return left.rooms == 1 && left.players == 2 && left.connections == 2 &&
             left.unseated == 0;
    }));
    EXPECT_TRUE(Plays(kFrames / 2));
    // But for the tables of addresses, and what loops keep for a busy time.
    EXPECT_LE(parlor_allocated_bytes(),
              heap_before_ + KeptRates() + kKeptByLoops);
  }
  static constexpr std::uint64_t kKeptByLoops = 512 * 1024;

 private:
  std::size_t addresses_ = 0;
  std::uint64_t heap_before_ = 0;
  ServerFigures most_;
};

std::function<bool(const Attack&)> Opened(std::uint64_t count) {
  return [count](const Attack& attack) {
    return attack.figures().opened >= count;
  };
}
std::function<bool(const Attack&)> Ended(std::uint64_t count) {
  return
      [count](const Attack& attack) { return attack.figures().ended >= count; };
}
std::function<bool(const Attack&)> Seated(std::uint64_t count) {
  return [count](const Attack& attack) {
    return attack.figures().seated >= count;
  };
}
std::function<bool(const Attack&)> Told(int answer, std::uint64_t count) {
  return [=](const Attack& attack) {
    return attack.figures().answers.at(answer) >= count;
  };
}

// --- Who never becomes anybody

TEST_F(AttackTest, SlowHandshakes) {
  StartMatch();
  // The oldest go, since there is no room for all of them.
  Run({SlowHandshakes(server->port())}, Ended(488));
}

TEST_F(AttackTest, HeadsHalfSaid) {
  options.stream.handshake_ms = 1'000;
  StartMatch();
  Run({HalfHeads(server->port())}, Ended(500));
}

TEST_F(AttackTest, FiveThousandIdleSockets) {
  StartMatch();
  Run({IdleSockets(server->port())}, Opened(5'000));
}

TEST_F(AttackTest, AStormOfConnections) {
  StartMatch();
  Run({ConnectionStorm(server->port())}, Opened(1'000));
}

TEST_F(AttackTest, TlsHandshakesBegunAndLeft) {
  options.tls = SharedLocalTls().server;
  StartMatch("wss");
  Run({TlsBegun(server->port())}, Opened(600));
}

TEST_F(AttackTest, RequestsWithoutEnd) {
  StartMatch();
  Run({EndlessRequests(server->port(), /*reads=*/true),
       EndlessRequests(server->port(), /*reads=*/false)},
      [](const Attack& attack) {
        return attack.figures().bytes_said > 100'000;
      });
}

TEST_F(AttackTest, BodiesThatDrip) {
  StartMatch();
  Run({DrippingBodies(server->port())}, Opened(500));
}

// Each is told what it is, or cut off, and nothing is set aside for it.
TEST_F(AttackTest, GiantLengths) {
  options.stream.linger_ms = 500;
  StartMatch();
  const std::vector<std::pair<AttackPlan, int>> rows = {
      {GiantContentLength(server->port()), 413},
      {GiantChunk(server->port()), 413},
      {GiantFrame(server->port()), 1009},
      {GiantHello(server->tcp_port()), 0}};
  for (const auto& [plan, answer] : rows) Run({plan}, Told(answer, 50));
}

// --- Who is let in

// Those who stay are no reason to turn away the next: more are answered than
// there is room for, long before the first of them has lingered his time.
TEST_F(AttackTest, AStormOfJoinsThatTheRoomRefuses) {
  options.connections = 600;
  options.stream.linger_ms = limits::kLingerMs.ceiling;
  StartMatch();
  AttackPlan plan = RefusedJoins(server->port());
  plan.per_second = 1'000;
  Run({plan}, Told(409, 1'000));
}

TEST_F(AttackTest, AStormOfJoinsIntoARoomThatIsFull) {
  options.connections = 600;
  options.stream.linger_ms = limits::kLingerMs.ceiling;
  StartMatch();
  AttackPlan plan = FullRoomJoins(server->port());
  plan.per_second = 1'000;
  Run({plan}, Told(4000, 1'000));
}

// Nothing is refused, so each makes the host go through all of it: accept,
// handshake, seat, room, start, leave and end.
TEST_F(AttackTest, AStormOfJoinsThatAreSeated) {
  ExpectPlayers();
  StartMatch();
  ExpectAllSeated(Run({SeatedJoins(server->port())}, Seated(1'000)));
}

// As fast as the host is, hundreds of them at its door in one moment.
TEST_F(AttackTest, AStormOfJoinsThatAreSeatedAsManyAsFit) {
  ExpectPlayers();
  StartMatch();
  AttackPlan plan = SeatedJoins(server->port());
  plan.per_second = 100'000;
  ExpectAllSeated(Run({plan}, Seated(4'000)));
}

TEST_F(AttackTest, AStormOfJoinsFromOneAddress) {
  StartMatch();
  AttackPlan plan = FullRoomJoins(server->port());
  plan.addresses = 1;
  const AttackFigures figures = Run({plan}, Told(429, 300));
  EXPECT_LE(figures.answers.at(4000), 20u);  // the room's own rate
}

TEST_F(AttackTest, FloodsOfMessages) {
  options.stream.linger_ms = 500;
  StartMatch();
  Run({MessageFlood(server->port())}, Told(1008, 20));
}

TEST_F(AttackTest, FloodsOfPings) {
  options.stream.linger_ms = 500;
  StartMatch();
  Run({PingFlood(server->port())}, Told(1008, 20));
}

TEST_F(AttackTest, SocketsThatNeverRead) {
  options.shard.room.message_rate_per_s = limits::kMessageRate.ceiling;
  options.shard.room.message_burst = limits::kMessageBurst.ceiling;
  options.shard.room.hold_ms = 500;
  StartMatch();
  bool played = false;
  Run({DeafSeats(server->port()), LoudSeat(server->port())},
      [&](const Attack&) {
        const std::uint64_t seated = server->figures().players;
        played = played || seated == 2 + 8;
        return played && seated <= 2 + 1;  // dropped, 1011
      });
}

TEST_F(AttackTest, GuessesAtTokens) {
  StartMatch();
  AttackPlan many = Guesses(server->port(), 500);
  const AttackFigures figures =
      Run({Guesses(server->port(), 1), many}, Opened(200));
  EXPECT_LE(figures.answers.at(4002), 60u);  // of one address, in a minute
  EXPECT_GT(figures.answers.at(429), 0u);

  // Who has a token comes back between all those who have none.
  Attack attack(many);
  turns.emplace_back([&](TimePoint now) { attack.Turn(now); });
  EXPECT_TRUE(Until([&] { return attack.figures().opened >= 100; }));
  players[0]->connector.Cut();
  EXPECT_TRUE(Until([&] { return players[0]->peer.counters().resumes == 1; }));
  const std::uint32_t begin = frame();
  EXPECT_TRUE(Until([&] { return frame() >= begin + kFrames; }));
  EXPECT_EQ(players[0]->peer.desync(), -1);
  EXPECT_EQ(players[1]->peer.counters().resumes, 0u);
  turns.pop_back();
}

}  // namespace
}  // namespace parlor::test
