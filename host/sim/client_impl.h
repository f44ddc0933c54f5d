// A client: what world.h says of it, from the inside.
#ifndef PARLOR_HOST_SIM_CLIENT_IMPL_H_
#define PARLOR_HOST_SIM_CLIENT_IMPL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "parlor/lockstep/peer.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/client_machine.h"
#include "sim/recorder.h"
#include "sim/watched_game.h"

namespace parlor::sim {

struct Client::Impl final : ClientMachine::Impl {
  // What is passed by reference outlives it; `options` are valid. `called` is
  // its name in traces and texts.
  Impl(Network& to, Recorder& records, lockstep::Game& game,
       const Conditions& conditions, const ClientOptions& opts,
       std::string called);
  ~Impl() override;

  void EndPeer() override;
  void OnTurn(TimePoint now, int due) override;
  bool ended() const override;
  std::string StateText() const override;
  std::uint64_t progress() const override;
  // As AllConnected of world_impl.h; who has no match waits for nobody.
  bool IsHealed(std::uint64_t before) const override;

  const ClientOptions options;
  WatchedGame watched;
  std::unique_ptr<lockstep::Peer> peer;  // null: its process is gone
  std::uint32_t room = 0;                // that it has joined
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_CLIENT_IMPL_H_
