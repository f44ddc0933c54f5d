// TagParty: a world with one host, and players of tag in its one room, each
// tick of which is written down.
#ifndef PARLOR_TESTS_SIM_TAG_PARTY_H_
#define PARLOR_TESTS_SIM_TAG_PARTY_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "authority/tag.h"
#include "parlor/authority/message.h"
#include "parlor/authority/peer.h"
#include "parlor/authority/room.h"
#include "parlor/authority/room_authority.h"
#include "parlor/authority/row_table.h"
#include "parlor/entropy.h"
#include "parlor/hosted_room.h"
#include "parlor/sim/player.h"
#include "parlor/sim/testing.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"

namespace parlor::sim {

// Where every runner is.
using TagPlaces = std::map<authority::RowId, float>;

inline TagPlaces PlacesIn(const authority::RowTable& rows) {
  TagPlaces places;
  rows.ForEach([&](const authority::RowView& row) {
    places[row.id()] = row.GetTransform().position.x;
  });
  return places;
}

// What players say is told to all of them.
inline const authority::Messages& TagMessages() {
  static const authority::Messages messages = [] {
    authority::Messages made;
    EXPECT_TRUE(made.Define({.name = "say"}).ok());
    return made;
  }();
  return messages;
}

// Of the newest room.
struct TagBook {
  std::map<std::uint32_t, TagPlaces> shown;  // by tick
  bool fails = false;                        // each tick throws
};

// Tag that is written down, and in which people talk.
class RecordedTag final : public authority::RoomAuthority {
 public:
  explicit RecordedTag(TagBook& book) : book_(book) { book_ = {}; }

  const authority::Schema& schema() const noexcept override {
    return tag_.schema();
  }
  const authority::Messages& messages() const noexcept override {
    return TagMessages();
  }
  void AddPlayer(authority::Context& context,
                 const authority::Player& player) override {
    tag_.AddPlayer(context, player);
  }
  void RemovePlayer(authority::Context& context,
                    const authority::Player& player) override {
    tag_.RemovePlayer(context, player);
  }
  void OnMessage(authority::Context& context, int /*seat*/,
                 std::string_view name, std::string_view payload) override {
    context.Send(name, payload);
  }
  void Step(authority::Context& context,
            std::span<const authority::SeatInput> inputs) override {
    if (book_.fails) throw std::runtime_error("as the test wants it");
    tag_.Step(context, inputs);
  }
  void WriteState(authority::Context& context,
                  authority::RowTable& rows) override {
    book_.shown[context.tick()] = PlacesIn(rows);
  }

 private:
  TagBook& book_;
  test::Tag tag_;
};

// Rooms that can be looked at, which those of MakeRoomFactory hide.
inline HostedRoomFactory TagRooms(const authority::RoomOptions& options,
                                  TagBook& book) {
  return [options, &book](TimePoint now, Entropy& entropy) {
    return std::make_unique<authority::Room>(
        now, options, std::make_unique<RecordedTag>(book), entropy);
  };
}

class TagParty {
 public:
  static constexpr const char* kKey = "tag";

  explicit TagParty(const WorldOptions& options = {},
                    const authority::RoomOptions& room = {.protocol = "tag-1"},
                    HostOptions at = {})
      : world(options), host(world.AddHost(WithRoom(std::move(at), room))) {}

  // One who has not joined yet.
  Player& Invite(PlayerOptions options = {}) {
    if (options.peer.protocol.empty()) options.peer.protocol = "tag-1";
    return world.AddPlayer(test::TagSchema(), TagMessages(), options);
  }
  // One who joins at once.
  Player& Add(const PlayerOptions& options = {}) {
    return Invite(options).Join(host, {.play = kKey}, {.name = "Ann"});
  }
  // So many play, in the order of their seats.
  void Seat(int players, const PlayerOptions& options = {}) {
    for (int seat = 0; seat < players; ++seat) {
      Player& player = Add(options);
      ExpectHealed();
      ASSERT_EQ(player.peer().seat(), seat);
    }
  }

  authority::Peer& peer(int seat) {
    return world.player(static_cast<std::size_t>(seat)).peer();
  }
  Player& player(int seat) {
    return world.player(static_cast<std::size_t>(seat));
  }
  // Null: it is not open.
  const authority::Room* room() const {
    return dynamic_cast<const authority::Room*>(host.FindPlayRoom(kKey));
  }

  void ExpectHealed() {
    const absl::Status status = world.RunUntilHealed();
    EXPECT_TRUE(status.ok()) << status;
  }
  // The player has what the room had at its tick, which is one of the last.
  void ExpectSeesTheRoom(const Player& player) const {
    const authority::Peer& peer = player.peer();
    ASSERT_NE(room(), nullptr);
    ASSERT_TRUE(book.shown.contains(peer.tick())) << peer.tick();
    EXPECT_EQ(PlacesIn(peer.rows()), book.shown.at(peer.tick()));
    EXPECT_LE(room()->tick() - peer.tick(), 30U);
  }
  // All who play have; and where nobody runs, what it has now.
  void ExpectAllSeeTheRoom() {
    for (std::size_t i = 0; i < world.players(); ++i) {
      SCOPED_TRACE(i);
      const Player& player = world.player(i);
      if (player.crashed()) continue;
      if (player.peer().state() != authority::PeerState::kPlaying) continue;
      ExpectSeesTheRoom(player);
    }
  }

  TagBook book;  // outlives the world
  TestWorld world;
  Host& host;

 private:
  HostOptions WithRoom(HostOptions at, const authority::RoomOptions& room) {
    at.shard.play_rooms = {{.key = kKey, .make = TagRooms(room, book)}};
    return at;
  }
};

// Everything to the right.
inline constexpr authority::Controls kRun{.axes = {32'767}};

}  // namespace parlor::sim

#endif  // PARLOR_TESTS_SIM_TAG_PARTY_H_
