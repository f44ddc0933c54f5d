// The command line of the relays of bench/compare: a port of the loopback.
// C++17, like relay_rooms.h.
#ifndef PARLOR_BENCH_PEERS_RELAY_PROGRAM_H_
#define PARLOR_BENCH_PEERS_RELAY_PROGRAM_H_

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "CLI/CLI.hpp"

namespace parlor::bench {

inline constexpr int kExitFailed = 1;   // what the system refused
inline constexpr int kExitRefused = 2;  // a bad argument

// Whoever starts the relay waits for this line.
inline void SayListening(std::uint16_t port) {
  std::printf("listening on 127.0.0.1:%u\n", static_cast<unsigned>(port));
  std::fflush(stdout);
}

// One descriptor a connection: as many as there may be.
inline void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// What main is to do: reads `--port`, and what `declare` adds, and then runs
// `run` with the port, 0 for one that is free. `run` comes back when something
// failed, by an exception too, and says what.
inline int RunRelay(
    int argc, char** argv, const std::string& about,
    const std::function<std::string(std::uint16_t)>& run,
    const std::function<void(CLI::App&)>& declare = [](CLI::App& /*app*/) {}) {
  const std::string name = argv[0];
  std::string failure;
  try {
    CLI::App app(about);
    std::uint16_t port = 0;
    app.add_option("--port", port, "Of 127.0.0.1; 0: one that is free")
        ->capture_default_str();
    declare(app);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app.exit(error);
      std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
      return kExitRefused;
    }
    RaiseDescriptorLimit();
    failure = run(port);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  std::fprintf(stderr, "%s: %s\n", name.c_str(), failure.c_str());
  return kExitFailed;
}

}  // namespace parlor::bench

#endif  // PARLOR_BENCH_PEERS_RELAY_PROGRAM_H_
