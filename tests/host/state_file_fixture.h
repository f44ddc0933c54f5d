// A state file of a test, and what is kept in it.
#ifndef PARLOR_TESTS_HOST_STATE_FILE_FIXTURE_H_
#define PARLOR_TESTS_HOST_STATE_FILE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "parlor/byte_io.h"
#include "parlor/host/room_store.h"
#include "parlor/host/server.h"
#include "storage/state_file.h"
#include "support/room_states.h"
#include "support/temp_folder.h"

namespace parlor::test {

using Bytes = std::vector<std::byte>;

class StateFileFixture : public testing::Test {
 protected:
  explicit StateFileFixture(const std::string& where = TempFolder::OnDisk())
      : folder(where) {}

  absl::StatusOr<host::StateFile::Opened> TryOpen(std::int64_t rooms = 4,
                                                  std::int64_t seats = 2) {
    return host::StateFile::Open(path, rooms, seats,
                                 [this](host::LogLevel, std::string_view line) {
                                   log.emplace_back(line);
                                 });
  }
  // Opens it, and answers what it has of earlier.
  std::map<std::uint32_t, Bytes> Open(std::int64_t rooms = 4,
                                      std::int64_t seats = 2) {
    file = nullptr;
    auto opened = TryOpen(rooms, seats);
    EXPECT_TRUE(opened.ok()) << opened.status();
    std::map<std::uint32_t, Bytes> kept;
    if (!opened.ok()) return kept;
    file = std::move(opened->file);
    for (const host::KeptRoom& room : opened->rooms) {
      EXPECT_TRUE(kept.emplace(room.number, BytesOf(room.state)).second);
    }
    return kept;
  }

  static Bytes State(std::uint32_t tag, int players = 2,
                     std::uint32_t inputs = 3) {
    return BytesOf(MakeRoomState(players, tag, inputs));
  }

  const TempFolder folder;
  const std::string path = folder.At("matches");
  std::vector<std::string> log;
  std::unique_ptr<host::StateFile> file;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_HOST_STATE_FILE_FIXTURE_H_
