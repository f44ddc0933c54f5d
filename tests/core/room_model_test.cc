// Thousands of random sequences of actions, done to a room and to the model of
// it; every byte that any connection is told is compared (room_duel.h).
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <sstream>
#include <string>

#include "parlor/random.h"
#include "room_duel.h"
#include "support/seed.h"

namespace parlor::test {
namespace {

class SeededChoices final : public Choices {
 public:
  // Seeds in a row are spread, so that their sequences have nothing in common.
  explicit SeededChoices(std::uint64_t seed)
      : random_(seed * 0x9e3779b97f4a7c15u) {}
  std::uint32_t Below(std::uint32_t bound) override {
    return random_.Below(bound);
  }

 private:
  Random random_;
};

std::string Report(std::uint64_t seed, const RoomDuel& duel) {
  std::ostringstream text;
  text << "rerun: PARLOR_SEED=" << seed
       << " PARLOR_SEQUENCES=1 core_test --gtest_filter=RoomModelTest.*\n";
  for (const std::string& action : duel.history())
    text << "  " << action << "\n";
  text << duel.error();
  return text.str();
}

TEST(RoomModelTest, AgreesOnEveryByte) {
  const std::uint64_t seed = TestSeed();
  const std::uint64_t sequences = NumberFromEnv("PARLOR_SEQUENCES", 4'000);
  std::set<std::string> reached;
  for (std::uint64_t i = 0; i < sequences; ++i) {
    SeededChoices choices(seed + i);
    RoomDuel duel(choices);
    int steps_after_end = 0;
    for (int step = 0; step < 120 && steps_after_end < 5; ++step) {
      ASSERT_TRUE(duel.Step())
          << "sequence " << i + 1 << ", " << Report(seed + i, duel);
      if (duel.ended()) ++steps_after_end;
    }
    reached.insert(duel.reached().begin(), duel.reached().end());
  }
  if (sequences < 1'000) return;
  // The actions are of use only if they get everywhere.
  const std::set<std::string> everything = {"INPUT",
                                            "HASH",
                                            "WELCOME",
                                            "LEAVE",
                                            "RESUME",
                                            "AWAY",
                                            "LOBBY",
                                            "restart",
                                            "closed 1001 room not filled",
                                            "closed 1001 room idle",
                                            "closed 1001 room time is up",
                                            "closed 1008 message rate",
                                            "closed 1008 kicked",
                                            "closed 1009 message size",
                                            "closed 1011 too slow",
                                            "closed 1012 restart",
                                            "closed 4000 room full",
                                            "closed 4001 resumed",
                                            "closed 4002 seat gone"};
  EXPECT_EQ(reached, everything);
}

}  // namespace
}  // namespace parlor::test
