// RawSeat: a client without a peer or a game behind it, which says what a test
// says, 60 times a second.
#ifndef PARLOR_TESTS_SIM_RAW_SEAT_H_
#define PARLOR_TESTS_SIM_RAW_SEAT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/lane.h"
#include "parlor/lockstep/wire.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"

namespace parlor::sim {

class RawSeat final : public ConnectionHandler {
 public:
  // Both outlive it.
  RawSeat(World& world, Host& host, const Hello& hello,
          Via via = Via::kMessages)
      : world_(world), host_(host), hello_(hello), via_(via) {
    Connect();
    Tick();
  }
  ~RawSeat() { world_.executor().Cancel(tick_); }
  RawSeat(const RawSeat&) = delete;
  RawSeat& operator=(const RawSeat&) = delete;

  void Say(const lockstep::Message& message) {
    if (connection_ == nullptr) return;
    connection_->Send(Lane::kReliable, MessageKind::kBinary,
                      lockstep::Encode(message));
  }
  void Input(std::uint32_t frame) {
    Say({.kind = lockstep::Kind::kInput, .frame = frame, .value = frame});
  }
  void Leave() {
    if (connection_ != nullptr) connection_->Close(CloseReason::kNormal);
  }
  // Comes back by its token, its old connection seated or not.
  void Resume() {
    hello_.resume = lockstep::TokenText(token_);
    Connect();
  }

  bool connected() const { return connection_ != nullptr; }
  bool playing() const { return token_ != 0; }

  std::function<void()> on_tick;

 private:
  static constexpr Duration kTick{16'666'667};

  void Connect() { connection_ = world_.Connect(host_, hello_, via_, this); }
  void Tick() {
    if (on_tick) on_tick();
    tick_ = world_.executor().After(kTick, [this] { Tick(); });
  }

  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    const auto message =
        lockstep::Decode(bytes.first<lockstep::kMessageSize>());
    if (message.kind == lockstep::Kind::kWelcome) token_ = message.value;
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override {
    connection_.reset();
  }

  World& world_;
  Host& host_;
  Hello hello_;
  const Via via_;
  std::unique_ptr<Connection> connection_;
  std::uint32_t token_ = 0;
  Executor::Event tick_;
};

}  // namespace parlor::sim

#endif  // PARLOR_TESTS_SIM_RAW_SEAT_H_
