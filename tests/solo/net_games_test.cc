// What a player is told to type for another game with the same friends.
#include "terminal/net_games.h"

#include <gtest/gtest.h>

#include "parlor/host/os_entropy.h"

namespace parlor::solo {
namespace {

TEST(NetGames, TheListenersCommandHasItsOptionsButNoCode) {
  host::OsEntropy entropy;
  Options options;
  options.listen = 0;
  options.invite = "ABCDEFGHJKLM";
  options.game.players = 3;
  const auto game = HostGame(options, entropy);
  ASSERT_TRUE(game.ok()) << game.status();
  EXPECT_EQ(game->again,
            "parlor-solo --listen 0 --players 3 --level normal --size 76x40");
  options.hold_s = 5;
  const auto patient = HostGame(options, entropy);
  ASSERT_TRUE(patient.ok()) << patient.status();
  EXPECT_EQ(patient->again, game->again + " --hold 5");
}

TEST(NetGames, TheJoinersCommandIsOneToAShell) {
  host::OsEntropy entropy;
  Options options;
  options.program = "./my games/parlor-solo";
  options.join = RoomUrl{.host_url = "ws://127.0.0.1:1", .players = 4};
  options.invite = "a b;c";
  const auto game = JoinGame(options, entropy);
  ASSERT_TRUE(game.ok()) << game.status();
  EXPECT_EQ(game->again,
            "'./my games/parlor-solo' --join "
            "'ws://127.0.0.1:1/room/0?players=4' --invite 'a b;c'");
}

}  // namespace
}  // namespace parlor::solo
