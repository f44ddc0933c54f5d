// World: hosts, clients and the network between them in virtual time, for
// tests of a game without a socket, a thread or a wait. The hosts run what a
// dedicated host runs (gate, rooms, drain, kept matches), the clients the
// game's own peers; only the wire and the clock are made up. One seed gives one
// run, on every compiler and in every build.
//
//   std::array<MyGame, 4> games;
//   sim::World world({.seed = 7, .network = sim::kMobile});
//   sim::Host& host = world.AddHost();
//   for (MyGame& game : games) {
//     world.AddClient(game).Join(host, {.room = 1, .players = 4});
//   }
//   ASSERT_TRUE(world.RunUntilFrame(600).ok());
//   world.client(2).Cut();
//   ...
//
// parlor/sim/player.h has the players of authority rooms, which are in the same
// worlds. parlor/sim/testing.h has what a GoogleTest wants around it: the seed
// from the environment, and the command that runs a failure again.
//
// What cannot be asked for (options that are not valid, a second Join, a verb
// of a process that has crashed, a run within a run) stops the program, with a
// line that says what it was.
//
// One thread. Games outlive the world.
#ifndef PARLOR_SIM_WORLD_H_
#define PARLOR_SIM_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/host/access_store.h"
#include "parlor/host/gate_options.h"
#include "parlor/host/room_records.h"
#include "parlor/host/shard.h"
#include "parlor/hosted_room.h"
#include "parlor/limits.h"
#include "parlor/lockstep/desync.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/room.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"

namespace parlor::authority {
class Messages;
class Schema;
}  // namespace parlor::authority

namespace parlor::sim {

class Player;
class World;
struct PlayerOptions;

struct WorldOptions {
  std::uint64_t seed = 1;
  // Of clients and players that have none of their own, and of Connect's.
  Conditions network = kLan;
  // Events of one instant run in an order drawn from the seed.
  Executor::Ties ties = Executor::Ties::kShuffled;
};

// How a client or a player reaches a host.
enum class Via : std::uint8_t {
  kMessages,   // whole messages, past handshakes and codecs: some 20 times as
               // fast
  kWebSocket,  // the bytes of one, through handshakes, front and codecs
  kTcp,
};

// The time of day when a world begins, in seconds since 1970: passes expire by
// this and the virtual time that has gone by.
inline constexpr std::int64_t kWorldBeginsS = 1'800'000'000;

// As host::ServerOptions has them; what is not valid there stops the program.
struct HostOptions {
  host::ShardOptions shard{};  // rooms and seats are the host's, of all shards
  host::GateOptions gate{.open = true};
  StreamOptions stream{};
  int shards = 1;  // 1 at least
  std::int64_t drain_ms = limits::kDrainMs.fallback;
  // Matches are kept, in memory that outlives the process, as a host with a
  // state file keeps them.
  bool keeps_matches = true;
  std::shared_ptr<host::AccessStore> access_store{};
  // Where its rooms are recorded, in each of its processes anew.
  std::shared_ptr<host::RoomRecords> records{};
};

// A machine that hosts rooms, and the process on it.
class Host {
 public:
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  bool running() const;  // there is a process, which has not stopped
  bool stopped() const;  // it has ended in order, after Drain or Stop

  // As host::Server's.
  void Drain();
  void Stop(CloseReason reason);

  enum class Crash : std::uint8_t {
    kProcess,  // kill -9: the system tells the clients that their links are
               // lost
    kMachine,  // power loss: nobody is told; who sends, once it is back, is
  };
  // Ends the process, which has not crashed yet. What is kept stays. Not in a
  // call of its access store's or of its records'.
  void CrashNow(Crash how = Crash::kProcess);
  // Starts a process where none runs, or the next one where one has stopped.
  // It takes back what the one before it kept.
  void Start();

  // Of the present process. Null: there is none, or no such room is open.
  const lockstep::Room* FindRoom(std::uint32_t number) const;
  // The same of a hosted room: HostOptions::shard.play_rooms has their keys.
  const HostedRoom* FindPlayRoom(std::string_view key) const;
  std::size_t rooms() const;
  std::size_t players() const;      // connected seats
  std::size_t connections() const;  // at its doors, without a seat too

 private:
  friend class World;
  friend class ClientMachine;
  struct Impl;
  explicit Host(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct ClientOptions {
  Via via = Via::kMessages;
  lockstep::PeerOptions peer{};  // jitter_seed 0: drawn from the world's
  StreamOptions stream{};
  int rate_hz = 60;  // of its game's loop, up to 1,000
  // A clock that is off: its loop runs so many ppm faster (or slower); up to
  // 100,000 either way. Deadlines of its peer and its links are not.
  std::int32_t clock_ppm = 0;
  // The last states of a game that describes its state
  // (parlor/lockstep/state_description.h) are kept, so that CheckInSync can
  // name the fields that differ; absent: they are not.
  std::optional<lockstep::DesyncOptions> desync = lockstep::DesyncOptions{};
  // Makes a game as this client's was before the match: then CheckInSync can
  // tell which of two was right. It may be null.
  lockstep::FreshGame fresh_game{};
};

// The machine of somebody who plays: a peer, and the loop that turns it at its
// own phase, drawn from the seed. A Client is one, and so is a Player
// (parlor/sim/player.h).
class ClientMachine {
 public:
  ClientMachine(const ClientMachine&) = delete;
  ClientMachine& operator=(const ClientMachine&) = delete;

  // Its link: nothing gets through, without anybody being told, until Heal.
  void Cut();
  void Cut(Direction direction);
  void Heal();
  // Its connections are lost, at once and at both ends.
  void Reset();
  // Its machine stands still for so long: no step, no event. What an earlier
  // call said is not cut short.
  void Stall(Duration time);
  // Its process is gone, and its system says so to the host; for good. Its game
  // is not called any more.
  void Crash();

  bool crashed() const;
  Link& link();
  // Called in each turn of its loop, before the step; null: nobody is. A call
  // may set another.
  void SetOnStep(std::function<void()> on_step);

 protected:
  struct Impl;
  explicit ClientMachine(std::unique_ptr<Impl> impl);
  ~ClientMachine();

  Impl& machine() const { return *impl_; }

 private:
  friend class World;
  std::unique_ptr<Impl> impl_;
};

// A lockstep game's.
class Client : public ClientMachine {
 public:
  ~Client();

  // Once: opens a connection to `host` and a seat in hello.room.
  Client& Join(Host& host, const Hello& hello);
  // As Peer::Start, of the player in seat 0.
  bool Start(int players, std::uint8_t mode);
  void Leave();

  // Not of one that has crashed.
  lockstep::Peer& peer();
  const lockstep::Peer& peer() const;

 private:
  friend class World;
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  Impl& impl() const;
};

// The longest that a world is run, or a machine stands still, by one call:
// beyond what a test waits for, and far from where times overflow.
inline constexpr Duration kAheadMax = 366 * 24 * 3'600 * kSecond;

class World {
 public:
  explicit World(const WorldOptions& options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // References are good for as long as the world is. A game is one client's,
  // until that one has ended or crashed.
  Host& AddHost(const HostOptions& options = {});
  Client& AddClient(lockstep::Game& game, const ClientOptions& options = {});
  Client& AddClient(lockstep::Game& game, const Conditions& network,
                    const ClientOptions& options = {});
  Client& client(std::size_t index);  // in the order of AddClient
  std::size_t clients() const;
  // A player of authority rooms, whose game has these: parlor/sim/player.h, in
  // a build with parlor::authority. They outlive the world.
  Player& AddPlayer(const authority::Schema& schema,
                    const authority::Messages& messages,
                    const PlayerOptions& options);
  Player& AddPlayer(const authority::Schema& schema,
                    const authority::Messages& messages,
                    const Conditions& network, const PlayerOptions& options);
  Player& player(std::size_t index);  // in the order of AddPlayer
  std::size_t players() const;
  Host& host(std::size_t index = 0);

  // A connection of the test's own, for whoever is no honest peer. Its events
  // come as they arrive; the host takes it for any other client. It dies before
  // the world.
  std::unique_ptr<Connection> Connect(Host& host, const Hello& hello, Via via,
                                      ConnectionHandler* handler);

  TimePoint now() const;
  // The runs are not for events and conditions of their own: nothing that a
  // world calls may run it.
  void RunFor(Duration time);
  // Runs until `done`, which is asked before the first event and after each, or
  // DeadlineExceeded with what each client and player waits for.
  absl::Status RunUntil(const std::function<bool()>& done,
                        Duration at_most = 60 * kSecond);
  // Until every client that has joined, and neither ended nor crashed, is at
  // `frame`. FailedPrecondition: there is none, and why.
  absl::Status RunUntilFrame(std::uint32_t frame,
                             Duration at_most = 600 * kSecond);
  // Every link is healed, and everyone in a match is connected again, waits for
  // nobody who is away, and has run a frame; and every player who has joined,
  // and neither ended nor crashed, is connected and was shown a new state.
  // FailedPrecondition: nobody is left who plays, and why.
  absl::Status RunUntilHealed(Duration at_most = 60 * kSecond);

  // Whether every frame that two clients ran left both with the same hash, in
  // each match. Else Internal: the first frame that differs, and who; of games
  // that describe their state, the fields too, with their values, and whose
  // were wrong. Spared is only whoever lost its link for good: he played some
  // frames with his own last inputs, in which a bot played him for the others.
  absl::Status CheckInSync() const;

  // As a run is told apart: two with the same digest were the same.
  std::uint64_t digest() const;
  std::uint64_t seed() const;

  // Keeps what happens, from here on, for the two below: the newest
  // `events_max` of it.
  void Record(std::size_t events_max = 100'000);
  // One line an event: when, who to whom, what.
  std::string TraceText() const;
  // A sequence chart: machines from left to right, time downwards.
  std::string TraceSvg() const;

  Executor& executor();
  Network& network();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parlor::sim

#endif  // PARLOR_SIM_WORLD_H_
