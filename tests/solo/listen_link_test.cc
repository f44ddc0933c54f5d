#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clock.h"
#include "net_links.h"
#include "parlor/entropy.h"
#include "parlor/host/os_entropy.h"
#include "room_url.h"
#include "session.h"

namespace parlor::solo {
namespace {

constexpr Duration kPatience = 20'000 * kMillisecond;
constexpr const char* kCode = "ABCDEFGHJKLM";

std::unique_ptr<ListenLink> Listen(Entropy& entropy) {
  auto made = ListenLink::Create({.code = kCode, .players = 3}, entropy);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

SessionOptions OfThree(std::string access = "") {
  SessionOptions options;
  options.game = {.players = 3, .level = cycles::Level::kEasy, .size = 2};
  options.hello.players = 3;
  options.hello.access = std::move(access);
  options.start_by = StartBy::kPlayer;
  options.delay = kNetworkDelay;
  return options;
}

// Somebody who joins by the last of the listener's addresses.
struct Guest {
  Guest(const ListenLink& listener, Entropy& entropy) {
    const absl::StatusOr<RoomUrl> url = ParseRoomUrl(listener.urls().back());
    EXPECT_TRUE(url.ok()) << url.status();
    auto made = JoinLink::Create(url->host_url, entropy);
    EXPECT_TRUE(made.ok()) << made.status();
    link = *std::move(made);
    session.emplace(OfThree(std::string("invite.") + kCode), *link);
  }

  std::unique_ptr<JoinLink> link;
  std::optional<Session> session;
};

// Turns those sessions until the condition holds.
template <typename Condition>
void Until(const std::vector<Session*>& sessions, const Condition& condition) {
  const TimePoint until = SteadyNow() + kPatience;
  while (!condition()) {
    ASSERT_LT(SteadyNow(), until);
    for (Session* session : sessions) session->Turn(SteadyNow());
    SleepUntil(SteadyNow() + kMillisecond);
  }
}

class ListenLinkTest : public ::testing::Test {
 protected:
  host::OsEntropy entropy_;
  std::unique_ptr<ListenLink> link_ = Listen(entropy_);
  std::optional<Session> own_{std::in_place, OfThree(), *link_};
};

TEST_F(ListenLinkTest, NobodyComesBeforeTheOwnSeat) {
  Guest early(*link_, entropy_);
  Until({&*early.session}, [&] { return early.session->failed(); });
  EXPECT_TRUE(
      early.session->error().starts_with("the room cannot be reached: "))
      << early.session->error();
  EXPECT_EQ(link_->players(), 0);
  // Both at once: the own one is first, every time.
  Guest guest(*link_, entropy_);
  Until({&*own_, &*guest.session}, [&] {
    return own_->peer().seated() == 2 && guest.session->peer().seat() >= 0;
  });
  EXPECT_EQ(own_->peer().seat(), 0);
  EXPECT_EQ(guest.session->peer().seat(), 1);
  EXPECT_EQ(link_->players(), 2);
}

TEST_F(ListenLinkTest, TheOwnerStartsWhatHeChose) {
  Guest guest(*link_, entropy_);
  Until({&*own_, &*guest.session}, [&] { return own_->peer().seated() == 2; });
  own_->Start();
  Until({&*own_, &*guest.session},
        [&] { return own_->frame() > 10 && guest.session->frame() > 10; });
  EXPECT_EQ(guest.session->state()->level, cycles::Level::kEasy);
  EXPECT_EQ(guest.session->match()->size, 3);
}

TEST_F(ListenLinkTest, ItsEndIsEverybodysAtOnce) {
  Guest guest(*link_, entropy_);
  Until({&*own_, &*guest.session}, [&] { return own_->peer().seated() == 2; });
  // The guest has to answer meanwhile, or it is waited for.
  const TimePoint begun = SteadyNow();
  std::thread ending([this] {
    FinishLeaving(*own_, *link_);
    EXPECT_TRUE(own_->left());
    own_.reset();
    link_.reset();
  });
  Until({&*guest.session}, [&] { return guest.session->failed(); });
  while (!guest.session->left()) guest.link->Turn(SteadyNow());
  ending.join();
  EXPECT_EQ(guest.session->error(), "the host left");
  // Those who do not answer are given 2 s.
  EXPECT_LT(SteadyNow() - begun, 2'000 * kMillisecond);
}

TEST_F(ListenLinkTest, APortIsTakenOnce) {
  const auto second = ListenLink::Create(
      {.port = link_->port(), .code = kCode, .players = 3}, entropy_);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
}

TEST_F(ListenLinkTest, UrlsAreOfThisRoomAndEndAtThisMachine) {
  const std::vector<std::string> urls = link_->urls();
  ASSERT_FALSE(urls.empty());
  for (const std::string& text : urls) {
    SCOPED_TRACE(text);
    const absl::StatusOr<RoomUrl> url = ParseRoomUrl(text);
    ASSERT_TRUE(url.ok()) << url.status();
    EXPECT_THAT(url->host_url,
                testing::EndsWith(absl::StrCat(":", link_->port())));
    EXPECT_EQ(url->room, 0u);
    EXPECT_EQ(url->players, 3);
    EXPECT_TRUE(JoinLink::Create(url->host_url, entropy_).ok());
    // Of no use without its link's name, which no URL can hold.
    EXPECT_EQ(text.find("[fe80"), std::string::npos);
  }
  EXPECT_TRUE(urls.back().starts_with("ws://127.0.0.1:"));
}

TEST(DrawInviteCode, IsReadableAndEveryDigitIsAsLikely) {
  SeededEntropy entropy(1);
  std::set<std::string> codes;
  std::set<char> digits;
  for (int i = 0; i < 100; ++i) {
    const std::string code = DrawInviteCode(entropy);
    EXPECT_EQ(code.size(), 12u);
    codes.insert(code);
    digits.insert(code.begin(), code.end());
  }
  EXPECT_EQ(codes.size(), 100u);
  EXPECT_EQ(digits.size(), 32u);
  for (const char c : {'I', 'O', '0', '1'}) EXPECT_EQ(digits.count(c), 0u);
}

}  // namespace
}  // namespace parlor::solo
