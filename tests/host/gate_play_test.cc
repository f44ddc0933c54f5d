// Who is let into hosted rooms: the same order as for lockstep rooms, the rooms
// that are open to everybody, and who a pass says someone is. Time is virtual.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logic/gate.h"
#include "logic/pass.h"
#include "parlor/connector.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/host/play_room.h"
#include "parlor/time.h"
#include "parlor/transports/request.h"

namespace parlor::host {
namespace {

using std::chrono::seconds;

constexpr std::string_view kCode = "Summer-Cabin-7";
constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kDevice = "device.abcdefghijklmnop-_";
constexpr std::int64_t kNow = 1'800'000'000;

GateOptions Closed() {
  GateOptions options;
  options.codes = {std::string(kCode)};
  options.origins = {"https://play.example"};
  options.joins_per_minute = 12;
  return options;
}

class GatePlayTest : public testing::Test {
 protected:
  GatePlayTest() { Make(Closed()); }

  void Make(const GateOptions& options, std::string base = {}) {
    gate_.emplace(
        options,
        GateRooms{.rooms = 10,
                  .seats = 8,
                  .base_path = std::move(base),
                  .play = {{.key = "club"}, {.key = "park", .open = true}}},
        [] { return kNow; });
  }

  static Request To(std::string_view key,
                    std::vector<std::string> protocols = {}) {
    protocols.insert(protocols.begin(), "parlor-play");
    return {.target = "/play/" + std::string(key),
            .protocols = std::move(protocols)};
  }
  static Request Invited(std::string_view key) {
    return To(key, {"invite." + std::string(kCode)});
  }
  static Request Holder(std::string_view key, std::int64_t expires_s) {
    const Pass pass{.id = 0xfeed, .expires_s = expires_s, .devices = 1};
    return To(key, {"pass." + WritePass(pass, kSecret), std::string(kDevice)});
  }

  // Both steps, as a front takes them.
  Refusal Ask(const Request& request) {
    const Refusal refusal = gate_->CheckPath(request);
    if (refusal.status != 0) return refusal;
    const Gate::JoinAnswer answer =
        gate_->CheckJoin(now_, request, from_, &hello_);
    asked_ = answer.ask.has_value();
    return answer.refusal;
  }
  int Status(const Request& request) { return Ask(request).status; }

  TimePoint now_{seconds(100)};
  const Address from_ = Address::Parse("192.0.2.1").value();
  std::optional<Gate> gate_;
  Hello hello_;
  bool asked_ = false;  // of the store
};

TEST_F(GatePlayTest, SaysWhichRoomItIs) {
  EXPECT_EQ(Status(Invited("club")), 0);
  EXPECT_EQ(hello_.play, "club");
  EXPECT_EQ(hello_.room, 0u);
  EXPECT_EQ(Status(Invited("park")), 0);
  EXPECT_EQ(hello_.play, "park");
  EXPECT_EQ(hello_.room, 1u);
  EXPECT_EQ(hello_.identity, "") << "a code is nobody's";
}

TEST_F(GatePlayTest, SaysNothingOfWhomItRefuses) {
  hello_ = {.room = 5, .play = "x"};
  EXPECT_EQ(Status(To("club")), 403);
  EXPECT_EQ(Status({.target = "/play/club"}), 400);
  EXPECT_EQ(Status(To("attic")), 404);
  EXPECT_EQ(hello_.room, 5u);
  EXPECT_EQ(hello_.play, "x");
}

TEST_F(GatePlayTest, IsBelowTheBasePath) {
  Make(Closed(), "/games");
  EXPECT_EQ(Status(Invited("club")), 404);
  Request below = Invited("club");
  below.target = "/games" + below.target + "?x=1";
  EXPECT_EQ(Status(below), 0);
}

// What is wrong with a request, in the order in which a gate looks.
enum Wrong : int { kPath, kProtocol, kOrigin, kRate, kAccess, kNothing };

struct OrderRow {
  const char* name;
  Wrong first;
  int closed;  // the status of the room that asks for access
  int open;    // and of the one that is open
};

class GatePlayOrderTest : public GatePlayTest,
                          public testing::WithParamInterface<OrderRow> {
 protected:
  // The status of a request that is wrong in all from `first` to `last`.
  int Try(std::string_view key, Wrong first, Wrong last) {
    Make(Closed());
    const auto wrong = [&](Wrong what) {
      return what >= first && what <= last;
    };
    if (wrong(kRate)) {
      for (int i = 0; i < 12; ++i) EXPECT_EQ(Status(Invited("club")), 0);
    }
    Request request = wrong(kAccess) ? To(key) : Invited(key);
    if (wrong(kProtocol)) request.protocols.front() = "fizlet-rooms";
    if (wrong(kOrigin)) request.origin = "https://evil.example";
    if (wrong(kPath)) request.target = "/play/attic";
    return Status(request);
  }
};

TEST_P(GatePlayOrderTest, TheFirstThatIsWrongAnswers) {
  EXPECT_EQ(Try("club", GetParam().first, kAccess), GetParam().closed);
  EXPECT_EQ(Try("park", GetParam().first, kAccess), GetParam().open);
}

TEST_P(GatePlayOrderTest, AloneAsWell) {
  EXPECT_EQ(Try("club", GetParam().first, GetParam().first), GetParam().closed);
  EXPECT_EQ(Try("park", GetParam().first, GetParam().first), GetParam().open);
}

INSTANTIATE_TEST_SUITE_P(
    Order, GatePlayOrderTest,
    testing::Values(OrderRow{"Path", kPath, 404, 404},
                    OrderRow{"Protocol", kProtocol, 400, 400},
                    OrderRow{"Origin", kOrigin, 403, 403},
                    OrderRow{"Rate", kRate, 429, 429},
                    OrderRow{"Access", kAccess, 403, 0},
                    OrderRow{"Nothing", kNothing, 0, 0}),
    [](const auto& row) { return std::string(row.param.name); });

// Statuses 403 and 400 each stand for two rows above: what was counted tells
// which of the two it was.
TEST_F(GatePlayTest, CountsNothingBeforeTheRate) {
  Request wrong = To("club");
  wrong.origin = "https://evil.example";
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Status(wrong), 403);
    EXPECT_EQ(Status({.target = "/play/club"}), 400);
    EXPECT_EQ(Status(Invited("attic")), 404);
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Status(To("club")), 403);
  EXPECT_EQ(Status(To("club")), 429) << "a third may fail";
  EXPECT_EQ(Status(To("park")), 429) << "and it is one rate for all rooms";
}

TEST_F(GatePlayTest, DrainingIsTheRoomsAffair) {
  gate_->Drain();
  EXPECT_EQ(Status(Invited("club")), 0);
  EXPECT_EQ(Status(To("park")), 0);
  EXPECT_EQ(Status(To("club")), 403);
  EXPECT_EQ(Status(To("attic")), 404);
  EXPECT_EQ(gate_->FinishJoin(now_, PassAnswer::kLetIn, {.play = "club"}, from_)
                .status,
            0);
  EXPECT_EQ(Status({.target = "/room/1?players=2"}), 503);
  EXPECT_EQ(Status({.target = "/play/"}), 503);
}

TEST_F(GatePlayTest, AnOpenRoomOpensNoOther) {
  EXPECT_EQ(Status(To("park")), 0);
  EXPECT_EQ(Status(To("club")), 403);
  EXPECT_EQ(
      Status({.target = "/room/1?players=2", .protocols = {"fizlet-rooms"}}),
      403);
  EXPECT_EQ(gate_->CheckInvite(now_, "", std::nullopt, from_).status, 403);
  // Nor does its number.
  EXPECT_EQ(
      Status({.target = "/room/0?players=2", .protocols = {"fizlet-rooms"}}),
      403);
}

TEST_F(GatePlayTest, OfAnOpenHostAllRoomsAre) {
  Make({.open = true});
  EXPECT_EQ(Status(To("club")), 0);
}

TEST_F(GatePlayTest, WhichAreOpenMayChange) {
  gate_->SetPlayRooms({{.key = "club", .open = true}, {.key = "park"}});
  EXPECT_EQ(Status(To("club")), 0);
  EXPECT_EQ(Status(To("park")), 403);
}

class GatePlayPassTest : public GatePlayTest {
 protected:
  GatePlayPassTest() { Make(WithPasses()); }

  static GateOptions WithPasses() {
    GateOptions options = Closed();
    options.passes = true;
    options.pass_secret = kSecret;
    return options;
  }
};

TEST_F(GatePlayPassTest, ARightPassIsWhoItIs) {
  for (const std::string_view key : {"club", "park"}) {
    EXPECT_EQ(Status(Holder(key, kNow + 60)), 0);
    EXPECT_TRUE(asked_) << "the store has the last word";
    EXPECT_EQ(hello_.identity, "000000000000feed");
  }
  EXPECT_EQ(gate_->FinishJoin(now_, PassAnswer::kRevoked, hello_, from_).status,
            403);
  EXPECT_EQ(Status(To("park")), 0);
  EXPECT_FALSE(asked_);
  EXPECT_EQ(hello_.identity, "");
}

// Into an open room he may come without one; with one he is who it says.
TEST_F(GatePlayPassTest, AWrongPassIsNobody) {
  hello_ = {};
  for (const std::string_view key : {"club", "park"}) {
    EXPECT_EQ(Status(Holder(key, kNow)), 403) << "expired";
    EXPECT_EQ(hello_.identity, "");
  }
}

TEST_F(GatePlayPassTest, WithoutASecretNoRoomIsOpen) {
  GateOptions options = WithPasses();
  options.pass_secret.clear();
  Make(options);
  EXPECT_EQ(Status(To("park")), 403);
  EXPECT_EQ(Status(Holder("park", kNow + 60)), 403);
}

TEST_F(GatePlayPassTest, WithPassesOffAPassIsNobodys) {
  Make(Closed());
  EXPECT_EQ(Status(Holder("park", kNow + 60)), 0);
  EXPECT_FALSE(asked_);
  EXPECT_EQ(hello_.identity, "");
}

}  // namespace
}  // namespace parlor::host
