#include "net/acceptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/transports/net_loop.h"
#include "stream/byte_stream.h"
#include "support/loop_thread.h"
#include "support/net_turns.h"
#include "support/raw_socket.h"
#include "support/status_matchers.h"

namespace parlor {
namespace {

using net_internal::Acceptor;
using test::LoopThread;
using test::NetTurns;
using test::RawSocket;

class AcceptorTest : public testing::Test, protected Acceptor::Owner {
 protected:
  void Listen(Acceptor::MakeCompanion make_companion) {
    auto acceptor =
        Acceptor::Listen(loop_.internal(),
                         {.address = "127.0.0.1",
                          .port = 0,
                          .make_companion = std::move(make_companion)},
                         *this);
    ASSERT_THAT(acceptor, IsOk());
    acceptor_ = *std::move(acceptor);
  }

  // A client, accepted: streams_.back().
  void Connect() {
    client_ = RawSocket::Connect(acceptor_->port());
    ASSERT_TRUE(client_.valid());
    const std::size_t before = streams_.size();
    ASSERT_TRUE(turns_.Until([&] { return streams_.size() > before; }));
  }

  // Told when nobody holds it any more, and sees that the client had been told
  // before: the socket was closed.
  Acceptor::Companion MakeCompanion() {
    return {this, [](AcceptorTest* test) {
              ++test->released_;
              EXPECT_TRUE(test->client_.Readable()) << "it is not closed yet";
            }};
  }

  NetLoop loop_;
  NetTurns turns_{&loop_};
  RawSocket client_;
  int released_ = 0;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<std::unique_ptr<stream::ByteStream>> streams_;
  std::vector<std::string> addresses_;

 private:
  void OnAccept(std::unique_ptr<stream::ByteStream> stream,
                std::string_view address) override {
    streams_.push_back(std::move(stream));
    addresses_.emplace_back(address);
  }
  void OnAcceptStatus(const absl::Status& status) override {
    ADD_FAILURE() << status;
  }
};

TEST_F(AcceptorTest, NeedsNoCompanions) {
  Listen({});
  Connect();
  Connect();
  EXPECT_EQ(addresses_, std::vector<std::string>(2, "127.0.0.1"));
}

// Between which the loop looks after those who are inside.
TEST_F(AcceptorTest, LetsACrowdInSixteenAtATime) {
  constexpr std::size_t kCrowd = 100;
  Listen({});
  std::vector<RawSocket> crowd;
  for (std::size_t i = 0; i < kCrowd; ++i) {
    crowd.push_back(RawSocket::Connect(acceptor_->port()));
    ASSERT_TRUE(crowd.back().valid());
  }
  std::size_t most = 0;
  // Each accepts some, or ends a turn.
  for (std::size_t i = 0; i < kCrowd && streams_.size() < kCrowd; ++i) {
    const std::size_t before = streams_.size();
    loop_.Poll(turns_.now, /*events_max=*/1);
    most = std::max(most, streams_.size() - before);
  }
  EXPECT_EQ(streams_.size(), kCrowd);
  EXPECT_EQ(most, 16u);
}

TEST_F(AcceptorTest, SaysThatAnAddressIsNone) {
  EXPECT_THAT(
      Acceptor::Listen(loop_.internal(),
                       {.address = "localhost", .make_companion = {}}, *this),
      StatusIs(absl::StatusCode::kInvalidArgument,
               testing::HasSubstr("\"localhost\"")));
}

TEST_F(AcceptorTest, LetsGoOfTheCompanionWhenTheSocketIsClosed) {
  Listen([this] { return MakeCompanion(); });
  Connect();
  EXPECT_EQ(released_, 0);
  streams_.clear();
  EXPECT_EQ(released_, 1);
}

TEST_F(AcceptorTest, ACompanionGoesAlongToAnotherLoop) {
  Listen([this] { return MakeCompanion(); });
  Connect();
  std::unique_ptr<stream::ParkedStream> parked = streams_.back()->Park();
  streams_.clear();
  acceptor_ = nullptr;
  EXPECT_EQ(released_, 0);

  LoopThread other;
  other.Call([&] {
    streams_.push_back(parked->Unpark(other.loop().internal()));
    parked = nullptr;
  });
  EXPECT_EQ(released_, 0);
  other.Call([&] { streams_.clear(); });
  EXPECT_EQ(released_, 1);
}

TEST_F(AcceptorTest, LetsGoOfTheCompanionOfOneThatIsNotUnparked) {
  Listen([this] { return MakeCompanion(); });
  Connect();
  std::unique_ptr<stream::ParkedStream> parked = streams_.back()->Park();
  streams_.clear();
  EXPECT_EQ(released_, 0);
  parked = nullptr;
  EXPECT_EQ(released_, 1);
}

TEST_F(AcceptorTest, NobodyGetsInWithoutTheCompanionThatIsAskedFor) {
  bool full = true;
  Listen([&] { return full ? nullptr : MakeCompanion(); });
  RawSocket refused = RawSocket::Connect(acceptor_->port());
  ASSERT_TRUE(turns_.Until([&] { return refused.Readable(); }));
  std::string received;
  EXPECT_FALSE(refused.Receive(received));
  EXPECT_EQ(refused.error(), ECONNRESET);
  EXPECT_TRUE(streams_.empty());
  full = false;
  Connect();
  streams_.clear();
}

}  // namespace
}  // namespace parlor
