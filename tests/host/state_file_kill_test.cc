// A state file and the processes that have it: one at a time, killed at any
// moment.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "host/state_file_fixture.h"
#include "parlor/check.h"
#include "parlor/random.h"
#include "support/room_states.h"
#include "support/seed.h"
#include "support/status_matchers.h"

namespace parlor::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// A process that begins as a copy of this one and does one thing.
class Child {
 public:
  explicit Child(const std::function<void()>& run) : pid_(fork()) {
    PARLOR_CHECK(pid_ >= 0);
    if (pid_ > 0) return;
    run();
    std::fflush(stdout);
    _exit(0);
  }
  ~Child() {
    if (pid_ > 0) Kill();
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&&) = delete;

  void Kill() {
    kill(pid_, SIGKILL);
    Await();
  }
  // 0: it ended by itself.
  int Await() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
};

struct Pipe {
  Pipe() { PARLOR_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0); }
  ~Pipe() {
    for (const int end : ends) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  template <typename T>
  void Write(const T& value) const {
    PARLOR_CHECK(write(ends[1], &value, sizeof value) == sizeof value);
  }
  // What was written whole before its writers ended or were killed.
  template <typename T>
  bool Read(T& value) {
    if (ends[1] >= 0) close(std::exchange(ends[1], -1));
    return read(ends[0], &value, sizeof value) == sizeof value;
  }

  std::array<int, 2> ends{-1, -1};
};

// --- Killed

constexpr std::int64_t kRooms = 5;
constexpr std::int64_t kSeats = 6;
constexpr int kKills = 60;
constexpr std::uint32_t kStepsMax = 500;  // of one process

// What was done to a room: the state of this tag was kept, or, for 0, nothing
// is kept any more.
struct Done {
  std::uint32_t room = 0;
  std::uint32_t tag = 0;
};

// States of one page and of several.
Bytes StateOf(std::uint32_t tag) {
  const int players = 1 + static_cast<int>(tag % kSeats);
  return BytesOf(MakeRoomState(players, tag, tag % 65));
}

// The n-th thing that is done, whoever does it.
Done Step(std::uint32_t n) {
  Random random(n);
  const std::uint32_t room = random.Below(kRooms);
  return {room, random.Below(8) == 0 ? 0 : n};
}

class StateFileKillTest : public StateFileFixture {
 protected:
  // Does step after step, and tells of each when it is done; of 0 when the file
  // is open.
  void Work(const Pipe& told, std::uint32_t n) {
    auto opened = TryOpen(kRooms, kSeats);
    PARLOR_CHECK(opened.ok());
    // So that nearly all of its time goes into the file.
    std::vector<Bytes> states;
    for (std::uint32_t i = 0; i < kStepsMax; ++i) {
      states.push_back(StateOf(n + i));
    }
    told.Write(0u);
    for (const Bytes& state : states) {
      const Done done = Step(n);
      if (done.tag == 0) {
        opened->file->Forget(done.room);
      } else {
        opened->file->Keep(done.room, state);
      }
      told.Write(n++);
    }
    pause();
  }
};

// What was told of is there; of what was under way at that moment, all or
// nothing.
TEST_F(StateFileKillTest, HasWhatWasKeptWheneverItIsKilled) {
  Random random(TestSeed());
  std::array<std::uint32_t, kRooms> tags{};  // 0: nothing
  std::uint32_t next = 1;
  int midway = 0;
  for (int i = 0; i < kKills; ++i) {
    SCOPED_TRACE(i);
    Pipe told;
    Child child([&] { Work(told, next); });
    // Some while it opens the file, most while it changes it.
    std::uint32_t n = 0;
    if (random.Below(4) != 0) {
      ASSERT_TRUE(told.Read(n));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.Below(3'000)));
    child.Kill();
    while (told.Read(n)) {
      if (n == 0) continue;
      next = n + 1;
      const Done done = Step(n);
      tags[done.room] = done.tag;
    }
    const auto kept = Open(kRooms, kSeats);
    file = nullptr;
    ASSERT_THAT(log, IsEmpty());
    const Done under_way = Step(next++);
    for (std::uint32_t room = 0; room < kRooms; ++room) {
      const Bytes found = kept.contains(room) ? kept.at(room) : Bytes();
      const Bytes told_of = tags[room] == 0 ? Bytes() : StateOf(tags[room]);
      if (found == told_of) continue;
      ASSERT_EQ(room, under_way.room);
      ASSERT_EQ(found, under_way.tag == 0 ? Bytes() : StateOf(under_way.tag));
      tags[room] = under_way.tag;
      ++midway;
    }
  }
  std::printf("%u steps, %d done and not told of\n", next, midway);
  EXPECT_GT(next, 10u * kKills);
}

// --- Several at once

TEST_F(StateFileKillTest, OneProcessAtATimeHasIt) {
  Open();
  file->Keep(1, State(1));
  const auto is_refused = [this] {
    EXPECT_THAT(TryOpen(),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         testing::HasSubstr("in use by another process")));
  };
  is_refused();  // by another part of this one as well
  EXPECT_EQ(Child([&] { PARLOR_CHECK(!TryOpen().ok()); }).Await(), 0);
  // And nothing has become of it.
  EXPECT_THAT(folder.Names(), ElementsAre("matches"));
  file->Keep(2, State(2));
  file = nullptr;

  Pipe told;
  Child child([&] {
    const auto opened = TryOpen();
    PARLOR_CHECK(opened.ok());
    told.Write(opened->rooms.size());
    pause();
  });
  std::size_t rooms = 0;
  ASSERT_TRUE(told.Read(rooms));
  EXPECT_EQ(rooms, 2u);
  is_refused();
  child.Kill();
  EXPECT_THAT(Open(), ElementsAre(Pair(1, State(1)), Pair(2, State(2))));
  EXPECT_THAT(log, IsEmpty());
}

// Each opens it, counts itself in and out, and closes it again.
TEST_F(StateFileKillTest, OneProcessAtATimeHasItWhileItIsReplaced) {
  constexpr int kChildren = 4;
  constexpr int kOpens = 150;
  void* const memory =
      mmap(nullptr, sizeof(std::atomic<int>) * 2, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const inside = new (memory) std::atomic<int>[2] {};
  std::atomic<int>& opens = inside[1];
  std::vector<Child> children;
  for (int i = 0; i < kChildren; ++i) {
    children.emplace_back([&] {
      while (opens < kOpens) {
        auto opened = TryOpen();
        if (!opened.ok()) {
          PARLOR_CHECK(absl::IsFailedPrecondition(opened.status()));
          continue;
        }
        PARLOR_CHECK(inside[0].fetch_add(1) == 0);
        ++opens;
        opened->file->Keep(0, State(static_cast<std::uint32_t>(opens)));
        PARLOR_CHECK(inside[0].fetch_sub(1) == 1);
      }
      PARLOR_CHECK(log.empty());
    });
  }
  for (Child& child : children) EXPECT_EQ(child.Await(), 0);
  EXPECT_GE(opens, kOpens);
  EXPECT_EQ(Open().size(), 1u);
  EXPECT_THAT(log, IsEmpty());
  munmap(memory, sizeof(std::atomic<int>) * 2);
}

}  // namespace
}  // namespace parlor::test
