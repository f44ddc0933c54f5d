// What parlor-host says when it is ready.
#include "program/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "parlor/host/memory_access_store.h"
#include "parlor/host/server.h"
#include "program/settings.h"
#include "support/test_certificate.h"

namespace parlor::host_program {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(HostReport, ListensWhereABrowserMayBeSent) {
  host::ServerOptions options;
  EXPECT_EQ(ListeningText(options, 8'787, 0),
            "listening on http://127.0.0.1:8787\n");
  options.address = "::1";
  EXPECT_EQ(ListeningText(options, 1, 2),
            "listening on http://[::1]:1\nlistening on tcp://[::1]:2\n");
  test::TestAuthority authority;
  options.tls = TlsServer::FromFiles(authority.IssueLocal()).value();
  EXPECT_EQ(ListeningText(options, 1, 2),
            "listening on https://[::1]:1\nlistening on tls://[::1]:2\n");
}

TEST(HostReport, TheWorstCaseIsTheProductOfTheCaps) {
  Settings settings;
  EXPECT_EQ(WorstCaseText(ToServerOptions(settings)),
            "worst case: 1,024 rooms x 8 seats x 240 messages a second = "
            "1,966,080 in and 13,762,560 relayed to the other seats\n");
  settings.seats = 1;
  settings.rooms = 2;
  settings.message_rate = 3;
  EXPECT_EQ(WorstCaseText(ToServerOptions(settings)),
            "worst case: 2 rooms x 1 seats x 3 messages a second = 6 in and 0 "
            "relayed to the other seats\n");
  // The highest that can be asked for fits.
  settings.rooms = limits::kRooms.ceiling;
  settings.seats = limits::kSeats.ceiling;
  settings.message_rate = limits::kMessageRate.ceiling;
  EXPECT_THAT(WorstCaseText(ToServerOptions(settings)),
              HasSubstr("= 20,971,520,000 in and 650,117,120,000 relayed"));
}

TEST(HostReport, MemoryIsASumWithItsTerms) {
  const std::string text = MemoryText(ToServerOptions(Settings()));
  EXPECT_THAT(text, StartsWith("memory at the worst: 32.2 GiB, "));
  for (const char* line :
       {"  128.0 MiB: connections, 65,536 x 2.0 KiB\n",
        "  32.0 GiB: lanes of connections, 65,536 x 512.0 KiB\n",
        "  1.0 MiB: messages half read, 65,536 x 16 bytes\n",
        "MiB: rooms, 1,024 x 7.",
        "  9.0 MiB: requests of who has no seat, 1,024 x 9.0 KiB\n",
        "  32.0 MiB: rates of addresses, 524,288 x 64 bytes\n",
        "  2.0 MiB: join rates of rooms, 32,768 x 64 bytes\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(HostReport, MoreOfAnythingIsMoreMemory) {
  const std::string before = MemoryText(ToServerOptions(Settings()));
  for (std::int64_t Settings::*const cap :
       {&Settings::connections, &Settings::rooms, &Settings::seats,
        &Settings::unseated, &Settings::shards}) {
    Settings settings;
    settings.*cap *= 2;
    EXPECT_NE(MemoryText(ToServerOptions(settings)), before);
  }
}

TEST(HostReport, DescriptorsAreThoseOfTheConnectionsAndSome) {
  Settings settings;
  settings.connections = 1'000;
  const std::uint64_t few = DescriptorsNeeded(ToServerOptions(settings));
  EXPECT_GT(few, 1'000u);
  EXPECT_LT(few, 1'100u);
  settings.connections = 5'000;
  EXPECT_EQ(DescriptorsNeeded(ToServerOptions(settings)), few + 4'000);
}

// The file of codes and passes, and that of matches, where there is one.
TEST(HostReport, FilesAreCounted) {
  host::ServerOptions options = ToServerOptions(Settings());
  const std::uint64_t without = DescriptorsNeeded(options);
  EXPECT_THAT(MemoryText(options), Not(HasSubstr("access file")));
  options.access_store = std::make_shared<host::MemoryAccessStore>(
      [] { return std::int64_t{0}; }, [](const auto& /*task*/) {});
  EXPECT_EQ(DescriptorsNeeded(options), without + 4);
  EXPECT_THAT(
      MemoryText(options),
      AllOf(HasSubstr("  3.0 MiB: the access file, 1 x 3.0 MiB\n"),
            HasSubstr("  1.0 MiB: passes that are looked up, 4,096 x 256 ")));
  options.state_path = "matches";
  EXPECT_EQ(DescriptorsNeeded(options), without + 7);
  EXPECT_THAT(MemoryText(options),
              HasSubstr("  128.0 KiB: what is kept of rooms, beside them, "
                        "1,024 x 128 bytes\n"));
  options.record_path = "matches";
  EXPECT_EQ(DescriptorsNeeded(options), without + 7 + 1'024 + 1);
  EXPECT_THAT(MemoryText(options),
              HasSubstr("  64.0 MiB: recordings of rooms, 1,024 x 64.0 KiB\n"));
}

}  // namespace
}  // namespace parlor::host_program
