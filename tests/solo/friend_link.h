// A room and the ways of several sessions into it, in virtual time.
#ifndef PARLOR_TESTS_SOLO_FRIEND_LINK_H_
#define PARLOR_TESTS_SOLO_FRIEND_LINK_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "cycles/state.h"
#include "link.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/local_connector.h"
#include "parlor/host/shard.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::solo {

// The room that all of a test's links lead to.
struct Host {
  static constexpr std::int64_t kHold = 1'000;

  static host::ShardOptions OneRoom() {
    host::ShardOptions options;
    options.rooms = 1;
    options.seats = cycles::kPlayersMax;
    options.room.hold_ms = kHold;
    return options;
  }

  SeededEntropy entropy{1};
  PipePump pump;
  host::Shard shard{OneRoom(), entropy};
};

// A friend's way into it, which can be cut and refused.
class FriendLink final : public Link, private Connector {
 public:
  explicit FriendLink(Host& host)
      : host_(host), local_(pump_, host.pump, host.shard) {}

  Connector& connector() override { return *this; }
  void Turn(TimePoint now) override {
    pump_.Pump(now);
    host_.pump.Pump(now);
    host_.shard.OnAlarm(now);
    pump_.Pump(now);
  }
  TimePoint next_turn() const override {
    if (eager_ || pump_.has_ready() || host_.pump.has_ready()) {
      return TimePoint::min();
    }
    return std::min({pump_.next_alarm(), host_.pump.next_alarm(),
                     host_.shard.next_alarm()});
  }

  // Only while a session is connected.
  void Cut(std::uint16_t refusal = 503) {
    refusal_ = refusal;
    connection_->Abort();
  }
  void Refuse(std::uint16_t refusal) { refusal_ = refusal; }
  // Wants to be turned always, as if others talked without a pause.
  void SetEager() { eager_ = true; }

 private:
  std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                      ConnectionHandler* handler) override {
    std::unique_ptr<Connection> made;
    if (refusal_ != 0) {
      made = MakeRefusedPipe(pump_, refusal_);
      made->SetHandler(handler);
    } else {
      made = local_.Connect(now, hello, handler);
    }
    connection_ = made.get();
    return made;
  }

  Host& host_;
  PipePump pump_;
  host::LocalConnector local_;
  Connection* connection_ = nullptr;
  std::uint16_t refusal_ = 0;
  bool eager_ = false;
};

}  // namespace parlor::solo

#endif  // PARLOR_TESTS_SOLO_FRIEND_LINK_H_
