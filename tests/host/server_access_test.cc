// A server and the store of who may come in, whose answers come on threads of
// its own: with threads of the server's, or turned by Poll.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "host/server_fixture.h"
#include "logic/access_codes.h"
#include "logic/pass.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/access_store.h"
#include "parlor/host/server.h"
#include "parlor/time.h"
#include "support/echo_client.h"
#include "support/echo_room.h"
#include "support/lockstep_client.h"
#include "support/raw_socket.h"
#include "support/status_matchers.h"
#include "wall_clock.h"

namespace parlor::test {
namespace {

using host::AccessStore;
using host::PassAnswer;
using host::PassUse;
using host::Sha256;
using testing::ElementsAre;
using testing::StartsWith;

const std::string kSecret = "a secret of 32 bytes or of more.";
constexpr std::string_view kDevice = "0123456789abcdef";

// One that says what the test says, when the test says it.
class SlowStore final : public AccessStore {
 public:
  void WatchCodes(CodesHook hook) override {
    const std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
    if (hook_) hook_(codes_);
  }
  void UsePass(const PassUse& use, PassHook answer) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back({use, std::move(answer)});
  }
  void Refresh() override {}

  // On a thread of its own.
  void SetCodes(std::vector<std::string_view> codes) {
    std::thread([this, codes = std::move(codes)] {
      const std::lock_guard lock(mutex_);
      codes_.clear();
      for (const std::string_view code : codes) {
        codes_.push_back(host::HashCode(code));
      }
      if (hook_) hook_(codes_);
    }).join();
  }
  // The same, to the one who asked first.
  void Answer(PassAnswer answer) {
    std::thread([this, answer] { TakeFirst().answer(answer); }).join();
  }
  // Nobody is told.
  void GiveUp() {
    std::thread([this] { TakeFirst(); }).join();
  }

  struct Asked {
    PassUse use;
    PassHook answer;
  };
  std::size_t asked() const {
    const std::lock_guard lock(mutex_);
    return asked_.size();
  }
  PassUse first() const {
    const std::lock_guard lock(mutex_);
    return asked_.front().use;
  }
  bool watched() const {
    const std::lock_guard lock(mutex_);
    return hook_ != nullptr;
  }

 private:
  Asked TakeFirst() {
    const std::lock_guard lock(mutex_);
    Asked first = std::move(asked_.front());
    asked_.erase(asked_.begin());
    return first;
  }

  mutable std::mutex mutex_;
  CodesHook hook_;
  std::vector<Sha256> codes_;
  std::vector<Asked> asked_;
};

class ServerAccessTest : public ServerFixture,
                         public testing::WithParamInterface<int> {
 protected:
  ServerAccessTest() : ServerFixture(GetParam()) {
    options.gate.open = false;
    options.gate.codes = {"config-code-1"};
    options.gate.passes = true;
    options.gate.pass_secret = kSecret;
    options.access_store = store;
  }

  // A pass that lasts another hour.
  static std::string MakePass(std::uint64_t id) {
    return host::WritePass(
        {.id = id, .expires_s = host::WallClockSeconds() + 3'600, .devices = 1},
        kSecret);
  }
  LockstepClient& JoinWithPass(std::uint64_t id, std::uint32_t room) {
    return Join(*Network(), {.room = room,
                             .players = 2,
                             .access = "pass." + MakePass(id),
                             .device = std::string("device.").append(kDevice)});
  }
  bool UntilAsked(std::size_t count) {
    return Until([&] { return store->asked() == count; });
  }

  const std::shared_ptr<SlowStore> store = std::make_shared<SlowStore>();
};

INSTANTIATE_TEST_SUITE_P(Shards, ServerAccessTest, testing::Values(0, 1),
                         ShardsName);

TEST_P(ServerAccessTest, StoredCodesLetInFromTheFirstConnectionOn) {
  store->SetCodes({"stored-code-1", "stored-code-2"});
  Start();
  EXPECT_EQ(JoinWith("stored-code-1", 1), "open");
  EXPECT_EQ(JoinWith("Stored-Code-2", 2), "open");
  EXPECT_EQ(JoinWith("config-code-1", 3), "open");
  EXPECT_EQ(JoinWith("stored-code-3", 4), "refused 403");
}

TEST_P(ServerAccessTest, StoredCodesComeAndGo) {
  Start();
  EXPECT_EQ(JoinWith("stored-code-1", 1), "refused 403");
  store->SetCodes({"stored-code-1", "stored-code-2"});
  EXPECT_EQ(JoinWith("stored-code-1", 2), "open");
  store->SetCodes({"stored-code-2"});
  EXPECT_EQ(JoinWith("stored-code-1", 3), "refused 403");
  EXPECT_EQ(JoinWith("stored-code-2", 4), "open");
  // A reload is about the others.
  options.gate.codes = {"config-code-2"};
  ASSERT_THAT(server->Reload(options), IsOk());
  EXPECT_EQ(JoinWith("stored-code-2", 5), "open");
  EXPECT_EQ(JoinWith("config-code-1", 6), "refused 403");
  EXPECT_EQ(JoinWith("config-code-2", 7), "open");
}

TEST_P(ServerAccessTest, APassIsAskedAbout) {
  Start();
  LockstepClient& client = JoinWithPass(7, 3);
  ASSERT_TRUE(UntilAsked(1));
  EXPECT_EQ(store->first().pass, 7u);
  EXPECT_EQ(store->first().device, host::HashDevice(7, kDevice));
  EXPECT_EQ(store->first().devices_max, 1);
  EXPECT_THAT(client.Take(), ElementsAre());
  store->Answer(PassAnswer::kLetIn);
  EXPECT_THAT(Hear(client, 2), ElementsAre("open", "LOBBY 0 2 1"));

  const struct {
    PassAnswer answer;
    const char* heard;
  } rows[] = {{PassAnswer::kRevoked, "refused 403"},
              {PassAnswer::kOtherDevice, "refused 403"},
              {PassAnswer::kFailed, "refused 503"}};
  for (const auto& row : rows) {
    LockstepClient& refused = JoinWithPass(8, 3);
    ASSERT_TRUE(UntilAsked(1));
    store->Answer(row.answer);
    EXPECT_THAT(Hear(refused, 1), ElementsAre(row.heard));
  }
  // Meanwhile everybody else is served.
  LockstepClient& waits = JoinWithPass(9, 3);
  ASSERT_TRUE(UntilAsked(1));
  EXPECT_EQ(JoinWith("config-code-1", 4), "open");
  EXPECT_THAT(Health(), StartsWith("HTTP/1.1 200 "));
  store->Answer(PassAnswer::kLetIn);
  EXPECT_THAT(Hear(waits, 2), ElementsAre("open", "WELCOME 1"));
}

TEST_P(ServerAccessTest, AReloadChangesTheSecretAndTheCaps) {
  Start();
  options.gate.pass_secret += " more";
  ASSERT_THAT(server->Reload(options), IsOk());
  EXPECT_THAT(Hear(JoinWithPass(7, 3), 1), ElementsAre("refused 403"));
  options.gate.pass_secret = kSecret;
  ASSERT_THAT(server->Reload(options), IsOk());
  LockstepClient& client = JoinWithPass(7, 3);
  ASSERT_TRUE(UntilAsked(1));
  // Who is being asked about is not asked again.
  options.gate.passes = false;
  ASSERT_THAT(server->Reload(options), IsOk());
  store->Answer(PassAnswer::kLetIn);
  EXPECT_THAT(Hear(client, 2), ElementsAre("open", "LOBBY 0 2 1"));
  EXPECT_THAT(Hear(JoinWithPass(7, 4), 1), ElementsAre("refused 403"));
  EXPECT_EQ(store->asked(), 0u);
}

TEST_P(ServerAccessTest, TheStoreStaysTheSame) {
  Start();
  options.access_store = std::make_shared<SlowStore>();
  EXPECT_THAT(server->Reload(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "server.access_store: cannot change while it runs"));
}

TEST_P(ServerAccessTest, AStoreThatAnswersAfterTheEndTellsNobody) {
  Start();
  JoinWithPass(1, 3);
  ASSERT_TRUE(UntilAsked(1));
  JoinWithPass(2, 3);
  ASSERT_TRUE(UntilAsked(2));
  JoinWithPass(3, 3);
  ASSERT_TRUE(UntilAsked(3));
  EXPECT_TRUE(store->watched());
  // One answer is on its way, or not, when the server ends.
  store->Answer(PassAnswer::kLetIn);
  server.reset();
  EXPECT_FALSE(store->watched());
  store->SetCodes({"stored-code-1"});
  store->Answer(PassAnswer::kLetIn);
  store->GiveUp();
}

TEST_P(ServerAccessTest, EndsWhileTheStoreSpeaks) {
  Start();
  std::atomic<bool> over = false;
  std::thread changes([&] {
    while (!over) store->SetCodes({"stored-code-1"});
  });
  EXPECT_EQ(JoinWith("config-code-1", 4), "open");
  server.reset();
  over = true;
  changes.join();
  EXPECT_FALSE(store->watched());
}

// A server that could not be had leaves the store to whoever has it.
TEST_P(ServerAccessTest, WhoCannotListenWatchesNothing) {
  const RawSocket taken = RawSocket::Listen();
  options.port = taken.port();
  EXPECT_THAT(host::Server::Create(options, entropy),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(store->watched());
}

// Of a hosted room: from the gate's thread to the room's.
TEST_P(ServerAccessTest, ARoomIsToldWhosePassItWas) {
  options.shard.play_rooms = {
      {.key = "arena", .open = true, .make = [](TimePoint, Entropy&) {
         return std::make_unique<EchoRoom>();
       }}};
  Start();
  EchoClient nobody;
  nobody.connection = Network()->Connect(Now(), {.play = "arena"}, &nobody);
  nobody.Say("join");
  EchoClient holder;
  holder.connection =
      Network("tcp")->Connect(Now(),
                              {.access = "pass." + MakePass(0xfeed),
                               .device = std::string("device.").append(kDevice),
                               .play = "arena"},
                              &holder);
  holder.Say("join");
  ASSERT_TRUE(UntilAsked(1));
  EXPECT_TRUE(Until([&] { return nobody.heard.size() == 2; }));
  EXPECT_THAT(nobody.Take(), ElementsAre("open", "+0 "));
  store->Answer(PassAnswer::kLetIn);
  EXPECT_TRUE(Until([&] { return holder.heard.size() == 2; }));
  EXPECT_THAT(holder.Take(), ElementsAre("open", "+1 000000000000feed"));
}

}  // namespace
}  // namespace parlor::test
