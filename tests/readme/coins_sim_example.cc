#include "coins.h"
#include "parlor/sim/player.h"
#include "parlor/sim/testing.h"

namespace sim = parlor::sim;

TEST(CoinsTest, WhoWasInATunnelSeesTheScores) {
  sim::TestWorld world({.network = sim::kMobile});
  parlor::host::ShardOptions rooms;
  rooms.play_rooms = {
      {.key = "coins",
       .make = authority::MakeRoomFactory(kCoinsOptions, MakeCoins)}};
  sim::Host& host = world.AddHost({.shard = rooms});
  for (const char* name : {"Ada", "Ben"}) {
    world
        .AddPlayer(kCoinsSchema, kCoinsMessages,
                   {.peer = {.protocol = kCoinsOptions.protocol}})
        .Join(host, {.play = "coins"}, {.name = name});
  }
  ASSERT_EQ(world.RunUntilHealed(), absl::OkStatus());
  world.player(0).SetControls({.axes = {32'767}});  // the stick, all the way
  world.player(1).Cut();  // for longer than a link may be silent
  world.RunFor(3 * parlor::kSecond);
  ASSERT_EQ(world.RunUntilHealed(), absl::OkStatus());
  const authority::Peer& ada = world.player(0).peer();
  const authority::Peer& ben = world.player(1).peer();
  EXPECT_EQ(ben.counters().resumes, 1u);
  EXPECT_GT(ben.rows().Get(ada.entity()).GetInt(kScore), 10);
}
