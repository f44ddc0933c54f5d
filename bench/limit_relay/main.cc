// limit_relay: see relay.h. SIGTERM ends it, as it ends any process that has
// nothing to put in order.
#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "limit_relay/relay.h"
#include "peers/relay_program.h"

namespace {

constexpr int kGatherMsMax = 10'000;

void DeclareGather(CLI::App& app, int& gather_ms) {
  app.add_option("--gather", gather_ms,
                 "Hold what is for a seat until a frame is complete, at most "
                 "this long; 0ms: off")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, int>{{"ms", 1}, {"s", 1'000}},
          CLI::AsNumberWithUnit::Options(CLI::AsNumberWithUnit::CASE_SENSITIVE |
                                         CLI::AsNumberWithUnit::UNIT_REQUIRED),
          "TIME"))
      ->check(CLI::Range(0, kGatherMsMax));
}

}  // namespace

int main(int argc, char** argv) {
  int gather_ms = 0;
  return parlor::bench::RunRelay(
      argc, argv, "A relay of lockstep messages that does nothing else.",
      [&](std::uint16_t port) {
        parlor::bench::Relay relay(gather_ms);
        std::string failure = relay.Listen(port);
        if (!failure.empty()) return failure;
        parlor::bench::SayListening(relay.port());
        return relay.Run();
      },
      [&](CLI::App& app) { DeclareGather(app, gather_ms); });
}
