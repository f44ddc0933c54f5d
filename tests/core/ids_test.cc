#include "parlor/ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

#include "parlor/random.h"

namespace parlor {
namespace {

using Table = IdTable<RoomId, std::string>;

TEST(IdTest, ADefaultIdIsNull) {
  EXPECT_FALSE(RoomId{});
  EXPECT_FALSE((std::is_convertible_v<RoomId, ConnectionId>));
  Table table;
  EXPECT_EQ(table.Find({}), nullptr);
  table.Insert("a");
  EXPECT_EQ(table.Find({}), nullptr);
}

TEST(IdTableTest, FindsWhatWasInserted) {
  Table table;
  const RoomId a = table.Insert("a"), b = table.Insert("b");
  EXPECT_TRUE(a);
  EXPECT_NE(a, b);
  EXPECT_EQ(*table.Find(a), "a");
  EXPECT_EQ(*table.Find(b), "b");
  EXPECT_EQ(table.size(), 2u);
}

TEST(IdTableTest, AnErasedIdFindsNothingEvenWhenItsPlaceIsTaken) {
  Table table;
  const RoomId old = table.Insert("old");
  EXPECT_EQ(table.Erase(old), "old");
  EXPECT_EQ(table.Find(old), nullptr);
  EXPECT_EQ(table.size(), 0u);
  const RoomId next = table.Insert("next");
  EXPECT_EQ(next.index, old.index);
  EXPECT_NE(next, old);
  EXPECT_EQ(table.Find(old), nullptr);
  EXPECT_EQ(table.Erase(old), std::nullopt);
  EXPECT_EQ(*table.Find(next), "next");
}

TEST(IdTableTest, AnIdThatWasNeverGivenFindsNothing) {
  Table table;
  const RoomId id = table.Insert("a");
  EXPECT_EQ(table.Find({id.index, id.generation + 1}), nullptr);
  EXPECT_EQ(table.Find({id.index + 1, id.generation}), nullptr);
  EXPECT_EQ(table.Find({0xffffffff, 1}), nullptr);
  table.Erase(id);
  // The generation its place will have next, while it is still empty.
  EXPECT_EQ(table.Find({id.index, id.generation + 1}), nullptr);
}

TEST(IdTableTest, HoldsWhatCannotBeCopied) {
  IdTable<ConnectionId, std::unique_ptr<int>> table;
  const ConnectionId id = table.Insert(std::make_unique<int>(7));
  EXPECT_EQ(**table.Find(id), 7);
  EXPECT_EQ(**table.Erase(id), 7);
}

TEST(IdTableTest, VisitsInTheOrderOfIndexAndMayEraseWhatItVisits) {
  Table table;
  const RoomId a = table.Insert("a"), b = table.Insert("b");
  const RoomId c = table.Insert("c");
  table.Erase(a);
  table.Insert("d");  // in a's place
  std::string seen;
  table.ForEach([&](RoomId id, const std::string& value) {
    seen += value;
    if (id == b) table.Erase(id);
  });
  EXPECT_EQ(seen, "dbc");
  EXPECT_EQ(table.Find(b), nullptr);
  EXPECT_EQ(*table.Find(c), "c");
  EXPECT_EQ(table.size(), 2u);
}

// Against a plain list of every id ever given.
TEST(IdTableTest, NoIdEverNamesAnotherThing) {
  IdTable<RoomId, int> table;
  struct Given {
    RoomId id;
    bool alive;
  };
  std::vector<Given> given;
  std::size_t alive = 0, places = 0;
  Random random(5);
  for (int step = 0; step < 5'000; ++step) {
    if (given.empty() || random.Chance(1, 2)) {
      const RoomId id = table.Insert(static_cast<int>(given.size()));
      places = std::max<std::size_t>(places, id.index + 1);
      given.push_back({id, true});
      ++alive;
    } else {
      const std::uint32_t pick =
          random.Below(static_cast<std::uint32_t>(given.size()));
      ASSERT_EQ(table.Erase(given[pick].id).has_value(), given[pick].alive);
      alive -= given[pick].alive ? 1 : 0;
      given[pick].alive = false;
    }
    ASSERT_EQ(table.size(), alive);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const int* found = table.Find(given[i].id);
    ASSERT_EQ(found != nullptr, given[i].alive);
    if (found != nullptr) {
      ASSERT_EQ(*found, static_cast<int>(i));
    }
  }
  EXPECT_LT(places, given.size());
}

}  // namespace
}  // namespace parlor
