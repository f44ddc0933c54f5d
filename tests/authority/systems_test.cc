#include "parlor/authority/systems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"

namespace parlor::authority {
namespace {

using testing::ElementsAre;

// Notes what reaches it.
class NotedContext final : public Context {
 public:
  explicit NotedContext(Role role = Role::kAuthority) : role_(role) {}

  Role role() const override { return role_; }
  std::uint32_t tick() const override { return 7; }
  int tick_hz() const override { return 60; }
  std::span<const Player> players() const override { return everyone; }
  int local_seat() const override { return -1; }
  const InputFrame& input(int) const override { return input_; }
  std::span<const ReceivedMessage> messages() const override { return {}; }
  RowTable& rows() override { return rows_; }

  std::vector<Player> everyone;
  std::vector<std::string> notes;

 private:
  bool Note(std::string note) {
    notes.push_back(std::move(note));
    return false;
  }
  bool DoSend(std::string_view name, std::string_view, int to) override {
    return Note("send " + std::string(name) + " " + std::to_string(to));
  }
  bool DoSetPhase(std::string_view phase) override {
    return Note("phase " + std::string(phase));
  }
  bool DoSetCamera(int, std::string_view) override { return Note("camera"); }
  bool DoSetHud(int, std::string_view) override { return Note("hud"); }
  bool DoPossess(int, std::uint32_t) override { return Note("possess"); }
  void DoNewEpoch() override { Note("epoch"); }

  Role role_;
  InputFrame input_;
  Schema schema_ = *Schema::Create({{.name = "thing", .rows_max = 1}});
  RowTable rows_{schema_};
};

// A system of each kind, in this order.
std::vector<std::string_view> RunIn(Role role, bool multiplayer) {
  Systems systems(multiplayer);
  std::vector<std::string_view> ran;
  const auto add = [&](std::string_view name, On on) {
    systems.Add(name, on, [&ran, name](Context&) { ran.push_back(name); });
  };
  add("bare", On::kBare);
  add("authority", On::kAuthority);
  add("client", On::kClient);
  add("both", On::kBoth);
  NotedContext context(role);
  systems.Run(context);
  EXPECT_EQ(systems.Names(role), ran);
  return ran;
}

TEST(SystemsTest, RunWhereTheyBelongInTheirOrder) {
  EXPECT_THAT(RunIn(Role::kAuthority, true),
              ElementsAre("bare", "authority", "both"));
  EXPECT_THAT(RunIn(Role::kClient, true), ElementsAre("client", "both"));
  EXPECT_THAT(RunIn(Role::kSolo, true),
              ElementsAre("bare", "authority", "client", "both"));
}

TEST(SystemsTest, BareOnesRunEverywhereWithoutMultiplayer) {
  EXPECT_THAT(RunIn(Role::kAuthority, false),
              ElementsAre("bare", "authority", "both"));
  EXPECT_THAT(RunIn(Role::kClient, false),
              ElementsAre("bare", "client", "both"));
  EXPECT_THAT(RunIn(Role::kSolo, false),
              ElementsAre("bare", "authority", "client", "both"));
}

TEST(SystemsTest, WhatOneThrowsStopsTheRest) {
  Systems systems;
  bool later = false;
  systems.Add("throws", On::kBoth,
              [](Context&) { throw std::runtime_error("no"); });
  systems.Add("later", On::kBoth, [&](Context&) { later = true; });
  NotedContext context;
  EXPECT_THROW(systems.Run(context), std::runtime_error);
  EXPECT_FALSE(later);
}

TEST(SystemsDeathTest, NamesAreGivenOnce) {
  Systems systems;
  systems.Add("move", On::kBare, [](Context&) {});
  EXPECT_DEATH(systems.Add("move", On::kBoth, [](Context&) {}), "name");
  EXPECT_DEATH(systems.Add("null", On::kBoth, nullptr), "nullptr");
}

TEST(ContextTest, WhatIsLocalStaysHere) {
  NotedContext context;
  context.Local([&] {
    EXPECT_TRUE(context.Send("hi", "1"));
    context.Local([&] { EXPECT_TRUE(context.SetPhase("play")); });
    EXPECT_TRUE(context.SetCamera(0, "{}"));
    EXPECT_TRUE(context.SetHud(0, "{}"));
  });
  EXPECT_THAT(context.notes, ElementsAre());
  EXPECT_FALSE(context.Send("hi", "1", 3));
  EXPECT_FALSE(context.SetPhase("play"));
  EXPECT_FALSE(context.SetCamera(0, "{}"));
  EXPECT_FALSE(context.SetHud(0, "{}"));
  EXPECT_THAT(context.notes,
              ElementsAre("send hi 3", "phase play", "camera", "hud"));
}

TEST(ContextTest, IsNotLocalBehindAThrow) {
  NotedContext context;
  EXPECT_THROW(context.Local([] { throw std::runtime_error("no"); }),
               std::runtime_error);
  context.Send("hi", "1");
  EXPECT_THAT(context.notes, ElementsAre("send hi -1"));
}

TEST(ContextTest, ClientsNeitherPossessNorBeginAWorld) {
  NotedContext client(Role::kClient);
  EXPECT_FALSE(client.Possess(0, 1));
  client.NewEpoch();
  EXPECT_THAT(client.notes, ElementsAre());
  NotedContext authority;
  authority.Possess(0, 1);
  authority.NewEpoch();
  EXPECT_THAT(authority.notes, ElementsAre("possess", "epoch"));
}

TEST(ContextTest, FindsPlayersBySeat) {
  NotedContext context;
  EXPECT_EQ(context.player(0), nullptr);
  EXPECT_EQ(context.host(), -1);
  for (const int seat : {1, 4, 9}) {
    Player& player = context.everyone.emplace_back();
    player.seat = seat;
    player.host = seat == 4;
  }
  for (const int seat : {1, 4, 9}) {
    ASSERT_NE(context.player(seat), nullptr);
    EXPECT_EQ(context.player(seat)->seat, seat);
  }
  for (const int seat : {-1, 0, 2, 8, 10}) {
    EXPECT_EQ(context.player(seat), nullptr) << seat;
  }
  EXPECT_EQ(context.host(), 4);
}

}  // namespace
}  // namespace parlor::authority
