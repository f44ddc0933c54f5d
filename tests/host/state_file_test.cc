// What a state file takes back and what it refuses. state_file_kill_test.cc has
// what becomes of it when processes meet and end.
#include "storage/state_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "host/state_file_fixture.h"
#include "parlor/byte_io.h"
#include "parlor/lockstep/room_state.h"
#include "storage/file_descriptor.h"
#include "storage/state_layout.h"
#include "support/counting_allocator.h"
#include "support/files.h"
#include "support/full_disk.h"
#include "support/room_states.h"
#include "support/status_matchers.h"
#include "support/temp_folder.h"

namespace parlor::test {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using host::StateFile;
using host::StateLayout;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using StateFileTest = StateFileFixture;

// --- What is kept

TEST_F(StateFileTest, TakesBackWhatWasKeptLast) {
  EXPECT_THAT(Open(), IsEmpty());
  file->Keep(0, State(10));
  for (std::uint32_t tag = 1; tag <= 5; ++tag) file->Keep(3, State(tag));
  EXPECT_THAT(Open(), ElementsAre(Pair(0, State(10)), Pair(3, State(5))));
  // Again from what was written anew.
  file->Keep(3, State(6));
  EXPECT_THAT(Open(), ElementsAre(Pair(0, State(10)), Pair(3, State(6))));
  EXPECT_THAT(Open(), ElementsAre(Pair(0, State(10)), Pair(3, State(6))));
  EXPECT_THAT(log, IsEmpty());
  EXPECT_THAT(folder.Names(), ElementsAre("matches"));
}

TEST_F(StateFileTest, TakesBackStatesOfEverySize) {
  for (int players = 1; players <= 32; ++players) {
    const auto room = static_cast<std::uint32_t>(players);
    Open(33, 32);
    file->Keep(room, State(room, players, 0));
    EXPECT_THAT(Open(33, 32), ElementsAre(Pair(room, State(room, players, 0))));
    file->Keep(room, State(room, players, 64));
    EXPECT_THAT(Open(33, 32),
                ElementsAre(Pair(room, State(room, players, 64))));
    file->Forget(room);
  }
}

TEST_F(StateFileTest, ForgetsWhatItIsTold) {
  Open();
  file->Forget(1);  // nothing
  file->Keep(1, State(1));
  file->Keep(2, State(2));
  file->Forget(1);
  EXPECT_THAT(Open(), ElementsAre(Pair(2, State(2))));
  file->Forget(2);
  file->Forget(2);
  EXPECT_THAT(Open(), IsEmpty());
  file->Keep(2, State(3));
  EXPECT_THAT(Open(), ElementsAre(Pair(2, State(3))));
}

TEST_F(StateFileTest, LeavesOutWhatIsRunNoMore) {
  Open(8, 4);
  file->Keep(0, State(1, 2));
  file->Keep(1, State(2, 4));
  file->Keep(6, State(3, 1));
  file->Keep(7, State(4, 2));
  EXPECT_THAT(Open(7, 2),
              ElementsAre(Pair(0, State(1, 2)), Pair(6, State(3, 1))));
  EXPECT_THAT(log, ElementsAre(HasSubstr("2 matches left out")));
  // And they are gone.
  EXPECT_THAT(Open(8, 4),
              ElementsAre(Pair(0, State(1, 2)), Pair(6, State(3, 1))));
  log.clear();
  EXPECT_THAT(Open(6, 4), ElementsAre(Pair(0, State(1, 2))));
  EXPECT_THAT(log, ElementsAre(HasSubstr("1 match left out")));
}

TEST_F(StateFileTest, KeepsRoomsOfSeveralThreadsAtOnce) {
  Open(64, 2);
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      for (std::uint32_t i = 0; i < 200; ++i) {
        const std::uint32_t room = i % 16 * 4 + thread;
        file->Keep(room, State(room * 1000 + i));
        if (i % 5 == 0) file->Forget(room);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto kept = Open(64, 2);
  std::size_t expected = 0;
  for (std::uint32_t i = 200 - 16; i < 200; ++i) {
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
      const std::uint32_t room = i % 16 * 4 + thread;
      if (i % 5 == 0) continue;
      ++expected;
      ASSERT_TRUE(kept.contains(room));
      EXPECT_EQ(kept.at(room), State(room * 1000 + i));
    }
  }
  EXPECT_EQ(kept.size(), expected);
}

TEST_F(StateFileTest, AllocatesNothing) {
  Open();
  const Bytes state = State(1);
  file->Keep(0, state);  // the thread's first
  const std::uint64_t allocations = parlor_allocation_count();
  for (int i = 0; i < 10; ++i) file->Keep(0, state);
  file->Forget(0);
  EXPECT_EQ(parlor_allocation_count(), allocations);
}

// 3.8e9 bytes, of which only what is used takes place.
TEST_F(StateFileTest, ReachesTheLastRoomOfTheLargestHost) {
  Open(65'536, 32);
  const Bytes state = State(9, 32, 64);
  ASSERT_EQ(state.size(), lockstep::StateBytesMax(32));
  file->Keep(65'535, State(8, 32, 64));
  file->Keep(65'535, state);
  EXPECT_THAT(Open(65'536, 32), ElementsAre(Pair(65'535, state)));
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_size, StateLayout(65'536, 32).file_bytes());
  EXPECT_GT(found.st_size, std::int64_t{65'536} * 2 * 24'000);
  EXPECT_LT(found.st_blocks * 512, 8 << 20);
}

// --- What is refused

// Damages the file that holds two matches, and sees whether that is refused.
class StateFileDamageTest : public StateFileFixture {
 protected:
  StateFileDamageTest() : StateFileFixture(TempFolder::InMemory()) {
    Open(kRooms, 1);
    file->Keep(0, State(1, 1, 1));
    file->Keep(2, State(2, 1, 2));
    file->Keep(2, State(3, 1, 2));  // in its second half
    file = nullptr;
    whole = ReadFile(path);
  }

  bool IsRefused(std::string_view bytes) {
    WriteFile(path, bytes);
    log.clear();
    auto opened = TryOpen(kRooms, 1);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return false;
    opened->file = nullptr;
    if (!std::filesystem::remove(path + ".refused-1")) {
      EXPECT_THAT(log, IsEmpty());
      return false;
    }
    EXPECT_THAT(opened->rooms, IsEmpty());
    EXPECT_THAT(log, ElementsAre(HasSubstr("is refused: ")));
    return true;
  }

  static constexpr std::int64_t kRooms = 3;
  const StateLayout layout{kRooms, 1};
  std::string whole;
};

// Each bit of all that is read: the header, every line, the halves that hold.
TEST_F(StateFileDamageTest, RefusesEveryBitThatIsFlipped) {
  EXPECT_FALSE(IsRefused(whole));
  const struct {
    std::int64_t at;
    std::size_t size;
  } parts[] = {
      {0, static_cast<std::size_t>(layout.head_bytes())},
      {layout.HalfAt(0, 0), State(1, 1, 1).size()},
      {layout.HalfAt(2, 1), State(3, 1, 2).size()},
  };
  for (const auto& part : parts) {
    for (std::size_t i = 0; i < part.size; ++i) {
      const std::size_t at = static_cast<std::size_t>(part.at) + i;
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        ASSERT_TRUE(IsRefused(damaged)) << "byte " << at << ", bit " << bit;
      }
    }
  }
}

// Nothing refers to the rest: states that were replaced, and what was never
// written.
TEST_F(StateFileDamageTest, DoesNotReadWhatNothingRefersTo) {
  for (const std::int64_t at :
       {layout.head_bytes(), layout.HalfAt(0, 1), layout.HalfAt(2, 0),
        layout.HalfAt(2, 1) + 1'000}) {
    std::string changed = whole;
    changed[static_cast<std::size_t>(at)] ^= 1;
    EXPECT_FALSE(IsRefused(changed)) << at;
  }
}

TEST_F(StateFileDamageTest, RefusesEveryOtherLength) {
  for (std::size_t size = 1; size < whole.size(); size += size < 300 ? 1 : 97) {
    ASSERT_TRUE(IsRefused(whole.substr(0, size))) << size;
  }
  EXPECT_TRUE(IsRefused(whole.substr(0, whole.size() - 1)));
  EXPECT_TRUE(IsRefused(whole + '\0'));
  EXPECT_TRUE(IsRefused(whole + whole));
}

TEST_F(StateFileDamageTest, RefusesForeignFiles) {
  for (const std::string& foreign :
       {std::string("a"), std::string(63, 'a'), std::string(1 << 20, '\0'),
        std::string("SQLite format 3\0", 16) + std::string(8'176, '\0'),
        "#!/bin/sh\n" + std::string(5'000, '\n')}) {
    ASSERT_TRUE(IsRefused(foreign));
    EXPECT_THAT(log, ElementsAre(HasSubstr("is refused: no state file. ")));
  }
}

TEST_F(StateFileDamageTest, RefusesAnotherVersion) {
  std::string other = whole;
  other[16] = 2;
  ASSERT_TRUE(IsRefused(other));
  EXPECT_THAT(log, ElementsAre(HasSubstr("written as version 2, not 1. ")));
}

TEST_F(StateFileDamageTest, RefusesOneRoomsLineInAnothersPlace) {
  std::string moved = whole;
  moved.replace(static_cast<std::size_t>(layout.LineAt(1)), 64,
                whole.substr(static_cast<std::size_t>(layout.LineAt(0)), 64));
  moved.replace(
      static_cast<std::size_t>(layout.HalfAt(1, 0)), 4'096,
      whole.substr(static_cast<std::size_t>(layout.HalfAt(0, 0)), 4'096));
  ASSERT_TRUE(IsRefused(moved));
  EXPECT_THAT(log, ElementsAre(HasSubstr("the line of room 1 is damaged")));
}

// One damage is enough, whatever was read before it.
TEST_F(StateFileDamageTest, RefusesTheWholeFileForItsLastRoom) {
  std::string damaged = whole;
  damaged[static_cast<std::size_t>(layout.HalfAt(2, 1)) + 20] ^= 1;
  ASSERT_TRUE(IsRefused(damaged));
  EXPECT_THAT(
      log, ElementsAre(HasSubstr("room 2: what is kept of it is damaged. ")));
  EXPECT_THAT(Open(kRooms, 1), IsEmpty());
}

// Nor is it told of what was left out of it before: it is set aside with that.
TEST_F(StateFileDamageTest, RefusesItForARoomThatComesAfterOneLeftOut) {
  Open(kRooms, 2);
  file->Keep(0, State(1, 2));
  file->Keep(2, AsBytes("secret"sv));
  EXPECT_THAT(Open(kRooms, 1), IsEmpty());
  EXPECT_THAT(log, ElementsAre(HasSubstr("is refused: room 2: ")));
}

TEST_F(StateFileDamageTest, RefusesWhatNoRoomHasWritten) {
  Open(kRooms, 1);
  file->Keep(1, AsBytes("secret"sv));
  EXPECT_THAT(Open(kRooms, 1), IsEmpty());
  EXPECT_THAT(log,
              ElementsAre(testing::AllOf(HasSubstr("room 1: room state: "),
                                         testing::Not(HasSubstr("secret")))));
}

TEST_F(StateFileDamageTest, RefusesARoomLargerThanTheFileSays) {
  Open(kRooms, 1);
  file->Keep(1, State(1, 2, 0));
  EXPECT_THAT(Open(kRooms, 2), IsEmpty());
  EXPECT_THAT(log, ElementsAre(HasSubstr("room 1: it is larger than ")));
}

TEST_F(StateFileDamageTest, SetsAsideWithoutReplacingAnything) {
  WriteFile(path, "first");
  WriteFile(path + ".refused-1", "of last week");
  EXPECT_THAT(Open(), IsEmpty());
  file = nullptr;
  WriteFile(path, "second");
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_THAT(folder.Names(),
              ElementsAre("matches", "matches.refused-1", "matches.refused-2",
                          "matches.refused-3"));
  EXPECT_EQ(ReadFile(path + ".refused-1"), "of last week");
  EXPECT_EQ(ReadFile(path + ".refused-2"), "first");
  EXPECT_EQ(ReadFile(path + ".refused-3"), "second");
  EXPECT_THAT(log, ElementsAre(HasSubstr("matches.refused-2\""),
                               HasSubstr("matches.refused-3\"")));
}

// What a process leaves that is killed before it has written anything.
TEST_F(StateFileDamageTest, AFileOfNoBytesIsANewOne) {
  EXPECT_FALSE(IsRefused(""));
}

// --- Whose file it is

TEST_F(StateFileTest, IsItsOwnersAlone) {
  const mode_t before = umask(0);
  Open();
  EXPECT_EQ(ModeOf(path), 0600u);
  umask(0777);
  Open();
  umask(before);
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_THAT(log, IsEmpty());
}

TEST_F(StateFileTest, ClosesWhatWasOpenToOthers) {
  Open();
  file->Keep(1, State(1));
  file = nullptr;
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_THAT(Open(), ElementsAre(Pair(1, State(1))));
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_THAT(log, ElementsAre(HasSubstr("was open to others")));
  file = nullptr;
  WriteFile(path, "foreign");
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_EQ(ModeOf(path + ".refused-1"), 0600u);
}

TEST_F(StateFileTest, RefusesAnotherUsersFile) {
  if (geteuid() != 0) return;  // only root can give a file away
  WriteFile(path, "");
  ASSERT_EQ(chown(path.c_str(), 1, 1), 0);
  EXPECT_THAT(TryOpen(), StatusIs(absl::StatusCode::kInvalidArgument,
                                  HasSubstr("belongs to another user")));
}

TEST_F(StateFileTest, RefusesWhatIsNoFile) {
  const auto is_refused = [](const std::string& where, const char* why) {
    EXPECT_THAT(StateFile::Open(where, 4, 2, {}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)))
        << where;
  };
  is_refused("", "is no path");
  is_refused("a\0b"s, "is no path");
  is_refused(folder.At("nowhere/matches"), "cannot be opened: ");
  is_refused(folder.At("."), "cannot be opened: ");
  is_refused("/dev/full", "is no regular file");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  is_refused(path, "is no regular file");
  ASSERT_EQ(symlink("elsewhere", folder.At("link").c_str()), 0);
  is_refused(folder.At("link"), "is a link, which is not followed");
  EXPECT_THAT(folder.Names(), ElementsAre("link", "matches"));
}

TEST_F(StateFileTest, TellsWhatIsInTheWayOfTheNewFile) {
  Open();
  file->Keep(0, State(1));
  file = nullptr;
  std::filesystem::create_directories(path + ".new/kept");
  EXPECT_THAT(TryOpen(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("matches.new\" cannot be removed")));
  std::filesystem::remove_all(path + ".new");
  // Of a process that was killed while it wrote it.
  WriteFile(path + ".new", "half");
  EXPECT_THAT(Open(), ElementsAre(Pair(0, State(1))));
  EXPECT_THAT(folder.Names(), ElementsAre("matches"));
}

// --- When there is no room

TEST_F(StateFileTest, TellsOnceThatItCannotKeepAndOnceThatItCan) {
  Open();
  file->Keep(2, State(1));
  file->Keep(3, State(2));
  {
    const FileSizeLimit limit(StateLayout(4, 2).HalfAt(2, 0));
    file->Keep(2, State(3));
    file->Keep(3, State(4));
    file->Keep(3, State(5));
    EXPECT_THAT(log, ElementsAre(HasSubstr("matches cannot be kept in ")));
    file->Keep(0, State(6));
    EXPECT_EQ(log.size(), 1u) << log.back();
    file->Forget(2);
    EXPECT_EQ(log.size(), 1u) << log.back();
  }
  file->Keep(3, State(7));
  EXPECT_EQ(log.size(), 2u);
  EXPECT_THAT(log.back(), HasSubstr("matches are kept again in "));
  file->Keep(3, State(8));
  EXPECT_EQ(log.size(), 2u) << log.back();
  EXPECT_THAT(Open(), ElementsAre(Pair(0, State(6)), Pair(3, State(8))));
}

TEST_F(StateFileTest, WhatCannotBeReplacedStays) {
  Open();
  file->Keep(3, State(1));
  {
    const FileSizeLimit limit(StateLayout(4, 2).HalfAt(0, 0));
    file->Keep(3, State(2));
  }
  EXPECT_THAT(Open(), ElementsAre(Pair(3, State(1))));
}

TEST_F(StateFileTest, TellsThatThereIsNoRoomForIt) {
  Open();
  file->Keep(3, State(1));
  file = nullptr;
  {
    const FileSizeLimit limit(4'096);
    EXPECT_THAT(TryOpen(), StatusIs(absl::StatusCode::kUnavailable,
                                    HasSubstr("cannot be made: ")));
  }
  // What there was is as it was.
  EXPECT_THAT(folder.Names(), ElementsAre("matches"));
  EXPECT_THAT(Open(), ElementsAre(Pair(3, State(1))));
}

// --- When it is taken away

TEST_F(StateFileTest, TellsThatItIsNotAtItsPathAnyMore) {
  Open();
  const auto keep_until_it_looks = [this] {
    for (std::uint32_t i = 0; i < StateFile::kLookEvery; ++i) {
      file->Keep(i % 4, State(i));
    }
  };
  keep_until_it_looks();
  EXPECT_THAT(log, IsEmpty());
  for (const bool replaced : {false, true}) {
    log.clear();
    std::filesystem::rename(path, folder.At("moved"));
    if (replaced) WriteFile(path, "");
    keep_until_it_looks();
    keep_until_it_looks();
    EXPECT_THAT(log, ElementsAre(HasSubstr("was removed or replaced: ")));
    std::filesystem::rename(folder.At("moved"), path);
    keep_until_it_looks();
    keep_until_it_looks();
    EXPECT_EQ(log.size(), 2u);
    EXPECT_THAT(log.back(), HasSubstr("is there again"));
  }
  std::filesystem::remove(path);
  keep_until_it_looks();
  EXPECT_EQ(log.size(), 3u);
  EXPECT_THAT(Open(), IsEmpty());
}

TEST(FileDescriptorTest, TellsWhatFailed) {
  const host::FileDescriptor full(open("/dev/full", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(host::WriteAt(full, AsBytes("a"sv), 0), ENOSPC);
  EXPECT_EQ(host::WriteAt(host::FileDescriptor(), AsBytes("a"sv), 0), EBADF);
  Bytes byte(1);
  EXPECT_EQ(host::ReadAt(host::FileDescriptor(), byte, 0), EBADF);
  const host::FileDescriptor none(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(host::ReadAt(none, byte, 0), ENODATA);
}

}  // namespace
}  // namespace parlor::test
