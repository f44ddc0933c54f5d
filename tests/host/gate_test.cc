// Who is let in, and that nothing is looked at before its turn. Time is
// virtual.
#include "logic/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/connector.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/time.h"
#include "parlor/transports/request.h"

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

}  // namespace
}  // namespace parlor::host
