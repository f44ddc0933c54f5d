// What a leak test's host knows and its clients show, made anew for each run,
// and the file it is in.
#ifndef PARLOR_TESTS_HOST_LEAK_SECRETS_H_
#define PARLOR_TESTS_HOST_LEAK_SECRETS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "leak_tour.h"
#include "logic/access_codes.h"
#include "logic/pass.h"
#include "storage/access_database.h"
#include "wall_clock.h"

namespace parlor::test {

// The operator's own, of the configuration.
inline constexpr std::string_view kTourOwnCode = "CoDe-oF-the-operator-8R";
inline constexpr char kTourPassSecret[] =
    "5eCret-0f-a11-passes-5eCret-0f-a11-passes";

inline std::string TourPass(std::uint64_t id, std::int64_t lasts_s,
                            const std::string& secret) {
  return host::WritePass(
      {.id = id, .expires_s = host::WallClockSeconds() + lasts_s, .devices = 1},
      secret);
}

inline constexpr std::int64_t kTourDay = 24 * 60 * 60;
inline constexpr std::uint64_t kTourRevokedId = 0x5102;

// `signs`: the host's secret.
inline TourSecrets MakeTourSecrets(const std::string& signs = kTourPassSecret) {
  return {.code = "CodE-oF-a-friend-7Q",
          .pass = TourPass(0x5101, kTourDay, signs),
          .device = "device-key-of-a-friend_1",
          .expired = TourPass(0x5103, -kTourDay, signs),
          .revoked = TourPass(kTourRevokedId, kTourDay, signs),
          .forged = TourPass(0x5104, kTourDay,
                             "another-host-another-host-another-host"),
          .other_device = "device-key-of-a-thief__2"};
}

// The code lets in, the revoked pass does not.
inline void FillTourDatabase(const std::string& path,
                             const TourSecrets& secrets) {
  auto database = host::AccessDatabase::Open(path);
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE((*database)
                  ->AddCode(host::HashCode(secrets.code), "a friend",
                            host::WallClockSeconds())
                  .ok());
  ASSERT_TRUE((*database)
                  ->RevokePass(kTourRevokedId,
                               host::WallClockSeconds() + kTourDay,
                               host::WallClockSeconds())
                  .ok());
}

// Of a state file: tokens are in it as numbers, and what a match relayed. What
// clients said otherwise, and how they came in, is not.
inline std::string WithoutRelayed(std::string state) {
  std::size_t at = state.find(kLeakMark);
  EXPECT_NE(at, std::string::npos);
  for (; at != std::string::npos; at = state.find(kLeakMark)) {
    state.replace(at, kLeakMark.size(), "\n");
  }
  return state;
}

// Of everything that a tour brings about, some.
inline void ExpectAllOfTour(const LeakTour& tour) {
  for (const char* what :
       {"HTTP 101",        "HTTP 200",        "HTTP 400",
        "HTTP 403",        "HTTP 404",        "HTTP 405",
        "HTTP 409",        "HTTP 413",        "HTTP 426",
        "HTTP 429",        "HTTP 431",        "HTTP 501",
        "HTTP 503",        "HTTP 505",        "close 1000",
        "close 1002",      "close 1007",      "close 1008",
        "close 1009",      "close 1012",      "close 3000",
        "close 3001",      "close 4000",      "close 4001",
        "close 4002",      "refused 400",     "refused 403",
        "refused 404",     "relayed",         "resumed",
        "origin told",     "ping answered",   "seated over TCP",
        "closed over TCP", "garbage over TCP"}) {
    EXPECT_GE(tour.count(what), 1) << what;
  }
  EXPECT_GE(tour.count("HTTP 403"), 60);
  EXPECT_GE(tour.count("HTTP 429"), 20);
  EXPECT_GE(tour.count("close 4002"), 4);
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_HOST_LEAK_SECRETS_H_
