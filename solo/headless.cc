#include "headless.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "headless_room.h"
#include "link.h"
#include "parlor/host/os_entropy.h"
#include "parlor/status.h"
#include "replay_player.h"
#include "report.h"
#include "session.h"

namespace parlor::solo {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    const std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - start_;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

int PlayMatch(const Options& options) {
  const Stopwatch watch;
  host::OsEntropy entropy;
  LocalLink link(options.seed, entropy);
  SessionOptions session_options;
  session_options.game = options.game;
  session_options.own_seat_is_bot = true;
  session_options.record = options.record;
  Session session(session_options, link);
  TimePoint now{};
  while (session.frame() < options.frames && !session.failed() &&
         session.record_status().ok()) {
    now = std::max(now, session.next_turn());
    session.Turn(now, options.frames);
  }
  session.End();
  if (session.failed()) return Fail(kExitFailed, session.error());
  if (!session.record_status().ok()) {
    return Fail(kExitFailed, StatusText(session.record_status()));
  }
  if (!options.seed) {
    std::fprintf(stderr, "parlor-solo: seed %" PRIu32 "\n",
                 session.state()->seed);
  }
  return Report(session.frame(), cycles::Hash64(*session.state()),
                watch.seconds());
}

int PlayReplay(const Options& options) {
  absl::StatusOr<ReplayPlayer> player =
      ReplayPlayer::Open(options.replay, options.partial);
  if (!player.ok()) return Fail(kExitRefused, StatusText(player.status()));
  if (player->torn_at()) {
    std::fprintf(stderr,
                 "parlor-solo: %s\nparlor-solo: these are the %" PRIu32
                 " frames before\n",
                 player->log().warning().c_str(), player->frames());
  }
  const Stopwatch watch;
  while (true) {
    const absl::StatusOr<bool> ran = player->Step();
    if (!ran.ok()) {
      return Fail(kExitFailed, options.replay + ": " +
                                   std::string(StatusText(ran.status())));
    }
    if (!*ran) break;
  }
  return Report(player->frame(), cycles::Hash64(player->state()),
                watch.seconds());
}

}  // namespace

int RunHeadless(const Options& options) {
  if (options.with_friends()) return RunHeadlessRoom(options);
  return options.replay.empty() ? PlayMatch(options) : PlayReplay(options);
}

}  // namespace parlor::solo
