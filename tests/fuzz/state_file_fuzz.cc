// What a host does with a file where its matches should be: it opens, at most
// with the file set aside, and what it has taken back once it takes back again.
//
// The first byte says what the rest is: odd, the file as it is; even, a header
// and states that are sealed here, since no input finds a checksum. Then of
// each room: a length (two bytes) and its state.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/host/room_store.h"
#include "parlor/host/server.h"
#include "parlor/lockstep/room_state.h"
#include "storage/state_file.h"
#include "support/room_states.h"
#include "support/temp_folder.h"

namespace parlor {
namespace {

using host::StateFile;

constexpr std::int64_t kRooms = 4;
constexpr std::int64_t kSeats = 3;

struct Kept {
  std::uint32_t number;
  std::vector<std::byte> state;
  friend bool operator==(const Kept&, const Kept&) = default;
};

std::vector<Kept> OpenAndClose(const std::string& path, bool* logged) {
  auto opened = StateFile::Open(
      path, kRooms, kSeats,
      [logged](host::LogLevel, std::string_view) { *logged = true; });
  PARLOR_CHECK(opened.ok());
  std::vector<Kept> kept;
  for (const host::KeptRoom& room : opened->rooms) {
    PARLOR_CHECK(room.number < kRooms && room.state.opened_for <= kSeats);
    kept.push_back({room.number, test::BytesOf(room.state)});
  }
  return kept;
}

void Seal(const std::string& path, ByteReader reader) {
  auto opened = StateFile::Open(path, kRooms, kSeats, {});
  PARLOR_CHECK(opened.ok());
  const std::size_t most = lockstep::StateBytesMax(static_cast<int>(kSeats));
  for (std::uint32_t room = 0; room < kRooms; ++room) {
    const std::span<const std::byte> state =
        reader.Bytes(std::min<std::size_t>(reader.U16(), most));
    if (!state.empty()) opened->file->Keep(room, state);
  }
}

}  // namespace
}  // namespace parlor

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace parlor;
  static const test::TempFolder folder(test::TempFolder::InMemory());
  const std::string path = folder.At("matches");
  for (const std::string& name : folder.Names()) {
    std::filesystem::remove(folder.At(name));
  }
  ByteReader reader(std::as_bytes(std::span(data, size)));
  if (reader.U8() % 2 == 1) {
    folder.Write("matches", AsText(reader.Bytes(reader.remaining())));
  } else {
    Seal(path, reader);
  }
  bool logged = false;
  const auto first = OpenAndClose(path, &logged);
  // Refused whole, or taken.
  PARLOR_CHECK(first.empty() || !std::filesystem::exists(path + ".refused-1"));
  logged = false;
  PARLOR_CHECK(OpenAndClose(path, &logged) == first);
  PARLOR_CHECK(!logged);
  return 0;
}
