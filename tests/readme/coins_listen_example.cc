#include <cstdio>
#include <string>

#include "coins.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"

int main() {
  parlor::host::OsEntropy entropy;
  parlor::host::ServerOptions options;
  options.shard.play_rooms = {
      {.key = "coins",
       .open = true,  // no code is asked for
       .make = authority::MakeRoomFactory(kCoinsOptions, MakeCoins)}};
  auto server = parlor::host::Server::Create(options, entropy);
  if (!server.ok()) return 1;

  // The own seat, in memory; the server's threads run the room.
  parlor::PipePump pump;
  const auto own = (*server)->MakeConnector(pump);
  const auto score = Play(*own, [&](parlor::TimePoint now) { pump.Pump(now); });
  std::printf("%d coins in memory\n", static_cast<int>(score));

  // A friend's, who has the address.
  parlor::NetLoop loop;
  const std::string url = "ws://127.0.0.1:" + std::to_string((*server)->port());
  auto friends = parlor::MakeNetConnector(loop, entropy, url);
  if (!friends.ok()) return 1;
  const auto friends_score =
      Play(**friends, [&](parlor::TimePoint now) { loop.Poll(now); });
  std::printf("%d coins over a WebSocket\n", static_cast<int>(friends_score));

  (*server)->Stop(parlor::CloseReason::kHostLeft);
  (*server)->WaitStopped(std::chrono::seconds(2));
}
