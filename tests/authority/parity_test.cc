// The parity suite of authority rooms: the same joins, inputs, messages,
// snapshots, drops, resumes, kicks and ends, right and hostile, seen alike over
// every transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "parlor/byte_io.h"
#include "support/hex.h"
#include "support/parity_authority_script.h"
#include "support/parity_script.h"
#include "support/parity_ways.h"
#include "support/seed.h"

namespace parlor::test {
namespace {

Trace RoomsOfOneThread(std::uint64_t seed) {
  return RunAuthorityScript(seed, RoomsIn(OneThread));
}

class AuthorityParity : public testing::TestWithParam<WorldRow> {};

TEST_P(AuthorityParity, OfScripts) {
  const MakeParityRooms rooms = RoomsIn(GetParam().make_world);
  Compare(GetParam().one_in, RoomsOfOneThread,
          [&](std::uint64_t seed) { return RunAuthorityScript(seed, rooms); });
}

INSTANTIATE_TEST_SUITE_P(Transports, AuthorityParity,
                         testing::ValuesIn(WorldRows()),
                         [](const auto& row) { return row.param.name; });

class AuthorityHostParity : public testing::TestWithParam<RoomsRow> {};

TEST_P(AuthorityHostParity, OfScripts) {
  Compare(GetParam().one_in, RoomsOfOneThread, [](std::uint64_t seed) {
    return RunAuthorityScript(seed, GetParam().make_rooms);
  });
}

INSTANTIATE_TEST_SUITE_P(Hosts, AuthorityHostParity,
                         testing::ValuesIn(ServerRows()),
                         [](const auto& row) { return row.param.name; });
INSTANTIATE_TEST_SUITE_P(Simulated, AuthorityHostParity,
                         testing::ValuesIn(VirtualRows()),
                         [](const auto& row) { return row.param.name; });

// Parity of scripts in which nothing happens would be no surprise.
TEST(AuthorityScripts, ComeByEverything) {
  std::string all;
  const std::uint64_t first = TestSeed();
  for (std::uint64_t seed = first; seed < first + 60; ++seed) {
    for (const std::string& line : RoomsOfOneThread(seed)) all += line + "\n";
  }
  for (const char* close : {"1000", "1007", "1008", "1009", "1011", "1012",
                            "4000", "4001", "4003", "4004"}) {
    EXPECT_NE(all.find(std::string("close ") + close), std::string::npos)
        << close;
  }
  EXPECT_NE(all.find("refused 404"), std::string::npos);
  for (const char* told : {R"("t":"welcome")",
                           R"("codec":"json")",
                           R"("codec":"binary")",
                           R"("epoch":2)",
                           R"("t":"roster")",
                           R"("connected":false)",
                           R"("locked":true)",
                           R"("t":"tick")",
                           R"("kind":"hud","value":{)",
                           R"("t":"baseline")",
                           R"("t":"delta")",
                           R"("t":"recovery")",
                           R"("gone":[)",
                           R"("own":)",
                           R"("t":"msg")",
                           R"("t":"rtt")",
                           R"("code":"protocol")",
                           R"("code":"name")",
                           R"("code":"full")",
                           R"("code":"locked")",
                           R"("code":"refused")",
                           R"("code":"resume_refused")",
                           R"("code":"budget")",
                           R"("code":"rate")",
                           R"("code":"payload")",
                           R"("code":"ended")"}) {
    EXPECT_NE(all.find(Hex(AsBytes(told))), std::string::npos) << told;
  }
  EXPECT_EQ(all.find("malformed"), std::string::npos);
}

}  // namespace
}  // namespace parlor::test
