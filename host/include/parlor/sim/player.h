// Player: somebody who plays in an authority room of a simulated host
// (world.h): the game's own authority::Peer, its loop, its machine and its
// link. The room is the host's, as a dedicated host runs it:
//
//   sim::Host& host = world.AddHost(
//       {.shard = {.play_rooms = {{.key = "tag", .make = ...}}}});
//   for (const char* name : {"Ann", "Ben"}) {
//     world.AddPlayer(schema, messages, {.peer = {.protocol = "tag-1"}})
//         .Join(host, {.play = "tag"}, {.name = name});
//   }
//   ASSERT_TRUE(world.RunUntilHealed().ok());
//   world.player(0).SetControls({.axes = {32'767}});
//   world.player(1).Cut();
//   ...
//   world.player(1).peer().rows()...
//
// Host::FindPlayRoom has the room: the authority::Room itself, for a test to
// look at, where `make` made one (MakeRoomFactory puts another around it).
//
// A process takes its rooms of this kind with it: who comes back by its token
// to the next one is refused, and joins anew as another Player.
//
// What players and clients have in common (Cut, Reset, Stall, Crash) is in
// world.h, and so is World::AddPlayer.
#ifndef PARLOR_SIM_PLAYER_H_
#define PARLOR_SIM_PLAYER_H_

#include <cstdint>
#include <memory>

#include "parlor/authority/peer.h"
#include "parlor/connector.h"
#include "parlor/sim/world.h"
#include "parlor/transports/stream_options.h"

namespace parlor::sim {

struct PlayerOptions {
  Via via = Via::kMessages;
  // `protocol` is the room's; jitter_seed 0: drawn from the world's.
  authority::PeerOptions peer{};
  StreamOptions stream{};
  int rate_hz = 60;  // of its game's loop, up to 1,000
  // As ClientOptions'.
  std::int32_t clock_ppm = 0;
};

// SetOnStep's call comes before each step, after a stall before each that is
// made up for: peer().messages() has what the step before it was handed. A turn
// of the loop ends with Peer::SetDrawTime, as a picture does.
class Player : public ClientMachine {
 public:
  ~Player();

  // Once: opens a connection to `host`, to the room of the key hello.play. What
  // Peer::Join does not take stops the program.
  Player& Join(Host& host, const Hello& hello,
               const authority::PlayerProfile& profile);
  // As Peer::Leave.
  void Leave();

  // What the player does, from the next step on.
  void SetControls(const authority::Controls& controls);

  // Not of one that has crashed. Its loop calls Step, OnAlarm and SetDrawTime.
  authority::Peer& peer();
  const authority::Peer& peer() const;

 private:
  friend class World;
  struct Impl;
  explicit Player(std::unique_ptr<Impl> impl);
  Impl& impl() const;
};

}  // namespace parlor::sim

#endif  // PARLOR_SIM_PLAYER_H_
