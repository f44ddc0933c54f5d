// What a player is told to type for another game with the same friends.
#include "terminal/net_games.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(NetGames, APassIsShownWithThisDevicesKey) {
  host::OsEntropy entropy;
  Options options;
  options.join = RoomUrl{.host_url = "ws://127.0.0.1:1", .players = 4};
  options.pass = "AQID.abc";
  options.device = "0123456789abcdef";
  const auto game = JoinGame(options, entropy);
  ASSERT_TRUE(game.ok()) << game.status();
  EXPECT_EQ(game->session.hello.access, "pass.AQID.abc");
  EXPECT_EQ(game->session.hello.device, "device.0123456789abcdef");
  EXPECT_EQ(game->again,
            "parlor-solo --join 'ws://127.0.0.1:1/room/0?players=4' "
            "--pass AQID.abc");
}

TEST(NetGames, WhatIsInAFileStaysThere) {
  host::OsEntropy entropy;
  Options options;
  options.join = RoomUrl{.host_url = "ws://127.0.0.1:1", .players = 4};
  options.secret_file = "my pass";
  for (std::string* secret : {&options.pass, &options.invite}) {
    options.pass = options.invite = "";
    *secret = "AQID-4567890";
    const auto game = JoinGame(options, entropy);
    ASSERT_TRUE(game.ok()) << game.status();
    EXPECT_EQ(game->again.find("AQID"), std::string::npos);
    EXPECT_TRUE(game->again.ends_with("'@my pass'")) << game->again;
  }
}

}  // namespace
}  // namespace parlor::solo
