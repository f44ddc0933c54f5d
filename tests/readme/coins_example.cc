#include <cstdio>

#include "coins.h"
#include "parlor/host/local_connector.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/shard.h"
#include "parlor/transports/memory_pipe.h"

int main() {
  parlor::host::OsEntropy entropy;
  parlor::host::ShardOptions options;
  options.play_rooms = {
      {.key = "coins",
       .make = authority::MakeRoomFactory(kCoinsOptions, MakeCoins)}};
  parlor::host::Shard shard(options, entropy);

  parlor::PipePump pump;
  parlor::host::LocalConnector connector(pump, pump, shard);
  const auto score = Play(connector, [&](parlor::TimePoint now) {
    pump.Pump(now);
    shard.OnAlarm(now);  // the room's ticks
  });
  std::printf("%d coins\n", static_cast<int>(score));
}
