// Who is let in, and that nothing is looked at before its turn. Time is
// virtual.
#include "logic/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logic/access_codes.h"
#include "logic/pass.h"
#include "parlor/connector.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "parlor/transports/request.h"
#include "support/counting_allocator.h"

namespace parlor::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kCode = "Summer-Cabin-7";
constexpr std::string_view kOther = "winter.house.9";
constexpr std::string_view kPage = "https://play.example";

// A code, an origin and rates that are quick to exhaust.
GateOptions Closed() {
  GateOptions options;
  options.codes = {std::string(kOther), " " + std::string(kCode) + "\n"};
  options.origins = {"HTTPS://Play.Example:443", "http://localhost:8080"};
  options.joins_per_minute = 12;
  return options;
}

class GateTest : public testing::Test {
 protected:
  GateTest() { Make(Closed()); }

  void Make(const GateOptions& options, std::string base = {}) {
    gate_.emplace(options,
                  GateRooms{.rooms = 10, .seats = 8, .base_path = base},
                  [this] { return wall_s_; });
  }

  static Request Join(std::string access,
                      std::string target = "/room/3?players=2") {
    Request request{.target = std::move(target), .protocols = {"fizlet-rooms"}};
    if (!access.empty()) request.protocols.push_back(std::move(access));
    return request;
  }
  static Request Invited() { return Join("invite." + std::string(kCode)); }
  static Request Stranger() { return Join("invite.not-the-code"); }

  // Both steps, as a front takes them.
  Refusal Ask(const Request& request) { return Ask(request, from_); }
  Refusal Ask(const Request& request, const Address& from) {
    const Refusal refusal = gate_->CheckPath(request);
    if (refusal.status != 0) return refusal;
    const Gate::JoinAnswer answer =
        gate_->CheckJoin(now_, request, from, &hello_);
    ask_ = answer.ask;
    return answer.refusal;
  }
  int Status(const Request& request) { return Ask(request).status; }

  Gate::InviteAnswer Invite(std::string_view body) {
    return gate_->CheckInvite(now_, body, std::nullopt, from_);
  }

  TimePoint now_{seconds(100)};
  std::int64_t wall_s_ = 1'800'000'000;
  const Address from_ = Address::Parse("192.0.2.1").value();
  const Address other_ = Address::Parse("192.0.2.2").value();
  std::optional<Gate> gate_;
  Hello hello_;
  std::optional<PassUse> ask_;  // what Ask was answered
};

TEST_F(GateTest, SaysWhatIsWanted) {
  Request request = Invited();
  request.target = "/room/9?x=1&players=8&y";
  request.protocols.insert(request.protocols.begin(), "resume.00ff");
  EXPECT_EQ(Status(request), 0);
  EXPECT_EQ(hello_.room, 9u);
  EXPECT_EQ(hello_.players, 8);
  EXPECT_EQ(hello_.resume, "00ff");
  EXPECT_EQ(hello_.access, "invite." + std::string(kCode));
}

TEST_F(GateTest, SaysNothingOfWhomItRefuses) {
  hello_ = {.room = 5, .players = 5};
  EXPECT_EQ(Status(Stranger()), 403);
  EXPECT_EQ(Status(Join("", "/room/3?players=9")), 400);
  EXPECT_EQ(hello_.room, 5u);
  EXPECT_EQ(hello_.players, 5);
}

// What is wrong with a request for a room, in the order in which a gate looks.
enum Wrong : int {
  kDraining,
  kPath,
  kPlayers,
  kProtocol,
  kOrigin,
  kRate,
  kAccess,
  kNothing,
};

struct OrderRow {
  const char* name;
  Wrong first;
  int status;
};

class GateOrderTest : public GateTest,
                      public testing::WithParamInterface<OrderRow> {
 protected:
  // The status of a request that is wrong in all from `first` to `last`.
  int Try(Wrong first, Wrong last) {
    const auto wrong = [&](Wrong what) {
      return what >= first && what <= last;
    };
    if (wrong(kRate)) {
      for (int i = 0; i < 12; ++i) EXPECT_EQ(Status(Invited()), 0);
    }
    if (wrong(kDraining)) gate_->Drain();
    Request request = wrong(kAccess) ? Stranger() : Invited();
    if (wrong(kProtocol)) request.protocols.erase(request.protocols.begin());
    if (wrong(kOrigin)) request.origin = "https://evil.example";
    request.target = std::string(wrong(kPath) ? "/room/10" : "/room/9") +
                     (wrong(kPlayers) ? "?players=9" : "?players=8");
    return Status(request);
  }
};

TEST_P(GateOrderTest, TheFirstThatIsWrongAnswers) {
  EXPECT_EQ(Try(GetParam().first, kAccess), GetParam().status);
}

TEST_P(GateOrderTest, AloneAsWell) {
  EXPECT_EQ(Try(GetParam().first, GetParam().first), GetParam().status);
}

INSTANTIATE_TEST_SUITE_P(Order, GateOrderTest,
                         testing::Values(OrderRow{"Draining", kDraining, 503},
                                         OrderRow{"Path", kPath, 404},
                                         OrderRow{"Players", kPlayers, 400},
                                         OrderRow{"Protocol", kProtocol, 400},
                                         OrderRow{"Origin", kOrigin, 403},
                                         OrderRow{"Rate", kRate, 429},
                                         OrderRow{"Access", kAccess, 403},
                                         OrderRow{"Nothing", kNothing, 0}),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

// Statuses 403 and 400 each stand for two rows above: what was counted tells
// which of the two it was.
TEST_F(GateTest, CountsNothingBeforeTheRate) {
  Request wrong = Stranger();
  wrong.origin = "https://evil.example";
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Status(wrong), 403);
    EXPECT_EQ(Status(Join("invite.x", "/room/3?players=0")), 400);
    EXPECT_EQ(Status(Join("invite.x", "/room/10?players=2")), 404);
    EXPECT_EQ(Status({.target = "/room/3?players=2"}), 400);
  }
  for (int i = 0; i < 12; ++i) EXPECT_EQ(Status(Invited()), 0);
  EXPECT_EQ(Status(Invited()), 429);
  // An exhausted rate is behind the origin.
  EXPECT_EQ(Status(wrong), 403);
}

struct TargetRow {
  const char* name;
  std::string_view base;
  std::string_view target;
  int status;
};

class GateTargetTest : public GateTest,
                       public testing::WithParamInterface<TargetRow> {};

TEST_P(GateTargetTest, Answers) {
  Make(Closed(), std::string(GetParam().base));
  EXPECT_EQ(Status(Join("invite." + std::string(kCode),
                        std::string(GetParam().target))),
            GetParam().status);
}

INSTANTIATE_TEST_SUITE_P(
    Targets, GateTargetTest,
    testing::Values(
        TargetRow{"First", "", "/room/0?players=1", 0},
        TargetRow{"Last", "", "/room/9?players=8", 0},
        TargetRow{"Beyond", "", "/room/10?players=8", 404},
        TargetRow{"FarBeyond", "", "/room/4294967295?players=1", 404},
        TargetRow{"NoNumber", "", "/room/4294967296?players=1", 404},
        TargetRow{"Negative", "", "/room/-1?players=1", 404},
        TargetRow{"Padded", "", "/room/01?players=1", 404},
        TargetRow{"Empty", "", "", 404}, TargetRow{"Root", "", "/", 404},
        TargetRow{"Other", "", "/rooms/1?players=1", 404},
        TargetRow{"Below", "", "/room/1/?players=1", 404},
        TargetRow{"NoPlayers", "", "/room/1", 400},
        TargetRow{"PlayersTwice", "", "/room/1?players=1&players=1", 400},
        TargetRow{"ZeroPlayers", "", "/room/1?players=0", 400},
        TargetRow{"TooManyPlayers", "", "/room/1?players=9", 400},
        TargetRow{"HugePlayers", "", "/room/1?players=4294967297", 400},
        TargetRow{"WordPlayers", "", "/room/1?players=two", 400},
        TargetRow{"Base", "/games", "/games/room/1?players=1", 0},
        TargetRow{"BaseMissing", "/games", "/room/1?players=1", 404},
        TargetRow{"BaseOnly", "", "/games/room/1?players=1", 404}),
    [](const auto& row) { return std::string(row.param.name); });

struct OriginRow {
  const char* name;
  std::optional<std::string> origin;
  bool listed;  // with the list of Closed()
};

class GateOriginTest : public GateTest,
                       public testing::WithParamInterface<OriginRow> {};

TEST_P(GateOriginTest, AgainstAList) {
  Request request = Invited();
  request.origin = GetParam().origin;
  EXPECT_EQ(Status(request), GetParam().listed ? 0 : 403);

  const Gate::InviteAnswer answer =
      gate_->CheckInvite(now_, kCode, GetParam().origin, from_);
  EXPECT_EQ(answer.status, GetParam().listed ? 200 : 403);
  EXPECT_EQ(answer.allow_origin,
            GetParam().listed ? GetParam().origin.value_or("") : "");
}

TEST_P(GateOriginTest, WithoutAListEveryPageMay) {
  GateOptions options = Closed();
  options.origins.clear();
  Make(options);
  Request request = Invited();
  request.origin = GetParam().origin;
  EXPECT_EQ(Status(request), 0);
  const Gate::InviteAnswer answer =
      gate_->CheckInvite(now_, kCode, GetParam().origin, from_);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.allow_origin, GetParam().origin.value_or(""));
}

INSTANTIATE_TEST_SUITE_P(
    Origins, GateOriginTest,
    testing::Values(OriginRow{"None", std::nullopt, true},
                    OriginRow{"Listed", "https://play.example", true},
                    OriginRow{"ListedToo", "http://localhost:8080", true},
                    OriginRow{"OtherScheme", "http://play.example", false},
                    OriginRow{"OtherPort", "https://play.example:8443", false},
                    OriginRow{"OtherLocalPort", "http://localhost:8081", false},
                    OriginRow{"NoPort", "http://localhost", false},
                    OriginRow{"Longer", "https://play.example.evil.example",
                              false},
                    OriginRow{"Subdomain", "https://www.play.example", false},
                    OriginRow{"Slash", "https://play.example/", false},
                    // No browser writes so: who does is no browser.
                    OriginRow{"UpperCase", "https://PLAY.example", false},
                    OriginRow{"DefaultPort", "https://play.example:443", false},
                    OriginRow{"Null", "null", false},
                    OriginRow{"Empty", "", false}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(GateTest, SaysAgainOnlyWhatAHeaderMayHold) {
  Make({.open = true});
  for (const std::string_view origin :
       {"a\r\nSet-Cookie: x", "https://\xc3\xa4", "a b", "a\tb", "\x7f"}) {
    EXPECT_EQ(gate_->CheckInvite(now_, "", origin, from_).allow_origin, "");
  }
}

struct AccessRow {
  const char* name;
  std::vector<std::string> protocols;  // next to fizlet-rooms
  int closed;                          // the status with codes,
  int open;                            // and when open
};

class GateAccessTest : public GateTest,
                       public testing::WithParamInterface<AccessRow> {
 protected:
  Request Row() const {
    Request request = Join("");
    request.protocols.insert(request.protocols.end(),
                             GetParam().protocols.begin(),
                             GetParam().protocols.end());
    return request;
  }
};

TEST_P(GateAccessTest, WithCodes) {
  EXPECT_EQ(Status(Row()), GetParam().closed);
}

TEST_P(GateAccessTest, Open) {
  Make({.open = true});
  EXPECT_EQ(Status(Row()), GetParam().open);
}

// Neither codes nor open: nobody was invited.
TEST_P(GateAccessTest, WithNeither) {
  Make({});
  EXPECT_EQ(Status(Row()), GetParam().open == 0 ? 403 : GetParam().open);
}

INSTANTIATE_TEST_SUITE_P(
    Access, GateAccessTest,
    testing::Values(
        AccessRow{"Code", {"invite.Summer-Cabin-7"}, 0, 0},
        AccessRow{"AnyCase", {"invite.sUMMER-cABIN-7"}, 0, 0},
        AccessRow{"AnotherCode", {"invite.winter.house.9"}, 0, 0},
        AccessRow{"NoCode", {}, 403, 0},
        AccessRow{"EmptyCode", {"invite."}, 403, 0},
        AccessRow{"Shorter", {"invite.Summer-Cabin-"}, 403, 0},
        AccessRow{"Longer", {"invite.Summer-Cabin-77"}, 403, 0},
        AccessRow{"PrefixInUpperCase", {"Invite.Summer-Cabin-7"}, 403, 0},
        AccessRow{"PrefixTwice", {"invite.invite.Summer-Cabin-7"}, 403, 0},
        AccessRow{"NoPrefix", {"Summer-Cabin-7"}, 403, 0},
        AccessRow{"CodeAsPass", {"pass.Summer-Cabin-7"}, 403, 0},
        AccessRow{"Pass", {"pass.abc.def", "device.0123456789abcdef"}, 403, 0},
        AccessRow{"CodeAndPass", {"invite.Summer-Cabin-7", "pass.a"}, 400, 400},
        AccessRow{"TwoCodes",
                  {"invite.Summer-Cabin-7", "invite.Summer-Cabin-7"},
                  400,
                  400},
        AccessRow{"ResumeAlone", {"resume.1234abcd"}, 403, 0},
        AccessRow{"ResumeWithCode",
                  {"invite.Summer-Cabin-7", "resume.1234abcd"},
                  0,
                  0}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(GateTest, ReadsNoAccessFromTheUrl) {
  const std::string code(kCode);
  for (const std::string& query :
       {"invite=" + code, "invite." + code, "code=" + code, "access=" + code}) {
    EXPECT_EQ(Status(Join("", "/room/3?players=2&" + query)), 403);
    EXPECT_EQ(Status(Join("", "/room/3?" + query + "&players=2")), 403);
    now_ += seconds(60);
  }
}

TEST_F(GateTest, CountsJoinsResumesAndChecksTogether) {
  Request resume = Invited();
  resume.protocols.emplace_back("resume.1234abcd");
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Status(Invited()), 0);
    EXPECT_EQ(Status(resume), 0);
    EXPECT_EQ(Invite(kCode).status, 200);
  }
  now_ += milliseconds(1'500);
  const Refusal refusal = Ask(Invited());
  EXPECT_EQ(refusal.status, 429);
  EXPECT_EQ(refusal.retry_after_s, 59u);
  EXPECT_EQ(Status(resume), 429);
  const Gate::InviteAnswer answer = Invite(kCode);
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.retry_after_s, 59u);
  EXPECT_EQ(answer.body, "");
  // It is this address's alone.
  EXPECT_EQ(Ask(Invited(), other_).status, 0);
  EXPECT_EQ(Ask(Invited(), Address::Unknown()).status, 0);
  // And nothing is wanted of the gate while it waits.
  now_ += milliseconds(58'499);
  EXPECT_EQ(Ask(Invited()).retry_after_s, 1u);
  now_ += milliseconds(1);
  EXPECT_EQ(Status(Invited()), 0);
}

TEST_F(GateTest, AThirdMayFail) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Status(Stranger()), 403);
    EXPECT_EQ(Invite("not-the-code").status, 403);
  }
  // Four of twelve: from here on nothing is looked up, the right code neither.
  EXPECT_EQ(Ask(Stranger()).status, 429);
  EXPECT_EQ(Ask(Invited()).retry_after_s, 60u);
  EXPECT_EQ(Invite(kCode).status, 429);
  EXPECT_EQ(Invite(kCode).retry_after_s, 60u);
  EXPECT_EQ(Ask(Invited(), other_).status, 0);
  now_ += seconds(60);
  EXPECT_EQ(Status(Invited()), 0);
}

TEST_F(GateTest, WhatIsLookedUpRightIsNoFailure) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Status(Stranger()), 403);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Status(Invited()), 0);
  EXPECT_EQ(Status(Stranger()), 403);
  EXPECT_EQ(Status(Stranger()), 429);
}

// The two minutes are their own, and the longer wait is told.
TEST_F(GateTest, TellsTheLongerWait) {
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Status(Invited()), 0);
  now_ += seconds(30);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Status(Stranger()), 403);
  EXPECT_EQ(Ask(Invited()).retry_after_s, 60u);
  now_ += seconds(30);
  EXPECT_EQ(Ask(Invited()).retry_after_s, 30u);
  now_ += seconds(30);
  EXPECT_EQ(Status(Invited()), 0);
}

TEST_F(GateTest, ALowRateHasAThirdAsWell) {
  for (const std::int64_t rate : {1, 2, 3, 5}) {
    GateOptions options = Closed();
    options.joins_per_minute = rate;
    Make(options);
    EXPECT_EQ(Status(Invited()), 0);
    Make(options);
    EXPECT_EQ(Status(Stranger()), 403);
    EXPECT_EQ(Status(Invited()), 429);
  }
}

TEST_F(GateTest, OfAnIpv6NetworkThereIsOneRate) {
  const auto a = Address::Parse("2001:db8:1:2::1").value();
  const auto b = Address::Parse("2001:db8:1:2:3:4:5:6").value();
  for (int i = 0; i < 12; ++i) EXPECT_EQ(Ask(Invited(), a).status, 0);
  EXPECT_EQ(Ask(Invited(), b).status, 429);
}

TEST_F(GateTest, DrainingLetsResumesPass) {
  EXPECT_FALSE(gate_->draining());
  gate_->Drain();
  EXPECT_TRUE(gate_->draining());
  EXPECT_EQ(Status(Invited()), 503);
  EXPECT_EQ(Status(Join("", "/nowhere")), 503);
  Request resume = Invited();
  resume.protocols.emplace_back("resume.1234abcd");
  EXPECT_EQ(Status(resume), 0);
  // What looks like a token is the room's to judge.
  resume.protocols.back() = "resume.";
  EXPECT_EQ(Status(resume), 0);
  resume.protocols.back() = "resumed.1234abcd";
  EXPECT_EQ(Status(resume), 503);
  // Nothing else is made easier.
  resume = Stranger();
  resume.protocols.emplace_back("resume.1234abcd");
  EXPECT_EQ(Status(resume), 403);
  EXPECT_EQ(Invite(kCode).status, 200);
}

struct InviteRow {
  const char* name;
  std::string body;
  int closed;
};

class GateInviteTest : public GateTest,
                       public testing::WithParamInterface<InviteRow> {};

TEST_P(GateInviteTest, Answers) {
  const Gate::InviteAnswer answer = Invite(GetParam().body);
  EXPECT_EQ(answer.status, GetParam().closed);
  EXPECT_EQ(answer.body, answer.status == 200 ? R"({"ok":true,"players":8})"
                                              : R"({"ok":false})");
  EXPECT_EQ(answer.retry_after_s, 0u);
  EXPECT_EQ(answer.allow_origin, "");

  Make({});
  EXPECT_EQ(Invite(GetParam().body).status, 403);
  Make({.open = true});
  EXPECT_EQ(Invite(GetParam().body).status, 200);
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, GateInviteTest,
    testing::Values(
        InviteRow{"Code", "Summer-Cabin-7", 200},
        InviteRow{"AnyCase", "SUMMER-CABIN-7", 200},
        InviteRow{"AnotherCode", "winter.house.9", 200},
        InviteRow{"SpaceAround", " \t\r\nSummer-Cabin-7\r\n \n", 200},
        InviteRow{"Empty", "", 403}, InviteRow{"Blank", " \r\n", 403},
        InviteRow{"Wrong", "Summer-Cabin-8", 403},
        InviteRow{"WithPrefix", "invite.Summer-Cabin-7", 403},
        InviteRow{"PassAndDevice", "abc.def\n0123456789abcdef", 403},
        InviteRow{"CodeAndMore", "Summer-Cabin-7\nwinter.house.9", 403},
        InviteRow{"Nul", std::string("Summer-Cabin-7\0", 15), 403},
        InviteRow{"Longest", std::string(kInviteBodyMax, 'x'), 403}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(GateTest, AnInviteLooksAtTheRateThenTheOriginThenTheCode) {
  const auto ask = [&](std::string_view origin, std::string_view body) {
    return gate_->CheckInvite(now_, body, origin, from_);
  };
  // A page that may not ask learns nothing, and did not guess: its attempts are
  // counted, and are no failures.
  for (int i = 0; i < 11; ++i) {
    EXPECT_EQ(ask("https://evil.example", kCode).body, R"({"ok":false})");
  }
  EXPECT_EQ(ask(kPage, kCode).status, 200);
  Gate::InviteAnswer answer = ask("https://evil.example", "not-the-code");
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.allow_origin, "");
  // A page that may ask can read every answer.
  answer = ask(kPage, "not-the-code");
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.allow_origin, kPage);
  now_ += seconds(60);
  answer = ask(kPage, "not-the-code");
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.allow_origin, kPage);
}

// ---- Passes.

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kDevice = "abcdefghijklmnop-_";
constexpr std::int64_t kDay = 86'400;

class GatePassTest : public GateTest {
 protected:
  GatePassTest() { Make(WithPasses()); }

  static GateOptions WithPasses() {
    GateOptions options = Closed();
    options.passes = true;
    options.pass_secret = kSecret;
    options.pass_days = 30;
    options.pass_devices = 3;
    return options;
  }

  // One that lasts a day, from now on.
  Pass Good() const {
    return {.id = 0xfeed, .expires_s = wall_s_ + kDay, .devices = 2};
  }
  static std::string Text(const Pass& pass) { return WritePass(pass, kSecret); }

  static Request Shows(const std::string& pass, std::string_view device) {
    Request request = Join("pass." + pass);
    request.protocols.push_back("device." + std::string(device));
    return request;
  }
  Request Holder() const { return Shows(Text(Good()), kDevice); }

  // The status of a join, with what the store is to say if it is asked.
  int StatusIf(PassAnswer said, const Request& request) {
    const int status = Status(request);
    if (status != 0 || !ask_) return status;
    return gate_->FinishJoin(now_, said, hello_, from_).status;
  }
  std::string Body(const Pass& pass, std::string_view between = "\n") const {
    return Text(pass) + std::string(between) + std::string(kDevice);
  }
  Gate::InviteAnswer InviteIf(PassAnswer said, std::string_view body) {
    Gate::InviteAnswer answer = Invite(body);
    if (!answer.ask) return answer;
    return gate_->FinishInvite(now_, said, std::nullopt, from_);
  }

  static std::string Why(std::string_view why) {
    return R"({"ok":false,"pass":true,"why":")" + std::string(why) + "\"}";
  }
};

TEST_F(GatePassTest, TheStoreIsAskedOfARightOne) {
  EXPECT_EQ(Status(Holder()), 0);
  ASSERT_TRUE(ask_);
  EXPECT_EQ(ask_->pass, 0xfeedu);
  EXPECT_EQ(ask_->device, HashDevice(0xfeed, kDevice));
  EXPECT_EQ(ask_->devices_max, 2);
  EXPECT_EQ(ask_->expires_s, wall_s_ + kDay);
  EXPECT_EQ(hello_.room, 3u);
  EXPECT_EQ(gate_->FinishJoin(now_, PassAnswer::kLetIn, hello_, from_).status,
            0);
  // Of a code it is not.
  EXPECT_EQ(Status(Invited()), 0);
  EXPECT_FALSE(ask_);
  EXPECT_EQ(Status(Stranger()), 403);
  EXPECT_FALSE(ask_);
}

TEST_F(GatePassTest, TheStoreHasTheLastWord) {
  EXPECT_EQ(StatusIf(PassAnswer::kLetIn, Holder()), 0);
  EXPECT_EQ(StatusIf(PassAnswer::kRevoked, Holder()), 403);
  EXPECT_EQ(StatusIf(PassAnswer::kOtherDevice, Holder()), 403);
  EXPECT_EQ(StatusIf(PassAnswer::kFailed, Holder()), 503);

  const std::string body = Body(Good());
  EXPECT_EQ(InviteIf(PassAnswer::kLetIn, body).body,
            R"({"ok":true,"players":8,"pass":true})");
  EXPECT_EQ(InviteIf(PassAnswer::kRevoked, body).body, Why("pass revoked"));
  const Gate::InviteAnswer other = InviteIf(PassAnswer::kOtherDevice, body);
  EXPECT_EQ(other.status, 403);
  EXPECT_EQ(other.body, Why("pass in use on another device"));
  now_ += seconds(60);
  const Gate::InviteAnswer failed = InviteIf(PassAnswer::kFailed, body);
  EXPECT_EQ(failed.status, 503);
  EXPECT_EQ(failed.body, "");
}

TEST_F(GatePassTest, AResumeIsAskedForItAsAJoinIs) {
  Request resume = Holder();
  resume.protocols.emplace_back("resume.1234abcd");
  EXPECT_EQ(StatusIf(PassAnswer::kLetIn, resume), 0);
  EXPECT_EQ(hello_.resume, "1234abcd");
  EXPECT_TRUE(ask_);
  EXPECT_EQ(StatusIf(PassAnswer::kRevoked, resume), 403);
}

struct PassRow {
  const char* name;
  std::string pass;
  std::string device;
  std::string_view why;  // empty: the store is asked
};

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::string_view kNotValid = "pass not valid";

std::string Signed(std::int64_t expires_s, std::int64_t devices,
                   std::string_view secret = kSecret) {
  return WritePass({.id = 1, .expires_s = expires_s, .devices = devices},
                   secret);
}

class GatePassRowTest : public GatePassTest,
                        public testing::WithParamInterface<PassRow> {};

TEST_P(GatePassRowTest, Answers) {
  ASSERT_EQ(wall_s_, kNow);
  const PassRow& row = GetParam();
  const bool right = row.why.empty();
  EXPECT_EQ(Status(Shows(row.pass, row.device)), right ? 0 : 403);
  EXPECT_EQ(ask_.has_value(), right);
  const Gate::InviteAnswer answer = Invite(row.pass + "\n" + row.device);
  EXPECT_EQ(answer.ask.has_value(), right);
  if (right) return;
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.body, Why(row.why));
  // Both were failures, of four.
  EXPECT_EQ(Status(Stranger()), 403);
  EXPECT_EQ(Status(Stranger()), 403);
  EXPECT_EQ(Status(Stranger()), 429);
}

INSTANTIATE_TEST_SUITE_P(
    Passes, GatePassRowTest,
    testing::Values(
        PassRow{"Right", Signed(kNow + kDay, 2), std::string(kDevice), ""},
        PassRow{"LastSecond", Signed(kNow + 1, 1), std::string(kDevice), ""},
        PassRow{"Expired", Signed(kNow, 1), std::string(kDevice),
                "pass expired"},
        PassRow{"LongExpired", Signed(0, 1), std::string(kDevice),
                "pass expired"},
        PassRow{"BeforeAllTime", Signed(INT64_MIN, 1), std::string(kDevice),
                "pass expired"},
        PassRow{"AsLongAsMayBe", Signed(kNow + 30 * kDay, 1),
                std::string(kDevice), ""},
        PassRow{"LongerThanMayBe", Signed(kNow + 30 * kDay + 1, 1),
                std::string(kDevice), kNotValid},
        PassRow{"ForEver", Signed(INT64_MAX, 1), std::string(kDevice),
                kNotValid},
        PassRow{"AsManyDevicesAsMayBe", Signed(kNow + kDay, 3),
                std::string(kDevice), ""},
        PassRow{"MoreDevicesThanMayBe", Signed(kNow + kDay, 4),
                std::string(kDevice), kNotValid},
        PassRow{"OtherSecret",
                Signed(kNow + kDay, 2, "0123456789abcdef0123456789abcdeF"),
                std::string(kDevice), kNotValid},
        // Who signed it is not known, so it is not said to have expired.
        PassRow{"OtherSecretAndExpired",
                Signed(kNow, 2, "0123456789abcdef0123456789abcdeF"),
                std::string(kDevice), kNotValid},
        PassRow{"Padded", Signed(kNow + kDay, 2) + "=", std::string(kDevice),
                kNotValid},
        PassRow{"Cut", Signed(kNow + kDay, 2).substr(0, 67),
                std::string(kDevice), kNotValid},
        PassRow{"NoPass", "", std::string(kDevice), kNotValid},
        PassRow{"Code", std::string(kCode), std::string(kDevice), kNotValid},
        PassRow{"NoDevice", Signed(kNow + kDay, 2), "", kNotValid},
        PassRow{"ShortDevice", Signed(kNow + kDay, 2), "abcdefghijklmno",
                kNotValid},
        PassRow{"LongestDevice", Signed(kNow + kDay, 2), std::string(64, 'd'),
                ""},
        PassRow{"LongDevice", Signed(kNow + kDay, 2), std::string(65, 'd'),
                kNotValid},
        PassRow{"DeviceOfOtherLetters", Signed(kNow + kDay, 2),
                "abcdefghijklmnop.", kNotValid}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(GatePassTest, APassWithoutADeviceIsNone) {
  EXPECT_EQ(Status(Join("pass." + Text(Good()))), 403);
  Request request = Join("pass." + Text(Good()));
  request.protocols.push_back("Device." + std::string(kDevice));
  EXPECT_EQ(Status(request), 403);
  EXPECT_EQ(Invite(Text(Good())).body, Why(kNotValid));
}

TEST_F(GatePassTest, TheBodyIsTwoLines) {
  GateOptions options = WithPasses();
  options.joins_per_minute = 100;
  Make(options);
  const std::string pass = Text(Good());
  const std::string device(kDevice);
  for (const std::string& body : {pass + "\n" + device, pass + "\r\n" + device,
                                  " \r\n" + pass + "\n" + device + "\r\n\t",
                                  pass + "\r\n" + device + "\n"}) {
    EXPECT_TRUE(Invite(body).ask) << body;
  }
  for (const std::string& body :
       {pass + "\r" + device, pass + " " + device, pass + device,
        pass + "\n\n" + device, pass + "\r\r\n" + device, pass + "\n " + device,
        pass + " \n" + device, pass + "\n" + device + "\n" + device,
        "pass." + pass + "\n" + device, pass + "\ndevice." + device,
        device + "\n" + pass}) {
    const Gate::InviteAnswer answer = Invite(body);
    EXPECT_FALSE(answer.ask) << body;
    EXPECT_EQ(answer.body, Why(kNotValid)) << body;
  }
}

TEST_F(GatePassTest, CodesGoOnBesideThem) {
  EXPECT_EQ(Invite(kCode).body, R"({"ok":true,"players":8,"pass":true})");
  EXPECT_EQ(Invite("not-the-code").body, Why(kNotValid));
  EXPECT_EQ(Status(Invited()), 0);
  // And a page that may not ask hears no more than before.
  EXPECT_EQ(gate_->CheckInvite(now_, kCode, "https://evil.example", from_).body,
            Why(kNotValid));
}

TEST_F(GatePassTest, APageHearsTheStoresAnswer) {
  const std::string body = Body(Good());
  const Gate::InviteAnswer answer =
      gate_->CheckInvite(now_, body, kPage, from_);
  ASSERT_TRUE(answer.ask);
  for (const PassAnswer said :
       {PassAnswer::kLetIn, PassAnswer::kRevoked, PassAnswer::kOtherDevice,
        PassAnswer::kFailed}) {
    EXPECT_EQ(gate_->FinishInvite(now_, said, kPage, from_).allow_origin,
              kPage);
  }
  EXPECT_FALSE(
      gate_->CheckInvite(now_, body, "https://evil.example", from_).ask);
}

// The contract: never fall back to open. The options are not valid, and a gate
// that has them anyway lets nobody in.
TEST_F(GatePassTest, WithoutASecretNobodyComesIn) {
  for (const std::string& secret : {std::string(), std::string(31, 's')}) {
    for (const bool open : {false, true}) {
      GateOptions options = WithPasses();
      options.joins_per_minute = 100;
      options.pass_secret = secret;
      options.open = open;
      Make(options);
      gate_->SetStoreCodes({HashCode(kCode)});
      EXPECT_EQ(Status(Join("")), 403);
      EXPECT_EQ(Status(Invited()), 403);
      EXPECT_EQ(Status(Holder()), 403);
      EXPECT_EQ(Invite("").body, Why(kNotValid));
      EXPECT_EQ(Invite(kCode).body, Why(kNotValid));
      EXPECT_EQ(Invite(Body(Good())).body, Why(kNotValid));
      if (secret.empty()) continue;
      const Pass pass = Good();
      EXPECT_EQ(Status(Shows(WritePass(pass, secret), kDevice)), 403);
    }
  }
}

TEST_F(GatePassTest, WithPassesOffNoneIsOne) {
  GateOptions options = WithPasses();
  options.passes = false;
  Make(options);
  EXPECT_EQ(Status(Holder()), 403);
  EXPECT_EQ(Invite(Body(Good())).body, R"({"ok":false})");
  EXPECT_EQ(Status(Invited()), 0);
}

TEST_F(GatePassTest, TheStoreIsNotAskedBehindTheRate) {
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(StatusIf(PassAnswer::kLetIn, Holder()), 0);
  }
  ask_ = std::nullopt;
  const Refusal refusal = Ask(Holder());
  EXPECT_EQ(refusal.status, 429);
  EXPECT_EQ(refusal.retry_after_s, 60u);
  EXPECT_FALSE(ask_);
  const Gate::InviteAnswer answer = Invite(Body(Good()));
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.retry_after_s, 60u);
  EXPECT_EQ(answer.body, "");
  EXPECT_FALSE(answer.ask);
  // Nor behind a third of it in failures.
  now_ += seconds(60);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(StatusIf(PassAnswer::kRevoked, Holder()), 403);
  }
  EXPECT_EQ(Ask(Holder()).status, 429);
  EXPECT_FALSE(ask_);
  EXPECT_FALSE(Invite(Body(Good())).ask);
}

TEST_F(GatePassTest, AStoreThatCannotTellIsNobodysFailure) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(StatusIf(PassAnswer::kFailed, Holder()), 503);
    EXPECT_EQ(InviteIf(PassAnswer::kFailed, Body(Good())).status, 503);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(StatusIf(PassAnswer::kRevoked, Holder()), 403);
  }
  EXPECT_EQ(Status(Holder()), 429);
}

// Asked of the store all at once, they all came before the first failure; they
// fail no more often for that.
TEST_F(GatePassTest, AThirdMayFailAtOnceAsWell) {
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(Status(Holder()), 0);
    ASSERT_TRUE(ask_);
  }
  now_ += milliseconds(1'500);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(
        gate_->FinishJoin(now_, PassAnswer::kRevoked, hello_, from_).status,
        403);
  }
  now_ += milliseconds(1'500);
  for (int i = 0; i < 4; ++i) {
    const Refusal refusal =
        gate_->FinishJoin(now_, PassAnswer::kOtherDevice, hello_, from_);
    EXPECT_EQ(refusal.status, 429);
    EXPECT_EQ(refusal.retry_after_s, 59u);
    const Gate::InviteAnswer answer =
        gate_->FinishInvite(now_, PassAnswer::kRevoked, std::nullopt, from_);
    EXPECT_EQ(answer.status, 429);
    EXPECT_EQ(answer.retry_after_s, 59u);
    EXPECT_EQ(answer.body, "");
  }
  EXPECT_EQ(gate_->FinishJoin(now_, PassAnswer::kLetIn, hello_, from_).status,
            0);
}

TEST_F(GatePassTest, ADrainThatBeginsMeanwhileLetsResumesPass) {
  EXPECT_EQ(Status(Holder()), 0);
  gate_->Drain();
  for (const PassAnswer said : {PassAnswer::kLetIn, PassAnswer::kRevoked}) {
    EXPECT_EQ(gate_->FinishJoin(now_, said, hello_, from_).status, 503);
  }
  hello_.resume = "1234abcd";
  EXPECT_EQ(gate_->FinishJoin(now_, PassAnswer::kLetIn, hello_, from_).status,
            0);
  EXPECT_EQ(InviteIf(PassAnswer::kLetIn, Body(Good())).status, 200);
}

TEST_F(GatePassTest, OptionsOfPassesMayChange) {
  GateOptions options = WithPasses();
  options.pass_secret = std::string(40, 'x');
  gate_->SetOptions(options);
  EXPECT_EQ(Status(Holder()), 403);
  EXPECT_EQ(Status(Shows(WritePass(Good(), options.pass_secret), kDevice)), 0);
  options.pass_devices = 1;
  gate_->SetOptions(options);
  EXPECT_EQ(Status(Shows(WritePass(Good(), options.pass_secret), kDevice)),
            403);
}

TEST_F(GateTest, KnowsTheCodesOfTheStoreToo) {
  const Request stored = Join("invite.spring-garden-1");
  EXPECT_EQ(Status(stored), 403);
  gate_->SetStoreCodes(
      {HashCode("other-garden-2"), HashCode("SPRING-GARDEN-1")});
  EXPECT_EQ(Status(stored), 0);
  EXPECT_EQ(Status(Invited()), 0);
  EXPECT_EQ(Invite(" spring-GARDEN-1\n").status, 200);
  // Whatever changes on one side stays so on the other.
  gate_->SetOptions({});
  EXPECT_EQ(Status(stored), 0);
  EXPECT_EQ(Status(Invited()), 403);
  gate_->SetStoreCodes({});
  EXPECT_EQ(Status(stored), 403);
  // A stored hash of nothing is no way in for who shows nothing.
  Make({});
  gate_->SetStoreCodes({HashCode("")});
  EXPECT_EQ(Status(Join("")), 403);
  EXPECT_EQ(Status(Join("pass.")), 403);
}

// ---- Bounds.

Address Numbered(std::uint32_t number) {
  std::string text = "10";
  for (const int shift : {16, 8, 0}) {
    text += '.' + std::to_string(number >> shift & 0xff);
  }
  return Address::Parse(text).value();
}

// All that a gate remembers of addresses: who came, and who failed.
TEST_F(GateTest, AMillionAddressesInAMinuteCostLittleAndHideNobody) {
  GateOptions options = Closed();
  options.joins_per_minute = limits::kAddressRate.fallback;
  const std::uint64_t before = parlor_allocated_bytes();
  Make(options);
  const auto fails = [&](const Address& from) {
    return gate_->CheckInvite(now_, "guess", std::nullopt, from).status;
  };
  // Who guessed too often, and who came too often.
  for (std::uint32_t i = 0; i < 100; ++i) {
    for (int n = 0; n < 20; ++n) ASSERT_EQ(fails(Numbered(i)), 403);
    const Address busy = Numbered(1'000 + i);
    for (int n = 0; n < 60; ++n) ASSERT_EQ(Ask(Invited(), busy).status, 0);
  }
  const TimePoint begin = now_;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) {
    now_ = begin + seconds(59) * i / 1'000'000;
    fails(Numbered(100'000 + i));
  }
#if PARLOR_COUNTS_ALLOCATIONS
  EXPECT_LE(parlor_allocated_bytes() - before, 64u << 20);
#endif
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(fails(Numbered(i)), 429);
    EXPECT_EQ(Ask(Invited(), Numbered(1'000 + i)).status, 429);
  }
  // Nor has a stranger to wait for them.
  EXPECT_EQ(Ask(Invited(), other_).status, 0);
}

}  // namespace
}  // namespace parlor::host
