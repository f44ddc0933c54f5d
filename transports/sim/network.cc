#include "parlor/sim/network.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "parlor/check.h"
#include "parlor/check_text.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"
#include "sim/endpoint.h"
#include "sim/link_path.h"
#include "sim/wire.h"

namespace parlor::sim {

namespace {

const Conditions& Valid(const Conditions& conditions, const std::string& link) {
  PARLOR_CHECK_OK(ValidateConditions(conditions, link));
  return conditions;
}

}  // namespace

Link::Link(Network& network, const Conditions& conditions, std::string name)
    : network_(network),
      name_(std::move(name)),
      state_(std::make_unique<LinkState>(network.executor(),
                                         Valid(conditions, name_))) {}

Link::~Link() {
  state_->Reset();  // what is left is nobody's
  PARLOR_CHECK(state_->users.empty());
}

const Conditions& Link::conditions() const { return state_->conditions; }

bool Link::is_cut(Direction direction) const {
  return state_->cut[static_cast<std::size_t>(direction)];
}

void Link::SetConditions(const Conditions& conditions) {
  state_->Set(Valid(conditions, name_));
  Note(NetworkEvent::What::kConditions, Direction::kUp);
}

void Link::Cut() {
  Cut(Direction::kUp);
  Cut(Direction::kDown);
}

void Link::Cut(Direction direction) {
  if (is_cut(direction)) return;
  state_->cut[static_cast<std::size_t>(direction)] = true;
  Note(NetworkEvent::What::kCut, direction);
  for (LinkUser* user : state_->users) user->OnCut(direction);
}

void Link::Heal() {
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    if (!is_cut(direction)) continue;
    state_->cut[static_cast<std::size_t>(direction)] = false;
    Note(NetworkEvent::What::kHealed, direction);
    for (LinkUser* user : state_->users) user->OnHeal(direction);
  }
}

void Link::Reset() {
  Note(NetworkEvent::What::kReset, Direction::kUp);
  state_->Reset();
}

// What befell the link itself.
void Link::Note(NetworkEvent::What what, Direction direction) {
  const TimePoint now = network_.now();
  network_.Note((static_cast<std::uint64_t>(what) << 8) ^
                static_cast<std::uint64_t>(direction));
  network_.Note(static_cast<std::uint64_t>(now.time_since_epoch().count()));
  if (network_.sink() == nullptr) return;
  network_.sink()->OnNetworkEvent({.what = what,
                                   .link = this,
                                   .direction = direction,
                                   .sent = now,
                                   .arrives = now});
}

Endpoint::Endpoint(Network& network, Turn turn, const StreamOptions& options,
                   std::string name)
    : name_(std::move(name)),
      state_(std::make_unique<EndpointState>(network, turn, options)) {
  PARLOR_CHECK_OK(ValidateOptions(options, name_ + ".stream"));
}

Endpoint::~Endpoint() { state_->End(); }

void Endpoint::SetListener(Listener* listener) {
  state_->listener = listener;
  if (listener != nullptr) state_->SetPower(true);
}

void Endpoint::Unplug() {
  state_->listener = nullptr;
  state_->SetPower(false);
}

std::size_t Endpoint::Poll() {
  PARLOR_CHECK(state_->turn == Turn::kPolled);
  return state_->Run();
}

TimePoint Endpoint::next_event() const { return state_->next(); }

void Endpoint::StallUntil(TimePoint until) { state_->Stall(until); }

std::unique_ptr<Connection> Endpoint::Connect(Link& link, Endpoint& to,
                                              const Hello& hello,
                                              ConnectionHandler* handler) {
  return Wire::Connect(link, *this, to, hello, handler);
}

}  // namespace parlor::sim
