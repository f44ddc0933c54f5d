// One seed gives one run, whatever compiled it: the digests here are the same
// under gcc and clang, in debug and release builds. A change that moves them
// changes what every seed means, and says so in its commit.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "parlor/lane.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim_crowd.h"
#include "sim_fixture.h"

namespace parlor {
namespace {

using sim::Direction;
using sim::NetworkEvent;
using test::SimCrowd;
using test::SimMachines;
using What = NetworkEvent::What;

// Everything that can befall a link befalls one.
std::uint64_t Tour(std::uint64_t seed, const sim::Conditions& conditions) {
  SimCrowd crowd(seed, conditions, 4);
  crowd.Run(2 * kSecond);
  crowd.link(0).Cut();
  crowd.link(1).Cut(Direction::kUp);
  crowd.Run(3 * kSecond);
  crowd.link(0).Heal();
  crowd.link(1).Heal();
  crowd.link(2).Reset();
  crowd.Run(2 * kSecond);
  crowd.endpoint(3).StallUntil(crowd.executor.now() + 2 * kSecond);
  crowd.link(1).SetConditions(sim::kAwful);
  crowd.Run(3 * kSecond);
  crowd.host.StallUntil(crowd.executor.now() + kSecond);
  crowd.Run(20 * kSecond);
  return crowd.network.digest();
}

TEST(SimDigestTest, IsTheSameOnEveryMachine) {
  EXPECT_EQ(Tour(1, sim::kPerfect), 15594900495328497074u);
  EXPECT_EQ(Tour(1, sim::kLan), 11046741672593165817u);
  EXPECT_EQ(Tour(1, sim::kWifi), 17081106386425467907u);
  EXPECT_EQ(Tour(1, sim::kMobile), 17101442556023209949u);
  EXPECT_EQ(Tour(1, sim::kAwful), 8683007091342235869u);
  EXPECT_EQ(Tour(2, sim::kAwful), 7408422318670818421u);
}

TEST(SimDigestTest, IsOfTheRunAndOfNothingElse) {
  const std::uint64_t first = Tour(7, sim::kMobile);
  EXPECT_EQ(Tour(7, sim::kMobile), first);
  EXPECT_NE(Tour(8, sim::kMobile), first);
  EXPECT_NE(Tour(7, sim::kWifi), first);
}

TEST(SimDigestTest, EveryByteAndEveryNanosecondCounts) {
  const auto run = [](const std::string& bytes, Lane lane, Duration at,
                      bool cut) {
    SimMachines sim(sim::kLan);
    sim.Open();
    sim.executor.RunFor(at);
    sim.a.Send(bytes, lane);
    if (cut) sim.link.Cut();
    sim.RunMs(10);
    return sim.network.digest();
  };
  const std::string bytes = "0123456789";
  const std::uint64_t base = run(bytes, Lane::kReliable, kSecond, false);
  EXPECT_EQ(run(bytes, Lane::kReliable, kSecond, false), base);
  EXPECT_NE(run("0123456788", Lane::kReliable, kSecond, false), base);
  EXPECT_NE(run("012345678", Lane::kReliable, kSecond, false), base);
  EXPECT_NE(run(bytes + '\0', Lane::kReliable, kSecond, false), base);
  EXPECT_NE(run(bytes, Lane::kState, kSecond, false), base);
  EXPECT_NE(run(bytes, Lane::kReliable, kSecond + Duration(1), false), base);
  EXPECT_NE(run(bytes, Lane::kReliable, kSecond, true), base);
}

// ---- What a trace hears.

class Listing final : public sim::NetworkSink {
 public:
  struct Line {
    What what;
    Direction direction;
    TimePoint sent, arrives;
    Lane lane;
    std::uint32_t number;
    std::string bytes;
    bool hosted;
  };

  void OnNetworkEvent(const NetworkEvent& event) override {
    lines.push_back(
        {event.what, event.direction, event.sent, event.arrives, event.lane,
         event.number,
         std::string(reinterpret_cast<const char*>(event.bytes.data()),
                     event.bytes.size()),
         event.hosted});
  }
  std::vector<What> whats() const {
    std::vector<What> all;
    for (const Line& line : lines) all.push_back(line.what);
    return all;
  }

  std::vector<Line> lines;
};

constexpr sim::Conditions kClear{.up = {.latency = 20 * kMillisecond},
                                 .down = {.latency = 30 * kMillisecond}};

TEST(SimSinkTest, HearsOfAllThatIsSent) {
  SimMachines sim(kClear);
  Listing listing;
  sim.network.SetSink(&listing);
  sim.Open();
  sim.a.Send("reliable");
  sim.b.Send("state", Lane::kState);
  sim.RunMs(100);
  sim.a.connection->Close(4000, "bye");
  sim.RunMs(100);
  sim.network.SetSink(nullptr);
  EXPECT_EQ(listing.whats(),
            (std::vector<What>{What::kOpen, What::kOpen, What::kMessage,
                               What::kMessage, What::kClose, What::kClose}));
  const Listing::Line& reliable = listing.lines[2];
  EXPECT_EQ(reliable.direction, Direction::kUp);
  EXPECT_EQ(reliable.arrives - reliable.sent, 20 * kMillisecond);
  EXPECT_EQ(reliable.lane, Lane::kReliable);
  EXPECT_EQ(reliable.bytes, "reliable");
  const Listing::Line& state = listing.lines[3];
  EXPECT_EQ(state.direction, Direction::kDown);
  EXPECT_EQ(state.lane, Lane::kState);
  EXPECT_EQ(state.bytes, "state");
  EXPECT_EQ(listing.lines[4].number, 4000u);
  EXPECT_EQ(listing.lines[4].bytes, "bye");
}

// All of a connection, whichever end says it; of a lockstep room's nothing.
TEST(SimSinkTest, HearsWhichRoomItIsOf) {
  for (const std::string_view play : {"", "arena"}) {
    SimMachines sim(kClear);
    sim.hello.play = play;
    Listing listing;
    sim.network.SetSink(&listing);
    sim.Open();
    sim.a.Send("up");
    sim.b.Send("down", Lane::kState);
    sim.RunMs(100);
    sim.a.connection->Close(1000, "");
    sim.RunMs(100);
    sim.network.SetSink(nullptr);
    ASSERT_EQ(listing.lines.size(), 6u);
    for (const Listing::Line& line : listing.lines) {
      EXPECT_EQ(line.hosted, play == "arena");
    }
  }
}

TEST(SimSinkTest, HearsWhatIsLostAndWhatComesAgain) {
  SimMachines sim(kClear);
  Listing listing;
  sim.Open();
  sim.network.SetSink(&listing);
  sim.a.Send("reliable");
  sim.a.Send("state", Lane::kState);
  sim.RunMs(10);
  sim.link.Cut(Direction::kUp);
  sim.a.Send("held");
  sim.RunMs(10);
  sim.link.Heal();
  sim.RunMs(1'000);
  sim.link.SetConditions(sim::kLan);
  sim.link.Reset();
  sim.RunMs(10);
  sim.network.SetSink(nullptr);
  EXPECT_EQ(listing.whats(),
            (std::vector<What>{What::kMessage, What::kMessage, What::kCut,
                               What::kLost, What::kLost, What::kLost,
                               What::kHealed, What::kMessage, What::kMessage,
                               What::kConditions, What::kReset}));
  // What comes again says when it was sent again.
  EXPECT_EQ(listing.lines[7].bytes, "reliable");
  EXPECT_EQ(listing.lines[7].arrives - listing.lines[7].sent,
            20 * kMillisecond);
  EXPECT_EQ(listing.lines[8].bytes, "held");
  EXPECT_EQ(sim.b.On(Lane::kReliable),
            (std::vector<std::string>{"reliable", "held"}));
}

// Where every message went can be told from the events alone.
TEST(SimSinkTest, EventsAndDeliveriesAgree) {
  SimMachines sim(sim::kMobile, 3);
  Listing listing;
  sim.Open();
  sim.network.SetSink(&listing);
  for (int i = 0; i < 3'000; ++i) {
    sim.a.Send(std::to_string(i), i % 2 == 0 ? Lane::kReliable : Lane::kState);
    sim.RunMs(7);
  }
  sim.RunMs(5'000);
  sim.network.SetSink(nullptr);
  using Key = std::tuple<TimePoint, std::string>;
  std::multimap<Key, Lane> expected, heard;
  for (const Listing::Line& line : listing.lines) {
    if (line.what != What::kMessage) continue;
    expected.insert({{line.arrives, line.bytes}, line.lane});
  }
  for (const test::SimEnd::Message& message : sim.b.messages) {
    heard.insert({{message.at, message.bytes}, message.lane});
  }
  EXPECT_EQ(expected, heard);
  EXPECT_GT(heard.size(), 2'900u);
}

}  // namespace
}  // namespace parlor
