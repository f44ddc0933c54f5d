// Matches of three as three people would start them: one process listens, two
// join, and something happens to one of them. All matches run at once, at the
// game's pace; the tests below look at what each of them printed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/child_process.h"
#include "tcp_proxy.h"

namespace parlor::solo {
namespace {

using std::chrono::seconds;
using test::ChildProcess;

// A frame is a 60th of a second: 50 s, and more on a machine that is busy.
constexpr const char* kFrames = "3000";
constexpr seconds kWholeMatch{150};
constexpr seconds kSoon{20};

// Of three processes: the listener has seat 0, the joiners 1 and 2.
class MatchOfThree {
 public:
  // `frames` and more arguments are the listener's; the joiners play as many.
  explicit MatchOfThree(std::string frames,
                        const std::vector<std::string>& listener = {})
      : frames_(std::move(frames)) {
    std::vector<std::string> arguments = {"--listen", "0", "--players", "3"};
    arguments.insert(arguments.end(), listener.begin(), listener.end());
    process_[0] = Start(arguments);
    const auto url = process_[0]->Await("listening on ws://127.0.0.1:", kSoon);
    const auto code = process_[0]->Await("invite ", kSoon);
    if (!url || !code) return;
    port_ = static_cast<std::uint16_t>(std::stoi(*url));
    code_ = *code;
  }

  // When what happens in it did.
  ChildProcess::Clock::time_point struck{};

  std::uint16_t port() const { return port_; }
  ChildProcess& operator[](std::size_t seat) { return *process_[seat]; }

  // By `port`, when it is not the listener's. Seats are taken in this order.
  void Join(std::size_t seat, std::uint16_t port = 0,
            const std::vector<std::string>& more = {}) {
    if (port == 0) port = port_;
    std::string url = "ws://127.0.0.1:";
    url.append(std::to_string(port)).append("/room/0?players=3");
    std::vector<std::string> arguments = {"--join", url, "--invite", code_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    process_[seat] = Start(arguments);
    if (seat < 2)
      process_[0]->Await("seated: " + std::to_string(seat + 1), kSoon);
  }
  void AwaitStart() {
    for (const auto& process : process_) process->Await("started: ", kSoon);
  }
  void AwaitEnds() {
    for (const auto& process : process_) process->AwaitEnd(kWholeMatch);
  }
  std::string Outputs() const {
    std::string all;
    for (const auto& process : process_) {
      all.append("--- ").append(process->output());
    }
    return all;
  }

 private:
  std::unique_ptr<ChildProcess> Start(
      const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {PARLOR_SOLO, "--headless", "--frames",
                                    frames_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return std::make_unique<ChildProcess>(all);
  }

  const std::string frames_;
  std::uint16_t port_ = 0;
  std::string code_ = "none";
  std::array<std::unique_ptr<ChildProcess>, 3> process_;
};

using Match = std::unique_ptr<MatchOfThree>;

// Of seat 2 in the match in which seat 1 is killed.
std::string RecordPath() {
  std::string path = ::testing::TempDir();
  return path.append("/friends.").append(std::to_string(getpid()));
}

// What happens in each, told by its name.

Match Undisturbed() {
  auto match = std::make_unique<MatchOfThree>(kFrames);
  match->Join(1);
  match->Join(2);
  match->AwaitEnds();
  return match;
}

Match SeatCutOff() {
  auto match = std::make_unique<MatchOfThree>(kFrames);
  TcpProxy proxy(match->port());
  match->Join(1, proxy.port());
  match->Join(2);
  match->AwaitStart();
  // Into the match's 50 s: what is checked holds wherever the cut falls.
  std::this_thread::sleep_for(seconds(10));
  proxy.Cut();
  for (const std::size_t other : {0, 2}) {
    (*match)[other].Await("seat 1 away at frame ", kSoon);
  }
  proxy.Pass();
  match->AwaitEnds();
  return match;
}

Match SeatKilled() {
  auto match = std::make_unique<MatchOfThree>(
      kFrames, std::vector<std::string>{"--hold", "3"});
  match->Join(1);
  match->Join(2, 0, {"--record", RecordPath()});
  match->AwaitStart();
  // As above.
  std::this_thread::sleep_for(seconds(5));
  (*match)[1].Signal(SIGKILL);
  match->AwaitEnds();
  return match;
}

Match SeatThenListenerQuit() {
  auto match = std::make_unique<MatchOfThree>(kFrames);
  match->Join(1);
  match->Join(2);
  match->AwaitStart();
  (*match)[1].Signal(SIGINT);
  (*match)[0].Await("seat 1 lost", kSoon);
  (*match)[2].Await("seat 1 lost", kSoon);
  (*match)[0].Signal(SIGTERM);
  match->AwaitEnds();
  return match;
}

Match ListenerKilled() {
  auto match = std::make_unique<MatchOfThree>(kFrames);
  match->Join(1);
  match->Join(2);
  match->AwaitStart();
  match->struck = ChildProcess::Clock::now();
  (*match)[0].Signal(SIGKILL);
  match->AwaitEnds();
  return match;
}

// Runs the program to its end.
int ExitOf(const std::vector<std::string>& arguments, std::string* said) {
  std::vector<std::string> all = {PARLOR_SOLO, "--headless"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  ChildProcess process(all);
  const int code = process.AwaitEnd(kSoon).value_or(-1);
  *said = process.output();
  return code;
}

class FriendsProcessTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::vector<std::thread> threads;
    const auto play = [&threads](Match& match, Match (*scene)()) {
      threads.emplace_back([&match, scene] { match = scene(); });
    };
    play(undisturbed_, Undisturbed);
    play(cut_off_, SeatCutOff);
    play(killed_, SeatKilled);
    play(quit_, SeatThenListenerQuit);
    play(listener_killed_, ListenerKilled);
    for (std::thread& thread : threads) thread.join();
  }
  static void TearDownTestSuite() {
    for (Match* match :
         {&undisturbed_, &cut_off_, &killed_, &quit_, &listener_killed_}) {
      match->reset();
    }
    std::remove(RecordPath().c_str());
  }

  // Those seats played to the last frame, and to the same state.
  static void ExpectTheSame(MatchOfThree& match,
                            std::initializer_list<std::size_t> seats) {
    SCOPED_TRACE(match.Outputs());
    const auto hash = match[0].Find("hash: ");
    EXPECT_TRUE(hash.has_value());
    for (const std::size_t seat : seats) {
      SCOPED_TRACE(seat);
      EXPECT_EQ(match[seat].AwaitEnd(seconds(0)), 0);
      EXPECT_EQ(match[seat].Find("frames: "), kFrames);
      EXPECT_EQ(match[seat].Find("hash: "), hash);
      EXPECT_TRUE(match[seat].Find("stalls: ").has_value());
      EXPECT_FALSE(match[seat].Find("desync: ").has_value());
      EXPECT_FALSE(match[seat].Find("ended: ").has_value());
    }
  }

  static inline Match undisturbed_;
  static inline Match cut_off_;
  static inline Match killed_;
  static inline Match quit_;
  static inline Match listener_killed_;
};

TEST_F(FriendsProcessTest, ThreePlayTheSameMatch) {
  MatchOfThree& match = *undisturbed_;
  ExpectTheSame(match, {0, 1, 2});
  SCOPED_TRACE(match.Outputs());
  for (std::size_t seat = 0; seat < 3; ++seat) {
    EXPECT_EQ(match[seat].Find("started: "),
              "seat " + std::to_string(seat) + " of 3");
    EXPECT_FALSE(match[seat].Find("reconnecting").has_value());
    for (const char* other : {"seat 0 ", "seat 1 ", "seat 2 "}) {
      EXPECT_FALSE(match[seat].Find(other).has_value());
    }
  }
}

TEST_F(FriendsProcessTest, WhoWasCutOffComesBackAndPlaysOn) {
  MatchOfThree& match = *cut_off_;
  ExpectTheSame(match, {0, 1, 2});
  SCOPED_TRACE(match.Outputs());
  EXPECT_TRUE(match[1].Find("reconnecting at frame ").has_value());
  EXPECT_TRUE(match[1].Find("back at frame ").has_value());
  for (const std::size_t other : {0, 2}) {
    EXPECT_TRUE(match[other].Find("seat 1 away at frame ").has_value());
    EXPECT_TRUE(match[other].Find("seat 1 back at frame ").has_value());
    EXPECT_FALSE(match[other].Find("seat 1 lost").has_value());
  }
}

TEST_F(FriendsProcessTest, ABotTakesTheSeatOfOneWhoDied) {
  MatchOfThree& match = *killed_;
  ExpectTheSame(match, {0, 2});
  SCOPED_TRACE(match.Outputs());
  EXPECT_EQ(match[1].AwaitEnd(seconds(0)), -SIGKILL);
  const auto lost = match[0].Find("seat 1 lost at frame ");
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(match[2].Find("seat 1 lost at frame "), lost);
  for (const std::size_t other : {0, 2}) {
    const auto away = match[other].When("seat 1 away at frame ");
    const auto taken = match[other].When("seat 1 lost at frame ");
    ASSERT_TRUE(away && taken);
    // The hold, 3 s, and far from the default of 20; a line is read late where
    // the machine is busy.
    EXPECT_GE(*taken - *away, seconds(2));
    EXPECT_LT(*taken - *away, seconds(15));
  }
}

TEST_F(FriendsProcessTest, ARecordingPlaysAgainWithItsBots) {
  std::string said;
  EXPECT_EQ(ExitOf({"--replay", RecordPath()}, &said), 0);
  std::string wanted = "hash: ";
  wanted.append((*killed_)[0].Find("hash: ").value_or("none"));
  EXPECT_NE(said.find(wanted), std::string::npos) << said;
}

TEST_F(FriendsProcessTest, WhoQuitsLeavesAtOnceAndAListenerEndsItForAll) {
  MatchOfThree& match = *quit_;
  SCOPED_TRACE(match.Outputs());
  EXPECT_EQ(match[1].AwaitEnd(seconds(0)), -SIGINT);
  EXPECT_EQ(match[0].AwaitEnd(seconds(0)), -SIGTERM);
  EXPECT_EQ(match[0].Find("ended: "), "interrupted");
  EXPECT_FALSE(match[0].Find("seat 1 away").has_value());
  const auto lost = match[0].Find("seat 1 lost at frame ");
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(match[2].Find("seat 1 lost at frame "), lost);
  EXPECT_EQ(match[2].AwaitEnd(seconds(0)), 1);
  EXPECT_EQ(match[2].Find("ended: "), "the host left");
  EXPECT_FALSE(match[2].Find("reconnecting").has_value());
  const auto ended = match[2].When("ended: ");
  const auto began = match[0].When("ended: ");
  ASSERT_TRUE(ended && began);
  EXPECT_LT(*ended - *began, seconds(3));
}

TEST_F(FriendsProcessTest, AListenerThatDiedIsLookedForUntilTheTriesAreSpent) {
  MatchOfThree& match = *listener_killed_;
  SCOPED_TRACE(match.Outputs());
  EXPECT_EQ(match[0].AwaitEnd(seconds(0)), -SIGKILL);
  for (const std::size_t seat : {1, 2}) {
    SCOPED_TRACE(seat);
    EXPECT_EQ(match[seat].AwaitEnd(seconds(0)), 1);
    EXPECT_EQ(match[seat].Find("ended: "),
              "the connection was lost and did not come back");
    const auto lost = match[seat].When("reconnecting at frame ");
    const auto ended = match[seat].When("ended: ");
    ASSERT_TRUE(lost && ended);
    // A link that is not reset is lost after 20 s of silence.
    EXPECT_LT(*lost - match.struck, seconds(10));
    // 250 ms, doubling, six times: 15.75 s, for each try is refused at once.
    EXPECT_GE(*ended - *lost, seconds(13));
    EXPECT_LT(*ended - *lost, seconds(30));
  }
}

TEST(FriendsProcess, AJoinThatFailsIsOneLine) {
  ChildProcess listener({PARLOR_SOLO, "--headless", "--listen", "0",
                         "--players", "3", "--invite", "ABCDEFGHJKLM"});
  const auto port = listener.Await("listening on ws://127.0.0.1:", kSoon);
  ASSERT_TRUE(port.has_value()) << listener.output();
  std::string url = "ws://127.0.0.1:";
  url.append(*port);
  ASSERT_TRUE(url.ends_with("players=3"));
  std::string said;
  EXPECT_EQ(ExitOf({"--join", url}, &said), 1);
  EXPECT_EQ(said,
            "parlor-solo: the host takes nobody in without an invite code or a "
            "pass\n");
  EXPECT_EQ(ExitOf({"--join", url, "--invite", "MLKJHGFEDCBA"}, &said), 1);
  EXPECT_EQ(said, "parlor-solo: the host does not know this invite code\n");
  url.back() = '4';
  EXPECT_EQ(ExitOf({"--join", url, "--invite", "abcdefghjklm"}, &said), 1);
  EXPECT_EQ(said,
            "parlor-solo: the room was opened for another number of players: "
            "?players= must be the same\n");
  const std::string taken = port->substr(0, port->find('/'));
  EXPECT_EQ(ExitOf({"--listen", taken}, &said), 1);
  EXPECT_TRUE(said.starts_with("parlor-solo: --listen: ")) << said;
  listener.Signal(SIGTERM);
  EXPECT_EQ(listener.AwaitEnd(kSoon), -SIGTERM);
  url.back() = '3';
  EXPECT_EQ(ExitOf({"--join", url}, &said), 1);
  EXPECT_EQ(said,
            "parlor-solo: the room cannot be reached: is the address right, "
            "does anybody listen there, is the port open to you?\n");
  EXPECT_EQ(ExitOf({"--join", "http://127.0.0.1/room/0?players=3"}, &said), 2);
}

TEST(FriendsProcess, AListenerStartsOnceThoseItWaitsForAreSeated) {
  ChildProcess alone({PARLOR_SOLO, "--headless", "--listen", "0", "--wait", "1",
                      "--frames", "30", "--seed", "5"});
  EXPECT_EQ(alone.AwaitEnd(kSoon), 0) << alone.output();
  EXPECT_EQ(alone.Find("started: "), "seat 0 of 1");
  EXPECT_EQ(alone.Find("frames: "), "30");
}

// Whoever is not through yet is waited for, and not for ever.
TEST(FriendsProcess, AListenerStaysFiveSecondsForTheOthers) {
  ChildProcess listener({PARLOR_SOLO, "--headless", "--listen", "0",
                         "--players", "2", "--frames", "30"});
  const auto url = listener.Await("listening on ", kSoon);
  const auto code = listener.Await("invite ", kSoon);
  ASSERT_TRUE(url && code) << listener.output();
  ChildProcess other({PARLOR_SOLO, "--headless", "--join", *url, "--invite",
                      *code, "--frames", "9000"});
  EXPECT_EQ(other.AwaitEnd(kSoon), 1) << other.output();
  EXPECT_EQ(other.Find("ended: "), "the host left");
  EXPECT_EQ(listener.AwaitEnd(kSoon), 0) << listener.output();
  const auto began = other.When("started: ");
  const auto ended = other.When("ended: ");
  ASSERT_TRUE(began && ended);
  // And half a second of frames; but a line may be read late.
  EXPECT_GE(*ended - *began, seconds(4));
}

// Seats in the lobby are free again when who had them is gone, and those who
// come at once get one each. A bot has the fourth place.
TEST(FriendsProcess, WhoLeavesTheLobbyIsNotWaitedFor) {
  ChildProcess listener({PARLOR_SOLO, "--headless", "--listen", "0", "--wait",
                         "3", "--frames", "30"});
  const auto url = listener.Await("listening on ", kSoon);
  const auto code = listener.Await("invite ", kSoon);
  ASSERT_TRUE(url && code) << listener.output();
  const std::vector<std::string> arguments = {
      PARLOR_SOLO, "--headless", "--join",   *url,
      "--invite",  *code,        "--frames", "30"};
  int gone = 0;
  for (const int signal : {SIGTERM, SIGKILL}) {
    SCOPED_TRACE(signal);
    ChildProcess guest(arguments);
    ASSERT_TRUE(listener.AwaitCount("seated: 2 of 4", gone + 1, kSoon));
    guest.Signal(signal);
    ++gone;
    EXPECT_EQ(guest.AwaitEnd(kSoon), -signal);
    // It was alone once before.
    ASSERT_TRUE(listener.AwaitCount("seated: 1 of 4", gone + 1, kSoon));
  }
  ChildProcess one(arguments);
  ChildProcess other(arguments);
  for (ChildProcess* process : {&listener, &one, &other}) {
    EXPECT_EQ(process->AwaitEnd(kSoon), 0) << process->output();
    EXPECT_EQ(process->Find("hash: "), listener.Find("hash: "));
  }
  EXPECT_EQ(listener.Find("started: "), "seat 0 of 3");
  EXPECT_NE(one.Find("started: "), other.Find("started: "));
  // All have left: nobody is stayed for, else it were 5 s.
  const auto began = listener.When("started: ");
  const auto ended = listener.When("frames: ");
  ASSERT_TRUE(began && ended);
  EXPECT_LT(*ended - *began, seconds(5));
}

// As under nohup; and a host that quits in the lobby ends it for all.
TEST(FriendsProcess, ASignalThatIsIgnoredStaysIgnored) {
  ChildProcess listener({"/bin/sh", "-c", "trap '' HUP; exec \"$0\" \"$@\"",
                         PARLOR_SOLO, "--headless", "--listen", "0"});
  const auto url = listener.Await("listening on ", kSoon);
  const auto code = listener.Await("invite ", kSoon);
  ASSERT_TRUE(url && code) << listener.output();
  listener.Signal(SIGHUP);
  ChildProcess guest(
      {PARLOR_SOLO, "--headless", "--join", *url, "--invite", *code});
  EXPECT_EQ(guest.Await("seated: ", kSoon), "2 of 4") << listener.output();
  EXPECT_TRUE(listener.Await("seated: 2 of 4", kSoon).has_value());
  listener.Signal(SIGTERM);
  EXPECT_EQ(listener.AwaitEnd(kSoon), -SIGTERM);
  EXPECT_EQ(guest.AwaitEnd(kSoon), 1);
  EXPECT_TRUE(guest.Find("parlor-solo: the host left").has_value());
}

#ifdef PARLOR_HOST
TEST(FriendsProcess, ADedicatedHostIsJoinedInTheSameWay) {
  ChildProcess host({PARLOR_HOST, "--port", "0", "--drain", "0s", "--invite",
                     "ABCDEFGHJKLM"});
  const auto address = host.Await("listening on http://", kSoon);
  ASSERT_TRUE(address.has_value()) << host.output();
  std::string url = "ws://";
  url.append(*address).append("/room/7?players=2");
  const std::vector<std::string> arguments = {
      PARLOR_SOLO, "--headless",   "--join",   url,
      "--invite",  "abcdefghjklm", "--frames", "90"};
  ChildProcess one(arguments);
  ChildProcess other(arguments);
  for (ChildProcess* process : {&one, &other}) {
    EXPECT_EQ(process->AwaitEnd(kSoon), 0) << process->output();
    EXPECT_EQ(process->Find("frames: "), "90");
    EXPECT_EQ(process->Find("hash: "), one.Find("hash: "));
  }
  EXPECT_NE(one.Find("started: "), other.Find("started: "));
  host.Signal(SIGTERM);
  EXPECT_EQ(host.AwaitEnd(kSoon), 0) << host.output();
}
#endif

}  // namespace
}  // namespace parlor::solo
