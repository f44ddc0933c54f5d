#include "parlor/authority/context.h"

#include <algorithm>

namespace parlor::authority {

const Player* Context::player(int seat) const {
  const std::span<const Player> all = players();
  const auto at = std::ranges::lower_bound(all, seat, {}, &Player::seat);
  return at != all.end() && at->seat == seat ? &*at : nullptr;
}

int Context::host() const {
  for (const Player& player : players()) {
    if (player.host) return player.seat;
  }
  return -1;
}

bool Context::Send(std::string_view name, std::string_view payload, int to) {
  return local_depth_ > 0 || DoSend(name, payload, to);
}

bool Context::SetPhase(std::string_view phase) {
  return local_depth_ > 0 || DoSetPhase(phase);
}

bool Context::SetCamera(int seat, std::string_view json) {
  return local_depth_ > 0 || DoSetCamera(seat, json);
}

bool Context::SetHud(int seat, std::string_view json) {
  return local_depth_ > 0 || DoSetHud(seat, json);
}

bool Context::Possess(int seat, std::uint32_t entity) {
  return role() != Role::kClient && DoPossess(seat, entity);
}

void Context::NewEpoch() {
  if (role() != Role::kClient) DoNewEpoch();
}

}  // namespace parlor::authority
