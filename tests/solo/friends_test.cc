#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "friend_link.h"
#include "parlor/byte_io.h"
#include "parlor/lockstep/desync.h"
#include "session.h"
#include "support/files.h"
#include "support/temp_folder.h"

namespace parlor::solo {
namespace {

constexpr cycles::Options kHostsGame{
    .players = 3, .level = cycles::Level::kHard, .size = 5};

struct Friend {
  Friend(const SessionOptions& options, Host& host)
      : link(std::make_unique<FriendLink>(host)),
        session(std::make_unique<Session>(options, *link)) {}

  std::unique_ptr<FriendLink> link;
  std::unique_ptr<Session> session;
};

// Several sessions and their room, in virtual time.
class FriendsTest : public ::testing::Test {
 protected:
  // The first one has seat 0, and its options are the match's.
  Friend& Join(SessionOptions options = {}) {
    if (options.hello.players == 0) options.hello.players = kHostsGame.players;
    options.start_by = StartBy::kPlayer;
    options.delay = kNetworkDelay;
    if (friends_.empty()) options.game = kHostsGame;
    friends_.push_back(std::make_unique<Friend>(options, host_));
    Run(3);
    return *friends_.back();
  }
  Friend& JoinBot() {
    SessionOptions options;
    options.own_seat_is_bot = true;
    return Join(options);
  }

  // So many milliseconds.
  void Run(int milliseconds, std::uint32_t limit = UINT32_MAX) {
    for (int i = 0; i < milliseconds; ++i) {
      now_ += kMillisecond;
      for (const auto& one : friends_) {
        one->session->Turn(now_, limit);
        if (one->session->next_turn() == kNever) one->link->Turn(now_);
      }
    }
  }
  // Until all that have not ended have run them.
  void RunTo(std::uint32_t frames) {
    for (int i = 0; i < 60'000; ++i) {
      bool there = true;
      for (const auto& one : friends_) {
        const Session& session = *one->session;
        if (session.left() || session.frame() >= frames) continue;
        there = false;
      }
      if (there) return;
      Run(1, frames);
    }
    FAIL() << "they do not get to frame " << frames;
  }

  Session& session(int i) {
    return *friends_[static_cast<std::size_t>(i)]->session;
  }
  std::uint64_t Hash(int i) { return cycles::Hash64(*session(i).state()); }

  TimePoint now_{};
  Host host_;
  std::vector<std::unique_ptr<Friend>> friends_;
};

TEST_F(FriendsTest, AFullRoomPlaysWhatItsHostChose) {
  JoinBot();
  JoinBot();
  JoinBot();
  RunTo(900);
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(session(i).match()->seat, i);
    EXPECT_EQ(session(i).match()->mode, cycles::ModeOf(kHostsGame));
    EXPECT_EQ(session(i).match()->delay, kNetworkDelay);
    EXPECT_EQ(session(i).state()->level, kHostsGame.level);
    EXPECT_EQ(session(i).frame(), 900u);
    EXPECT_EQ(Hash(i), Hash(0));
    EXPECT_EQ(session(i).taken_over(0), -1);
    EXPECT_EQ(session(i).peer().desync(), -1);
  }
}

// Each seat writes what it kept; together they say who was wrong.
TEST_F(FriendsTest, ADesyncIsWrittenForWhoeverAskedForIt) {
  const test::TempFolder folder;
  for (int seat = 0; seat < 3; ++seat) {
    SessionOptions options;
    options.own_seat_is_bot = true;
    options.desync = folder.At(std::to_string(seat));
    Join(options);
  }
  RunTo(200);
  EXPECT_FALSE(session(1).desync_status().has_value());
  // What a bit that flips in its memory does.
  const_cast<cycles::State*>(session(1).state())->cycles[2].score ^= 256;
  RunTo(260);
  std::vector<lockstep::DesyncDump> dumps;
  for (int seat = 0; seat < 3; ++seat) {
    ASSERT_TRUE(session(seat).desync_status().has_value());
    ASSERT_TRUE(session(seat).desync_status()->ok());
    const std::string bytes = test::ReadFile(folder.At(std::to_string(seat)));
    const auto dump = lockstep::ParseDesyncDump(AsBytes(bytes));
    ASSERT_TRUE(dump.ok()) << dump.status();
    dumps.push_back(*dump);
  }
  const auto report = FindDesync(dumps);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(DesyncText(*report),
            "frame 201: seat 1 differs from seats 0, 2\n"
            "  cycles[2].score is 256, elsewhere 0");
}

TEST_F(FriendsTest, AFileOfThatNameIsNotReplacedByADesync) {
  const test::TempFolder folder;
  SessionOptions options;
  options.own_seat_is_bot = true;
  options.desync = folder.Write("dump", "mine");
  Join(options);
  JoinBot();
  JoinBot();
  RunTo(40);
  const_cast<cycles::State*>(session(0).state())->cycles[2].score ^= 256;
  RunTo(100);
  ASSERT_TRUE(session(0).desync_status().has_value());
  EXPECT_EQ(session(0).desync_status()->code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(test::ReadFile(options.desync), "mine");
}

TEST_F(FriendsTest, NobodyStartsButSeat0) {
  Join();
  Join();
  EXPECT_EQ(session(0).peer().seated(), 2);
  session(1).Start();
  Run(50);
  EXPECT_EQ(session(1).peer().state(), lockstep::PeerState::kLobby);
  session(0).Start();
  RunTo(100);
  EXPECT_EQ(session(1).match()->players, 2);
  EXPECT_EQ(session(1).match()->size, 3);
  EXPECT_EQ(session(1).state()->players, 3);
  EXPECT_EQ(session(1).state()->level, kHostsGame.level);
  EXPECT_EQ(Hash(0), Hash(1));
}

TEST_F(FriendsTest, AMatchOfOneHasTheSameBotsAsPlaySolo) {
  JoinBot();
  session(0).Start();
  RunTo(300);
  EXPECT_EQ(session(0).match()->players, 1);
  EXPECT_EQ(session(0).state()->cycles[0].held, 0u);
}

TEST_F(FriendsTest, ABotTakesALeftSeatAtTheSameFrameEverywhere) {
  JoinBot();
  JoinBot();
  JoinBot();
  RunTo(100);
  session(2).End();
  EXPECT_FALSE(session(2).left());
  EXPECT_EQ(session(2).next_turn(), kNever);
  Run(3);
  EXPECT_TRUE(session(2).left());
  RunTo(1'000);
  EXPECT_GE(session(0).taken_over(2), 100);
  EXPECT_LT(session(0).taken_over(2), 110);
  EXPECT_EQ(session(0).taken_over(2), session(1).taken_over(2));
  EXPECT_EQ(session(0).taken_over(1), -1);
  EXPECT_EQ(Hash(0), Hash(1));
}

TEST_F(FriendsTest, WhoWasCutComesBack) {
  JoinBot();
  JoinBot();
  JoinBot();
  RunTo(100);
  friends_[1]->link->Cut();
  Run(500);
  EXPECT_EQ(session(1).peer().state(), lockstep::PeerState::kReconnecting);
  EXPECT_EQ(session(0).peer().away(), 0b010u);
  EXPECT_FALSE(session(1).failed());
  friends_[1]->link->Refuse(0);
  RunTo(600);
  EXPECT_EQ(session(1).peer().counters().resumes, 1u);
  EXPECT_EQ(session(0).taken_over(1), -1);
  EXPECT_EQ(Hash(0), Hash(1));
  EXPECT_EQ(Hash(0), Hash(2));
}

// It is behind, and runs what it has of the others up to the last frame while
// it is down; what it said meanwhile is all that the others lack.
TEST_F(FriendsTest, WhoIsCutAtTheEndStillSaysItsLastMoves) {
  JoinBot();
  JoinBot();
  JoinBot();
  RunTo(100);
  const std::uint32_t last = session(1).frame() + 4;
  std::unique_ptr<Friend> late = std::move(friends_[1]);
  friends_.erase(friends_.begin() + 1);
  Run(100);
  late->link->Turn(now_);
  late->link->Cut();
  friends_.push_back(std::move(late));
  Run(500, last);
  EXPECT_EQ(session(2).frame(), last);
  EXPECT_EQ(session(2).peer().state(), lockstep::PeerState::kReconnecting);
  EXPECT_LT(session(0).frame(), last);
  friends_[2]->link->Refuse(0);
  RunTo(last);
  EXPECT_EQ(Hash(0), Hash(1));
  EXPECT_EQ(Hash(0), Hash(2));
}

TEST_F(FriendsTest, AHostThatLeavesEndsItForAll) {
  Join();
  Join();
  Join();
  RunTo(100);
  host_.shard.EndAll(now_, CloseReason::kHostLeft);
  Run(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(session(i).failed());
    EXPECT_EQ(session(i).error(), "the host left");
    EXPECT_TRUE(session(i).left());
  }
}

struct ErrorRow {
  std::uint16_t refusal;
  std::string access;
  std::string_view words;
};

TEST_F(FriendsTest, ARefusalIsToldInWords) {
  const ErrorRow rows[] = {
      {403, "", "the host takes nobody in without an invite code or a pass"},
      {403, "invite.AAAAAAAAAAAA", "the host does not know this invite code"},
      {403, "pass.xyz",
       "the host does not take this pass: it expired, was revoked, or is in "
       "use on other devices"},
      {404, "", "there is no such room"},
      {409, "",
       "the room was opened for another number of players: "
       "?players= must be the same"},
      {429, "", "too many tries: wait a minute"},
      {503, "", "the host takes nobody in at the moment"},
  };
  for (const ErrorRow& row : rows) {
    SCOPED_TRACE(row.refusal);
    SessionOptions options;
    options.hello = {.players = 3, .access = row.access};
    FriendLink link(host_);
    link.Refuse(row.refusal);
    Session session(options, link);
    for (int i = 0; i < 3; ++i) session.Turn(now_);
    EXPECT_TRUE(session.failed());
    EXPECT_EQ(session.error(), row.words);
    EXPECT_TRUE(session.left());
  }
}

TEST_F(FriendsTest, OneTooManyHearsThatTheRoomIsFull) {
  for (int i = 0; i < 4; ++i) Join();
  EXPECT_EQ(session(3).error(), "the room is full or plays already");
  EXPECT_FALSE(session(0).failed());
}

TEST_F(FriendsTest, AnotherDelayIsToldBeforeAnyonePlays) {
  SessionOptions options;
  options.hello.players = 2;
  Host other;
  options.start_by = StartBy::kPlayer;
  options.delay = kNetworkDelay;
  Friend first(options, other);
  options.delay = kNetworkDelay + 1;
  Friend second(options, other);
  for (int i = 0; i < 100; ++i) {
    now_ += kMillisecond;
    first.session->Turn(now_);
    second.session->Turn(now_);
  }
  EXPECT_TRUE(first.session->failed());
  EXPECT_NE(first.session->error().find("plays another build"),
            std::string::npos);
}

}  // namespace
}  // namespace parlor::solo
