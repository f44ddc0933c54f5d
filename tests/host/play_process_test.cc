// A dedicated host with a game linked in, as its operator has it: what it says,
// who comes in, SIGHUP and SIGTERM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "parlor/connector.h"
#include "parlor/host/os_entropy.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "support/child_process.h"
#include "support/echo_client.h"
#include "support/steady_now.h"
#include "support/temp_folder.h"

namespace parlor::test {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

// What anything may take that is to happen "at once", on a busy machine.
constexpr seconds kSoon{30};

class PlayProcess : public testing::Test {
 protected:
  ~PlayProcess() override {
    for (EchoClient& client : clients_) client.connection.reset();
  }

  void Configure(std::string_view play) {
    folder_.Write("host.json",
                  R"({"port": 0, "tcp-port": 0, "drain": "80s", "shards": 2,
                      "invite": ["config-code-1"], "play": )" +
                      std::string(play) + "}");
  }
  void Start() {
    host_ = std::make_unique<ChildProcess>(std::vector<std::string>{
        PARLOR_PLAY_HOST, "--config", folder_.path() + "/host.json"});
  }
  // Of a host that listens.
  void FindPorts() {
    const auto web = host_->Await("listening on http://", kSoon);
    const auto tcp = host_->Await("listening on tcp://", kSoon);
    ASSERT_TRUE(web && tcp) << host_->output();
    web_ = "ws://" + *web;
    tcp_ = "tcp://" + *tcp;
  }

  EchoClient& Connect(const std::string& url, std::string key) {
    auto connector = MakeNetConnector(loop_, entropy_, url);
    EXPECT_TRUE(connector.ok()) << connector.status();
    EchoClient& client = clients_.emplace_back();
    client.connection =
        (*connector)->Connect(SteadyNow(), {.play = std::move(key)}, &client);
    return client;
  }
  EchoClient& Join(const std::string& url, std::string key) {
    EchoClient& client = Connect(url, std::move(key));
    client.Say("join");
    return client;
  }
  // Until it has heard so much; empty when that does not come.
  std::vector<std::string> Heard(EchoClient& client, std::size_t count) {
    const TimePoint end = SteadyNow() + kSoon;
    while (client.heard.size() < count) {
      if (SteadyNow() > end) return {};
      loop_.Poll(SteadyNow());
      std::this_thread::yield();
    }
    return client.Take();
  }

  TempFolder folder_;
  host::OsEntropy entropy_;
  NetLoop loop_;
  std::unique_ptr<ChildProcess> host_;
  std::string web_;
  std::string tcp_;
  std::list<EchoClient> clients_;
};

TEST_F(PlayProcess, RunsTheRoomsOfItsFile) {
  Configure(R"([{"key": "arena", "game": "echo", "open": true},
                {"key": "club", "game": "echo"}])");
  Start();
  ASSERT_NO_FATAL_FAILURE(FindPorts());
  EXPECT_TRUE(
      host_->AwaitText("and what the games of 2 hosted rooms take", kSoon));
  EchoClient& web = Join(web_, "arena");
  EXPECT_THAT(Heard(web, 2), ElementsAre("open", "+0 "));
  EXPECT_TRUE(host_->AwaitText("room \"arena\": opened", kSoon));
  EchoClient& tcp = Join(tcp_, "arena");
  EXPECT_THAT(Heard(tcp, 2), ElementsAre("open", "+1 "));
  EXPECT_THAT(Heard(Connect(web_, "club"), 1), ElementsAre("refused 403"));
  EXPECT_THAT(Heard(Connect(tcp_, "attic"), 1), ElementsAre("refused 404"));

  Configure(R"([{"key": "arena", "game": "echo", "open": true},
                {"key": "club", "game": "echo", "open": true}])");
  host_->Signal(SIGHUP);
  EXPECT_TRUE(host_->AwaitText("changed: play", kSoon));
  EXPECT_THAT(Heard(Join(web_, "club"), 2), ElementsAre("open", "+0 "));

  Configure(R"([{"key": "arena", "game": "echo"}])");
  host_->Signal(SIGHUP);
  EXPECT_TRUE(host_->AwaitText("/play: cannot change while it runs", kSoon));

  Configure(R"([{"key": "arena", "game": "echo", "open": true},
                {"key": "club", "game": "echo", "level": 9}])");
  host_->Signal(SIGHUP);
  EXPECT_TRUE(host_->AwaitText(
      "nothing has changed: " + folder_.path() +
          "/host.json: /play/1: the game \"echo\" threw for the room \"club\": "
          "no level",
      kSoon));
  EXPECT_THAT(Heard(Join(web_, "club"), 2), ElementsAre("open", "+1 "));

  host_->Signal(SIGTERM);
  EXPECT_TRUE(host_->AwaitText("draining", kSoon));
  EXPECT_THAT(Heard(Join(web_, "arena"), 2),
              ElementsAre("open", "close 1008 refused"));
  tcp.Say("still here");
  EXPECT_THAT(Heard(web, 2), ElementsAre("+1 ", "1: still here"));
  host_->Signal(SIGTERM);
  EXPECT_TRUE(host_->AwaitEnd(kSoon));
}

TEST_F(PlayProcess, WhatIsWrongIsNamedByItsPath) {
  const std::string before =
      "parlor-host: " + folder_.path() + "/host.json: /play/";
  const struct {
    std::string_view play;
    std::string_view refusal;
  } rows[] = {
      {R"([{"key": "a", "game": "chess"}])",
       "0/game: no game \"chess\" is linked in; there are: echo"},
      {R"([{"key": "a", "game": "echo"},
           {"key": "b", "game": "echo", "seats": 2}])",
       "1/seats: cannot be chosen"},
      {R"([{"key": "a", "game": "echo"},
           {"key": "b", "game": "echo", "level": 9}])",
       "1: the game \"echo\" threw for the room \"b\": no level"},
  };
  for (const auto& row : rows) {
    Configure(row.play);
    Start();
    EXPECT_EQ(host_->AwaitEnd(kSoon), 2);
    EXPECT_EQ(host_->output(), before + std::string(row.refusal) + "\n");
  }
}

}  // namespace
}  // namespace parlor::test
