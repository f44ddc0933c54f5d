// A process that is killed at any moment leaves a database that opens, is whole
// and has every change in it that was acknowledged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "parlor/host/access_store.h"
#include "storage/access_database.h"
#include "support/child_process.h"
#include "support/numbered_hash.h"
#include "support/seed.h"
#include "support/status_matchers.h"
#include "support/temp_folder.h"

namespace parlor::host {
namespace {

using test::ChildProcess;
using test::NumberedHash;
using ::testing::AnyOf;
using ::testing::ElementsAre;

constexpr std::chrono::seconds kPatience{60};
// So many numbers each life of the program has for itself.
constexpr std::uint32_t kNumbers = 10'000;

// Whole, by SQLite's own judgement.
std::string Integrity(const std::string& path) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  std::string answer;
  const auto add = [](void* to, int, char** columns, char**) {
    static_cast<std::string*>(to)->append(columns[0]);
    return 0;
  };
  EXPECT_EQ(
      sqlite3_exec(database, "PRAGMA integrity_check", add, &answer, nullptr),
      SQLITE_OK);
  EXPECT_EQ(sqlite3_close(database), SQLITE_OK);
  return answer;
}

// What was acknowledged.
struct Acknowledged {
  std::map<std::int64_t, std::uint32_t> codes;  // id: number
  std::set<std::int64_t> revoked_codes;
  std::set<std::pair<std::uint64_t, std::uint32_t>> devices;
  std::set<std::uint64_t> revoked_passes;
  std::vector<std::uint32_t> made;

  void Read(const std::string& lines) {
    std::istringstream in(lines);
    std::string what;
    while (in >> what) {
      std::int64_t first = 0;
      std::uint32_t second = 0;
      in >> first;
      if (what == "code" || what == "device") in >> second;
      ASSERT_TRUE(in) << lines;
      if (what == "code") {
        codes[first] = second;
      } else if (what == "revoked-code") {
        revoked_codes.insert(first);
      } else if (what == "device") {
        devices.emplace(first, second);
      } else if (what == "revoked-pass") {
        revoked_passes.insert(first);
      } else {
        ASSERT_EQ(what, "made");
        made.push_back(static_cast<std::uint32_t>(first));
      }
    }
  }
};

class AccessKilledTest : public ::testing::Test {
 protected:
  std::uint32_t Below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_() % bound);
  }

  // Lets it live for some changes and a part of one; what it printed.
  void LiveAndDie(const std::string& what) {
    ChildProcess child({PARLOR_ACCESS_KILLED, what, path_,
                        std::to_string(lives_++ * kNumbers)});
    const int changes = static_cast<int>(Below(12));
    EXPECT_TRUE(child.AwaitCount("", changes, kPatience)) << child.output();
    std::this_thread::sleep_for(std::chrono::microseconds(Below(8'000)));
    child.Signal(SIGKILL);
    EXPECT_EQ(child.AwaitEnd(kPatience), -SIGKILL) << child.output();
    acknowledged_.Read(child.output());
  }

  void ExpectCodes(AccessDatabase& database) const {
    const auto codes = *database.Codes();
    const auto hashes = *database.CodeHashes();
    std::map<std::int64_t, AccessDatabase::Code> by_id;
    for (const auto& code : codes) by_id[code.id] = code;
    for (const auto& [id, number] : acknowledged_.codes) {
      SCOPED_TRACE(number);
      ASSERT_EQ(by_id.count(id), 1U);
      const auto& code = by_id[id];
      EXPECT_EQ(code.label, std::to_string(number));
      const auto hash = NumberedHash(number);
      EXPECT_EQ(std::count(hashes.begin(), hashes.end(), hash),
                code.revoked_s.has_value() ? 0 : 1);
    }
    for (const std::int64_t id : acknowledged_.revoked_codes) {
      EXPECT_TRUE(by_id[id].revoked_s.has_value()) << id;
    }
    // One that nobody was told of yet, each time.
    EXPECT_LE(codes.size(), acknowledged_.codes.size() + lives_);
  }

  void ExpectPasses(AccessDatabase& database) const {
    const auto ask = [&](std::uint64_t pass, std::uint32_t device) {
      // One that nothing would be written for: there is room for none.
      const PassUse use{.pass = pass,
                        .device = NumberedHash(device),
                        .devices_max = 0,
                        .expires_s = 0};
      return database.UsePass(use, 0).value();
    };
    for (const auto& [pass, device] : acknowledged_.devices) {
      SCOPED_TRACE(device);
      // Its revocation may have been the last, which nobody was told of.
      EXPECT_THAT(ask(pass, device),
                  AnyOf(PassAnswer::kLetIn, PassAnswer::kRevoked));
    }
    for (const std::uint64_t pass : acknowledged_.revoked_passes) {
      EXPECT_EQ(ask(pass, 0), PassAnswer::kRevoked);
    }
  }

  const test::TempFolder folder_;
  const std::string path_ = folder_.At("access.db");
  std::mt19937_64 random_{test::TestSeed()};
  std::uint32_t lives_ = 0;
  Acknowledged acknowledged_;
};

TEST_F(AccessKilledTest, WhatIsAcknowledgedIsThere) {
  while (lives_ < 50 && !HasFailure()) {
    SCOPED_TRACE("life " + std::to_string(lives_));
    LiveAndDie("change");
    auto database = AccessDatabase::Open(path_);
    ASSERT_THAT(database, IsOk());
    ExpectCodes(**database);
    ExpectPasses(**database);
    database->reset();
    EXPECT_EQ(Integrity(path_), "ok");
  }
  // It did something.
  EXPECT_GT(acknowledged_.codes.size(), 25U);
  EXPECT_GT(acknowledged_.devices.size(), 25U);
  EXPECT_GT(acknowledged_.revoked_codes.size(), 5U);
  EXPECT_GT(acknowledged_.revoked_passes.size(), 5U);
}

TEST_F(AccessKilledTest, FileThatIsThereIsWhole) {
  while (lives_ < 20) LiveAndDie("make");
  for (const std::uint32_t number : acknowledged_.made) {
    auto database = AccessDatabase::Open(path_ + std::to_string(number));
    ASSERT_THAT(database, IsOk());
    EXPECT_THAT(*(*database)->CodeHashes(), ElementsAre(NumberedHash(number)));
  }
  // Also those that were not acknowledged, but for what has another name.
  for (const auto& entry :
       std::filesystem::directory_iterator(folder_.path())) {
    const std::string end = entry.path().string().substr(path_.size());
    if (end.find_first_not_of("0123456789") != std::string::npos) continue;
    SCOPED_TRACE(end);
    EXPECT_THAT(AccessDatabase::Open(entry.path().string()), IsOk());
  }
  EXPECT_GT(acknowledged_.made.size(), 20U);
}

}  // namespace
}  // namespace parlor::host
