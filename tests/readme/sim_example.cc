#include "my_game.h"
#include "parlor/sim/testing.h"

namespace sim = parlor::sim;

TEST(MyGameTest, SurvivesATunnelAndAHostThatIsKilled) {
  std::array<MyGame, 4> games;
  sim::TestWorld world({.seed = 7, .network = sim::kMobile});
  sim::Host& host = world.AddHost();
  for (MyGame& game : games) {
    world.AddClient(game).Join(host, {.room = 1, .players = 4});
  }
  ASSERT_EQ(world.RunUntilFrame(300), absl::OkStatus());
  world.client(2).Cut();  // nobody is told
  world.RunFor(25 * parlor::kSecond);
  host.CrashNow();  // kill -9
  host.Start();
  ASSERT_EQ(world.RunUntilHealed(), absl::OkStatus());
  ASSERT_EQ(world.RunUntilFrame(900), absl::OkStatus());
  EXPECT_EQ(world.CheckInSync(), absl::OkStatus());
}
