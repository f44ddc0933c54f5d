// room_load whole, over the loopback, against a relay with one fault each:
// every one of them is told in words and by the exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "load/faulty_relay.h"
#include "load/load.h"
#include "load/load_options.h"
#include "load/load_report.h"
#include "load/program.h"
#include "load/run_program.h"
#include "support/raw_socket.h"
#include "support/status_matchers.h"

namespace parlor::test {
namespace {

using load::kExitFailed;
using load::kExitRight;
using load::kExitWrong;
using load::Outcome;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RoomLoadErrorsTest, SaysThatNobodyListens) {
  std::uint16_t port = 0;
  {
    const RawSocket listener = RawSocket::Listen();
    port = listener.port();
  }
  const Outcome outcome = RunRoomLoad(port, {});
  EXPECT_EQ(outcome.code, kExitFailed);
  EXPECT_THAT(outcome.err, HasSubstr("room_load: room 0: connecting: "));
  EXPECT_THAT(outcome.err, HasSubstr("is the server running?"));
}

TEST(RoomLoadErrorsTest, SaysThatAProcessOrACoreIsNotThere) {
  const Outcome process = RunRoomLoad(1, {"--server-pid", "4194304"});
  EXPECT_EQ(process.code, kExitFailed);
  EXPECT_THAT(process.err,
              HasSubstr("--server-pid: there is no process 4194304"));
  const Outcome core = RunRoomLoad(1, {"--cpu", "1023"});
  EXPECT_EQ(core.code, kExitFailed);
  EXPECT_THAT(core.err, HasSubstr("--cpu 1023: this machine has no such core"));
}

TEST(RoomLoadErrorsTest, SaysWhatIsWrongWithAFlag) {
  const Outcome outcome = RunRoomLoad(1, {"--seats", "33"});
  EXPECT_EQ(outcome.code, kExitFailed);
  EXPECT_THAT(outcome.err, HasSubstr("room_load: --seats 33: is not"));
  EXPECT_EQ(RunRoomLoad(1, {"--help"}).out, load::LoadHelp());
}

// In a process of its own, since a limit that was lowered stays so.
TEST(RoomLoadErrorsTest, SaysThatConnectionsDoNotFit) {
  const auto run = [] {
    const rlimit few{.rlim_cur = 64, .rlim_max = 64};
    setrlimit(RLIMIT_NOFILE, &few);
    const Outcome outcome = RunRoomLoad(1, {"--rooms", "10", "--seats", "10"});
    std::fputs(outcome.err.c_str(), stderr);
    _exit(outcome.code);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kExitFailed),
              "100 connections do not fit: this process may have 64 files open "
              ".* so 48 connections are the most here");
}

const std::vector<std::string> kClosed = {"--loop", "closed"};

struct FaultRow {
  std::string name;
  Fault fault;
  int code;
  std::vector<const char*> says;
  std::vector<std::string> more = {};  // arguments
};

// Of each row two: the fault hits a seat that is read in turn, and one that is
// read at once. Of 3 seats, those from 0 on are timed. In a closed loop there
// are only such.
std::vector<FaultRow> UntimedAndTimed(const std::vector<FaultRow>& rows) {
  static_assert(kFaultSeat == 1);
  std::vector<FaultRow> all;
  for (const FaultRow& row : rows) {
    if (row.more == kClosed) {
      all.push_back(row);
      continue;
    }
    for (const bool timed : {false, true}) {
      FaultRow& added = all.emplace_back(row);
      added.name += timed ? "_timed" : "_untimed";
      added.more.insert(added.more.end(), {"--timed", timed ? "2" : "1"});
    }
  }
  return all;
}

class FaultTest : public testing::TestWithParam<FaultRow> {};

TEST_P(FaultTest, IsToldInWordsAndByTheExitCode) {
  const FaultRow& row = GetParam();
  FaultyRelay relay(row.fault);
  std::vector<std::string> arguments = {
      "--rooms",   "1",   "--seats",        "3", "--rate",          "50",
      "--seconds", "0.4", "--warm-seconds", "0", "--drain-seconds", "0.3"};
  arguments.insert(arguments.end(), row.more.begin(), row.more.end());
  const Outcome outcome = RunRoomLoad(relay.port(), arguments);
  if (row.code == kExitRight) {
    EXPECT_THAT(outcome.code, IsRight()) << outcome.err;
  } else {
    EXPECT_EQ(outcome.code, row.code) << outcome.err;
  }
  for (const char* text : row.says) EXPECT_THAT(outcome.err, HasSubstr(text));
}

constexpr const char* kLostOne = "room 0, seat 1: lost 1 of the ";

INSTANTIATE_TEST_SUITE_P(
    All, FaultTest,
    testing::ValuesIn(UntimedAndTimed(
        {FaultRow{"none", Fault::kNone, kExitRight, {}},
         FaultRow{"none_closed", Fault::kNone, kExitRight, {}, kClosed},
         FaultRow{"ping", Fault::kPing, kExitRight, {}},
         FaultRow{"drop",
                  Fault::kDrop,
                  kExitWrong,
                  {"room 0, seat 1: frame 6 of seat 0 came where frame 5 was "
                   "due",
                   kLostOne}},
         FaultRow{"drop_closed",
                  Fault::kDrop,
                  kExitWrong,
                  {"room 0, seat 1: frame 6 of seat 0 came where frame 5 was "
                   "due",
                   kLostOne},
                  kClosed},
         FaultRow{"repeat",
                  Fault::kRepeat,
                  kExitWrong,
                  {"room 0, seat 1: frame 5 of seat 0 came again, behind frame "
                   "5"}},
         FaultRow{"swap",
                  Fault::kSwap,
                  kExitWrong,
                  {"room 0, seat 1: frame 6 of seat 0 came where frame 5 was "
                   "due",
                   "frame 5 of seat 0 came late, behind frame 6"}},
         FaultRow{"slot",
                  Fault::kSlot,
                  kExitWrong,
                  {"room 0, seat 1: frame 5 of seat 1 came back to its sender",
                   kLostOne}},
         FaultRow{"no_slot",
                  Fault::kNoSlot,
                  kExitWrong,
                  {"room 0, seat 1: slot 200 in frame 5: the room has seats 0 "
                   "to 2"}},
         FaultRow{"word",
                  Fault::kWord,
                  kExitWrong,
                  {"room 0, seat 1: frame 5 of seat 0 has word 0x"}},
         FaultRow{"mode",
                  Fault::kMode,
                  kExitWrong,
                  {"room 0, seat 1: frame 5 of seat 0 has word 0x"}},
         FaultRow{"invent",
                  Fault::kInvent,
                  kExitWrong,
                  {"room 0, seat 1: frame 1000000 of seat 0 came before it was "
                   "sent"}},
         FaultRow{"size",
                  Fault::kSize,
                  kExitWrong,
                  {"room 0, seat 1: a message of 13 bytes", kLostOne}},
         FaultRow{"text",
                  Fault::kText,
                  kExitWrong,
                  {"room 0, seat 1: a message of 12 bytes; all are 12 bytes, "
                   "binary"}},
         FaultRow{"kind",
                  Fault::kKind,
                  kExitWrong,
                  {"room 0, seat 1: a message of kind 6, which nothing gave "
                   "cause for"}},
         FaultRow{"echo",
                  Fault::kEcho,
                  kExitWrong,
                  {"room 0, seat 1: frame 5 of seat 1 came back to its "
                   "sender"}},
         FaultRow{"deaf",
                  Fault::kDeaf,
                  kExitWrong,
                  {"the last that came is frame 4"}},
         FaultRow{"mute",
                  Fault::kMute,
                  kExitWrong,
                  {"room 0, seat 1: lost ",
                   "messages of seat 2, the last that came is frame "}},
         FaultRow{"garbage",
                  Fault::kGarbage,
                  kExitWrong,
                  {"room 0, seat 1: what the server sent is no WebSocket "
                   "frame"}},
         FaultRow{"same_seat",
                  Fault::kSameSeat,
                  kExitWrong,
                  {"room 0: WELCOME gives seat 0 twice"}},
         FaultRow{"early",
                  Fault::kEarly,
                  kExitWrong,
                  {"room 0: a message of kind 1 came before WELCOME"}},
         FaultRow{"close",
                  Fault::kClose,
                  kExitFailed,
                  {"room 0, seat 1: the server closed the connection with 1008 "
                   "(too many messages)"}},
         FaultRow{"cut",
                  Fault::kCut,
                  kExitFailed,
                  {"room 0, seat 1: the server ended the connection"}},
         FaultRow{"refuse",
                  Fault::kRefuse,
                  kExitFailed,
                  {"room 0: the server refused with HTTP 429"}},
         FaultRow{"no_handshake",
                  Fault::kNoHandshake,
                  kExitFailed,
                  {"room 0: the server's answer is no WebSocket handshake"}},
         FaultRow{"silent",
                  Fault::kSilent,
                  kExitFailed,
                  {"the server was silent for 0.3 s: 3 of 3 connections were "
                   "opened, 0 of them had their WELCOME"},
                  {"--join-seconds", "0.3"}}})),
    [](const auto& row) { return row.param.name; });

// It is no fault of a room, but of what it is like to play there: it is in the
// figures.
class LatenessTest : public testing::Test {
 protected:
  LatenessTest() {
    options.host = "127.0.0.1";
    options.port = relay_.port();
    options.rooms = 1;
    options.seats = 3;
    options.rate = 50;
    options.seconds = 0.4;
    options.warm_seconds = 0;
  }
  // All is right, with `frames` of each seat.
  load::LoadResult Measure(unsigned frames = 20) {
    auto result = load::RunLoad(options);
    EXPECT_THAT(result, IsOk());
    if (!result.ok()) return {};
    EXPECT_EQ(result->lost, 0u);
    EXPECT_THAT(result->findings.told(), IsEmpty());
    // Of 3 seats, whatever is timed.
    EXPECT_EQ(result->late.count(), frames * 3u);
    return *std::move(result);
  }

  load::LoadOptions options;

 private:
  const FaultyRelay relay_{Fault::kLate};
};

// Each seat receives 2 messages in each of 20 frames, whatever came late.
TEST_F(LatenessTest, IsMeasuredAtATimedSeat) {
  options.timed = 2;
  const load::LoadResult result = Measure();
  EXPECT_GE(result.message.max(), 50 * 1'000'000);
  EXPECT_GE(result.frame.max(), 50 * 1'000'000);
  EXPECT_EQ(result.message.count(), 20u * 2u * 2u);
  EXPECT_EQ(result.frame.count(), 20u * 2u);
}

TEST_F(LatenessTest, IsMeasuredOfAllSeatsIfAsked) {
  options.timed = load::LoadOptions::kAllSeats;
  const load::LoadResult result = Measure();
  EXPECT_GE(result.message.max(), 50 * 1'000'000);
  EXPECT_EQ(result.message.count(), 20u * 3u * 2u);
  EXPECT_EQ(result.frame.count(), 20u * 3u);
}

TEST_F(LatenessTest, IsNotMeasuredAtAnother) {
  const load::LoadResult result = Measure();
  EXPECT_EQ(result.message.count(), 20u * 2u);
  EXPECT_EQ(result.frame.count(), 20u);
  // It is there, though: but for what waited for its turn at either end.
  EXPECT_GT(result.delivered, 20u * 2u);
}

// The last frame, which is the one that is held back, comes when turns are
// over.
TEST_F(LatenessTest, IsNoLossAtTheEndEither) {
  options.seconds = (kFaultFrame + 1) / 50.0;
  Measure(kFaultFrame + 1);
}

}  // namespace
}  // namespace parlor::test
