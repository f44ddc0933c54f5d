// Two machines, a link and a stream between them.
#ifndef PARLOR_TESTS_TRANSPORTS_SIM_STREAM_FIXTURE_H_
#define PARLOR_TESTS_TRANSPORTS_SIM_STREAM_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "parlor/executor.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/sim_stream.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"
#include "transports/sim_end.h"

namespace parlor::sim {

// Without chance: what happens when can be reckoned.
inline constexpr Duration kUp = 30 * kMillisecond;
inline constexpr Duration kDown = 50 * kMillisecond;
inline constexpr Conditions kPlain{.up = {.latency = kUp},
                                   .down = {.latency = kDown}};
inline constexpr Duration kFirstTry = kUp + kDown + kRetransmitTime;

inline std::string RandomText(std::size_t size, std::uint64_t seed = 1) {
  Random random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random.Next());
  return text;
}

struct SimStreamWorld {
  explicit SimStreamWorld(const Conditions& conditions = kPlain,
                          std::uint64_t seed = 1,
                          Executor::Ties ties = Executor::Ties::kInOrder)
      : executor(seed, ties), link(std::in_place, network, conditions, "link") {
    Listen();
  }

  void Listen() {
    port.Listen(host_loop, [this](const Link& by,
                                  std::unique_ptr<stream::ByteStream> stream) {
      EXPECT_EQ(&by, &*link);
      EXPECT_EQ(host.stream, nullptr);
      accepted_at = executor.now();
      host.Own(std::move(stream));
    });
  }
  void Call() { client.Own(ConnectStream(*link, client_loop, port)); }
  // Until both ends are there, and a little longer.
  void Connect() {
    Call();
    RunFor(10 * kSecond);
    ASSERT_NE(host.stream, nullptr);
    ASSERT_TRUE(client.writable_at);
  }

  void RunFor(Duration time) { executor.RunFor(time); }
  // Time since `then`.
  Duration Since(TimePoint then) const { return executor.now() - then; }

  Executor executor;
  Network network{executor};
  std::optional<Link> link;
  VirtualLoop client_loop{executor}, host_loop{executor};
  StreamPort port;
  std::optional<TimePoint> accepted_at;
  SimEnd client{executor}, host{executor};
};

class SimStreamTest : public testing::Test, protected SimStreamWorld {
 protected:
  using SimStreamWorld::SimStreamWorld;
  ~SimStreamTest() override {
    client.stream = nullptr;
    host.stream = nullptr;
    link.reset();
  }

  TimePoint now() const { return executor.now(); }
};

}  // namespace parlor::sim

#endif  // PARLOR_TESTS_TRANSPORTS_SIM_STREAM_FIXTURE_H_
