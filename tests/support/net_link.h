// The sockets of the loopback under the conformance suite.
#ifndef PARLOR_TESTS_SUPPORT_NET_LINK_H_
#define PARLOR_TESTS_SUPPORT_NET_LINK_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "support/connection_conformance.h"
#include "support/loopback.h"
#include "support/net_sides.h"
#include "support/quiet_stream.h"

namespace parlor::test {

template <NetScheme kScheme, First kFirst>
class NetLink final : public NetListenerHandler {
 public:
  // Each opens a connection.
  static constexpr std::uint64_t kRandomRuns = 200;

  explicit NetLink(std::uint64_t seed) : random_(seed) {}

  ConformanceEnds Connect(const ConformanceOptions& options,
                          ConnectionHandler* first, ConnectionHandler* second) {
    sides_ = std::make_unique<NetSides>(kScheme, QuietStream(options), *this);
    ConformanceEnds ends;
    ends.first =
        sides_->connector().Connect(now_, {.room = 0, .players = 2},
                                    kFirst == First::kClient ? first : second);
    RunUntilQuiet(
        [&] { return accepted_ == nullptr && sides_->Poll(now_, 1); });
    ends.second = std::move(accepted_);
    ends.second->SetHandler(kFirst == First::kClient ? second : first);
    if (kFirst == First::kServer) std::swap(ends.first, ends.second);
    return ends;
  }

  bool Step() {
    NetLoop& loop =
        random_.Chance(1, 2) ? sides_->client_loop() : sides_->host_loop();
    return loop.Poll(now_, 1) > 0 || sides_->Poll(now_, 1);
  }
  void Settle() {
    RunUntilQuiet([this] { return sides_->Poll(now_); });
  }
  void Advance(Duration time) {
    const TimePoint until = now_ + time;
    for (;;) {
      Settle();
      if (sides_->next_alarm() > until) break;
      now_ = std::max(now_, sides_->next_alarm());
    }
    now_ = until;
    Settle();
  }

  Verdict OnKnock(TimePoint, const Knock&) override {
    return {.refusal = {}, .protocol = kLockstepProtocol};
  }
  void OnConnection(TimePoint, const Knock&,
                    std::unique_ptr<Connection> connection) override {
    accepted_ = std::move(connection);
  }

 private:
  Random random_;
  TimePoint now_{};
  std::unique_ptr<NetSides> sides_;
  std::unique_ptr<Connection> accepted_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_NET_LINK_H_
