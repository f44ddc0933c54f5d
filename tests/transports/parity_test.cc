// The parity suite: a game that moves from one transport to another sees the
// same events. Each seeded script runs over every transport, and the traces of
// all its seats are those of the memory pipe on one thread.
#include <gtest/gtest.h>

#include <cstdint>

#include "support/parity_script.h"
#include "support/parity_ways.h"

namespace parlor::test {
namespace {

Trace RoomsOfOneThread(std::uint64_t seed) {
  return RunRoomScript(seed, RoomsIn(OneThread));
}

class Parity : public testing::TestWithParam<WorldRow> {};

TEST_P(Parity, OfRoomScripts) {
  const MakeParityRooms rooms = RoomsIn(GetParam().make_world);
  Compare(GetParam().one_in, RoomsOfOneThread,
          [&](std::uint64_t seed) { return RunRoomScript(seed, rooms); });
}

TEST_P(Parity, OfLinkScripts) {
  Compare(
      GetParam().one_in,
      [](std::uint64_t seed) { return RunLinkScript(seed, OneThread); },
      [](std::uint64_t seed) {
        return RunLinkScript(seed, GetParam().make_world);
      });
}

INSTANTIATE_TEST_SUITE_P(Transports, Parity, testing::ValuesIn(WorldRows()),
                         [](const auto& row) { return row.param.name; });

class HostParity : public testing::TestWithParam<RoomsRow> {};

TEST_P(HostParity, OfRoomScripts) {
  Compare(GetParam().one_in, RoomsOfOneThread, [](std::uint64_t seed) {
    return RunRoomScript(seed, GetParam().make_rooms);
  });
}

INSTANTIATE_TEST_SUITE_P(Hosts, HostParity, testing::ValuesIn(ServerRows()),
                         [](const auto& row) { return row.param.name; });
INSTANTIATE_TEST_SUITE_P(Simulated, HostParity,
                         testing::ValuesIn(VirtualRows()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace parlor::test
