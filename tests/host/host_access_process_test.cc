// parlor-host as its operator has it: a host that runs, commands that change
// who may come in, SIGHUP, and what a start refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/child_process.h"
#include "support/raw_socket.h"
#include "support/requests.h"
#include "support/temp_folder.h"

namespace parlor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ChildProcess;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

// What anything may take that is to happen "at once", on a busy machine.
constexpr seconds kSoon{30};
constexpr const char* kAnna = "annas-device-0001";
constexpr const char* kOther = "other-device-0002";

// Turns until it holds; false: it did not within kSoon.
bool Until(const std::function<bool()>& holds) {
  const auto end = ChildProcess::Clock::now() + kSoon;
  while (!holds()) {
    if (ChildProcess::Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return true;
}

// One connection over which requests are asked one after the other.
class Web {
 public:
  explicit Web(std::uint16_t port) : socket_(test::RawSocket::Connect(port)) {}

  // "200 {...}"; of a connection that has ended "".
  std::string Invite(std::string_view body) {
    if (!socket_.Send(test::InviteRequest(body))) return "";
    const std::string head = TakeUntil("\r\n\r\n");
    const std::size_t length = head.find("Content-Length: ");
    if (length == std::string::npos) return "";
    const std::string answer = TakeBytes(std::stoul(
        head.substr(length + std::string("Content-Length: ").size())));
    return head.substr(std::string("HTTP/1.1 ").size(), 4) + answer;
  }

  // A seat in room 0 of two; what the room says is heard by Hears.
  void Join(std::string_view access) {
    EXPECT_TRUE(socket_.Send(
        test::UpgradeRequest(0, 2, std::string(", ").append(access))));
    EXPECT_THAT(TakeUntil("\r\n\r\n"), StartsWith("HTTP/1.1 101 "));
  }
  // Whether a message of that kind comes, others passed over.
  bool Hears(char kind) {
    for (;;) {
      const std::string frame = TakeBytes(2 + 12);
      if (frame.empty()) return false;
      if (frame[2] == kind) return true;
    }
  }

 private:
  std::string TakeUntil(std::string_view mark) {
    while (heard_.find(mark) == std::string::npos) {
      if (!Read()) return "";
    }
    return Take(heard_.find(mark) + mark.size());
  }
  std::string TakeBytes(std::size_t count) {
    while (heard_.size() < count) {
      if (!Read()) return "";
    }
    return Take(count);
  }
  std::string Take(std::size_t count) {
    std::string taken = heard_.substr(0, count);
    heard_.erase(0, count);
    return taken;
  }
  bool Read() {
    const auto patience = std::chrono::duration_cast<milliseconds>(kSoon);
    return socket_.Readable(static_cast<int>(patience.count())) &&
           socket_.Receive(heard_);
  }

  test::RawSocket socket_;
  std::string heard_;
};

constexpr char kLobby = 8;
constexpr char kWelcome = 3;

class HostAccess : public ::testing::Test {
 protected:
  // One that listens on a port of its own. `more`: beside that. `first`: what
  // its shell does before.
  ChildProcess& Start(std::vector<std::string> more,
                      const std::string& first = ":") {
    more.insert(more.begin(),
                {"/bin/sh", "-c", first + " && exec \"$0\" \"$@\"", PARLOR_HOST,
                 "--port=0", "--shards=1", "--join-rate=100000"});
    hosts_.push_back(std::make_unique<ChildProcess>(more));
    ChildProcess& host = *hosts_.back();
    const auto port = host.Await("listening on http://127.0.0.1:", kSoon);
    EXPECT_TRUE(port.has_value()) << host.output();
    port_ = static_cast<std::uint16_t>(std::stoi(port.value_or("0")));
    return host;
  }

  // Runs a command to its end, which is to be good: what it has on stdout.
  static std::string Run(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&-", PARLOR_HOST});
    ChildProcess process(words);
    EXPECT_EQ(process.AwaitEnd(kSoon), 0);
    return process.output();
  }
  // The only line of that.
  static std::string Line(std::vector<std::string> words) {
    std::string out = Run(std::move(words));
    EXPECT_EQ(out.find('\n') + 1, out.size());
    return out.substr(0, out.size() - 1);
  }

  // Of a start that is refused: its one line.
  static std::string Refusal(std::vector<std::string> words) {
    words.insert(words.begin(), {PARLOR_HOST, "--port=0"});
    ChildProcess process(words);
    EXPECT_EQ(process.AwaitEnd(kSoon), 2);
    return process.output();
  }

  // By a connection of its own.
  std::string Invite(std::string_view body) const {
    return Web(port_).Invite(body);
  }

  static bool Says(ChildProcess& host, std::string_view text) {
    return host.AwaitText(text, kSoon);
  }

  std::string Path(std::string_view name) const { return folder_.At(name); }
  std::string Write(std::string_view name, std::string_view text,
                    mode_t mode = 0600) const {
    return folder_.Write(name, text, mode);
  }

  const test::TempFolder folder_;
  std::vector<std::unique_ptr<ChildProcess>> hosts_;
  std::uint16_t port_ = 0;
};

constexpr const char* kYes = "200 {\"ok\":true,\"players\":8}";
constexpr const char* kNo = "403 {\"ok\":false}";

TEST_F(HostAccess, ACodeLetsInFromWhenItIsMadeUntilItIsRevoked) {
  const std::string file = Path("access.db");
  ChildProcess& host = Start({"--access", file});
  EXPECT_TRUE(
      host.Await("every join will be refused: there is no code (parlor-host "
                 "invite new makes one), no --passes and no --open",
                 kSoon));
  const std::string code = Line({"invite", "new", "--access", file});
  EXPECT_THAT(code, MatchesRegex("[A-Z2-9]{4}(-[A-Z2-9]{4}){3}"));
  EXPECT_TRUE(Until([&] { return Invite(code) == kYes; }));
  EXPECT_EQ(Run({"invite", "revoke", "1", "--access", file}), "");
  EXPECT_TRUE(Until([&] { return Invite(code) == kNo; }));
  EXPECT_THAT(host.output(), Not(HasSubstr(code)));

  // One that is there at the start.
  const std::string second = Line({"invite", "new", "--access", file});
  ChildProcess& next = Start({"--access", file});
  EXPECT_EQ(Invite(second), kYes);
  EXPECT_EQ(Invite(code), kNo);
  EXPECT_FALSE(next.Find("every join will be refused").has_value());
}

TEST_F(HostAccess, APassLetsInItsDeviceUntilItIsRevoked) {
  const std::string file = Path("access.db");
  const std::string secret = Path("secret");
  EXPECT_EQ(Run({"pass", "secret", secret}), "");
  const ChildProcess& host =
      Start({"--access", file, "--passes", "--pass-secret", secret});
  EXPECT_FALSE(host.Find("every join will be refused").has_value());
  const std::string pass = Line({"pass", "new", "--access", file,
                                 "--pass-secret", secret, "--devices=1"});
  const std::string yes = "200 {\"ok\":true,\"players\":8,\"pass\":true}";
  const auto why = [](const std::string& text) {
    return "403 {\"ok\":false,\"pass\":true,\"why\":\"" + text + "\"}";
  };
  EXPECT_EQ(Invite(pass + "\n" + kAnna), yes);
  EXPECT_EQ(Invite(pass + "\n" + kOther), why("pass in use on another device"));
  EXPECT_EQ(Invite(pass + "\n" + kAnna), yes);
  EXPECT_EQ(Invite(pass + "x\n" + kAnna), why("pass not valid"));
  // The id is what the list shows first.
  const std::string list = Run({"pass", "list", "--access", file});
  const std::string id = list.substr(list.find('\n') + 1, 16);
  EXPECT_EQ(Run({"pass", "revoke", id, "--access", file}), "");
  EXPECT_TRUE(Until(
      [&] { return Invite(pass + "\n" + kAnna) == why("pass revoked"); }));
  for (const std::string& hidden : {pass, std::string(kAnna), id}) {
    EXPECT_THAT(host.output(), Not(HasSubstr(hidden)));
  }
}

// --- What cannot be written

TEST_F(HostAccess, CodesThatNobodySeesAreAFailure) {
  const std::string file = Path("access.db");
  const auto run = [&](const std::string& count, const std::string& where) {
    ChildProcess shell({"/bin/sh", "-c",
                        "\"$0\" invite new --count=\"$1\" --access \"$2\" " +
                            where + "; echo \"ended with $?\"",
                        PARLOR_HOST, count, file});
    EXPECT_EQ(shell.AwaitEnd(kSoon), 0);
    EXPECT_THAT(shell.output(),
                AllOf(HasSubstr("parlor-host: cannot write to stdout\n"),
                      HasSubstr("ended with 1\n")));
  };
  run("1", ">/dev/full");
  run("500", ">/dev/full");  // more than stdout holds back
  run("1", ">&-");
  // Nothing is to be seen of that one.
  ChildProcess shell({"/bin/sh", "-c", "exec \"$0\" \"$@\" >&-", PARLOR_HOST,
                      "invite", "revoke", "1", "--access", file});
  EXPECT_EQ(shell.AwaitEnd(kSoon), 0);
}

TEST_F(HostAccess, AFileThatMayNotGrowKeepsOutNewDevicesOnly) {
  const std::string file = Path("access.db");
  const std::string secret = Path("secret");
  EXPECT_EQ(Run({"pass", "secret", secret}), "");
  const auto make = [&] {
    return Line({"pass", "new", "--access", file, "--pass-secret", secret});
  };
  const std::string pass = make();
  ChildProcess& host = Start(
      {"--access", file, "--passes", "--pass-secret", secret}, "ulimit -f 200");
  EXPECT_THAT(Invite(pass + "\n" + kAnna), StartsWith("200 "));
  // By others, whose files may grow, beyond that.
  Run({"invite", "new", "--count=100", "--access", file});
  EXPECT_THAT(Invite(pass + "\n" + kOther), StartsWith("503 "));
  EXPECT_THAT(Invite(pass + "\n" + kAnna), StartsWith("200 "));
  EXPECT_TRUE(Says(host, "access.db: "));
}

TEST_F(HostAccess, AFileThatIsAnotherLetsNobodyInByAPass) {
  const std::string file = Path("access.db");
  const std::string secret = Path("secret");
  EXPECT_EQ(Run({"pass", "secret", secret}), "");
  ChildProcess& host =
      Start({"--access", file, "--passes", "--pass-secret", secret});
  const std::string pass = Line(
      {"pass", "new", "--access", Path("other.db"), "--pass-secret", secret});
  EXPECT_THAT(Invite(pass + "\n" + kAnna), StartsWith("200 "));
  for (const char* const end : {"", "-wal", "-shm"}) {
    std::rename((file + end).c_str(), Path(std::string("old") + end).c_str());
  }
  // It is made, where the host does not look.
  const std::string next = Line({"invite", "new", "--access", file});
  EXPECT_THAT(Invite(pass + "\n" + kAnna), StartsWith("503 "));
  EXPECT_TRUE(Says(host, "was moved, replaced or deleted while it was open"));
}

// --- SIGHUP

TEST_F(HostAccess, AChangedFileIsTakenOverWithoutDroppingAnyone) {
  const std::string config =
      Write("host.json", R"({"invite": ["CODE-OF-MAY"]})");
  ChildProcess& host = Start({"--config", config});
  Web kept(port_);
  EXPECT_EQ(kept.Invite("CODE-OF-MAY"), kYes);
  Web seated(port_);
  seated.Join("invite.CODE-OF-MAY");
  EXPECT_TRUE(seated.Hears(kLobby));

  Write("host.json", R"({"invite": ["CODE-OF-JUNE"], "hold": "3s"})");
  EXPECT_EQ(Invite("CODE-OF-JUNE"), kNo);  // nobody looks at it before
  host.Signal(SIGHUP);
  EXPECT_TRUE(
      Says(host, "read again: settings and files; changed: invite, hold"));
  EXPECT_TRUE(Until([&] { return kept.Invite("CODE-OF-JUNE") == kYes; }));
  EXPECT_EQ(kept.Invite("CODE-OF-MAY"), kNo);
  Web second(port_);
  second.Join("invite.CODE-OF-JUNE");
  EXPECT_TRUE(seated.Hears(kWelcome));
  EXPECT_THAT(host.output(), Not(HasSubstr("CODE-OF")));
}

TEST_F(HostAccess, WhatIsWrongInTheFileChangesNothing) {
  const std::string secret = Write("secret", std::string(32, 's'));
  const auto text = [&](const std::string& rest) {
    return R"({"invite": ["CODE-OF-MAY"], "access": ")" + Path("access.db") +
           R"(", "pass-secret": ")" + secret + "\"" + rest + "}";
  };
  const std::string config = Write("host.json", text(""));
  ChildProcess& host = Start({"--config", config});
  const std::string place = "warning: nothing has changed: " + config;
  const auto refused = [&](const std::string& content,
                           const std::string& reason) {
    SCOPED_TRACE(content);
    Write("host.json", content);
    host.Signal(SIGHUP);
    EXPECT_TRUE(Says(host, place + reason + "\n")) << host.output();
  };
  refused(R"({"invite": ["CODE-OF-JUNE"], "seats": 33})",
          ": \"seats\": 33 is not in 1..32");
  refused(R"({"invite": ["CODE-OF-JUNE")", ": ends too early");
  refused(R"({"invite": ["CODE-OF-JUNE", "SHORT"]})",
          ": \"invite\"[1]: a code has 10 to 64 characters");
  refused(text(R"(, "rooms": 7)"), ": \"rooms\": cannot change while it runs");
  refused(R"({"invite": ["CODE-OF-JUNE"], "access": "other.db"})",
          ": \"access\": cannot change while it runs");
  refused(text(R"(, "state": "matches")"),
          ": \"state\": cannot change while it runs");
  chmod(secret.c_str(), 0644);
  refused(text(R"(, "seats": 8)"), ": \"pass-secret\": " + secret +
                                       ": is open to other users (mode 0644): "
                                       "chmod 600 " +
                                       secret);
  std::remove(config.c_str());
  host.Signal(SIGHUP);
  EXPECT_TRUE(
      Says(host, place + ": cannot read it: No such file or directory\n"));

  EXPECT_EQ(Invite("CODE-OF-MAY"), kYes);
  EXPECT_EQ(Invite("CODE-OF-JUNE"), kNo);
  EXPECT_THAT(host.output(),
              AllOf(Not(HasSubstr("CODE-OF")), Not(HasSubstr("SHORT")),
                    Not(HasSubstr("read again"))));
  // And it still listens to the next one.
  chmod(secret.c_str(), 0600);
  Write("host.json", text(R"(, "hold": "1s")"));
  host.Signal(SIGHUP);
  EXPECT_TRUE(Says(host, "read again: settings and files; changed: hold\n"));
}

TEST_F(HostAccess, WithoutAFileTheOthersAreReadAgain) {
  const std::string secret = Write("secret", std::string(32, 's'));
  ChildProcess& host = Start(
      {"--access", Path("access.db"), "--passes", "--pass-secret", secret});
  const std::string pass = Line(
      {"pass", "new", "--access", Path("access.db"), "--pass-secret", secret});
  const std::string lines = pass + "\n" + kAnna;
  EXPECT_THAT(Invite(lines), StartsWith("200 "));
  Write("secret", std::string(32, 't'));
  host.Signal(SIGHUP);
  EXPECT_TRUE(Says(host, "info: read again: settings and files\n"));
  EXPECT_TRUE(Until([&] {
    return Invite(lines).find("pass not valid") != std::string::npos;
  }));
}

// Signals that come while it ends are either an end or nothing.
TEST_F(HostAccess, WhileItEndsNothingIsReadAgain) {
  const std::string config =
      Write("host.json", R"({"invite": ["CODE-OF-MAY"]})");
  ChildProcess& host = Start({"--config", config, "--drain=80s"});
  Web seated(port_);
  seated.Join("invite.CODE-OF-MAY");
  host.Signal(SIGTERM);
  EXPECT_TRUE(Says(host, "told to end"));
  Write("host.json", "{");
  host.Signal(SIGHUP);
  EXPECT_TRUE(Says(host, "info: not read again: it is about to end\n"));
  host.Signal(SIGHUP);
  EXPECT_TRUE(seated.Hears(kLobby));  // as it was
  EXPECT_EQ(host.AwaitEnd(seconds(0)), std::nullopt);
  host.Signal(SIGTERM);
  EXPECT_EQ(host.AwaitEnd(kSoon), -SIGTERM);
}

// --- The start

TEST_F(HostAccess, PassesWithoutASecretStartNothing) {
  const std::string file = Path("access.db");
  EXPECT_THAT(Refusal({"--passes", "--access", file}),
              StartsWith("parlor-host: --passes: needs --pass-secret FILE; "));
  const std::string open = Write("secret", std::string(32, 's'), 0644);
  EXPECT_EQ(Refusal({"--passes", "--access", file, "--pass-secret", open}),
            "parlor-host: --pass-secret: " + open +
                ": is open to other users (mode 0644): chmod 600 " + open +
                "\n");
  EXPECT_NE(access(file.c_str(), F_OK), 0);
}

TEST_F(HostAccess, AFileThatIsNoneStartsNothing) {
  const std::string notes = Write("notes.txt", "buy milk, and a great deal\n");
  EXPECT_THAT(Refusal({"--access", notes}),
              StartsWith("parlor-host: --access: " + notes + ": "));
}

TEST_F(HostAccess, CodesThatOthersMayReadAreInTheLog) {
  const std::string config =
      Write("host.json", R"({"invite": ["CODE-OF-MAY"]})", 0644);
  ChildProcess& host = Start({"--config", config});
  EXPECT_TRUE(Says(host, "warning: " + config +
                             " holds invite codes, and other users may read "
                             "it: chmod 600 " +
                             config + "\n"));
}

TEST_F(HostAccess, MatchesThatWereKeptAreTakenBack) {
  const std::vector<std::string> words = {"--open", "--state", Path("matches")};
  ChildProcess& host = Start(words);
  Web first(port_);
  Web second(port_);
  first.Join("invite.ANYTHING-AT-ALL");
  second.Join("invite.ANYTHING-AT-ALL");
  EXPECT_TRUE(first.Hears(kWelcome));
  host.Signal(SIGKILL);
  EXPECT_EQ(host.AwaitEnd(kSoon), -SIGKILL);
  EXPECT_TRUE(Says(Start(words), "info: 1 match with 2 seats taken back\n"));
}

}  // namespace
}  // namespace parlor
