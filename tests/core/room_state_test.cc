// A room's state as bytes: what they are, and that whatever else they are is
// refused, or a state that a room can go on from.
#include "parlor/lockstep/room_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"
#include "room_state_run.h"
#include "support/hex.h"
#include "support/seed.h"
#include "support/status_matchers.h"

namespace parlor::lockstep {
namespace {

using test::RunRestored;
using test::SaveAgain;
using testing::HasSubstr;

using Bytes = std::vector<std::byte>;

MessageBytes InputOf(int seat, std::uint32_t frame) {
  return Encode({.kind = Kind::kInput,
                 .slot = static_cast<std::uint8_t>(seat),
                 .players = 9,
                 .mode = 8,
                 .frame = frame,
                 .value = frame * 3});
}

// Seat 0 has said frames 3 and 7, seat 1 has left and never said anything.
RoomState Small() {
  RoomState state;
  state.opened_for = 4;
  state.seed = 0x11223344;
  state.mode = 7;
  state.age_ms = 1'000;
  state.seats.resize(2);
  state.seats[0].token = 0xa1b2c3d4;
  state.seats[0].last_input = 7;
  state.seats[0].last_hash = 0;
  state.seats[0].inputs = {InputOf(0, 3), InputOf(0, 7)};
  return state;
}

RoomState Drawn(Random& random) {
  RoomState state;
  state.opened_for = random.Between(1, 32);
  state.seed = random.Next();
  state.mode = static_cast<std::uint8_t>(random.Below(256));
  state.age_ms = random.Below(86'400'001);
  state.seats.resize(
      1 + random.Below(static_cast<std::uint32_t>(state.opened_for)));
  for (std::size_t i = 0; i < state.seats.size(); ++i) {
    SeatState& seat = state.seats[i];
    // Ascending, so that no two are one.
    if (i == 0 || random.Chance(3, 4)) {
      seat.token = static_cast<std::uint32_t>(i) * 0x1000000 + 1 +
                   random.Below(0xffffff);
    }
    const std::uint32_t inputs = random.Chance(1, 4) ? 0 : random.Below(65);
    std::uint32_t frame = random.Below(3);
    for (std::uint32_t k = 0; k < inputs; ++k) {
      const bool last = k + 1 == inputs && random.Chance(1, 10);
      frame = last ? 0xffffffff : frame + 1 + random.Below(3);
      seat.inputs.push_back(InputOf(static_cast<int>(i), frame));
      seat.last_input = frame;
    }
    if (random.Chance(3, 4)) seat.last_hash = random.Next();
  }
  return state;
}

TEST(RoomStateTest, HasTheseBytes) {
  std::string golden =
      "01 04 02 07  44 33 22 11  e8 03 00 00 00 00 00 00  "
      "d4 c3 b2 a1  08 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00  02  "
      "01 00 09 08 03 00 00 00 09 00 00 00  "
      "01 00 09 08 07 00 00 00 15 00 00 00  "
      "00 00 00 00  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  00";
  const Bytes bytes = SaveAgain(Small());
  std::erase(golden, ' ');
  EXPECT_EQ(test::Hex(bytes), golden);
  EXPECT_LE(bytes.size(), StateBytesMax(2));
  const auto state = ParseRoomState(bytes);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->opened_for, 4);
  EXPECT_EQ(state->seed, 0x11223344u);
  EXPECT_EQ(state->mode, 7);
  EXPECT_EQ(state->age_ms, 1'000);
  ASSERT_EQ(state->seats.size(), 2u);
  EXPECT_EQ(state->seats[0].token, 0xa1b2c3d4u);
  EXPECT_EQ(state->seats[0].last_input, 7);
  EXPECT_EQ(state->seats[0].last_hash, 0);
  EXPECT_EQ(state->seats[0].inputs, Small().seats[0].inputs);
  EXPECT_EQ(state->seats[1].token, 0u);
  EXPECT_EQ(state->seats[1].last_input, -1);
  EXPECT_EQ(state->seats[1].last_hash, -1);
  EXPECT_TRUE(state->seats[1].inputs.empty());
}

TEST(RoomStateTest, ComesBackAsItWas) {
  Random random(test::TestSeed());
  for (int i = 0; i < 500; ++i) {
    SCOPED_TRACE("state " + std::to_string(i));
    const RoomState drawn = Drawn(random);
    const Bytes bytes = SaveAgain(drawn);
    ASSERT_LE(bytes.size(),
              StateBytesMax(static_cast<int>(drawn.seats.size())));
    const auto state = ParseRoomState(bytes);
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(state->age_ms, drawn.age_ms);
    ASSERT_EQ(state->seats.size(), drawn.seats.size());
    for (std::size_t seat = 0; seat < drawn.seats.size(); ++seat) {
      EXPECT_EQ(state->seats[seat].token, drawn.seats[seat].token);
      EXPECT_EQ(state->seats[seat].last_input, drawn.seats[seat].last_input);
      EXPECT_EQ(state->seats[seat].last_hash, drawn.seats[seat].last_hash);
      ASSERT_EQ(state->seats[seat].inputs, drawn.seats[seat].inputs);
    }
    ASSERT_EQ(SaveAgain(*state), bytes);
  }
}

TEST(RoomStateTest, IsRefusedCutOffOrWithMoreBehindIt) {
  Random random(test::TestSeed());
  Bytes bytes = SaveAgain(Drawn(random));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(ParseRoomState(std::span(bytes).first(size)).status(),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_THAT(ParseRoomState(bytes).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("bytes behind its end")));
}

// Each is refused, or says something else that a room can be made of.
TEST(RoomStateTest, AFlippedBitIsRefusedOrAnotherMatch) {
  Random random(test::TestSeed());
  int refused = 0, taken = 0;
  for (int i = 0; i < 6; ++i) {
    RoomState state = i == 0 ? Small() : Drawn(random);
    for (SeatState& seat : state.seats) {
      // Few, so that every bit gets its turn.
      if (seat.inputs.size() > 3) seat.inputs.resize(3);
      if (!seat.inputs.empty()) {
        seat.last_input = Decode(seat.inputs.back()).frame;
      }
    }
    const Bytes bytes = SaveAgain(state);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      Bytes flipped = bytes;
      flipped[bit / 8] ^= std::byte{1} << (bit % 8);
      const auto parsed = ParseRoomState(flipped);
      if (!parsed.ok()) {
        ++refused;
        continue;
      }
      ++taken;
      ASSERT_EQ(SaveAgain(*parsed), flipped) << "state " << i << " bit " << bit;
      if (bit % 5 == 0) RunRestored(*parsed);
    }
  }
  EXPECT_GT(refused, 1'000);
  EXPECT_GT(taken, 1'000);
}

struct RefusedRow {
  const char* name;
  std::size_t at;  // in the bytes of Small()
  int value;
  const char* why;
};

class RefusedStateTest : public testing::TestWithParam<RefusedRow> {};

TEST_P(RefusedStateTest, SaysWhy) {
  Bytes bytes = SaveAgain(Small());
  bytes.at(GetParam().at) = static_cast<std::byte>(GetParam().value);
  EXPECT_THAT(
      ParseRoomState(bytes).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().why)));
}

INSTANTIATE_TEST_SUITE_P(
    Bytes, RefusedStateTest,
    testing::Values(
        RefusedRow{"Version0", 0, 0, "not of this version"},
        RefusedRow{"Version2", 0, 2, "not of this version"},
        RefusedRow{"NoSize", 1, 0, "no room has its size"},
        RefusedRow{"Size33", 1, 33, "no room has its size"},
        RefusedRow{"NoSeats", 2, 0, "no match of its size"},
        RefusedRow{"MoreSeatsThanSize", 1, 1, "no match of its size"},
        RefusedRow{"MoreSeatsThanThereAre", 2, 3, "ends too early"},
        RefusedRow{"FewerSeatsThanThereAre", 2, 1, "bytes behind its end"},
        RefusedRow{"OlderThanAnyRoom", 11, 6, "no room gets as old"},
        RefusedRow{"OlderThanTime", 15, 0x80, "no room gets as old"},
        RefusedRow{"InputFrameTooHigh", 24, 1, "seat 0: no such frame"},
        RefusedRow{"NoSuchInputFrame", 27, 0x80, "seat 0: no such frame"},
        RefusedRow{"NoSuchHashFrame", 35, 0xff, "seat 0: no such frame"},
        RefusedRow{"LastInputIsAnother", 20, 9, "seat 0: its last input"},
        RefusedRow{"TooManyInputs", 36, 65, "seat 0: too many inputs"},
        RefusedRow{"FewerInputsThanThereAre", 36, 1, "its last input"},
        RefusedRow{"MoreInputsThanThereAre", 36, 3, "seat 0: not an input"},
        RefusedRow{"InputsBehindItsEnd", 81, 1, "ends too early"},
        RefusedRow{"NoInput", 37, 2, "seat 0: not an input"},
        RefusedRow{"InputOfAnotherSeat", 38, 1, "another seat's input"},
        RefusedRow{"InputsThatFall", 41, 8, "seat 0: inputs do not ascend"},
        RefusedRow{"InputsOfOneFrame", 41, 7, "seat 0: inputs do not ascend"},
        RefusedRow{"ALastInputOfNone", 65, 1, "seat 1: its last input"}),
    [](const auto& row) { return std::string(row.param.name); });

// One refused room is a refused file: what a room may write is taken, to the
// edge.
TEST(RoomStateTest, MayBeAsOldAsARoomGets) {
  RoomState state = Small();
  state.age_ms = limits::kLifetimeMs.ceiling;
  Bytes bytes = SaveAgain(state);
  const auto parsed = ParseRoomState(bytes);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->age_ms, limits::kLifetimeMs.ceiling);
  // 86,400,000 is 0x05265c00.
  ASSERT_EQ(bytes[8], std::byte{0});
  bytes[8] = std::byte{1};
  EXPECT_THAT(ParseRoomState(bytes).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no room gets as old")));
}

TEST(RoomStateTest, TokensAreOfOneSeatEach) {
  Bytes bytes = SaveAgain(Small());
  for (std::size_t i = 0; i < 4; ++i) bytes[61 + i] = bytes[16 + i];
  EXPECT_THAT(ParseRoomState(bytes).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "room state: two seats have one token"));
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[61 + i] = bytes[16 + i] = std::byte{0};
  }
  EXPECT_THAT(ParseRoomState(bytes).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "room state: every seat has left"));
}

}  // namespace
}  // namespace parlor::lockstep
