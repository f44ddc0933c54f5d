// The way to a room on a host: what JoinLink adds to the sessions and rooms
// that friends_test.cc tells of is sockets, and the clock of the system.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "clock.h"
#include "net_links.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/shard.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "session.h"

namespace parlor::solo {
namespace {

// A host of one room, which wants the code kCode.
class HostOfOne final : public NetListenerHandler {
 public:
  static constexpr std::string_view kAccess = "invite.ABCDEFGHJKLM";

  HostOfOne() {
    auto made = NetListener::Create(loop_, {}, this);
    EXPECT_TRUE(made.ok()) << made.status();
    listener_ = *std::move(made);
  }

  std::string url() const {
    return "ws://127.0.0.1:" + std::to_string(listener_->port());
  }
  void Turn(TimePoint now) {
    now_ = now;
    loop_.Poll(now);
    shard_.OnAlarm(now);
  }
  void End(CloseReason reason) { shard_.EndAll(now_, reason); }
  const host::Shard& shard() const { return shard_; }

 private:
  Verdict OnKnock(TimePoint now, const Knock& knock) override {
    Verdict verdict{.refusal = {}, .protocol = kLockstepProtocol};
    verdict.refusal.status = ParseRoomRequest(knock.request, "", &hello_);
    if (verdict.refusal.status != 0) return verdict;
    if (hello_.access != kAccess) {
      verdict.refusal.status = 403;
    } else {
      verdict.refusal = shard_.Admit(now, hello_);
    }
    return verdict;
  }
  void OnConnection(TimePoint now, const Knock&,
                    std::unique_ptr<Connection> connection) override {
    shard_.Attach(now, std::move(connection), hello_);
  }

  host::OsEntropy entropy_;
  NetLoop loop_;
  host::Shard shard_{{}, entropy_};
  Hello hello_;
  TimePoint now_{};
  std::unique_ptr<NetListener> listener_;
};

struct Guest {
  Guest(const std::string& url, std::string_view access, Entropy& entropy) {
    auto made = JoinLink::Create(url, entropy);
    EXPECT_TRUE(made.ok()) << made.status();
    link = *std::move(made);
    SessionOptions options;
    options.hello.players = 2;
    options.hello.access = access;
    options.start_by = StartBy::kPlayer;
    options.delay = kNetworkDelay;
    options.own_seat_is_bot = true;
    session.emplace(options, *link);
  }
  bool over(std::uint32_t frames) const {
    return session->failed() || session->frame() >= frames;
  }

  std::unique_ptr<JoinLink> link;
  std::optional<Session> session;
};

class JoinLinkTest : public ::testing::Test {
 protected:
  static constexpr Duration kPatience = 20'000 * kMillisecond;

  template <typename Condition>
  void Until(const Condition& condition, std::uint32_t limit = UINT32_MAX) {
    const TimePoint until = SteadyNow() + kPatience;
    while (!condition()) {
      const TimePoint now = SteadyNow();
      ASSERT_LT(now, until);
      host_.Turn(now);
      first_.session->Turn(now, limit);
      second_.session->Turn(now, limit);
      SleepUntil(now + kMillisecond);
    }
  }

  host::OsEntropy entropy_;
  HostOfOne host_;
  Guest first_{host_.url(), HostOfOne::kAccess, entropy_};
  Guest second_{host_.url(), HostOfOne::kAccess, entropy_};
};

TEST_F(JoinLinkTest, TwoPlayTheSameMatchAndLeaveInOrder) {
  Until([&] { return first_.over(60) && second_.over(60); }, 60);
  ASSERT_EQ(first_.session->error(), "");
  ASSERT_EQ(second_.session->error(), "");
  EXPECT_EQ(cycles::Hash64(*first_.session->state()),
            cycles::Hash64(*second_.session->state()));
  // Others leave while this one waits for nobody but the host.
  first_.session->End();
  EXPECT_FALSE(first_.session->left());
  Until([&] {
    first_.link->Turn(SteadyNow());
    return first_.session->left() && second_.session->peer().lost() != 0;
  });
  EXPECT_EQ(second_.session->peer().away(), 0u);
}

TEST_F(JoinLinkTest, TheHostsGoodbyeIsHeardAtOnce) {
  Until([&] { return first_.over(5) && second_.over(5); });
  host_.End(CloseReason::kHostLeft);
  const TimePoint said = SteadyNow();
  Until([&] { return first_.session->failed() && second_.session->failed(); });
  EXPECT_LT(SteadyNow() - said, 10'000 * kMillisecond);
  EXPECT_EQ(first_.session->error(), "the host left");
  EXPECT_EQ(second_.session->error(), "the host left");
}

TEST_F(JoinLinkTest, AWrongCodeIsToldSo) {
  Guest third(host_.url(), "invite.MLKJHGFEDCBA", entropy_);
  Until([&] {
    third.session->Turn(SteadyNow());
    return third.session->failed();
  });
  EXPECT_EQ(third.session->error(), "the host does not know this invite code");
  EXPECT_TRUE(third.session->left());
}

TEST_F(JoinLinkTest, NobodyThereIsToldSo) {
  std::string url;
  {
    const HostOfOne gone;
    url = gone.url();
  }
  Guest third(url, "", entropy_);
  Until([&] {
    third.session->Turn(SteadyNow());
    return third.session->failed();
  });
  EXPECT_TRUE(
      third.session->error().starts_with("the room cannot be reached: "))
      << third.session->error();
}

TEST(JoinLink, WantsAUrlThatCanBe) {
  host::OsEntropy entropy;
  for (const char* url : {"http://host:1", "ws://", "ws://ho st", ""}) {
    SCOPED_TRACE(url);
    EXPECT_TRUE(
        absl::IsInvalidArgument(JoinLink::Create(url, entropy).status()));
  }
}

}  // namespace
}  // namespace parlor::solo
