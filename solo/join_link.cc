#include <algorithm>
#include <utility>

#include "clock.h"
#include "net_links.h"
#include "parlor/transports/net_connector.h"

namespace parlor::solo {
namespace {

constexpr Duration kLeaving = kSecond;

}  // namespace

absl::StatusOr<std::unique_ptr<JoinLink>> JoinLink::Create(
    std::string_view host_url, Entropy& entropy) {
  // The constructor is private: make_unique cannot call it.
  std::unique_ptr<JoinLink> link(new JoinLink);
  absl::StatusOr<std::unique_ptr<Connector>> connector =
      MakeNetConnector(link->loop_, entropy, host_url);
  if (!connector.ok()) return connector.status();
  link->connector_ = *std::move(connector);
  return link;
}

void JoinLink::Turn(TimePoint now) {
  turned_ = now;
  loop_.Poll(now);
}

TimePoint JoinLink::next_turn() const {
  return std::min(loop_.next_alarm(), turned_ + kNetTurnEvery);
}

void FinishLeaving(Session& session, Link& link) {
  session.End();
  const TimePoint until = SteadyNow() + kLeaving;
  for (TimePoint now = SteadyNow(); now < until && !session.left();
       now = SteadyNow()) {
    link.Turn(now);
    SleepUntil(std::min(link.next_turn(), until));
  }
}

}  // namespace parlor::solo
