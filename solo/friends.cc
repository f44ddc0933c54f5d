#include "friends.h"

#include <cstdint>

#include "wall_clock.h"

namespace parlor::solo {

ListenOptions ListenOptionsOf(const Options& options, Entropy& entropy) {
  return {
      .port = options.listen.value_or(kListenPort),
      .code = options.invite.empty() ? DrawInviteCode(entropy) : options.invite,
      .players = options.game.players,
      .seed = options.seed,
      .hold_ms = std::int64_t{options.hold_s} * 1'000};
}

SessionOptions FriendSessionOf(const Options& options) {
  SessionOptions session;
  session.game = options.game;
  session.start_by = StartBy::kPlayer;
  session.delay = kNetworkDelay;
  session.record = options.record;
  session.desync = options.desync;
  session.unix_ms = host::WallClockMilliseconds;
  if (!options.join) return session;
  session.hello.room = options.join->room;
  session.hello.players = options.join->players;
  if (!options.invite.empty()) {
    session.hello.access.append(kInvitePrefix).append(options.invite);
  }
  if (!options.pass.empty()) {
    session.hello.access.append(kPassPrefix).append(options.pass);
    session.hello.device.append(kDevicePrefix).append(options.device);
  }
  return session;
}

}  // namespace parlor::solo
