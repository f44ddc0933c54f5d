// ParityWorlds over real sockets on the loopback: the listener and the
// connector that programs use, on two loops of one thread, turned by hand.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_NET_H_
#define PARLOR_TESTS_SUPPORT_PARITY_NET_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "support/loopback.h"
#include "support/net_sides.h"
#include "support/parity_world.h"
#include "support/quiet_stream.h"

namespace parlor::test {

class SocketWorld final : public ParityWorld, private NetListenerHandler {
 public:
  SocketWorld(ParityHost& host, const ParityLimits& limits, NetScheme scheme)
      : host_(host), sides_(scheme, QuietStream(limits), *this) {}

  std::unique_ptr<Connection> Connect(const Hello& hello,
                                      ConnectionHandler* handler) override {
    return sides_.connector().Connect(now(), hello, handler);
  }

  void OnHost(const std::function<void()>& task) override { task(); }

  void Barrier() override {
    RunUntilQuiet([this] {
      const bool alarm = host_.next_alarm() <= now();
      if (alarm) host_.OnAlarm(now());
      return sides_.Poll(now()) || alarm;
    });
  }

 private:
  TimePoint next_alarm() override {
    return std::min(sides_.next_alarm(), host_.next_alarm());
  }

  Verdict OnKnock(TimePoint now, const Knock& knock) override {
    hello_ = {};
    Verdict verdict;
    // As a host's gate does.
    if (ParsePlayKey(knock.request.target, "")) {
      verdict.protocol = kPlayProtocol;
      verdict.refusal.status = ParsePlayRequest(knock.request, "", &hello_);
    } else {
      verdict.protocol = kLockstepProtocol;
      verdict.refusal.status = ParseRoomRequest(knock.request, "", &hello_);
    }
    if (verdict.refusal.status == 0) {
      verdict.refusal.status = host_.Admit(now, hello_);
    }
    return verdict;
  }
  void OnConnection(TimePoint now, const Knock&,
                    std::unique_ptr<Connection> connection) override {
    host_.Attach(now, std::move(connection), hello_);
  }

  ParityHost& host_;
  NetSides sides_;
  Hello hello_;  // of the knock that was accepted last
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_NET_H_
