#include "terminal/net_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "friend_link.h"
#include "parlor/status.h"
#include "support/temp_folder.h"
#include "terminal/solo_scene.h"

namespace parlor::solo {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr cycles::Options kGame{.players = 4, .size = 2};

// Scenes of several players and their room, in virtual time.
class NetSceneTest : public ::testing::Test {
 protected:
  NetGame Game(bool listening) {
    auto link = std::make_unique<FriendLink>(host_);
    links_.push_back(link.get());
    NetGame game{.link = std::move(link), .session = {}};
    game.session.game = kGame;
    game.session.hello.players = kGame.players;
    game.session.start_by = StartBy::kPlayer;
    game.session.delay = kNetworkDelay;
    if (listening) {
      game.invitation = Invitation{.urls = {"ws://a:1"}, .code = "CODE"};
      game.again = "listen";
    } else {
      game.joined = "ws://a:1";
      game.again = "join";
    }
    return game;
  }

  // The first one listens. They are turned when they ask for it, as the loop
  // in the terminal does.
  void Add() {
    scenes_.push_back(std::make_unique<NetScene>(Game(scenes_.empty())));
    Run(25);
  }
  void Run(int milliseconds) {
    for (int i = 0; i < milliseconds; ++i) {
      now_ += kMillisecond;
      for (std::size_t s = 0; s < scenes_.size(); ++s) {
        if (s == stopped_ || scenes_[s]->done()) continue;
        if (scenes_[s]->next_turn() <= now_) scenes_[s]->Turn(now_);
      }
    }
  }
  void Start(int players) {
    while (static_cast<int>(scenes_.size()) < players) Add();
    Type(0, Key::kReady);
    Run(100);
    for (const auto& one : scenes_) ASSERT_TRUE(one->began());
  }

  void Type(std::size_t i, Key key) { scenes_[i]->OnKey(now_, key); }
  NetScene& scene(std::size_t i) { return *scenes_[i]; }
  View view(std::size_t i) { return scenes_[i]->view(); }
  std::uint32_t frame(std::size_t i) { return scenes_[i]->session().frame(); }

  TimePoint now_{};
  Host host_;
  std::vector<FriendLink*> links_;
  std::vector<std::unique_ptr<NetScene>> scenes_;
  std::size_t stopped_ = SIZE_MAX;  // as if by SIGSTOP
};

TEST_F(NetSceneTest, TheLobbyShowsWhoIsThere) {
  Add();
  ASSERT_TRUE(view(0).lobby.has_value());
  EXPECT_TRUE(view(0).lobby->connected);
  EXPECT_EQ(view(0).lobby->own_seat, 0);
  EXPECT_EQ(view(0).lobby->seated, 1);
  EXPECT_EQ(view(0).lobby->size, 4);
  EXPECT_EQ(view(0).lobby->invitation->code, "CODE");
  const std::uint64_t before = scene(0).version();
  Add();
  EXPECT_GT(scene(0).version(), before);
  EXPECT_EQ(view(0).lobby->seated, 2);
  EXPECT_EQ(view(1).lobby->own_seat, 1);
  EXPECT_FALSE(view(1).lobby->invitation.has_value());
}

TEST_F(NetSceneTest, NothingIsDrawnWhereNothingChanges) {
  Add();
  Add();
  for (FriendLink* link : links_) link->SetEager();
  const std::uint64_t before = scene(0).version();
  Run(5'000);
  EXPECT_EQ(scene(0).version(), before);
}

TEST_F(NetSceneTest, ALobbyIsTurnedAHundredTimesASecondAtMost) {
  Add();
  Add();
  links_[0]->SetEager();
  scene(0).Turn(now_);
  EXPECT_EQ(scene(0).next_turn(), now_ + 10 * kMillisecond);
  Type(0, Key::kReady);
  Run(100);
  ASSERT_TRUE(scene(0).began());
  scene(0).Turn(now_);
  EXPECT_LE(scene(0).next_turn(), now_);
}

TEST_F(NetSceneTest, EnterOfTheFirstSeatStarts) {
  Add();
  Add();
  Type(1, Key::kReady);
  Run(100);
  EXPECT_FALSE(scene(0).began());
  Type(0, Key::kReady);
  Run(100);
  for (const std::size_t i : {0, 1}) {
    ASSERT_TRUE(scene(i).began());
    EXPECT_FALSE(view(i).lobby.has_value());
    EXPECT_EQ(view(i).own_seat, static_cast<int>(i));
    EXPECT_EQ(view(i).net->players, 2);
    EXPECT_EQ(view(i).state->players, 4);
    EXPECT_GT(frame(i), 3u);
  }
}

TEST_F(NetSceneTest, AMenuCoversWhatGoesOn) {
  Start(2);
  const std::uint32_t before = frame(0);
  // In the countdown a heading can be chosen at will, but not under a menu, and
  // what was typed right before it is forgotten.
  const cycles::Heading heading = view(0).state->cycles[1].heading;
  const bool up = heading == cycles::Heading::kUp;
  Type(1, up ? Key::kDown : Key::kUp);
  Type(1, Key::kPause);
  EXPECT_EQ(view(1).overlay, Overlay::kPaused);
  Type(1, up ? Key::kDown : Key::kUp);
  scene(1).OnHidden(now_);
  Run(1'000);
  EXPECT_GT(frame(0), before + 55);
  EXPECT_EQ(view(0).state->cycles[1].heading, heading);
  Type(1, Key::kPause);
  EXPECT_EQ(view(1).overlay, Overlay::kNone);
  Type(1, up ? Key::kDown : Key::kUp);
  Run(200);
  EXPECT_NE(view(0).state->cycles[1].heading, heading);
}

TEST_F(NetSceneTest, NobodyRestartsOrOpensAMatchWithOthers) {
  Start(2);
  Type(0, Key::kRestart);
  EXPECT_EQ(view(0).overlay, Overlay::kNone);
  Type(0, Key::kPause);
  Type(0, Key::kRestart);
  Type(0, Key::kOpen);
  EXPECT_EQ(view(0).overlay, Overlay::kPaused);
  EXPECT_FALSE(scene(0).done());
}

TEST_F(NetSceneTest, WhoQuitsIsAskedAndLeavesInOrder) {
  Start(3);
  Type(1, Key::kQuit);
  EXPECT_EQ(view(1).overlay, Overlay::kAskQuit);
  Type(1, Key::kUp);
  EXPECT_EQ(view(1).overlay, Overlay::kNone);
  Type(1, Key::kQuit);
  Type(1, Key::kQuit);
  EXPECT_TRUE(view(1).leaving);
  Run(25);
  EXPECT_TRUE(scene(1).done());
  EXPECT_EQ(scene(1).exit_code(), kExitOk);
  EXPECT_EQ(scene(1).last_words(), "Again: join\n");
  // Left, not lost: a bot plays on at once.
  const std::uint32_t before = frame(0);
  Run(200);
  EXPECT_EQ(view(0).net->away, 0u);
  EXPECT_EQ(view(0).net->bots, 2u);
  EXPECT_EQ(view(0).net->left, 2u);
  EXPECT_GT(frame(0), before + 10);
  Run(3'000);
  EXPECT_EQ(view(0).net->left, 0u);
  EXPECT_EQ(view(0).net->bots, 2u);
}

TEST_F(NetSceneTest, QuittingTakesASecondAtMost) {
  Start(2);
  scene(1).Quit(now_);
  const TimePoint begun = now_;
  // No turn of the link, as if the room did not answer.
  EXPECT_LE(scene(1).next_turn(), begun + 1'000 * kMillisecond);
  scene(1).Turn(begun + 1'000 * kMillisecond);
  EXPECT_TRUE(scene(1).done());
}

TEST_F(NetSceneTest, ALostLinkIsShownOnBothSides) {
  Start(2);
  links_[1]->Cut();
  Run(600);
  ASSERT_TRUE(view(1).net->retry.has_value());
  EXPECT_EQ(view(1).net->retry->number, 1);
  EXPECT_EQ(view(1).net->retry->most, 6);
  EXPECT_EQ(view(1).net->retry->seconds_left, 16);
  EXPECT_EQ(view(1).net->away, 0u) << "of others";
  EXPECT_EQ(view(0).net->away, 2u);
  EXPECT_EQ(view(0).net->waiting, 2u);
  Run(300);
  EXPECT_EQ(view(1).net->retry->number, 2);
  EXPECT_EQ(view(1).net->retry->seconds_left, 15);
  links_[1]->Refuse(0);
  Run(1'000);
  EXPECT_FALSE(view(1).net->retry.has_value());
  EXPECT_EQ(view(0).net->away, 0u);
  EXPECT_EQ(view(0).net->waiting, 0u);
  const std::uint32_t before = frame(0);
  Run(500);
  EXPECT_GT(frame(0), before + 25);
}

TEST_F(NetSceneTest, TriesThatRunOutEndIt) {
  Start(2);
  Type(1, Key::kPause);
  links_[1]->Cut();
  Run(17'000);
  EXPECT_EQ(view(1).net->end, "the connection was lost and did not come back");
  EXPECT_EQ(view(1).overlay, Overlay::kNone) << "over the end";
  EXPECT_FALSE(scene(1).done()) << "until it was read";
  Type(1, Key::kUp);
  EXPECT_FALSE(view(1).leaving);
  Type(1, Key::kQuit);
  Run(25);
  EXPECT_TRUE(scene(1).done());
  EXPECT_EQ(scene(1).exit_code(), kExitFailed);
  EXPECT_EQ(scene(1).last_words(),
            "parlor-solo: the connection was lost and did not come back\n");
}

// The file came while they played.
TEST_F(NetSceneTest, ADesyncThatCannotBeWrittenIsTold) {
  const test::TempFolder folder;
  NetGame game = Game(true);
  game.session.desync = folder.Write("dump", "mine");
  scenes_.push_back(std::make_unique<NetScene>(std::move(game)));
  Run(25);
  Start(2);
  Run(500);
  EXPECT_EQ(scene(0).last_words(), "Again: listen\n");
  const_cast<cycles::State*>(scene(0).session().state())->seed ^= 1;
  Run(2'000);
  EXPECT_THAT(scene(0).last_words(),
              HasSubstr("parlor-solo: --desync: " + folder.At("dump") +
                        " exists already\n"));
}

TEST_F(NetSceneTest, AHostThatLeavesEndsItAtOnce) {
  Start(2);
  host_.shard.EndAll(now_, CloseReason::kHostLeft);
  Run(25);
  EXPECT_EQ(view(1).net->end, "the host left");
  Type(1, Key::kReady);
  Run(25);
  EXPECT_TRUE(scene(1).done());
  EXPECT_EQ(scene(1).last_words(), "parlor-solo: the host left\n");
}

TEST_F(NetSceneTest, AHostThatLeavesTheLobbyEndsTheWait) {
  Add();
  Add();
  host_.shard.EndAll(now_, CloseReason::kHostLeft);
  Run(25);
  EXPECT_TRUE(scene(1).done());
  EXPECT_EQ(scene(1).exit_code(), kExitFailed);
  EXPECT_EQ(scene(1).last_words(), "parlor-solo: the host left\n");
}

TEST_F(NetSceneTest, LeavingALobbyAsksWhereOthersWait) {
  Add();
  Type(0, Key::kQuit);
  Run(25);
  EXPECT_TRUE(scene(0).done()) << "alone: no question";
  scenes_.clear();
  Add();
  Add();
  Type(1, Key::kQuit);
  EXPECT_TRUE(view(1).leaving) << "a guest: no question";
  Run(25);
  EXPECT_EQ(view(0).lobby->seated, 1);
  stopped_ = 1;
  Add();
  Type(0, Key::kQuit);
  EXPECT_EQ(view(0).overlay, Overlay::kAskQuit);
  Type(0, Key::kUp);
  EXPECT_EQ(view(0).overlay, Overlay::kNone);
  Type(0, Key::kQuit);
  Type(0, Key::kQuit);
  EXPECT_TRUE(view(0).leaving);
}

TEST_F(NetSceneTest, AJoinCanBeCancelled) {
  scenes_.push_back(std::make_unique<NetScene>(Game(false)));
  scene(0).Turn(now_);
  ASSERT_EQ(scene(0).session().peer().state(),
            lockstep::PeerState::kConnecting);
  Type(0, Key::kReady);
  Type(0, Key::kQuit);
  Run(25);
  EXPECT_TRUE(scene(0).done());
  EXPECT_EQ(scene(0).exit_code(), kExitOk);
  EXPECT_EQ(scene(0).last_words(), "Again: join\n");
  EXPECT_EQ(host_.shard.rooms(), 0u);
}

TEST_F(NetSceneTest, ARefusalEndsItInWords) {
  NetGame game = Game(false);
  game.session.hello.access = "invite.WRONGWRONG";
  links_.back()->Refuse(403);
  scenes_.push_back(std::make_unique<NetScene>(std::move(game)));
  EXPECT_FALSE(view(0).lobby->connected);
  Run(25);
  EXPECT_TRUE(scene(0).done());
  EXPECT_EQ(scene(0).exit_code(), kExitFailed);
  EXPECT_EQ(scene(0).last_words(),
            "parlor-solo: the host does not know this invite code\n");
}

TEST_F(NetSceneTest, AStoppedPlayerHoldsTheOthersAndGoesOnWithThem) {
  Start(2);
  stopped_ = 1;
  Run(5'000);
  EXPECT_EQ(view(0).net->waiting, 2u);
  EXPECT_EQ(view(0).net->away, 0u);
  EXPECT_LE(frame(0), frame(1) + 2 * kNetworkDelay + 1);
  const std::uint32_t before = frame(0);
  stopped_ = SIZE_MAX;
  Run(1'000);
  EXPECT_GE(frame(1), before + 55) << "nothing is skipped";
  EXPECT_LE(std::max(frame(0), frame(1)) - std::min(frame(0), frame(1)), 3u);
  EXPECT_EQ(view(0).net->waiting, 0u);
}

// A solo game that is opened to the room of the fixture.
class SoloSceneTest : public NetSceneTest {
 protected:
  static Options Seeded() {
    Options options;
    options.game = kGame;
    options.seed = 5;
    return options;
  }
  void Play(const Options& options) {
    const OpenRoom open = [this]() -> absl::StatusOr<NetGame> {
      if (closed_) {
        return MakeStatus(absl::StatusCode::kUnavailable, "no port");
      }
      NetGame game = Game(true);
      game.over_solo = true;
      return game;
    };
    solo_ = std::make_unique<SoloScene>(options, open, now_);
    Turn(100);
  }
  void Turn(int milliseconds) {
    for (int i = 0; i < milliseconds && !solo_->done(); ++i) {
      Run(1);
      if (solo_->next_turn() <= now_) solo_->Turn(now_);
    }
  }
  void Type(Key key) { solo_->OnKey(now_, key); }
  std::uint32_t frame() { return solo_->view().state->frame; }

  bool closed_ = false;
  std::unique_ptr<SoloScene> solo_;
};

TEST_F(SoloSceneTest, GoesBackFromTheLobbyToItsPause) {
  Play(Seeded());
  Type(Key::kPause);
  const std::uint32_t before = frame();
  Type(Key::kOpen);
  Turn(60'000);
  ASSERT_TRUE(solo_->view().lobby.has_value());
  EXPECT_TRUE(solo_->view().lobby->over_solo);
  EXPECT_EQ(host_.shard.rooms(), 1u);
  Type(Key::kQuit);
  Turn(25);
  EXPECT_EQ(host_.shard.rooms(), 0u);
  ASSERT_FALSE(solo_->view().lobby.has_value());
  EXPECT_EQ(solo_->view().overlay, Overlay::kPaused);
  EXPECT_EQ(frame(), before);
  Type(Key::kPause);
  Turn(500);
  EXPECT_GT(frame(), before + 25);
  EXPECT_FALSE(solo_->done());
}

TEST_F(SoloSceneTest, PlaysTheNextMatchWithFriends) {
  Play(Seeded());
  Type(Key::kPause);
  Type(Key::kOpen);
  Turn(25);
  scenes_.push_back(std::make_unique<NetScene>(Game(false)));
  Turn(25);
  EXPECT_EQ(solo_->view().lobby->seated, 2);
  const std::uint64_t before = solo_->version();
  Type(Key::kReady);
  Turn(500);
  EXPECT_NE(solo_->version(), before);
  ASSERT_TRUE(solo_->view().net.has_value());
  EXPECT_EQ(solo_->view().net->players, 2);
  EXPECT_EQ(solo_->view().state->size, kGame.size);
  EXPECT_EQ(view(0).state->size, kGame.size);
  EXPECT_GT(frame(), 20u);
  EXPECT_FALSE(solo_->done());
  Type(Key::kQuit);
  Type(Key::kQuit);
  Turn(25);
  EXPECT_TRUE(solo_->done());
  EXPECT_EQ(solo_->exit_code(), kExitOk);
  EXPECT_THAT(solo_->last_words(), HasSubstr("Again: listen"));
}

TEST_F(SoloSceneTest, SaysWhyItCannotBeOpened) {
  Play(Seeded());
  closed_ = true;
  Type(Key::kPause);
  const std::uint64_t before = solo_->version();
  Type(Key::kOpen);
  EXPECT_NE(solo_->version(), before);
  EXPECT_EQ(solo_->view().overlay, Overlay::kPaused);
  EXPECT_EQ(solo_->view().warning, "Cannot open it to friends: no port");
  Type(Key::kPause);
  EXPECT_THAT(solo_->view().warning, IsEmpty());
}

TEST_F(SoloSceneTest, SaysWhyALobbyEndedByItself) {
  Play(Seeded());
  Type(Key::kPause);
  Type(Key::kOpen);
  Turn(25);
  host_.shard.EndAll(now_, CloseReason::kRoomNotFilled);
  Turn(25);
  EXPECT_FALSE(solo_->view().lobby.has_value());
  EXPECT_THAT(solo_->view().warning, HasSubstr("was not filled in time"));
  EXPECT_FALSE(solo_->done());
}

TEST_F(SoloSceneTest, ToldToEndInTheLobbyItEnds) {
  Play(Seeded());
  Type(Key::kPause);
  Type(Key::kOpen);
  Turn(25);
  solo_->Quit(now_);
  Turn(25);
  EXPECT_TRUE(solo_->done());
  EXPECT_EQ(host_.shard.rooms(), 0u);
}

TEST_F(SoloSceneTest, RecordsTheMatchWithFriendsBesideItsOwn) {
  Options options = Seeded();
  options.record = ::testing::TempDir() + "/solo_scene.replay";
  const std::string second = options.record + ".2";
  std::remove(options.record.c_str());
  std::remove(second.c_str());
  Play(options);
  Type(Key::kPause);
  Type(Key::kOpen);
  Turn(25);
  EXPECT_TRUE(std::ifstream(second).good()) << "claimed";
  Type(Key::kQuit);
  Turn(25);
  EXPECT_FALSE(std::ifstream(second).good()) << "nothing was played";
  Type(Key::kOpen);
  Turn(25);
  Type(Key::kReady);
  Turn(500);
  Type(Key::kQuit);
  Type(Key::kQuit);
  Turn(25);
  EXPECT_EQ(solo_->exit_code(), kExitOk);
  solo_.reset();
  for (const std::string& file : {options.record, second}) {
    EXPECT_TRUE(ReplayPlayer::Open(file, false).ok()) << file;
    std::remove(file.c_str());
  }
}

}  // namespace
}  // namespace parlor::solo
