#include "sim/client_machine.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "parlor/check_text.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/limits.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/host_impl.h"
#include "sim/local_clock.h"
#include "sim/machine.h"
#include "sim/recorder.h"
#include "sim/time_ahead.h"

namespace parlor::sim {
namespace {

constexpr Limit kRateHz{"rate_hz", 60, 1, 1'000};
constexpr Limit kClockPpm{"clock_ppm", 0, -LocalClock::kPpmMax,
                          LocalClock::kPpmMax};

// Peers and endpoints see to their own.
std::string WithValid(const LoopOptions& options, std::string name) {
  PARLOR_CHECK_OK(CheckLimit(kRateHz, name + ".rate_hz", options.rate_hz));
  PARLOR_CHECK_OK(
      CheckLimit(kClockPpm, name + ".clock_ppm", options.clock_ppm));
  return name;
}

Duration DrawPhase(int rate_hz, Random& random) {
  return Duration(
      random.Below(static_cast<std::uint32_t>(kSecond.count() / rate_hz)));
}

std::string LinkText(const Link& link) {
  const bool up = link.is_cut(Direction::kUp);
  const bool down = link.is_cut(Direction::kDown);
  if (up && down) return "; its link is cut";
  if (up) return "; its link is cut upwards";
  if (down) return "; its link is cut downwards";
  return {};
}

}  // namespace

ClientMachine::Impl::Impl(Network& to, Recorder& records,
                          const Conditions& conditions, const LoopOptions& opts,
                          std::string called)
    : network(to),
      recorder(records),
      via(opts.via),
      name(WithValid(opts, std::move(called))),
      link(network, conditions, name),
      machine(network, Endpoint::Turn::kPolled, opts.stream, name),
      jitter_seed(opts.jitter_seed != 0 ? opts.jitter_seed
                                        : network.executor().random().Next64()),
      clock(network.now(), opts.clock_ppm),
      steps(
          network.now() + DrawPhase(opts.rate_hz, network.executor().random()),
          opts.rate_hz) {
  ScheduleTurn();
}

ClientMachine::Impl::~Impl() = default;

std::unique_ptr<Connection> ClientMachine::Impl::Connect(
    TimePoint /*now*/, const Hello& hello, ConnectionHandler* handler) {
  Host::Impl& to = *host->impl_;
  return machine.Connect(link, {to.endpoint(), to.web_port(), to.tcp_port()},
                         via, hello, handler);
}

void ClientMachine::Impl::EndProcess() {
  turn.Cancel();
  EndPeer();
}

void ClientMachine::Impl::RunTurn() {
  const TimePoint now = network.now();
  machine.Poll();
  OnTurn(now, steps.Take(clock.At(now)));
  if (!crashed) ScheduleTurn();
}

// It may set another one, and lives until it returns.
void ClientMachine::Impl::CallOnStep() {
  if (!on_step) return;
  const std::uint64_t before = steps_set;
  std::function<void()> called = std::move(on_step);
  called();
  if (steps_set == before) on_step = std::move(called);
}

void ClientMachine::Impl::SetOnStep(std::function<void()> next) {
  on_step = std::move(next);
  ++steps_set;
}

void ClientMachine::Impl::Require(bool holds, const char* what) const {
  PARLOR_CHECK_TEXT(holds, name + ": " + what);
}

void ClientMachine::Impl::SetHost(Host& to, bool idle) {
  Require(host == nullptr, "Join: it has joined before");
  Require(!crashed, "Join: it has crashed");
  Require(idle, "Join: it has left");
  Require(&to.impl_->network() == &network,
          "Join: the host is of another world");
  host = &to;
  recorder.SetEnds(link, name, to.impl_->name());
}

std::string ClientMachine::Impl::Describe() const {
  return name + ": " + (crashed ? std::string("crashed") : StateText()) +
         LinkText(link);
}

// ---- What world.h says

ClientMachine::ClientMachine(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
ClientMachine::~ClientMachine() = default;

void ClientMachine::Cut() { impl_->link.Cut(); }
void ClientMachine::Cut(Direction direction) { impl_->link.Cut(direction); }
void ClientMachine::Heal() { impl_->link.Heal(); }
void ClientMachine::Reset() { impl_->link.Reset(); }

void ClientMachine::Stall(Duration time) {
  CheckTimeAhead(time, impl_->name + ": Stall");
  impl_->recorder.Mark(impl_->name, "stands still");
  impl_->machine.StallUntil(impl_->network.now() + time);
}

void ClientMachine::Crash() {
  if (std::exchange(impl_->crashed, true)) return;
  impl_->recorder.Mark(impl_->name, "crashes");
  // Whoever calls may be called by the peer.
  impl_->network.executor().After({},
                                  [impl = impl_.get()] { impl->EndProcess(); });
}

bool ClientMachine::crashed() const { return impl_->crashed; }
Link& ClientMachine::link() { return impl_->link; }

void ClientMachine::SetOnStep(std::function<void()> on_step) {
  impl_->SetOnStep(std::move(on_step));
}

}  // namespace parlor::sim
