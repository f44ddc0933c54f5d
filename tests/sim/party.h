// Party: a world with one host, and clients of toy games in one room of it. In
// a TestWorld; PartyOf<World> is one whose seed nothing but its options says.
#ifndef PARLOR_TESTS_SIM_PARTY_H_
#define PARLOR_TESTS_SIM_PARTY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parlor/connector.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/testing.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "support/toy_game.h"

namespace parlor::sim {

inline std::string ViaName(Via via) {
  switch (via) {
    case Via::kMessages:
      return "Messages";
    case Via::kWebSocket:
      return "WebSocket";
    case Via::kTcp:
      return "Tcp";
  }
  return "None";
}

template <class SomeWorld>
class PartyOf {
 public:
  static constexpr std::uint32_t kRoom = 3;

  explicit PartyOf(const WorldOptions& options = {}, const HostOptions& at = {})
      : world(options), host(world.AddHost(at)) {}

  // A client, who joins the room for `players` at once.
  Client& Add(int players, const ClientOptions& options = {}) {
    Client& client = Invite(options);
    return client.Join(host, {.room = kRoom, .players = players});
  }
  // As many as are seated, in the order of their seats; the match has begun.
  void Seat(int players, const ClientOptions& options = {}) {
    for (int seat = 0; seat < players; ++seat) {
      Client& client = Add(players, options);
      const absl::Status status =
          world.RunUntil([&client] { return InRoom(client); });
      ASSERT_TRUE(status.ok()) << status;
    }
    const absl::Status status = world.RunUntilFrame(1);
    ASSERT_TRUE(status.ok()) << status;
    for (int seat = 0; seat < players; ++seat) {
      ASSERT_EQ(peer(seat).seat(), seat);
    }
  }
  // One who has not joined yet.
  Client& Invite(const ClientOptions& options = {}) {
    games.push_back(std::make_unique<test::ToyGame>());
    test::ToyGame& game = *games.back();
    game.keep_frames = false;
    game.word = [number = static_cast<std::uint32_t>(games.size())](
                    std::uint32_t frame) {
      return (frame + 1) * 0x9e3779b1u ^ number * 0x85ebca77u;
    };
    return world.AddClient(game, options);
  }

  Client& client(int seat) {
    return world.client(static_cast<std::size_t>(seat));
  }
  lockstep::Peer& peer(int seat) { return client(seat).peer(); }

  // Everyone has got so many frames further, and all that two of them ran left
  // them in the same state.
  void ExpectPlaysOn(std::uint32_t frames) {
    std::uint32_t newest = 0;
    for (std::size_t i = 0; i < world.clients(); ++i) {
      if (world.client(i).crashed()) continue;
      newest = std::max(newest, world.client(i).peer().frame());
    }
    const absl::Status status =
        world.RunUntilFrame(newest + frames, 60 * kSecond + frames * kSecond);
    EXPECT_TRUE(status.ok()) << status;
    ExpectInSync();
  }
  void ExpectInSync() {
    const absl::Status status = world.CheckInSync();
    EXPECT_TRUE(status.ok()) << status;
  }

  std::vector<std::unique_ptr<test::ToyGame>> games;  // outlive the world
  SomeWorld world;
  Host& host;

 private:
  static bool InRoom(Client& client) {
    return client.peer().seat() >= 0 ||
           client.peer().state() == lockstep::PeerState::kEnded;
  }
};

using Party = PartyOf<TestWorld>;

}  // namespace parlor::sim

#endif  // PARLOR_TESTS_SIM_PARTY_H_
