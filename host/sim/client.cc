#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/check_text.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/limits.h"
#include "parlor/lockstep/desync.h"
#include "parlor/lockstep/peer.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "sim/client_impl.h"
#include "sim/host_impl.h"
#include "sim/local_clock.h"
#include "sim/machine.h"
#include "sim/recorder.h"
#include "sim/time_ahead.h"
#include "sim/watched_game.h"

namespace parlor::sim {
namespace {

// Of one machine, the same on every run: each client comes back at its own
// time when their host restarts, and turns at its own phase.
lockstep::PeerOptions WithJitter(lockstep::PeerOptions options,
                                 Random& random) {
  if (options.jitter_seed == 0) options.jitter_seed = random.Next64();
  return options;
}

constexpr Limit kRateHz{"rate_hz", 60, 1, 1'000};
constexpr Limit kClockPpm{"clock_ppm", 0, -LocalClock::kPpmMax,
                          LocalClock::kPpmMax};

// Peers and endpoints see to their own.
const ClientOptions& Valid(const ClientOptions& options,
                           const std::string& client) {
  PARLOR_CHECK_OK(CheckLimit(kRateHz, client + ".rate_hz", options.rate_hz));
  PARLOR_CHECK_OK(
      CheckLimit(kClockPpm, client + ".clock_ppm", options.clock_ppm));
  if (options.desync) {
    const absl::Status status = lockstep::ValidateOptions(*options.desync);
    PARLOR_CHECK_TEXT(status.ok(),
                      client + ".desync." + std::string(StatusText(status)));
  }
  return options;
}

Duration DrawPhase(int rate_hz, Random& random) {
  return Duration(
      random.Below(static_cast<std::uint32_t>(kSecond.count() / rate_hz)));
}

// "seats 1 and 3", "seat 0".
std::string SeatsText(std::uint32_t mask) {
  std::string text;
  int count = 0;
  for (int seat = 0; mask != 0; ++seat, mask >>= 1) {
    if ((mask & 1) == 0) continue;
    if (count++ > 0) text += mask == 1 ? " and " : ", ";
    text += std::to_string(seat);
  }
  return (count == 1 ? "seat " : "seats ") + text;
}

std::string PlayingText(const lockstep::Peer& peer) {
  std::string text = "seat " + std::to_string(peer.seat()) + " at frame " +
                     std::to_string(peer.frame());
  if (peer.waiting_for() != 0) {
    text += ", waits for " + SeatsText(peer.waiting_for());
  }
  if (peer.away() != 0) text += ", away: " + SeatsText(peer.away());
  if (peer.lost() != 0) text += ", left: " + SeatsText(peer.lost());
  return text;
}

std::string StateText(const lockstep::Peer& peer) {
  switch (peer.state()) {
    case lockstep::PeerState::kIdle:
      return "has not joined";
    case lockstep::PeerState::kConnecting:
      return "connecting";
    case lockstep::PeerState::kLobby:
      return "in the lobby, " + std::to_string(peer.seated()) + " of " +
             std::to_string(peer.size()) + " are seated";
    case lockstep::PeerState::kPlaying:
      return "playing, " + PlayingText(peer);
    case lockstep::PeerState::kReconnecting:
      return "reconnecting, try " + std::to_string(peer.tries()) + " of " +
             std::to_string(peer.retries()) + ", " + PlayingText(peer);
    case lockstep::PeerState::kEnded:
      return "ended at frame " + std::to_string(peer.frame()) + ": " +
             std::string(peer.end_text());
  }
  return {};
}

std::string LinkText(const Link& link) {
  const bool up = link.is_cut(Direction::kUp);
  const bool down = link.is_cut(Direction::kDown);
  if (up && down) return "; its link is cut";
  if (up) return "; its link is cut upwards";
  if (down) return "; its link is cut downwards";
  return {};
}

}  // namespace

Client::Impl::Impl(Network& to, Recorder& records, lockstep::Game& game,
                   const Conditions& conditions, const ClientOptions& opts,
                   std::string called)
    : network(to),
      recorder(records),
      options(Valid(opts, called)),
      name(std::move(called)),
      link(network, conditions, name),
      machine(network, Endpoint::Turn::kPolled, options.stream, name),
      watched(game, network, options.desync),
      peer(std::make_unique<lockstep::Peer>(
          *this, watched, WithJitter(options.peer, to.executor().random()))),
      clock(network.now(), options.clock_ppm),
      steps(network.now() +
                DrawPhase(options.rate_hz, network.executor().random()),
            options.rate_hz) {
  watched.Follow(peer.get());
  ScheduleTurn();
}

Client::Impl::~Impl() = default;

std::unique_ptr<Connection> Client::Impl::Connect(TimePoint /*now*/,
                                                  const Hello& hello,
                                                  ConnectionHandler* handler) {
  Host::Impl& to = *host->impl_;
  return machine.Connect(link, {to.endpoint(), to.web_port(), to.tcp_port()},
                         options.via, hello, handler);
}

void Client::Impl::EndProcess() {
  turn.Cancel();
  watched.Follow(nullptr);
  peer.reset();
}

void Client::Impl::RunTurn() {
  const TimePoint now = network.now();
  machine.Poll();
  if (peer->next_alarm() <= now) peer->OnAlarm(now);
  CallOnStep();
  if (crashed) return;
  for (int due = steps.Take(clock.At(now)); due > 0; --due) peer->Step(now);
  ScheduleTurn();
}

// It may set another one, and lives until it returns.
void Client::Impl::CallOnStep() {
  if (!on_step) return;
  const std::uint64_t before = steps_set;
  std::function<void()> called = std::move(on_step);
  called();
  if (steps_set == before) on_step = std::move(called);
}

void Client::Impl::SetOnStep(std::function<void()> next) {
  on_step = std::move(next);
  ++steps_set;
}

void Client::Impl::Require(bool holds, const char* what) const {
  PARLOR_CHECK_TEXT(holds, name + ": " + what);
}

bool Client::Impl::plays() const {
  return host != nullptr && !crashed &&
         peer->state() != lockstep::PeerState::kEnded;
}

std::string Client::Impl::Describe() const {
  return name + ": " + (crashed ? std::string("crashed") : StateText(*peer)) +
         LinkText(link);
}

// ---- What world.h says

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

Client& Client::Join(Host& host, const Hello& hello) {
  impl_->Require(impl_->host == nullptr, "Join: it has joined before");
  impl_->Require(!impl_->crashed, "Join: it has crashed");
  impl_->Require(impl_->peer->state() == lockstep::PeerState::kIdle,
                 "Join: it has left");
  impl_->Require(&host.impl_->network() == &impl_->network,
                 "Join: the host is of another world");
  impl_->host = &host;
  impl_->room = hello.room;
  impl_->recorder.SetEnds(impl_->link, impl_->name, host.impl_->name());
  impl_->peer->Join(impl_->network.now(), hello);
  return *this;
}

bool Client::Start(int players, std::uint8_t mode) {
  return !crashed() && impl_->peer->Start(players, mode);
}

void Client::Leave() {
  if (!crashed()) impl_->peer->Leave();
}

void Client::Cut() { impl_->link.Cut(); }
void Client::Cut(Direction direction) { impl_->link.Cut(direction); }
void Client::Heal() { impl_->link.Heal(); }
void Client::Reset() { impl_->link.Reset(); }

void Client::Stall(Duration time) {
  CheckTimeAhead(time, impl_->name + ": Stall");
  impl_->recorder.Mark(impl_->name, "stands still");
  impl_->machine.StallUntil(impl_->network.now() + time);
}

void Client::Crash() {
  if (std::exchange(impl_->crashed, true)) return;
  impl_->recorder.Mark(impl_->name, "crashes");
  // Whoever calls may be called by the peer.
  impl_->network.executor().After({},
                                  [impl = impl_.get()] { impl->EndProcess(); });
}

bool Client::crashed() const { return impl_->crashed; }
lockstep::Peer& Client::peer() {
  impl_->Require(!crashed(), "peer: it has crashed");
  return *impl_->peer;
}
const lockstep::Peer& Client::peer() const {
  impl_->Require(!crashed(), "peer: it has crashed");
  return *impl_->peer;
}
Link& Client::link() { return impl_->link; }

void Client::SetOnStep(std::function<void()> on_step) {
  impl_->SetOnStep(std::move(on_step));
}

}  // namespace parlor::sim
