// Nothing that a client said, and nothing that is secret, is in a log, an
// answer or an error of a host, nor in the file of codes and passes: everything
// that clients can do is done to one, and all that comes of it is searched.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leak_hunt.h"
#include "leak_secrets.h"
#include "leak_tour.h"
#include "parlor/check.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/host/sqlite_access_store.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "support/files.h"
#include "support/local_tls.h"
#include "support/temp_folder.h"

namespace parlor::test {
namespace {

TEST(LeakHunt, FindsWhatIsPlanted) {
  constexpr std::string_view kSecret = "Sum.Mer-9";
  for (const std::string planted :
       {"Sum.Mer-9", "xsum.mer-9x", "SUM.MER-9", "53756d2e4d65722d39",
        "53756D2E4D65722D39", "73756d2e6d65722d39"}) {
    SCOPED_TRACE(planted);
    LeakHunt hunt;
    hunt.Forbid("the secret", kSecret);
    hunt.Look("here", "a line");
    EXPECT_TRUE(hunt.Find().empty());
    hunt.Look("there", "a line with " + planted);
    ASSERT_EQ(hunt.Find().size(), 1u);
    EXPECT_TRUE(hunt.Find()[0].starts_with("the secret"));
    EXPECT_NE(hunt.Find()[0].find("in 'there'"), std::string::npos);
  }
}

TEST(LeakHunt, FindsMarksAndTokensOutsideOfWhatIsAllowed) {
  LeakHunt hunt;
  hunt.ForbidToken(0x0badcafe);
  hunt.Look("decimal", "token 195939070");
  hunt.Look("as offered", "resume.BADCAFE");
  const std::string mark = hunt.Mark();
  hunt.Look("allowed", "pong " + mark, {mark});
  hunt.Look("and once more", "pong " + mark + mark, {mark});
  const std::vector<std::string> found = hunt.Find();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NE(found[0].find("'decimal'"), std::string::npos);
  EXPECT_NE(found[1].find("'as offered'"), std::string::npos);
  EXPECT_NE(found[2].find("'and once more'"), std::string::npos);
}

// With TLS or without.
class LeakTest : public testing::TestWithParam<bool> {
 protected:
  LeakTest() {
    FillTourDatabase(database_, secrets_);
    hunt_.Forbid("the operator's code", kTourOwnCode);
    hunt_.Forbid("the secret of passes", kTourPassSecret);
    options_.tcp_port = 0;
    if (GetParam()) options_.tls = SharedLocalTls().server;
    options_.shards = 2;
    options_.shard.rooms = kTourRooms;
    options_.shard.seats = kTourSeats;
    options_.drain_ms = 60'000;
    options_.gate.codes = {std::string(kTourOwnCode)};
    options_.gate.origins = {std::string(kTourOrigin)};
    options_.gate.passes = true;
    options_.gate.pass_secret = kTourPassSecret;
    options_.gate.trusted_proxies = {std::string(kTourProxies)};
    options_.gate.joins_per_minute = kTourJoinRate;
    options_.state_path = folder_.At("state");
    options_.record_path = folder_.At("replays");
    PARLOR_CHECK(mkdir(options_.record_path.c_str(), 0700) == 0);
  }

  void Start() {
    auto store = host::SqliteAccessStore::Open(
        database_, [this](const absl::Status& status) {
          Note("the store's status", StatusText(status));
        });
    ASSERT_TRUE(store.ok()) << store.status();
    options_.access_store = *std::move(store);
    auto server = host::Server::Create(
        options_, entropy_, [this](host::LogLevel, std::string_view line) {
          Note("a line of the log", line);
        });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    door_ = {.port = server_->port(),
             .tcp_port = server_->tcp_port(),
             .tls = GetParam()};
  }
  void End() {
    ASSERT_TRUE(server_->WaitStopped(60'000 * kMillisecond));
    server_.reset();
    options_.access_store.reset();
  }
  void LookAtState() {
    EXPECT_EQ(ModeOf(options_.state_path), 0600u);
    hunt_.Look("the state file", WithoutRelayed(ReadFile(options_.state_path)));
  }
  // What was relayed is in them, as in the state file.
  void LookAtRecordings() {
    int matches = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(options_.record_path)) {
      EXPECT_EQ(ModeOf(entry.path()), 0600u);
      std::string text = ReadFile(entry.path());
      for (std::size_t at = 0;
           (at = text.find(kLeakMark, at)) != std::string::npos;) {
        text.replace(at, kLeakMark.size(), "\n");
      }
      hunt_.Look("a recording", text);
      hunt_.Look("its name", entry.path().filename().string());
      ++matches;
    }
    EXPECT_GE(matches, 2);
  }
  void LookAtErrors();
  void LookAtDatabase() {
    for (const char* part : {"", "-wal", "-shm"}) {
      const std::string text = ReadFile(database_ + part);
      if (*part == '\0') {
        EXPECT_GT(text.size(), 1'000u);
      }
      hunt_.Look("the database" + std::string(part), text);
    }
  }
  void Note(std::string_view where, std::string_view line) {
    const std::lock_guard lock(mutex_);
    notes_.emplace_back(where, line);
  }
  // All that was logged; once nobody logs any more.
  void LookAtNotes() {
    const std::lock_guard lock(mutex_);
    for (const auto& [where, line] : notes_) hunt_.Look(where, line);
    EXPECT_GE(notes_.size(), 8u) << "two hosts began, drained and ended";
  }

  const TempFolder folder_;
  const std::string database_ = folder_.At("access.db");
  const TourSecrets secrets_ = MakeTourSecrets();
  host::OsEntropy entropy_;
  host::ServerOptions options_;
  LeakHunt hunt_;
  LeakDoor door_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> notes_;
  std::unique_ptr<host::Server> server_;
};

// Options that are refused, with something secret in what is wrong.
void LeakTest::LookAtErrors() {
  std::vector<host::ServerOptions> wrong(4, options_);
  wrong[0].gate.codes.push_back("short" + hunt_.Mark() + " with a space");
  wrong[1].gate.codes.push_back(std::string(65, 'z') + hunt_.Mark());
  wrong[2].gate.pass_secret = hunt_.Mark();
  wrong[3].gate.open = true;
  for (const host::ServerOptions& options : wrong) {
    const absl::Status reload = server_->Reload(options);
    EXPECT_TRUE(absl::IsInvalidArgument(reload)) << reload;
    hunt_.Look("a reload that is refused", StatusText(reload));
    const auto server = host::Server::Create(options, entropy_);
    EXPECT_TRUE(absl::IsInvalidArgument(server.status())) << server.status();
    hunt_.Look("a start that is refused", StatusText(server.status()));
  }
  const absl::Status good = server_->Reload(options_);
  EXPECT_TRUE(good.ok()) << good;
}

TEST_P(LeakTest, NothingOfAWholeRunIsSeen) {
  Start();
  LeakTour tour(hunt_, door_, secrets_);
  LookAtErrors();
  tour.All();
  server_->Drain();
  tour.Drained();
  server_->Drain();  // its time is over
  tour.Closed();
  End();
  LookAtState();
  LookAtDatabase();

  Start();
  LeakTour after(hunt_, door_, secrets_);
  after.TakenBack(tour.kept_token());
  server_->Stop(CloseReason::kHostLeft);
  End();
  LookAtDatabase();
  LookAtRecordings();
  LookAtNotes();

  ExpectAllOfTour(tour);
  EXPECT_GE(hunt_.looked_at(), 230u);
  EXPECT_GE(hunt_.forbidden(), 80u);
  for (const std::string& leak : hunt_.Find()) ADD_FAILURE() << leak;
}

INSTANTIATE_TEST_SUITE_P(Doors, LeakTest, testing::Bool(), [](const auto& row) {
  return row.param ? "Tls" : "Plain";
});

}  // namespace
}  // namespace parlor::test
