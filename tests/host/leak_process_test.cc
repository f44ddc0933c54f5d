// The same as leak_test.cc of parlor-host and its commands: what they print and
// log, from a configuration, a database and files that are full of secrets.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leak_hunt.h"
#include "leak_secrets.h"
#include "leak_tour.h"
#include "support/child_process.h"
#include "support/files.h"
#include "support/temp_folder.h"
#include "support/test_certificate.h"

namespace parlor::test {
namespace {

using std::chrono::seconds;

constexpr seconds kSoon{30};

std::string OneLine(std::string text) {
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  return text.substr(0, text.find('\n'));
}

// With TLS or without.
class LeakProcessTest : public testing::TestWithParam<bool> {
 protected:
  LeakProcessTest() { hunt_.Forbid("the operator's code", kTourOwnCode); }

  // parlor-host with these words, to its end; what is on stdout. All of it is
  // looked at, but what may be there by a later Look alone.
  std::string Run(std::initializer_list<std::string> words, int code,
                  bool looks = true) {
    std::vector<std::string> all = {
        "/bin/sh", "-c", "exec \"$0\" \"$@\" 2>'" + folder_.At("stderr") + "'",
        PARLOR_HOST};
    all.insert(all.end(), words);
    ChildProcess process(all);
    EXPECT_EQ(process.AwaitEnd(kSoon), code);
    const std::string what = "of " + *words.begin();
    hunt_.Look("stderr " + what, ReadFile(folder_.At("stderr")));
    if (looks) hunt_.Look("stdout " + what, process.output());
    ++runs_;
    return process.output();
  }

  void MakeSecrets();
  std::string Config(std::string_view more = "") const;
  void Start();
  void SignalsWithConfigs();
  void RefusedStarts();
  void Lists();
  // Once it has ended.
  void LookAtHost() {
    hunt_.Look("the host's output", host_->output());
    host_.reset();
  }

  const TempFolder folder_;
  TestAuthority authority_;
  const std::string access_ = folder_.At("access.db");
  const std::string state_ = folder_.At("state");
  const std::string secret_ = folder_.At("pass-secret");
  LeakHunt hunt_;
  int runs_ = 0;
  TourSecrets secrets_;
  std::string revoked_id_;
  std::string config_;
  LeakDoor door_;
  std::unique_ptr<ChildProcess> host_;
};

// What commands print once is what they are asked for.
void LeakProcessTest::MakeSecrets() {
  Run({"pass", "secret", secret_}, 0);
  const std::string signs = OneLine(ReadFile(secret_));
  hunt_.Forbid("the secret of passes", signs);
  const auto pass = [&](const char* whose) {
    return OneLine(Run({"pass", "new", "--access", access_, "--pass-secret",
                        secret_, "--devices", "1", "--for", whose},
                       0, false));
  };
  secrets_ = MakeTourSecrets(signs);
  secrets_.code = OneLine(
      Run({"invite", "new", "--access", access_, "--for", "anna"}, 0, false));
  secrets_.pass = pass("anna");
  secrets_.revoked = pass("bob");
  const std::string list = Run({"pass", "list", "--access", access_}, 0);
  const std::size_t bob = list.find("bob");
  ASSERT_NE(bob, std::string::npos) << list;
  revoked_id_ = list.substr(list.rfind('\n', bob) + 1, 16);
  Run({"pass", "revoke", revoked_id_, "--access", access_}, 0);
}

std::string LeakProcessTest::Config(std::string_view more) const {
  std::string json = R"({"port": 0, "tcp-port": 0, "shards": 2, "invite": [")";
  json.append(kTourOwnCode).append(R"("], "origin": [")").append(kTourOrigin);
  json.append(R"("], "trusted-proxy": [")").append(kTourProxies);
  json.append(R"("], "passes": true, "pass-secret": ")").append(secret_);
  json.append(R"(", "access": ")").append(access_);
  json.append(R"(", "state": ")").append(state_);
  json.append(R"(", "drain": "6s", "rooms": )");
  json.append(std::to_string(kTourRooms)).append(R"(, "seats": )");
  json.append(std::to_string(kTourSeats)).append(R"(, "join-rate": )");
  json.append(std::to_string(kTourJoinRate));
  return json.append(more).append("}");
}

void LeakProcessTest::Start() {
  host_ = std::make_unique<ChildProcess>(
      std::vector<std::string>{PARLOR_HOST, "--config", config_});
  const std::string scheme = GetParam() ? "https" : "http";
  const auto web =
      host_->Await("listening on " + scheme + "://127.0.0.1:", kSoon);
  const auto tcp =
      host_->Await(std::string("listening on ") + (GetParam() ? "tls" : "tcp") +
                       "://127.0.0.1:",
                   kSoon);
  ASSERT_TRUE(web && tcp) << host_->output();
  door_ = {.port = static_cast<std::uint16_t>(std::stoi(*web)),
           .tcp_port = static_cast<std::uint16_t>(std::stoi(*tcp)),
           .tls = GetParam()};
}

// Configurations that are wrong where their secrets are, and a right one.
void LeakProcessTest::SignalsWithConfigs() {
  const std::string good = ReadFile(config_);
  const std::string bad_code = "code with spaces " + hunt_.Mark();
  const std::string wrong[] = {
      good.substr(0, good.find(kTourOwnCode) + 10),  // cut in the code
      good.substr(0, good.size() - 1) + R"(, "invite": [")" + bad_code + "\"]}",
      R"({"invite": [")" + bad_code + "\"]}",
      R"({"invite": [")" + std::string(kTourOwnCode) + "\" \"" + secrets_.code,
      R"({"invite": [")" + std::string(kTourOwnCode) + "\"], \"port\": 70000}",
      R"({"invite": {")" + std::string(kTourOwnCode) + "\": 1}}",
      std::string(kTourOwnCode) + "\n" + secrets_.code,
      good,
  };
  for (const std::string& config : wrong) {
    const std::string before = host_->output();
    folder_.Write("config", config);
    host_->Signal(SIGHUP);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    EXPECT_TRUE(host_->AwaitCount("", static_cast<int>(lines) + 1, kSoon));
    const std::string said = host_->output().substr(before.size());
    const char* expected =
        config == good ? "info: read again" : "warning: nothing has changed";
    EXPECT_NE(said.find(expected), std::string::npos) << said;
  }
}

void LeakProcessTest::RefusedStarts() {
  const std::string code(kTourOwnCode);
  Run({"--print-config", "--config", config_}, 0);
  Run({"--print-config", "--invite", code}, 0);
  Run({"--invite", code + " " + code}, 2);
  Run({"--invite", code, "--open"}, 2);
  Run({code}, 2);
  Run({"--open", code}, 2);
  Run({"invite", code}, 2);
  Run({"invite", "new", code, "--access", access_}, 2);
  Run({"invite", "revoke", code, "--access", access_}, 2);
  Run({"pass", "revoke", secrets_.pass, "--access", access_}, 2);
  const std::string little = folder_.Write("little", secrets_.device);
  Run({"--passes", "--access", access_, "--pass-secret", little}, 2);
  const std::string foreign = folder_.Write("foreign", "a file with " + code);
  Run({"--access", foreign, "--port", "0"}, 2);
  Run({"--config", foreign}, 2);
  Run({"invite", "list", "--access", foreign}, 2);
  Run({"--open", "--port", std::to_string(door_.port)}, 1);
}

void LeakProcessTest::Lists() {
  const std::string codes = Run({"invite", "list", "--access", access_}, 0);
  EXPECT_NE(codes.find("anna"), std::string::npos);
  const std::string passes = Run({"pass", "list", "--access", access_}, 0);
  EXPECT_NE(passes.find("1 of 1"), std::string::npos) << passes;
}

TEST_P(LeakProcessTest, NothingOfAWholeRunIsSeen) {
  MakeSecrets();
  std::string tls;
  if (GetParam()) {
    const TlsServerFiles files = authority_.IssueLocal();
    tls = R"(, "tls-cert": ")" + files.certificate_path + R"(", "tls-key": ")" +
          files.key_path + "\"";
  }
  config_ = folder_.Write("config", Config(tls));
  Start();
  LeakTour tour(hunt_, door_, secrets_);
  SignalsWithConfigs();
  RefusedStarts();
  tour.All();
  Lists();
  host_->Signal(SIGTERM);
  tour.Drained();
  tour.Closed();
  EXPECT_EQ(host_->AwaitEnd(kSoon), 0);
  LookAtHost();
  hunt_.Look("the state file", WithoutRelayed(ReadFile(state_)));

  Start();
  LeakTour after(hunt_, door_, secrets_);
  after.TakenBack(tour.kept_token());
  host_->Signal(SIGKILL);
  EXPECT_EQ(host_->AwaitEnd(kSoon), -SIGKILL);
  LookAtHost();
  for (const char* part : {"", "-wal", "-shm"}) {
    hunt_.Look("the database" + std::string(part), ReadFile(access_ + part));
  }
  folder_.Write("state", "not a state file");
  Start();
  host_->Signal(SIGINT);
  EXPECT_EQ(host_->AwaitEnd(kSoon), 0);
  EXPECT_NE(host_->output().find("state.refused-"), std::string::npos)
      << host_->output();
  LookAtHost();

  ExpectAllOfTour(tour);
  EXPECT_GE(runs_, 23);
  EXPECT_GE(hunt_.looked_at(), 250u);
  for (const std::string& leak : hunt_.Find()) ADD_FAILURE() << leak;
}

INSTANTIATE_TEST_SUITE_P(Doors, LeakProcessTest, testing::Bool(),
                         [](const auto& row) {
                           return row.param ? "Tls" : "Plain";
                         });

}  // namespace
}  // namespace parlor::test
