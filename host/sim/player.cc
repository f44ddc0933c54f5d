#include "parlor/sim/player.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "parlor/authority/message.h"
#include "parlor/authority/peer.h"
#include "parlor/authority/schema.h"
#include "parlor/check.h"
#include "parlor/check_text.h"
#include "parlor/connector.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "sim/client_machine.h"
#include "sim/recorder.h"
#include "sim/world_impl.h"

namespace parlor::sim {
namespace {

using authority::Peer;
using authority::PeerState;

authority::PeerOptions WithJitter(authority::PeerOptions options,
                                  std::uint64_t seed) {
  options.jitter_seed = seed;
  return options;
}

std::string PlayingText(const Peer& peer) {
  std::string text = "seat " + std::to_string(peer.seat()) + " at tick " +
                     std::to_string(peer.tick());
  if (peer.shows_recovery()) text += " of a recovery";
  const auto away = std::ranges::count_if(
      peer.players(), [](const auto& player) { return !player.connected; });
  if (away != 0) {
    text += ", " + std::to_string(away) + " of " +
            std::to_string(peer.players().size()) + " players are away";
  }
  return text;
}

std::string TextOf(const Peer& peer) {
  switch (peer.state()) {
    case PeerState::kIdle:
      return "has not joined";
    case PeerState::kConnecting:
      return "connecting";
    case PeerState::kJoining:
      return "connected, waits for a welcome";
    case PeerState::kPlaying:
      return "playing, " + PlayingText(peer);
    case PeerState::kReconnecting:
      return "reconnecting, try " + std::to_string(peer.tries()) + " of " +
             std::to_string(peer.retries()) + ", " + PlayingText(peer);
    case PeerState::kEnded:
      return "ended at tick " + std::to_string(peer.tick()) + ": " +
             std::string(peer.end_text());
  }
  return {};
}

}  // namespace

struct Player::Impl final : ClientMachine::Impl {
  Impl(Network& to, Recorder& records, const authority::Schema& schema,
       const authority::Messages& messages, const Conditions& conditions,
       const PlayerOptions& opts, std::string called)
      : ClientMachine::Impl(to, records, conditions, LoopOptions::Of(opts),
                            std::move(called)),
        peer(std::make_unique<Peer>(*this, schema, messages,
                                    WithJitter(opts.peer, jitter_seed))) {}

  void EndPeer() override { peer.reset(); }
  void OnTurn(TimePoint now, int due) override;
  void Step(TimePoint now);
  bool ended() const override { return peer->state() == PeerState::kEnded; }
  std::string StateText() const override { return TextOf(*peer); }
  std::uint64_t progress() const override { return states; }
  bool IsHealed(std::uint64_t before) const override {
    return peer->state() == PeerState::kPlaying && !peer->shows_recovery() &&
           states > before;
  }

  std::unique_ptr<Peer> peer;  // null: its process is gone
  authority::Controls controls;
  std::uint64_t states = 0;  // steps that showed a new one
};

void Player::Impl::OnTurn(TimePoint now, int due) {
  peer->OnAlarm(now);
  for (; due > 0 && !crashed; --due) {
    CallOnStep();
    if (!crashed) Step(now);
  }
  if (!crashed) peer->SetDrawTime(now);
}

void Player::Impl::Step(TimePoint now) {
  const auto shown = [this] { return std::pair(peer->epoch(), peer->tick()); };
  const auto before = shown();
  peer->Step(now, controls);
  if (shown() != before) ++states;
}

// ---- What player.h says

Player::Player(std::unique_ptr<Impl> impl) : ClientMachine(std::move(impl)) {}
Player::~Player() = default;

Player::Impl& Player::impl() const { return static_cast<Impl&>(machine()); }

Player& Player::Join(Host& host, const Hello& hello,
                     const authority::PlayerProfile& profile) {
  impl().SetHost(host, crashed() || peer().state() == PeerState::kIdle);
  const absl::Status status = peer().Join(impl().network.now(), hello, profile);
  PARLOR_CHECK_TEXT(status.ok(),
                    impl().name + ": Join: " + std::string(StatusText(status)));
  return *this;
}

void Player::Leave() {
  if (!crashed()) peer().Leave();
}

void Player::SetControls(const authority::Controls& controls) {
  impl().controls = controls;
}

Peer& Player::peer() {
  impl().Require(!crashed(), "peer: it has crashed");
  return *impl().peer;
}
const Peer& Player::peer() const {
  impl().Require(!crashed(), "peer: it has crashed");
  return *impl().peer;
}

// ---- What world.h says

Player& World::AddPlayer(const authority::Schema& schema,
                         const authority::Messages& messages,
                         const PlayerOptions& options) {
  return AddPlayer(schema, messages, impl_->options.network, options);
}

Player& World::AddPlayer(const authority::Schema& schema,
                         const authority::Messages& messages,
                         const Conditions& network,
                         const PlayerOptions& options) {
  const std::string name = "player " + std::to_string(impl_->players.size());
  impl_->recorder.AddMachine(name);
  impl_->players.push_back(std::shared_ptr<Player>(new Player(
      std::make_unique<Player::Impl>(impl_->network, impl_->recorder, schema,
                                     messages, network, options, name))));
  Player& player = *impl_->players.back();
  impl_->machines.push_back(&player.impl());
  return player;
}

Player& World::player(std::size_t index) {
  PARLOR_CHECK(index < impl_->players.size());
  return *impl_->players[index];
}
std::size_t World::players() const { return impl_->players.size(); }

}  // namespace parlor::sim
