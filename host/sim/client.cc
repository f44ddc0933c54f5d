#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "parlor/check_text.h"
#include "parlor/connector.h"
#include "parlor/lockstep/desync.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "sim/client_impl.h"
#include "sim/client_machine.h"
#include "sim/recorder.h"

namespace parlor::sim {
namespace {

lockstep::PeerOptions WithJitter(lockstep::PeerOptions options,
                                 std::uint64_t seed) {
  options.jitter_seed = seed;
  return options;
}

// Peers, endpoints and ClientMachine see to their own.
const ClientOptions& Valid(const ClientOptions& options,
                           const std::string& client) {
  if (options.desync) {
    const absl::Status status = lockstep::ValidateOptions(*options.desync);
    PARLOR_CHECK_TEXT(status.ok(),
                      client + ".desync." + std::string(StatusText(status)));
  }
  return options;
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

std::string TextOf(const lockstep::Peer& peer) {
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

}  // namespace

Client::Impl::Impl(Network& to, Recorder& records, lockstep::Game& game,
                   const Conditions& conditions, const ClientOptions& opts,
                   std::string called)
    : ClientMachine::Impl(to, records, conditions, LoopOptions::Of(opts),
                          std::move(called)),
      options(Valid(opts, name)),
      watched(game, network, options.desync),
      peer(std::make_unique<lockstep::Peer>(
          *this, watched, WithJitter(options.peer, jitter_seed))) {
  watched.Follow(peer.get());
}

Client::Impl::~Impl() = default;

void Client::Impl::EndPeer() {
  watched.Follow(nullptr);
  peer.reset();
}

void Client::Impl::OnTurn(TimePoint now, int due) {
  if (peer->next_alarm() <= now) peer->OnAlarm(now);
  CallOnStep();
  if (crashed) return;
  for (; due > 0; --due) peer->Step(now);
}

bool Client::Impl::ended() const {
  return peer->state() == lockstep::PeerState::kEnded;
}

std::string Client::Impl::StateText() const { return TextOf(*peer); }

std::uint64_t Client::Impl::progress() const {
  return crashed ? 0 : peer->frame();
}

bool Client::Impl::IsHealed(std::uint64_t before) const {
  if (!peer->match()) return true;
  if (peer->state() != lockstep::PeerState::kPlaying || peer->away() != 0) {
    return false;
  }
  // Who waits for one that has left waits for a word of its game's own.
  const bool left = (peer->waiting_for() & peer->lost()) != 0;
  return left || peer->frame() > before;
}

// ---- What world.h says

Client::Client(std::unique_ptr<Impl> impl) : ClientMachine(std::move(impl)) {}
Client::~Client() = default;

Client::Impl& Client::impl() const { return static_cast<Impl&>(machine()); }

Client& Client::Join(Host& host, const Hello& hello) {
  Impl& self = impl();
  self.SetHost(host,
               crashed() || self.peer->state() == lockstep::PeerState::kIdle);
  self.room = hello.room;
  self.peer->Join(self.network.now(), hello);
  return *this;
}

bool Client::Start(int players, std::uint8_t mode) {
  return !crashed() && impl().peer->Start(players, mode);
}

void Client::Leave() {
  if (!crashed()) impl().peer->Leave();
}

lockstep::Peer& Client::peer() {
  impl().Require(!crashed(), "peer: it has crashed");
  return *impl().peer;
}
const lockstep::Peer& Client::peer() const {
  impl().Require(!crashed(), "peer: it has crashed");
  return *impl().peer;
}

}  // namespace parlor::sim
