// 'parlor-host invite' and 'parlor-host pass': what they print, what the file
// holds then, and what they refuse.
#include "program/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "logic/access_codes.h"
#include "logic/pass.h"
#include "parlor/entropy.h"
#include "parlor/limits.h"
#include "storage/access_database.h"
#include "support/files.h"
#include "support/temp_folder.h"

namespace parlor::host_program {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t kNow = 1'796'047'500;  // 2026-11-30 14:05 UTC
constexpr std::int64_t kDay = 86'400;
constexpr const char* kCodeLine =
    "[A-HJKMNP-Z2-9]{4}(-[A-HJKMNP-Z2-9]{4}){3}\n";

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class HostCommands : public ::testing::Test {
 protected:
  Exit Run(std::vector<std::string> words) {
    std::vector<const char*> argv = {"parlor-host"};
    for (const std::string& word : words) argv.push_back(word.data());
    const int argc = static_cast<int>(argv.size());
    EXPECT_TRUE(IsCommand(argc, argv.data()));
    return RunCommand(argc, argv.data(), now_s_, entropy_);
  }
  // With the file of this test.
  Exit RunHere(std::vector<std::string> words) {
    words.insert(words.end(), {"--access", path_});
    return Run(std::move(words));
  }
  // stdout of one that succeeds.
  std::string Done(std::vector<std::string> words) {
    const Exit exit = RunHere(std::move(words));
    EXPECT_EQ(exit.code, kExitOk) << exit.err;
    return exit.out;
  }
  std::string Failed(int code, std::vector<std::string> words) {
    const Exit exit = Run(std::move(words));
    EXPECT_EQ(exit.code, code);
    EXPECT_EQ(exit.out, "");
    EXPECT_EQ(std::count(exit.err.begin(), exit.err.end(), '\n'), 1);
    return exit.err.substr(0, exit.err.size() - 1);
  }

  std::unique_ptr<host::AccessDatabase> Database() const {
    auto database = host::AccessDatabase::Open(path_);
    EXPECT_TRUE(database.ok()) << database.status();
    return *std::move(database);
  }
  bool LetsIn(const std::string& code) const {
    const auto hashes = Database()->CodeHashes();
    return std::count(hashes->begin(), hashes->end(), host::HashCode(code)) > 0;
  }
  std::string Secret() const { return folder_.Write("secret", secret_ + "\n"); }

  const test::TempFolder folder_;
  const std::string path_ = folder_.At("access.db");
  const std::string secret_ = std::string(40, 's');
  std::int64_t now_s_ = kNow;
  SeededEntropy entropy_{5};
};

// --- Codes

TEST_F(HostCommands, ACodeIsPrintedOnceAndLetsIn) {
  const Exit exit = RunHere({"invite", "new", "--for", "Anna"});
  EXPECT_EQ(exit.code, kExitOk);
  EXPECT_THAT(exit.out, MatchesRegex(kCodeLine));
  EXPECT_EQ(exit.err,
            "parlor-host: code 1, for Anna. This is the only time that it is "
            "shown. A running host takes it within a second.\n");
  const std::string code = exit.out.substr(0, exit.out.size() - 1);
  EXPECT_TRUE(LetsIn(code));
  EXPECT_EQ(Database()->Codes()->at(0).made_s, kNow);
  // Neither the list nor any file beside it has it.
  EXPECT_THAT(Done({"invite", "list"}), Not(HasSubstr(code)));
  for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_THAT(test::ReadFile(file.path()), Not(HasSubstr(code)));
    EXPECT_THAT(test::ReadFile(file.path()), Not(HasSubstr(code.substr(0, 9))));
  }
}

TEST_F(HostCommands, ManyCodesAreManyLines) {
  const Exit exit = RunHere({"invite", "new", "--count=40"});
  EXPECT_THAT(exit.err, StartsWith("parlor-host: codes 1 to 40. "));
  const std::vector<std::string> codes = Lines(exit.out);
  EXPECT_EQ(std::set<std::string>(codes.begin(), codes.end()).size(), 40u);
  std::set<char> used;
  for (const std::string& code : codes) {
    EXPECT_THAT(code + "\n", MatchesRegex(kCodeLine));
    EXPECT_TRUE(LetsIn(code));
    used.insert(code.begin(), code.end());
  }
  EXPECT_EQ(used.size(), 31u + 1u);  // each digit, and the dash
}

// Of 32 values one belongs to no digit: it is passed over, and not folded onto
// another, which would come twice as often.
TEST_F(HostCommands, CodesAreDrawnEvenly) {
  class Counting final : public Entropy {
   public:
    void Fill(std::span<std::byte> out) override {
      for (std::byte& byte : out) byte = static_cast<std::byte>(next_++);
    }
    unsigned next_ = 60;
  };
  Counting entropy;
  const char* argv[] = {"parlor-host", "invite", "new", "--access",
                        path_.c_str()};
  EXPECT_EQ(RunCommand(5, argv, kNow, entropy).out, "789A-BCDE-FGHJ-KMNP\n");
}

TEST_F(HostCommands, CodesAreListedWithoutThem) {
  Done({"invite", "new", "--for", "Anna and Jos\xc3\xa9"});
  now_s_ += 3'600;
  Done({"invite", "new"});
  Done({"invite", "revoke", "1"});
  EXPECT_EQ(
      Done({"invite", "list"}),
      "ID  MADE (UTC)        STATE                     FOR\n"
      "1   2026-11-30 14:05  revoked 2026-11-30 15:05  Anna and Jos\xc3\xa9\n"
      "2   2026-11-30 15:05  lets in\n");
}

TEST_F(HostCommands, ARevokedCodeIsOut) {
  const std::vector<std::string> codes =
      Lines(Done({"invite", "new", "--count", "2"}));
  const Exit exit = RunHere({"invite", "revoke", "1"});
  EXPECT_EQ(exit.code, kExitOk);
  EXPECT_EQ(exit.out, "");
  EXPECT_EQ(exit.err,
            "parlor-host: code 1 is revoked. A running host refuses it within "
            "a second; whoever is in a match stays until it ends.\n");
  EXPECT_FALSE(LetsIn(codes[0]));
  EXPECT_TRUE(LetsIn(codes[1]));
  Done({"invite", "revoke", "1"});  // is as it should be
  EXPECT_EQ(Failed(kExitFailed, {"invite", "revoke", "3", "--access", path_}),
            "parlor-host: there is no code 3 in " + path_ +
                "; 'parlor-host invite list' shows those there are");
  EXPECT_TRUE(LetsIn(codes[1]));
}

// A generator that repeats itself makes one code, and no second.
TEST_F(HostCommands, WhatWasMadeIsPrintedThoughMoreFails) {
  class Broken final : public Entropy {
   public:
    void Fill(std::span<std::byte> out) override {
      std::fill(out.begin(), out.end(), std::byte{1});
    }
  };
  Broken entropy;
  const char* argv[] = {"parlor-host", "invite",   "new",
                        "--count=3",   "--access", path_.c_str()};
  const Exit exit = RunCommand(6, argv, kNow, entropy);
  EXPECT_EQ(exit.code, kExitFailed);
  EXPECT_EQ(exit.out, "BBBB-BBBB-BBBB-BBBB\n");
  EXPECT_TRUE(LetsIn("BBBB-BBBB-BBBB-BBBB"));
  EXPECT_THAT(exit.err, StartsWith("parlor-host: code 1. "));
  EXPECT_EQ(Lines(exit.err).size(), 2u);
  EXPECT_THAT(exit.err, Not(HasSubstr("BBBB")));
}

// --- Passes

TEST_F(HostCommands, APassIsSignedAndListed) {
  const Exit exit = RunHere({"pass", "new", "--for", "Bo", "--days", "7",
                             "--devices=1", "--pass-secret", Secret()});
  ASSERT_EQ(exit.code, kExitOk) << exit.err;
  const auto pass =
      host::ReadPass(exit.out.substr(0, exit.out.size() - 1), secret_);
  ASSERT_TRUE(pass.has_value());
  EXPECT_EQ(pass->expires_s, kNow + 7 * kDay);
  EXPECT_EQ(pass->devices, 1);
  const std::string id = exit.err.substr(18, 16);
  EXPECT_EQ(exit.err,
            "parlor-host: pass " + id +
                ", for Bo, until 2026-12-07 14:05 UTC, for 1 device. This is "
                "the only time that it is shown. A host with --passes, this "
                "secret and this file takes it at once.\n");
  EXPECT_EQ(std::stoull(id, nullptr, 16), pass->id);
  EXPECT_EQ(Done({"pass", "list"}),
            "ID                MADE (UTC)        UNTIL (UTC)       DEVICES  "
            "STATE    FOR\n" +
                id +
                "  2026-11-30 14:05  2026-12-07 14:05  0 of 1   lets in  Bo\n");
  now_s_ += 7 * kDay;
  EXPECT_THAT(Done({"pass", "list"}), HasSubstr("  expired  Bo\n"));
}

TEST_F(HostCommands, PassesAreAsLongAsTheHostLetsThem) {
  const auto made = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"pass", "new", "--pass-secret=" + Secret()});
    const std::string out = Done(std::move(more));
    return host::ReadPass(out.substr(0, out.size() - 1), secret_).value();
  };
  EXPECT_EQ(made({}).expires_s, kNow + limits::kPassDays.fallback * kDay);
  EXPECT_EQ(made({}).devices, limits::kPassDevices.fallback);
  EXPECT_NE(made({}).id, made({}).id);
  const auto longest = made({"--pass-days=400", "--pass-devices=16"});
  EXPECT_EQ(longest.expires_s, kNow + 400 * kDay);
  EXPECT_EQ(longest.devices, 16);

  const auto refused = [&](const std::string& flag, const std::string& more) {
    return Failed(kExitRefused, {"pass", "new", "--access", path_,
                                 "--pass-secret", Secret(), flag, more});
  };
  EXPECT_EQ(refused("--days", "31"),
            "parlor-host: --days: 31 is not in 1..30 (--pass-days)");
  EXPECT_EQ(refused("--days", "0"),
            "parlor-host: --days: 0 is not in 1..30 (--pass-days)");
  EXPECT_EQ(refused("--devices", "3"),
            "parlor-host: --devices: 3 is not in 1..2 (--pass-devices)");
  EXPECT_EQ(refused("--pass-days", "401"),
            "parlor-host: --pass-days: 401 is not in 1..400");
  const std::string config = folder_.Write("host.json", R"({"pass-days": 5})");
  EXPECT_EQ(
      Failed(kExitRefused, {"pass", "new", "--config", config, "--days", "6"}),
      "parlor-host: --days: 6 is not in 1..5 (" + config + ": \"pass-days\")");
}

TEST_F(HostCommands, ARevokedPassIsRefused) {
  Done({"pass", "new", "--pass-secret", Secret()});
  const std::uint64_t id = Database()->Passes()->at(0).id;
  const host::PassUse use{.pass = id,
                          .device = host::HashDevice(id, "0123456789abcdef"),
                          .devices_max = 2,
                          .expires_s = kNow + 30 * kDay};
  EXPECT_EQ(*Database()->UsePass(use, kNow), host::PassAnswer::kLetIn);
  const std::string shown = Lines(Done({"pass", "list"})).at(1).substr(0, 16);
  const Exit exit = RunHere({"pass", "revoke", shown});
  EXPECT_EQ(exit.code, kExitOk);
  EXPECT_THAT(exit.err,
              StartsWith("parlor-host: pass " + shown + " is revoked. "));
  EXPECT_EQ(*Database()->UsePass(use, kNow), host::PassAnswer::kRevoked);
  EXPECT_THAT(Done({"pass", "list"}),
              HasSubstr("1 of 2   revoked 2026-11-30 14:05\n"));
}

// Made elsewhere, with the same secret: refused for as long as it might last.
TEST_F(HostCommands, APassOfAnotherFileIsRevokedToo) {
  Done({"invite", "new"});
  const Exit exit = RunHere({"pass", "revoke", "00Ab456789abcdef"});
  EXPECT_EQ(exit.code, kExitOk);
  EXPECT_THAT(exit.err, StartsWith("parlor-host: pass 00ab456789abcdef, which "
                                   "was not made with this file, is revoked."));
  const host::PassUse use{.pass = 0x00ab'4567'89ab'cdef,
                          .devices_max = 2,
                          .expires_s = kNow + 400 * kDay};
  EXPECT_EQ(*Database()->UsePass(use, kNow), host::PassAnswer::kRevoked);
  EXPECT_EQ(*Database()->UsePass(use, kNow + 400 * kDay - 1),
            host::PassAnswer::kRevoked);
}

TEST_F(HostCommands, ASecretIsMadeOnce) {
  const std::string path = folder_.At("fresh");
  const mode_t mask = umask(0777);
  const Exit exit = Run({"pass", "secret", path});
  umask(mask);
  EXPECT_EQ(exit.code, kExitOk) << exit.err;
  EXPECT_EQ(exit.out, "");
  EXPECT_EQ(exit.err, "parlor-host: made " + path +
                          ": who can read it can make passes. Name it in "
                          "--pass-secret.\n");
  EXPECT_EQ(test::ModeOf(path), 0600u);
  const std::string secret = test::ReadFile(path);
  EXPECT_THAT(secret, MatchesRegex("[0-9a-f]{64}\n"));

  EXPECT_EQ(Failed(kExitRefused, {"pass", "secret", path}),
            "parlor-host: " + path +
                ": is there already, and stays: without it, all passes that "
                "were signed with it would end");
  EXPECT_EQ(test::ReadFile(path), secret);
  EXPECT_EQ(Run({"pass", "secret", path + "2"}).code, kExitOk);
  EXPECT_NE(test::ReadFile(path + "2"), secret);
  // Passes are signed with its text.
  const std::string pass = Done({"pass", "new", "--pass-secret", path});
  EXPECT_TRUE(
      host::ReadPass(pass.substr(0, pass.size() - 1), secret.substr(0, 64)));
  EXPECT_EQ(Failed(kExitFailed, {"pass", "secret", "/no/such/secret"}),
            "parlor-host: /no/such/secret: cannot make it: No such file or "
            "directory");
}

TEST_F(HostCommands, TheConfigurationSaysWhere) {
  const std::string config =
      folder_.Write("host.json", R"({"passes": true, "seats": 4, "access": ")" +
                                     path_ + R"(", "pass-secret": ")" +
                                     Secret() + R"(", "pass-days": 3})");
  EXPECT_EQ(Run({"invite", "new", "--config", config}).code, kExitOk);
  EXPECT_EQ(Run({"pass", "new", "--config", config}).code, kExitOk);
  EXPECT_EQ(Database()->Passes()->at(0).expires_s, kNow + 3 * kDay);
  EXPECT_THAT(Run({"invite", "list", "--config", config}).out,
              HasSubstr("lets in"));
  // A flag wins.
  EXPECT_EQ(Run({"invite", "new", "--config", config, "--access",
                 folder_.At("other.db")})
                .code,
            kExitOk);
  EXPECT_EQ(Database()->Codes()->size(), 1u);
  // A mistake in it is one, wherever it is.
  const std::string bad =
      folder_.Write("bad.json", R"({"seats": 33, "access": ")" + path_ + "\"}");
  EXPECT_EQ(Failed(kExitRefused, {"invite", "list", "--config", bad}),
            "parlor-host: " + bad + ": \"seats\": 33 is not in 1..32");
}

// --- What is refused

struct Bad {
  const char* name;
  std::vector<std::string> words;
  std::string text;  // behind "parlor-host: "
};

void PrintTo(const Bad& row, std::ostream* out) { *out << row.name; }

class BadCommand : public HostCommands,
                   public ::testing::WithParamInterface<Bad> {};

TEST_P(BadCommand, IsOneLineAndChangesNothing) {
  EXPECT_EQ(Failed(kExitRefused, GetParam().words),
            "parlor-host: " + GetParam().text);
}

constexpr const char* kNoAccess =
    "needs --access FILE, the host's own, or --config FILE with \"access\" in "
    "it";

INSTANTIATE_TEST_SUITE_P(
    Rows, BadCommand,
    ::testing::Values(
        Bad{"NoVerb",
            {"invite"},
            "invite: new, list or revoke (--help says more)"},
        Bad{"OtherVerb",
            {"pass", "add"},
            "pass: new, list, revoke or secret (--help says more)"},
        Bad{"FlagFirst",
            {"invite", "--access", "x", "new"},
            "invite: new, list or revoke (--help says more)"},
        Bad{"NoAccess", {"invite", "new"}, kNoAccess},
        Bad{"NoAccessList", {"pass", "list"}, kNoAccess},
        Bad{"NoFileList",
            {"invite", "list", "--access", "/no/such.db"},
            "--access: /no/such.db: cannot read it: No such file or "
            "directory; the host makes it, or 'parlor-host invite new'"},
        Bad{"NoFileRevoke",
            {"pass", "revoke", "0123456789abcdef", "--access", "/no/such.db"},
            "--access: /no/such.db: cannot read it: No such file or "
            "directory; the host makes it, or 'parlor-host invite new'"},
        Bad{"NoSecret",
            {"pass", "new", "--access", "/no/such.db"},
            "needs --pass-secret FILE, the host's own, or --config FILE with "
            "\"pass-secret\" in it"},
        Bad{"SecretMissing",
            {"pass", "new", "--access", "/no/such.db", "--pass-secret", "/no"},
            "--pass-secret: /no: cannot read it: No such file or directory; "
            "'parlor-host pass secret FILE' makes one"},
        Bad{"CountNone",
            {"invite", "new", "--count", "0"},
            "--count: 0 is not in 1..4096"},
        Bad{"CountAbove",
            {"invite", "new", "--count", "4097"},
            "--count: 4097 is not in 1..4096"},
        Bad{"CountTwice",
            {"invite", "new", "--count", "1", "--count", "1"},
            "--count: is there twice"},
        Bad{"CountWord",
            {"invite", "new", "--count", "two"},
            "--count: two is not a whole number"},
        Bad{"ForNothing", {"invite", "new", "--for="}, "--for: has no value"},
        Bad{"Config",
            {"invite", "new", "--config", "/no/such"},
            "/no/such: cannot read it: No such file or directory"},
        Bad{"OtherFlag",
            {"invite", "list", "--for", "x"},
            "--for: there is no such flag"},
        Bad{"HostsFlag",
            {"invite", "list", "--open"},
            "--open: there is no such flag"},
        Bad{"NoId", {"invite", "revoke"}, "ID is required"},
        Bad{"NoFile", {"pass", "secret"}, "FILE is required"}),
    [](const auto& row) { return row.param.name; });

TEST_F(HostCommands, ALabelHasItsRules) {
  EXPECT_THAT(Failed(kExitRefused,
                     {"invite", "new", "--access", path_, "--for", "a\x1b[2J"}),
              StartsWith("parlor-host: --for: "));
  EXPECT_THAT(
      Failed(kExitRefused, {"pass", "new", "--pass-secret", Secret(),
                            "--access", path_, "--for", std::string(65, 'x')}),
      StartsWith("parlor-host: --for: "));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// Where a number belongs, a code or a pass may have been pasted.
TEST_F(HostCommands, WhatWentAstrayIsNotShown) {
  Done({"invite", "new"});
  const std::string lost = "LOST-CODE-7777";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"invite", "revoke", lost},
        {"pass", "revoke", lost},
        {"invite", "revoke", "1", lost},
        {"invite", "list", lost},
        {"invite", lost},
        {"invite", "revoke", "1", "-" + lost},
        {"invite", "revoke", "1", "--code=" + lost},
        {"invite", "revoke", "0"},
        {"invite", "revoke", "1x"},
        {"invite", "revoke", "99999999999999999999"},
        {"pass", "revoke", "0123456789abcde"},
        {"pass", "revoke", "0123456789abcdeg"},
        {"pass", "revoke", "0x23456789abcdef"},
        {"pass", "revoke", "+123456789abcdef"}}) {
    auto here = words;
    here.insert(here.end(), {"--access", path_});
    EXPECT_THAT(Failed(kExitRefused, here), Not(HasSubstr("7777")));
  }
  EXPECT_THAT(Done({"invite", "list"}), Not(HasSubstr("revoked")));
}

TEST_F(HostCommands, AFileThatIsNoneStaysAsItIs) {
  const std::string path = folder_.Write("notes.txt", "buy milk\n");
  for (const char* verb : {"new", "list"}) {
    EXPECT_THAT(Failed(kExitRefused, {"invite", verb, "--access", path}),
                StartsWith("parlor-host: " + path + ": "));
  }
  EXPECT_EQ(test::ReadFile(path), "buy milk\n");
}

TEST_F(HostCommands, HelpNamesEachFlag) {
  const auto help = [&](std::vector<std::string> words) {
    words.emplace_back("--help");
    const Exit exit = Run(std::move(words));
    EXPECT_EQ(exit.code, kExitOk);
    EXPECT_EQ(exit.err, "");
    return exit.out;
  };
  for (const char* verb : {"  new ", "  list ", "  revoke "}) {
    EXPECT_THAT(help({"invite"}), HasSubstr(verb));
    EXPECT_THAT(help({"pass"}), HasSubstr(verb));
  }
  for (const char* flag : {"--for NAME ", "--days N ", "--devices N ",
                           "--access FILE ", "--pass-secret FILE ",
                           "--pass-days N ", "--config FILE ", "Exit codes"}) {
    EXPECT_THAT(help({"pass", "new"}), HasSubstr(flag));
  }
  EXPECT_THAT(help({"invite", "new"}), HasSubstr("--count N "));
  EXPECT_THAT(help({"invite", "revoke"}), HasSubstr("ID"));
  EXPECT_THAT(help({"pass", "secret"}), Not(HasSubstr("--config")));
}

TEST(Commands, AreTheFirstWordOnly) {
  const char* flags[] = {"parlor-host", "--port", "invite"};
  EXPECT_FALSE(IsCommand(3, flags));
  EXPECT_FALSE(IsCommand(1, flags));
  const char* command[] = {"parlor-host", "invite"};
  EXPECT_TRUE(IsCommand(2, command));
}

}  // namespace
}  // namespace parlor::host_program
