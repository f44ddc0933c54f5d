// RawSeat: a RawLockstepClient of a simulated host, which says what a test
// says, 60 times a second.
#ifndef PARLOR_TESTS_SIM_RAW_SEAT_H_
#define PARLOR_TESTS_SIM_RAW_SEAT_H_

#include <functional>

#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/lockstep/wire.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "support/raw_lockstep_client.h"

namespace parlor::sim {

class RawSeat final : public test::RawLockstepClient {
 public:
  // Both outlive it.
  RawSeat(World& world, Host& host, const Hello& hello,
          Via via = Via::kMessages)
      : world_(world), host_(host), hello_(hello), via_(via) {
    Connect();
    Tick();
  }
  ~RawSeat() override { world_.executor().Cancel(tick_); }

  // Comes back by its token, its old connection seated or not.
  void Resume() {
    hello_.resume = lockstep::TokenText(token());
    Connect();
  }

  bool playing() const { return token() != 0; }

  std::function<void()> on_tick;

 private:
  static constexpr Duration kTick{16'666'667};

  void Connect() { Use(world_.Connect(host_, hello_, via_, this)); }
  void Tick() {
    if (on_tick) on_tick();
    tick_ = world_.executor().After(kTick, [this] { Tick(); });
  }

  World& world_;
  Host& host_;
  Hello hello_;
  const Via via_;
  Executor::Event tick_;
};

}  // namespace parlor::sim

#endif  // PARLOR_TESTS_SIM_RAW_SEAT_H_
