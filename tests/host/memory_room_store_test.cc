#include "parlor/host/memory_room_store.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parlor/host/room_store.h"
#include "support/room_states.h"

namespace parlor::host {
namespace {

using test::BytesOf;
using test::MakeRoomState;
using ::testing::ElementsAre;

std::vector<std::uint32_t> NumbersOf(const std::vector<KeptRoom>& rooms) {
  std::vector<std::uint32_t> numbers;
  for (const KeptRoom& room : rooms) numbers.push_back(room.number);
  return numbers;
}

TEST(MemoryRoomStoreTest, GivesBackTheLastThatWasKeptOfEachRoom) {
  MemoryRoomStore store;
  store.Keep(7, BytesOf(MakeRoomState(2, 70, 3)));
  store.Keep(3, BytesOf(MakeRoomState(4, 30, 5)));
  store.Keep(7, BytesOf(MakeRoomState(2, 71, 9)));
  EXPECT_EQ(store.size(), 2u);
  const std::vector<KeptRoom> rooms = store.rooms();
  ASSERT_THAT(NumbersOf(rooms), ElementsAre(3, 7));
  EXPECT_EQ(BytesOf(rooms[0].state), BytesOf(MakeRoomState(4, 30, 5)));
  EXPECT_EQ(BytesOf(rooms[1].state), BytesOf(MakeRoomState(2, 71, 9)));
  ASSERT_TRUE(store.Find(7));
  EXPECT_EQ(BytesOf(*store.Find(7)), BytesOf(rooms[1].state));
}

TEST(MemoryRoomStoreTest, ForgetsARoomAndNoOther) {
  MemoryRoomStore store;
  store.Keep(7, BytesOf(MakeRoomState(2, 70, 3)));
  store.Keep(3, BytesOf(MakeRoomState(4, 30, 5)));
  store.Forget(3);
  store.Forget(5);
  EXPECT_FALSE(store.Find(3));
  EXPECT_THAT(NumbersOf(store.rooms()), ElementsAre(7));
}

}  // namespace
}  // namespace parlor::host
