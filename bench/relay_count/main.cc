// relay_count: relays so many steps and says what was delivered, for callgrind
// to count what a delivered message takes. ../README.md says how to run it.
//
//   0  all was delivered, and no step allocated
//   1  a step allocated, or a message did not come; stderr says which
//   2  a bad argument, or the system has no socket
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/limits.h"
#include "parlor/status.h"
#include "pipe_relay.h"
#include "relay_count/collecting.h"
#include "relay_count/counted_relay.h"
#include "relay_count/socket_relay.h"
#include "support/counting_allocator.h"

namespace parlor::bench {
namespace {

constexpr int kExitWrong = 1;
constexpr int kExitRefused = 2;

// Every buffer has been as full as it will be.
constexpr int kWarmSteps = 100;

// Callgrind counts both ends of the pipes, which are one piece of code.
class CountedPipes final : public CountedRelay {
 public:
  explicit CountedPipes(const CountedRelayOptions& options)
      : relay_({.rooms = options.rooms,
                .seats = options.seats,
                .gather_ms = options.gather_ms}),
        per_step_(
            static_cast<std::uint64_t>(options.rooms) *
            static_cast<std::uint64_t>(options.seats * (options.seats - 1))) {}

  absl::Status Step(Phases phases) override {
    const std::uint64_t due = relay_.delivered() + per_step_;
    {
      const Collecting collecting(collecting_);
      if (phases == Phases::kStep) {
        relay_.Step();
      } else {
        relay_.SpreadStep();
      }
    }
    if (relay_.delivered() == due && relay_.all_open()) return absl::OkStatus();
    return MakeStatus(absl::StatusCode::kUnavailable,
                      "an INPUT did not come, or a seat was closed");
  }
  void Collect() override { collecting_ = true; }
  std::uint64_t delivered() const override { return relay_.delivered(); }

 private:
  PipeRelay relay_;
  const std::uint64_t per_step_;
  bool collecting_ = false;
};

enum class Over : std::uint8_t { kPipes, kSockets };

struct Arguments {
  Over over = Over::kPipes;
  Phases phases = Phases::kStep;
  int steps = 1'000;
  CountedRelayOptions relay;
};

void Declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--over", arguments.over, "What is between player and room")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Over>{
          {"pipes", Over::kPipes}, {"sockets", Over::kSockets}}))
      ->required();
  app.add_option("--phases", arguments.phases,
                 "All seats speak at once, or each at its own moment (step)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Phases>{
          {"step", Phases::kStep}, {"spread", Phases::kSpread}}));
  app.add_option("--rooms", arguments.relay.rooms, "Rooms (1)")
      ->check(CLI::Range(1, 100));
  app.add_option("--seats", arguments.relay.seats, "Seats of each (8)")
      ->check(CLI::Range(2, static_cast<int>(limits::kSeats.ceiling)));
  app.add_option("--steps", arguments.steps, "Steps that count (1000)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--gather-ms", arguments.relay.gather_ms,
                 "What is for a seat waits for its frame, at most so long (0)")
      ->check(CLI::Range(std::int64_t{0}, limits::kGatherMs.ceiling));
}

absl::StatusOr<std::unique_ptr<CountedRelay>> MakeRelay(
    const Arguments& arguments) {
  if (arguments.over == Over::kPipes) {
    return std::make_unique<CountedPipes>(arguments.relay);
  }
  auto relay = SocketRelay::Create(arguments.relay);
  if (!relay.ok()) return relay.status();
  return *std::move(relay);
}

int Failed(const std::string& what, int code) {
  std::fprintf(stderr, "relay_count: %s\n", what.c_str());
  return code;
}

// Once with the steps that warm it up, once with those that count.
int Run(CountedRelay& relay, Phases phases, int steps, bool may_allocate) {
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t before = parlor_allocation_count();
    const absl::Status status = relay.Step(phases);
    const std::uint64_t allocated = parlor_allocation_count() - before;
    if (!status.ok()) {
      return Failed("step " + std::to_string(step) + ": " +
                        std::string(StatusText(status)),
                    kExitWrong);
    }
    if (allocated > 0 && !may_allocate) {
      return Failed("step " + std::to_string(step) + ": " +
                        std::to_string(allocated) +
                        " allocations; a relayed message takes none",
                    kExitWrong);
    }
  }
  return 0;
}

int Main(const Arguments& arguments) {
  auto relay = MakeRelay(arguments);
  if (!relay.ok()) {
    return Failed(std::string(StatusText(relay.status())), kExitRefused);
  }
  int code = Run(**relay, arguments.phases, kWarmSteps, /*may_allocate=*/true);
  if (code != 0) return code;
  const std::uint64_t before = (*relay)->delivered();
  (*relay)->Collect();
  code = Run(**relay, arguments.phases, arguments.steps,
             /*may_allocate=*/false);
  if (code != 0) return code;
  std::printf("delivered %llu\n",
              static_cast<unsigned long long>((*relay)->delivered() - before));
  return 0;
}

}  // namespace
}  // namespace parlor::bench

int main(int argc, char** argv) {
  try {
    parlor::bench::Arguments arguments;
    CLI::App app("Relays a fixed number of steps, for callgrind to count.");
    parlor::bench::Declare(app, arguments);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app.exit(error);
      return parlor::bench::Failed(error.what(), parlor::bench::kExitRefused);
    }
    return parlor::bench::Main(arguments);
  } catch (const std::exception& error) {
    return parlor::bench::Failed(error.what(), parlor::bench::kExitRefused);
  }
}
