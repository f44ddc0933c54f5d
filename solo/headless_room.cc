#include "headless_room.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "clock.h"
#include "friends.h"
#include "net_links.h"
#include "parlor/host/os_entropy.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "report.h"
#include "session.h"
#include "terminal/signals.h"

namespace parlor::solo {
namespace {

using lockstep::PeerState;

// How long the listener stays for those who are not through yet.
constexpr Duration kStay = 5'000 * kMillisecond;

// The handler may run on any thread: those of the room take signals too.
std::atomic<int> end_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

// A match that others play too is left in order. What is ignored stays so, as
// under nohup. Dispositions from before come back with its end.
class EndSignals {
 public:
  EndSignals() {
    struct sigaction action {};
    action.sa_handler = [](int signal) { end_signal = signal; };
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kCaught.size(); ++i) {
      sigaction(kCaught[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      sigaction(kCaught[i], &action, nullptr);
    }
  }
  ~EndSignals() {
    for (std::size_t i = 0; i < kCaught.size(); ++i) {
      sigaction(kCaught[i], &before_[i], nullptr);
    }
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

 private:
  static constexpr std::array kCaught = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kCaught.size()> before_{};
};

// Tells what changed since the last look.
class Progress {
 public:
  void Look(const Session& session);

 private:
  void LookAtLobby(const lockstep::Peer& peer);
  void LookAtSelf(const lockstep::Peer& peer);
  void LookAtOthers(const Session& session);

  PeerState state_ = PeerState::kIdle;
  int seated_ = 0;
  std::uint32_t away_ = 0;
  std::uint32_t taken_over_ = 0;  // mask
};

void Progress::Look(const Session& session) {
  const lockstep::Peer& peer = session.peer();
  if (peer.state() == PeerState::kLobby) LookAtLobby(peer);
  if (session.state() != nullptr) {
    LookAtSelf(peer);
    LookAtOthers(session);
  }
  state_ = peer.state();
}

void Progress::LookAtLobby(const lockstep::Peer& peer) {
  if (peer.seated() == seated_) return;
  seated_ = peer.seated();
  std::printf("seated: %d of %d\n", seated_, peer.size());
}

void Progress::LookAtSelf(const lockstep::Peer& peer) {
  if (peer.state() == state_) return;
  if (peer.state() == PeerState::kReconnecting) {
    std::printf("reconnecting at frame %" PRIu32 "\n", peer.frame());
  } else if (peer.state() == PeerState::kPlaying) {
    if (state_ == PeerState::kReconnecting) {
      std::printf("back at frame %" PRIu32 "\n", peer.frame());
    } else {
      std::printf("started: seat %d of %d\n", peer.seat(),
                  peer.match()->players);
    }
  }
}

void Progress::LookAtOthers(const Session& session) {
  const lockstep::Peer& peer = session.peer();
  for (int seat = 0; seat < peer.match()->players; ++seat) {
    if (seat == peer.seat()) continue;
    const std::uint32_t bit = 1u << seat;
    const bool away = (peer.away() & bit) != 0;
    if (away && (away_ & bit) == 0) {
      std::printf("seat %d away at frame %" PRIu32 "\n", seat, peer.frame());
    } else if (!away && (away_ & bit) != 0 && (peer.lost() & bit) == 0) {
      std::printf("seat %d back at frame %" PRIu32 "\n", seat, peer.frame());
    }
    const std::int64_t since = session.taken_over(seat);
    if (since >= 0 && (taken_over_ & bit) == 0) {
      taken_over_ |= bit;
      std::printf("seat %d lost at frame %" PRId64 "\n", seat, since);
    }
  }
  away_ = peer.away();
}

// The link, and what is told of it once the own seat is taken: nobody who hears
// of the room may come before.
struct Way {
  std::unique_ptr<Link> link;
  std::string told;
};

absl::StatusOr<Way> Listen(const Options& options, Entropy& entropy) {
  absl::StatusOr<std::unique_ptr<ListenLink>> link =
      ListenLink::Create(ListenOptionsOf(options, entropy), entropy);
  if (!link.ok()) return link.status();
  Way way;
  for (const std::string& url : (*link)->urls()) {
    way.told.append("listening on ").append(url).append("\n");
  }
  way.told.append("invite ").append((*link)->code()).append("\n");
  way.link = *std::move(link);
  return way;
}

absl::StatusOr<Way> Join(const Options& options, Entropy& entropy) {
  absl::StatusOr<std::unique_ptr<JoinLink>> link =
      JoinLink::Create(options.join->host_url, entropy);
  if (!link.ok()) return link.status();
  Way way;
  way.link = *std::move(link);
  return way;
}

SessionOptions SessionFor(const Options& options) {
  SessionOptions session = FriendSessionOf(options);
  session.own_seat_is_bot = true;
  return session;
}

// One match, from the join to the leave.
class RoomPlay {
 public:
  RoomPlay(const Options& options, Way way)
      : options_(options),
        way_(std::move(way)),
        session_(SessionFor(options), *way_.link) {}

  // Returns the exit code.
  int Run() {
    while (true) {
      Turn();
      if (Done()) break;
      SleepUntil(session_.next_turn());
    }
    const TimePoint over = SteadyNow();
    FinishLeaving(session_, *way_.link);
    return Tell(over);
  }

 private:
  void Turn();
  bool Done();
  bool StaysForOthers() const;
  bool reached() const { return session_.frame() >= options_.frames; }
  int Tell(TimePoint over) const;

  const Options& options_;
  Way way_;
  Session session_;
  Progress progress_;
  bool asked_to_start_ = false;
  TimePoint started_ = kNever;
  TimePoint reached_ = kNever;  // the last frame
};

void RoomPlay::Turn() {
  const TimePoint now = SteadyNow();
  session_.Turn(now, options_.frames);
  const lockstep::Peer& peer = session_.peer();
  if (peer.state() == PeerState::kLobby && peer.seat() >= 0) {
    std::fputs(std::exchange(way_.told, {}).c_str(), stdout);
    if (options_.wait > 0 && peer.seated() >= options_.wait &&
        !asked_to_start_) {
      asked_to_start_ = true;
      session_.Start();
    }
  }
  progress_.Look(session_);
  if (session_.state() != nullptr) started_ = std::min(started_, now);
  if (reached()) reached_ = std::min(reached_, now);
}

bool RoomPlay::Done() {
  if (end_signal != 0 || session_.failed()) return true;
  if (!session_.record_status().ok()) return true;
  return reached() && session_.peer().all_said() && !StaysForOthers();
}

// The room is here: it ends for everyone with this process.
bool RoomPlay::StaysForOthers() const {
  if (!options_.listen || SteadyNow() >= reached_ + kStay) return false;
  const lockstep::Peer& peer = session_.peer();
  const std::uint32_t all = (1u << peer.match()->players) - 1;
  return (peer.lost() | 1u << peer.seat()) != all;
}

int RoomPlay::Tell(TimePoint over) const {
  if (!session_.record_status().ok()) {
    return Fail(kExitFailed, StatusText(session_.record_status()));
  }
  if (!reached()) {
    const std::string reason =
        session_.failed() ? session_.error() : "interrupted";
    if (session_.state() != nullptr) {
      std::printf("ended: %s\n", Printable(reason).c_str());
    }
    return Fail(kExitFailed, reason);
  }
  const std::chrono::duration<double> seconds =
      std::min(reached_, over) - started_;
  int code = Report(session_.frame(), cycles::Hash64(*session_.state()),
                    seconds.count());
  const lockstep::Peer& peer = session_.peer();
  std::printf("stalls: %" PRIu64 "\n", peer.counters().stalls);
  if (peer.desync() >= 0) {
    std::printf("desync: seat %d at frame %" PRId64 "\n", peer.desync_seat(),
                peer.desync());
    code = kExitFailed;
    const auto& written = session_.desync_status();
    if (written && !written->ok()) return Fail(code, StatusText(*written));
    if (written) {
      std::printf("desync file: %s\n", Printable(options_.desync).c_str());
    }
  }
  return code;
}

int PlayInRoom(const Options& options) {
  host::OsEntropy entropy;
  absl::StatusOr<Way> way =
      options.listen ? Listen(options, entropy) : Join(options, entropy);
  if (!way.ok()) {
    std::string text = options.listen ? "--listen: " : "--join: ";
    text += StatusText(way.status());
    return Fail(
        absl::IsInvalidArgument(way.status()) ? kExitRefused : kExitFailed,
        text);
  }
  return RoomPlay(options, *std::move(way)).Run();
}

}  // namespace

int RunHeadlessRoom(const Options& options) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  int code = 0;
  {
    const EndSignals signals;
    code = PlayInRoom(options);
  }
  if (end_signal != 0) {
    std::fflush(stdout);
    DieBy(end_signal);
  }
  return code;
}

}  // namespace parlor::solo
