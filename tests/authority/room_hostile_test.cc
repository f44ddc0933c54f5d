// Clients that say whatever they like, at random, and a game that throws now
// and then: the room keeps its promises, its memory bound, and serves who comes
// next.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "authority/room_fixture.h"
#include "parlor/random.h"
#include "support/seed.h"

namespace parlor::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RoomHostileTest : public RoomTest {
 protected:
  RoomHostileTest() : random_(test::TestSeed()) {
    options_.seats = 6;
    game_.on_add = [](Context& context, const Player& player) {
      context.Possess(player.seat, context.rows().Add(kPlayerKind));
    };
    game_.on_step = [this](Context& context, std::span<const SeatInput> in) {
      for (const SeatInput& input : in) {
        const RowId row = context.player(input.seat)->entity;
        context.rows().Set(row, kHp, std::int64_t{input.frame.seq});
      }
      if (random_.Chance(1, 50)) throw random_.Next();
    };
  }

  std::string Token() {
    const auto at = random_.Below(static_cast<std::uint32_t>(tokens_.size()));
    std::string token = tokens_[at];
    if (random_.Chance(1, 4)) token[random_.Below(32)] ^= 1;
    return token;
  }

  // A frame that could be said, or nearly.
  std::string Text() {
    static const char* const texts[] = {
        R"({"t":"leave"})",
        R"({"t":"resync"})",
        R"({"t":"rtt","at":1})",
        R"({"t":"ack","tick":7})",
        R"({"t":"msg","name":"vote","payload":1})",
        R"({"t":"msg","name":"aos:phase","payload":"x"})",
        R"({"t":"chat","text":"hi"})",
        R"({"t":"mod","action":"kick","target":"p1"})",
        R"({"t":"publish","key":"a","value":[[[[]]]]})",
        R"({"t":"input","seq":4294967295,"held":"x"})",
        R"({"t":"join"})",
        "[[[[[[[[",
        "",
    };
    std::string text;
    switch (random_.Below(4)) {
      case 0:
        return JoinText();
      case 1:
        return JoinText(Token());
      default:
        text = texts[random_.Below(std::size(texts))];
    }
    if (!text.empty() && random_.Chance(1, 3)) {
      const auto at = random_.Below(static_cast<std::uint32_t>(text.size()));
      text[at] = static_cast<char>(random_.Next());
    }
    return text;
  }

  std::vector<std::byte> Binary() {
    std::vector<std::byte> bytes(random_.Below(60));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_.Next());
    if (bytes.empty()) return bytes;
    bytes[0] = random_.Chance(1, 2) ? kInputKind : kAckKind;
    if (random_.Chance(2, 3)) bytes.resize(kInputBytes);
    if (random_.Chance(1, 3)) bytes.resize(kAckBytes);
    return bytes;
  }

  // Everything one of the crowd may do.
  void Act() {
    const std::string name(1, static_cast<char>('a' + random_.Below(10)));
    TestClient& actor = client(name);
    const std::uint32_t act = random_.Below(30);
    if (!actor.connection.is_open()) {
      // Its close comes at some time, and it is made anew.
      if (!gone_.contains(name)) room().OnClose(now_, actor.connection, 1006);
      retired_.push_back(std::move(clients_[name]));
      clients_.erase(name);
      admitted_.erase(name);
      gone_.erase(name);
    } else if (!admitted_.contains(name)) {
      admitted_.insert(name);
      actor.acks = random_.Chance(3, 4);
      Admit(name, random_.Chance(1, 4) ? "pass" : "");
    } else if (act == 0) {
      static constexpr CloseCode kCodes[] = {1000, 1001, 1005, 1006, 4999};
      gone_.insert(name);
      Lose(name, kCodes[random_.Below(std::size(kCodes))]);
    } else if (act == 1) {
      actor.connection.Queue(random_.Below(2) * 100'000);
    } else if (act < 12) {
      Say(name, Text());
    } else {
      SayBytes(name, MessageKind::kBinary, Binary());
    }
    if (!actor_token(name).empty()) tokens_.push_back(actor_token(name));
    if (tokens_.size() > 20) tokens_.erase(tokens_.begin());
  }

  std::string actor_token(const std::string& name) {
    const auto found = clients_.find(name);
    return found == clients_.end() ? "" : found->second->token;
  }

  void Check() {
    int hosts = 0;
    int last = -1;
    for (const Player& player : room().players()) {
      ASSERT_GT(player.seat, last);
      last = player.seat;
      hosts += player.host ? 1 : 0;
      ASSERT_TRUE(!player.host || player.connected);
    }
    ASSERT_LT(last, options_.seats);
    ASSERT_EQ(hosts, room().seated() > 0 ? 1 : 0);
    ASSERT_EQ(room().seated() + room().held(),
              static_cast<int>(room().players().size()));
    ASSERT_LT(room().memory_bytes(), 256u * 1'024);
  }

  Random random_;
  std::vector<std::string> tokens_{std::string(32, '0')};
  std::set<std::string> admitted_;
  std::set<std::string> gone_;  // whose close was passed on
  std::vector<std::unique_ptr<TestClient>> retired_;
};

TEST_F(RoomHostileTest, KeepsItsPromises) {
  for (int step = 0; step < 20'000; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    ASSERT_FALSE(room().ended());
    Act();
    Check();
    if (HasFatalFailure()) return;
    if (random_.Chance(1, 3)) Wait(milliseconds(random_.Below(40)));
    if (random_.Chance(1, 500)) Wait(seconds(random_.Below(20)));
  }
  const RoomCounters counters = room().counters();
  EXPECT_GT(counters.resumes, 10u);
  EXPECT_GT(counters.resumes_refused, 100u);
  EXPECT_GT(counters.dropped, 100u);
  EXPECT_GT(counters.stale_acks, 100u);
  EXPECT_GT(counters.stale_inputs, 10u);
  EXPECT_GT(counters.ignored, 100u);
  EXPECT_GT(counters.failed_ticks, 100u);
  EXPECT_GT(counters.recoveries, 10u);
  // All go, and one comes: what it sees is what the room has.
  game_.on_step = nullptr;
  while (!room().players().empty()) {
    room().Kick(now_, room().players().front().seat);
  }
  Pump();
  Join("z");
  RunTick(60);
  EXPECT_TRUE(SameRows(client("z").rows, room().rows()));
}

}  // namespace
}  // namespace parlor::authority
