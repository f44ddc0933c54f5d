// The README's dedicated host, with the README's configuration file and client.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

#include "coins.h"
#include "parlor/host/os_entropy.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "support/child_process.h"

namespace parlor::test {
namespace {

constexpr std::chrono::seconds kSoon{30};

TEST(ReadmeCoinsHost, IsPlayedOnByWebSocketAndTcp) {
  ChildProcess host({PARLOR_COINS_HOST, "--port", "0", "--tcp-port", "0",
                     "--drain", "0s", "--config", PARLOR_COINS_CONFIG});
  const auto web = host.Await("listening on http://", kSoon);
  const auto tcp = host.Await("listening on tcp://", kSoon);
  ASSERT_TRUE(web && tcp) << host.output();
  EXPECT_FALSE(host.Find("every join will be refused")) << host.output();
  host::OsEntropy entropy;
  NetLoop loop;
  for (const std::string& url : {"ws://" + *web, "tcp://" + *tcp}) {
    auto connector = MakeNetConnector(loop, entropy, url);
    ASSERT_TRUE(connector.ok()) << connector.status();
    EXPECT_EQ(Play(**connector, [&](TimePoint now) { loop.Poll(now); }), 3)
        << url << "\n"
        << host.output();
  }
  host.Signal(SIGTERM);
  EXPECT_EQ(host.AwaitEnd(kSoon), 0) << host.output();
}

}  // namespace
}  // namespace parlor::test
