#include "replay/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cycles/game.h"
#include "parlor/lockstep/desync.h"
#include "replay/cycles_match.h"
#include "replay/recording.h"
#include "solo/cycles_recording.h"
#include "solo/cycles_room.h"
#include "support/temp_folder.h"

namespace parlor::replay_program {
namespace {

using test::CyclesRecording;
using test::CyclesRoom;
using test::CyclesRoomRecorder;
using test::Record;
using test::RecordRoom;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ReplayProgram : public ::testing::Test {
 protected:
  // The file's path.
  std::string File(std::string_view name, std::span<const std::byte> bytes) {
    return folder_.Write(
        name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::string File(std::string_view name, const CyclesRecording& recording) {
    return File(name, Record(recording));
  }
  std::string File(std::string_view name, const CyclesRoom& room) {
    return File(name, RecordRoom(room));
  }

  // Arguments, as after the program's name; expects the exit code.
  Outcome Do(int code, const std::vector<std::string>& arguments) {
    std::vector<const char*> argv = {"parlor-replay"};
    for (const std::string& one : arguments) argv.push_back(one.c_str());
    Outcome outcome =
        replay_program::Run(static_cast<int>(argv.size()), argv.data());
    EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
    return outcome;
  }

  // One line on stderr, and nothing else.
  void ExpectRefused(const std::vector<std::string>& arguments,
                     const std::string& why) {
    const Outcome outcome = Do(2, arguments);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }

  const test::TempFolder folder_;
};

// --- Arguments and files

TEST_F(ReplayProgram, RefusesArgumentsInOneLine) {
  const std::string file = File("a", CyclesRecording{.frames = 100});
  ExpectRefused({}, "subcommand is required");
  ExpectRefused({"play", file}, "play");
  ExpectRefused({"info"}, "FILE");
  ExpectRefused({"seek", file}, "one of --frame and --time");
  ExpectRefused({"seek", file, "--frame", "1", "--time", "1"}, "one of");
  ExpectRefused({"seek", file, "--frame", "-1"}, "--frame: -1 is no");
  ExpectRefused({"seek", file, "--frame", "4294967296"}, "--frame:");
  ExpectRefused({"seek", file, "--time", "1:x"}, "--time: 1:x is no time");
  ExpectRefused({"seek", file, "--frame", "101"}, "it has the frames 0 to 100");
  ExpectRefused({"seek", file, "--time", "2"}, "ends at 0:01.666");
  ExpectRefused({"diff"}, "FILE");
  ExpectRefused({"diff", file}, file + " is one recording, and two are");
  ExpectRefused({"diff", file, file, file}, "two by two, and here are 3");
  EXPECT_THAT(Do(0, {"--help"}).out, HasSubstr("Exit codes"));
  EXPECT_THAT(Do(0, {"seek", "--help"}).out, HasSubstr("--time"));
  EXPECT_THAT(Do(0, {"--version"}).out, HasSubstr("version 2"));
}

TEST_F(ReplayProgram, RefusesFilesThatAreNoReplays) {
  const std::string text = folder_.Write("text", "a diary");
  const std::string first = folder_.Write(
      "first", std::string("PARLREP\x1a\1\0", 10) + std::string(38, '\0'));
  for (const std::string command : {"info", "verify", "seek", "diff"}) {
    SCOPED_TRACE(command);
    const auto with = [&](const std::string& file) {
      std::vector<std::string> all = {command, file};
      if (command == "seek") all.insert(all.end(), {"--frame", "0"});
      if (command == "diff") all.push_back(file);
      return all;
    };
    ExpectRefused(with(text), text + ": byte 0: not a parlor replay");
    ExpectRefused(with(first), "byte 8: format version 1, this program reads");
    ExpectRefused(with(folder_.At("none")),
                  "cannot read " + folder_.At("none"));
    ExpectRefused(with(folder_.path()), "Is a directory");
  }
  ExpectRefused({"diff", text}, text + ": byte 0: not a parlor replay");
}

TEST_F(ReplayProgram, DamageIsRefusedWithItsPlaceOrCutOff) {
  std::vector<std::byte> bytes = Record({.frames = 600});
  bytes[bytes.size() / 2] ^= std::byte{4};
  const std::string file = File("damaged", bytes);
  const std::string why = "does not match its checksum";
  ExpectRefused({"info", file}, why);
  ExpectRefused({"seek", file, "--frame", "0"}, why);
  ExpectRefused({"diff", file, file}, why);
  EXPECT_THAT(Do(1, {"verify", file}).out,
              AllOf(HasSubstr(file + ": byte "), HasSubstr(why)));
  for (const auto& arguments :
       {std::vector<std::string>{"info", "--partial", file},
        {"seek", "--partial", "--frame", "0", file}}) {
    const Outcome outcome = Do(0, arguments);
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_THAT(outcome.out, Not(IsEmpty()));
  }
}

TEST_F(ReplayProgram, ATornFileIsReadAsFarAsItGoes) {
  std::vector<std::byte> bytes = Record({.frames = 600});
  const std::string whole = File("whole", bytes);
  bytes.resize(bytes.size() * 3 / 4);
  const std::string torn = File("torn", bytes);
  const std::string why = torn + ": byte ";
  Outcome outcome = Do(0, {"info", torn});
  EXPECT_THAT(outcome.out, HasSubstr("torn_at: "));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(why), HasSubstr("cut off")));
  outcome = Do(0, {"seek", torn, "--frame", "300"});
  EXPECT_THAT(outcome.err, HasSubstr(why));
  EXPECT_THAT(outcome.out, HasSubstr("state before it"));
  outcome = Do(0, {"diff", torn, whole});
  EXPECT_THAT(outcome.err, HasSubstr(why));
  EXPECT_THAT(outcome.out, HasSubstr(whole + " goes on for"));
  EXPECT_THAT(Do(1, {"verify", torn}).out, HasSubstr("cut off"));
}

// --- info

TEST_F(ReplayProgram, InfoSaysWhatAMatchWas) {
  const std::string file =
      File("room", CyclesRoom{.frames = 600,
                              .game = {"cycles", cycles::kRulesVersion, 2},
                              .leaves = 1,
                              .leaves_in = 240});
  const Outcome text = Do(0, {"info", file});
  for (const char* line :
       {"recorded_by: room\n", "game: cycles\n", "room: 4\n", "seed: 9\n",
        "players: 3\n", "options: 3 players, normal, 32x16\n", "delay: 2\n",
        "hold_ms: 20000\n", "frames: 602\n", "duration: 0:09.983\n",
        "inputs: 1440\n", "hashes: 48\n", "drops: 1\n", "leaves: 1\n",
        "0:04.000 frame 242: seat 1 drop (1006)\n",
        "seat 1 leave (did not come back)\n"}) {
    EXPECT_THAT(text.out, HasSubstr(line));
  }
  const std::string json = Do(0, {"info", "--json", file}).out;
  EXPECT_THAT(json, AllOf(HasSubstr("\"game\": \"cycles\",\n"),
                          HasSubstr("\"drops\": 1,\n"),
                          HasSubstr("\"what\": \"leave\", \"seat\": 1")));
}

TEST_F(ReplayProgram, InfoOfALobbyThatCameToNothing) {
  test::MemoryReplaySink sink;
  lockstep::ReplayLogWriter writer(sink, {.size = 2}, TimePoint{});
  writer.Finish();
  EXPECT_THAT(Do(0, {"info", File("a", sink.bytes)}).out,
              AllOf(HasSubstr("players: 0\n"), HasSubstr("game: not known")));
  EXPECT_THAT(Do(0, {"verify", folder_.At("a")}).out,
              HasSubstr("no match began"));
  ExpectRefused({"seek", folder_.At("a"), "--frame", "0"}, "match");
}

// --- verify

TEST_F(ReplayProgram, VerifyPlaysAMatchAgain) {
  const std::string peer =
      File("peer", CyclesRecording{.frames = 600, .keyframe_every = 200});
  EXPECT_THAT(Do(0, {"verify", peer}).out,
              AllOf(HasSubstr("all checksums right"),
                    HasSubstr("Cycles plays 600 frames: 21 of 21 hashes right, "
                              "3 keyframes compared")));
  // Of a host, which knows no game; one seat left.
  const std::string room =
      File("room", CyclesRoom{.leaves = 1, .leaves_in = 240});
  EXPECT_THAT(Do(0, {"verify", room}).out,
              AllOf(HasSubstr("seats agree in all 20 frames"),
                    HasSubstr("Cycles plays 602 frames: 48 of 48")));
}

TEST_F(ReplayProgram, VerifyNamesTheSeatThatIsOdd) {
  const std::string room = File("room", CyclesRoom{.odd = 2, .odd_from = 300});
  EXPECT_THAT(
      Do(1, {"verify", room}).out,
      AllOf(HasSubstr("seats disagree in 10 of 20 frames; first frame 300: "
                      "seats 0 and 1 said 0x"),
            HasSubstr("frame 300: Cycles plays 0x"),
            HasSubstr("that was right is of frame 270"),
            HasSubstr("seat 2: 10 of 20 hashes are wrong"),
            Not(HasSubstr("seat 0: "))));
}

TEST_F(ReplayProgram, VerifyFindsAKeyframeThatLies) {
  CyclesRecording recording{.frames = 600, .keyframe_every = 200};
  recording.spoil = [](std::vector<std::byte>& state) {
    state[100] ^= std::byte{1};
  };
  EXPECT_THAT(Do(1, {"verify", File("a", recording)}).out,
              HasSubstr("the keyframe of frame 200 is not the state"));
}

TEST_F(ReplayProgram, VerifyOfAnotherGameChecksWhatItCan) {
  const std::string toy = File("toy", CyclesRoom{.game = {"toy", 1, 2}});
  EXPECT_THAT(Do(0, {"verify", toy}).out,
              AllOf(HasSubstr("seats agree in all 20"),
                    HasSubstr("not played again: byte 60: the game is toy")));
  const std::string rules =
      File("rules", CyclesRoom{.game = {"cycles", 99, 2}});
  EXPECT_THAT(Do(0, {"verify", rules}).out,
              HasSubstr("recorded with rules version 99"));
}

TEST_F(ReplayProgram, VerifyGoesOnAfterARestart) {
  const std::vector<std::vector<std::byte>> files =
      CyclesRoomRecorder({.restart = 310}).Run();
  ASSERT_EQ(files.size(), 2u);
  const std::string first = File("first", files[0]);
  const std::string next = File("next", files[1]);
  // The first process was killed: its file has no end.
  EXPECT_THAT(Do(1, {"verify", first, next}).out,
              AllOf(HasSubstr("cut off"),
                    HasSubstr("Cycles plays 602 frames: 60 of 60")));
  EXPECT_THAT(Do(0, {"verify", next}).out, HasSubstr("are in another"));
  EXPECT_THAT(Do(0, {"seek", next, "--frame", "400"}).out,
              AllOf(HasSubstr("no state: "), HasSubstr("seat 2: ")));
  ExpectRefused({"verify", next, first}, first + ": this recording does not");
}

TEST_F(ReplayProgram, VerifyOfOneSeatExpectsNoOthers) {
  const std::string of_one = File(
      "of_one", CyclesRecording{.frames = 60, .recorded_by = 2, .players = 3});
  EXPECT_THAT(Do(0, {"verify", of_one}).out,
              AllOf(HasSubstr("recorded by seat 2: the hashes are its own, and "
                              "there are no others to compare\n"),
                    Not(HasSubstr("more than one seat"))));
}

TEST_F(ReplayProgram, OneIsNoPlural) {
  const std::string peer =
      File("peer", CyclesRecording{.frames = 1, .keyframe_every = 1});
  EXPECT_THAT(Do(0, {"verify", peer}).out,
              HasSubstr("Cycles plays 1 frame: 2 of 2 hashes right, 1 keyframe "
                        "compared\n"));
  EXPECT_THAT(Do(0, {"diff", peer, peer}).out,
              HasSubstr("the same in the 1 frame that both have, and in 2"));
  const std::string room = File("room", CyclesRoom{.frames = 1});
  EXPECT_THAT(Do(0, {"verify", room}).out,
              HasSubstr("seats agree in the 1 frame that more than one"));
  const std::string odd = File("odd", CyclesRoom{.frames = 1, .odd = 2});
  EXPECT_THAT(Do(1, {"verify", odd}).out,
              AllOf(HasSubstr("seats disagree in 1 of 1 frame; first frame 0"),
                    HasSubstr("seat 2: 1 of 1 hash is wrong")));
  cycles::State state = cycles::Start({.players = 2, .size = 0}, 9, 1);
  state.closed = 1;
  state.cycles[0].charges = 1;
  EXPECT_THAT(StateText(state),
              AllOf(HasSubstr(" 1 ring closed\n"), HasSubstr(", 1 charge,")));
}

// --- seek

TEST_F(ReplayProgram, SeekShowsInputsHashesAndState) {
  const std::string room = File("room", CyclesRoom{});
  const std::string said = Do(0, {"seek", room, "--frame", "150"}).out;
  EXPECT_THAT(said, AllOf(HasSubstr("frame 150 of 602, at 0:0"),
                          HasSubstr("seat 0: right 0x8\n"),
                          HasSubstr("seat 1: - 0x0\n"),
                          HasSubstr("round 1, countdown, frame 150 of it"),
                          HasSubstr("cycle 2: ")));
  // The hash that all seats said is the one that is played.
  const std::size_t at = said.find("hash of seat 0: ") + 16;
  EXPECT_THAT(said, HasSubstr("state before it, hash " + said.substr(at, 10)));
  EXPECT_EQ(Do(0, {"seek", room, "--time", "5"}).out.substr(0, 7), "frame 3");
}

TEST_F(ReplayProgram, SeekTellsOfAHashOnTheWayAndGoesThere) {
  const std::string room = File("room", CyclesRoom{.odd = 1, .odd_from = 60});
  const Outcome outcome = Do(1, {"seek", room, "--frame", "300"});
  EXPECT_THAT(outcome.out, HasSubstr("state before it"));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("differs before frame 60"), HasSubstr("seat 1")));
}

// An hour of four players, of whom the last half minute is played again. What
// lies before is skipped by its keyframes, and so need not be true here.
TEST_F(ReplayProgram, SeekFindsAnyMomentOfAnHour) {
  constexpr std::uint32_t kHour = 216'000;
  constexpr std::uint32_t kEvery = 1'800;
  test::MemoryReplaySink sink;
  const cycles::Options options{.players = 4, .size = 11};
  cycles::State state = cycles::Start(options, 1, 1);
  lockstep::ReplayLogWriter writer(sink,
                                   {.source = lockstep::ReplaySource::kPeer,
                                    .seed = 1,
                                    .size = 4,
                                    .game = solo::CyclesGame(1)},
                                   TimePoint{});
  writer.Begin(TimePoint{}, 4, cycles::ModeOf(options));
  for (std::uint32_t f = 0; f < kHour; ++f) {
    const TimePoint now = test::FrameTime(f);
    const bool played = f >= kHour - kEvery;
    if (f % kEvery == 0) {
      state.frame = f;
      writer.AddKeyframe(now, cycles::SavedBytes(state));
    }
    if (f % 30 == 0) {
      writer.AddHash(now, played ? cycles::Hash32(state) : f);
    }
    std::array<std::uint32_t, 4> words{};
    for (int s = 0; s < 4; ++s) {
      words[static_cast<std::size_t>(s)] = test::PressOf(s, f);
    }
    writer.AddFrame(now, words, 0);
    if (played) cycles::Step(state, words, 0);
  }
  writer.AddHash(test::FrameTime(kHour), cycles::Hash32(state));
  writer.Finish();
  const std::string file = File("hour", sink.bytes);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = Do(0, {"seek", file, "--time", "59:59.9"});
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - begin;
  EXPECT_THAT(outcome.out, HasSubstr("frame 21599"));
  // 200 ms are asked for; a debug build, sanitizers and a machine that is busy
  // with others are not what this is about.
  EXPECT_LT(passed.count(), 3);
  RecordProperty("seek_ms", static_cast<int>(passed.count() * 1'000));
}

// --- diff

TEST_F(ReplayProgram, DiffOfOneMatchFindsNothing) {
  const std::string room =
      File("room", CyclesRoom{.leaves = 1, .leaves_in = 240});
  const std::string again =
      File("again", CyclesRoom{.frames = 500, .leaves = 1, .leaves_in = 240});
  EXPECT_THAT(Do(0, {"diff", room, again}).out,
              AllOf(HasSubstr("the same in the 502 frames that both have"),
                    HasSubstr("and in 17 that both hashed"),
                    HasSubstr(room + " goes on for 100 more")));
}

TEST_F(ReplayProgram, DiffNamesTheFirstInputThatDiffers) {
  const CyclesRecording recording{.frames = 600, .size = 3, .players = 2};
  CyclesRecording other = recording;
  other.recorded_by = 1;
  other.other_input = 350;
  const std::string a = File("a", recording);
  const std::string b = File("b", other);
  EXPECT_THAT(Do(1, {"diff", a, b}).out,
              HasSubstr("frame 350: the input of seat 1 is 0x0 in " + a +
                        ", 0x10 in " + b));
}

TEST_F(ReplayProgram, DiffNamesTheHashAndWhoIsRight) {
  CyclesRecording recording{.frames = 600, .players = 2};
  const std::string a = File("a", recording);
  recording.recorded_by = 1;
  recording.lie = 390;
  const std::string b = File("b", recording);
  EXPECT_THAT(
      Do(1, {"diff", a, b}).out,
      AllOf(HasSubstr("frame 390: the state before it is not the same"),
            HasSubstr(b + " seat 1 said 0x"), HasSubstr("which seat 0 said")));
}

TEST_F(ReplayProgram, DiffIsOfOneMatch) {
  const std::string a = File("a", CyclesRecording{.frames = 60});
  EXPECT_THAT(
      Do(1, {"diff", a, File("b", CyclesRecording{.frames = 60, .seed = 8})})
          .out,
      HasSubstr("not of one match: seed 9 and 8"));
  EXPECT_THAT(
      Do(1, {"diff", a,
             File("c", CyclesRecording{.frames = 60, .game = {"toy", 1, 1}})})
          .out,
      HasSubstr("not of one match: game cycles and toy"));
}

// Runs otherwise once, in frame 100.
class FaultyGame final : public cycles::ReplayedGame {
 public:
  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override {
    ReplayedGame::Step(frame, inputs, bots);
    if (frame == 100) ++state_.cycles[1].charges;
  }
};

// What a seat dumps that ran 150 frames of a match of three.
std::vector<std::byte> Dump(int seat, lockstep::Game& game) {
  lockstep::DesyncRecorder recorder(game, {.game = "cycles"});
  recorder.OnStart({.seat = seat,
                    .players = 3,
                    .size = 3,
                    .seed = 9,
                    .mode = cycles::ModeOf({.players = 3, .size = 0}),
                    .delay = 1});
  for (std::uint32_t f = 0; f < 150; ++f) {
    const std::array words = {test::PressOf(0, f), test::PressOf(1, f),
                              test::PressOf(2, f)};
    recorder.Step(f, words, 0);
  }
  recorder.Freeze();
  return lockstep::EncodeDesyncDump(recorder.Dump());
}

TEST_F(ReplayProgram, DiffOfDumpsNamesFrameFieldAndSeat) {
  cycles::ReplayedGame game;
  cycles::ReplayedGame another;
  FaultyGame faulty;
  const std::string a = File("a", Dump(0, game));
  const std::string b = File("b", Dump(1, faulty));
  const std::string c = File("c", Dump(2, another));
  const auto found = AllOf(HasSubstr("frame 101"), HasSubstr("seat 1"),
                           HasSubstr("cycles[1].charges"));
  EXPECT_THAT(Do(1, {"diff", a, b, c}).out, found);
  // Two sides of one size: what Cycles plays decides. The same of one alone.
  EXPECT_THAT(Do(1, {"diff", a, b}).out, found);
  EXPECT_THAT(Do(1, {"diff", b}).out, found);
  EXPECT_THAT(Do(0, {"diff", a, c}).out, Not(IsEmpty()));
}

TEST_F(ReplayProgram, DiffRefusesDumpsThatAreNone) {
  cycles::ReplayedGame game;
  std::vector<std::byte> bytes = Dump(0, game);
  const std::string a = File("a", bytes);
  ExpectRefused({"diff", a, File("r", CyclesRecording{.frames = 60})},
                a + ": is a dump, and not all files are");
  bytes[bytes.size() / 2] ^= std::byte{1};
  const std::string damaged = File("damaged", bytes);
  ExpectRefused({"diff", a, damaged}, damaged + ": ");
  ExpectRefused({"diff", a, a}, "seat 0");
}

// A pipe gives its bytes once.
TEST_F(ReplayProgram, EveryCommandReadsAPipe) {
  const std::vector<std::byte> bytes = Record({.frames = 60});
  const std::string pipe = folder_.At("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto of_pipe = [&](std::vector<std::string> arguments,
                           std::span<const std::byte> content) {
    std::thread writer([&] {
      // A second reading would wait for a second writer.
      std::ofstream(pipe, std::ios::binary)
          .write(reinterpret_cast<const char*>(content.data()),
                 static_cast<std::streamsize>(content.size()));
    });
    arguments.push_back(pipe);
    Do(0, arguments);
    writer.join();
  };
  of_pipe({"info"}, bytes);
  of_pipe({"verify"}, bytes);
  of_pipe({"seek", "--frame", "30"}, bytes);
  of_pipe({"diff", File("a", bytes)}, bytes);
  cycles::ReplayedGame game;
  cycles::ReplayedGame another;
  of_pipe({"diff", File("b", Dump(0, game))}, Dump(1, another));
}

// A state is described whole, in the order in which it lies in memory.
TEST(DescribedCycles, IsEveryByteOfTheState) {
  cycles::State state = cycles::Start({.players = 5, .size = 3}, 77, 2);
  for (int f = 0; f < 900; ++f) cycles::Step(state, {}, 0);
  std::vector<std::byte> saved;
  ASSERT_TRUE(lockstep::SaveState(state, saved));
  EXPECT_THAT(saved,
              ::testing::ElementsAreArray(std::as_bytes(std::span(&state, 1))));
  cycles::State loaded = cycles::Start({}, 1, 1);
  ASSERT_TRUE(lockstep::LoadState(saved, loaded).ok());
  EXPECT_EQ(cycles::Hash64(loaded), cycles::Hash64(state));
  saved[16] ^= std::byte{1};  // random numbers that come round
  EXPECT_FALSE(lockstep::LoadState(saved, loaded).ok());
}

// --- Words

TEST(ReplayTimes, AreReadAndWritten) {
  EXPECT_EQ(ParseTime("90"), 90'000 * kMillisecond);
  EXPECT_EQ(ParseTime("90.5"), 90'500 * kMillisecond);
  EXPECT_EQ(ParseTime("1:30.004"), 90'004 * kMillisecond);
  EXPECT_EQ(ParseTime("1:02:03"), 3'723'000 * kMillisecond);
  for (const char* bad : {"", ":", "1:", ":1", "1.", "1.2345", "1.x", "-1",
                          "1:-2", "1:2:3:4", "1e3", "99999999", "1.5:2"}) {
    EXPECT_EQ(ParseTime(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(TimeText(3'723'004 * kMillisecond), "1:02:03.004");
  EXPECT_EQ(SeatsText(0b1011), "seats 0, 1 and 3");
  EXPECT_EQ(SeatsText(0b100), "seat 2");
  EXPECT_EQ(CountText(1'234'567), "1,234,567");
  EXPECT_EQ(CountText(123), "123");
  EXPECT_EQ(CountText(0, "hash", "hashes"), "0 hashes");
  EXPECT_EQ(CountText(1, "hash", "hashes"), "1 hash");
}

}  // namespace
}  // namespace parlor::replay_program
