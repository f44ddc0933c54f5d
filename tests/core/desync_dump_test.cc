// Dumps as bytes: there and back, and as an enemy writes them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/lockstep/desync.h"
#include "parlor/random.h"
#include "support/desync_party.h"
#include "support/desync_seal.h"
#include "support/hex.h"
#include "support/seed.h"
#include "support/status_matchers.h"

namespace parlor::test {
namespace {

using lockstep::DesyncDump;
using lockstep::EncodeDesyncDump;
using lockstep::ParseDesyncDump;

DesyncDump Sample(std::size_t entities, std::uint32_t frames) {
  DesyncParty party(2, entities, {.game = "entities", .state_every = 2});
  party.Start();
  party.RunTo(frames);
  DesyncDump dump = party.seats[1].recorder->Dump();
  dump.desync = 30;
  dump.desync_seat = 0;
  return dump;
}

void ExpectSame(const DesyncDump& a, const DesyncDump& b) {
  EXPECT_EQ(a.game, b.game);
  EXPECT_EQ(a.match.seat, b.match.seat);
  EXPECT_EQ(a.match.players, b.match.players);
  EXPECT_EQ(a.match.size, b.match.size);
  EXPECT_EQ(a.match.seed, b.match.seed);
  EXPECT_EQ(a.match.mode, b.match.mode);
  EXPECT_EQ(a.match.delay, b.match.delay);
  EXPECT_EQ(a.desync, b.desync);
  EXPECT_EQ(a.desync_seat, b.desync_seat);
  EXPECT_EQ(a.agreed, b.agreed);
  EXPECT_EQ(a.schema, b.schema);
  EXPECT_EQ(a.frames, b.frames);
}

TEST(DesyncDumpTest, ComesBackAsItWas) {
  const DesyncDump dump = Sample(100, 50);
  const std::vector<std::byte> bytes = EncodeDesyncDump(dump);
  const auto again = ParseDesyncDump(bytes);
  ASSERT_THAT(again, IsOk());
  ExpectSame(*again, dump);
}

// A quarter of a world that moves: what changed, and a whole state.
TEST(DesyncDumpTest, IsCompact) {
  EXPECT_LT(EncodeDesyncDump(Sample(1'000, 60)).size(), 30 * 10'000u);
}

TEST(DesyncDumpTest, BytesAreAsTheyAreWrittenDown) {
  DesyncDump dump;
  dump.game = "toy";
  dump.match = {.seat = 1, .players = 2, .size = 3, .seed = 0x01020304};
  dump.match.mode = 5;
  dump.match.delay = 2;
  dump.desync = 30;
  dump.desync_seat = 0;
  dump.schema.emplace().type = lockstep::StateType::kStruct;
  dump.schema->fields.push_back({.name = "x",
                                 .type = lockstep::StateType::kUnsigned,
                                 .size = 2,
                                 .values = {"a"},
                                 .fields = {}});
  dump.frames.push_back({.frame = 300,
                         .hash = 0xaabbccdd,
                         .state = std::vector{std::byte{7}, std::byte{0}},
                         .ran = true,
                         .bots = 1,
                         .inputs = {0, 200}});
  dump.frames.push_back({.frame = 301,
                         .hash = 1,
                         .state = {},
                         .ran = true,
                         .bots = 1,
                         .inputs = {0, 200}});
  EXPECT_EQ(Hex(EncodeDesyncDump(dump)),
            "5041524c4f5244530100"  // PARLORDS, version 1
            "03746f79"              // toy
            "0102030204030201"      // seat, players, size, delay, seed
            "05"                    // mode
            "1f0100"                // desync 30, of seat 0, agreed -1
            "01"                    // there is a schema:
            "0006000001"            // no name, a struct, with one field
            "01780202010161"        // x, unsigned of 2 bytes, one name, a
            "00"
            "02ac02"      // two frames, from 300 on
            "05ddccbbaa"  // a whole state, ran; hash
            "020700"
            "0100c801"    // bots, inputs
            "0c01000000"  // ran with the same
            "a3cc39eb");
  EXPECT_THAT(ParseDesyncDump(EncodeDesyncDump(dump)), IsOk());
}

TEST(DesyncDumpTest, CutAnywhereItIsRefused) {
  const std::vector<std::byte> bytes = EncodeDesyncDump(Sample(2, 9));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(ParseDesyncDump(std::span(bytes).first(size)),
                StatusIs(absl::StatusCode::kInvalidArgument));
    if (size == bytes.size() - 4) continue;  // all but the sum
    EXPECT_THAT(ParseDesyncDump(Sealed(std::span(bytes).first(size))),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  std::vector<std::byte> more(bytes.begin(), bytes.end() - 4);
  more.resize(more.size() + 5);
  EXPECT_FALSE(ParseDesyncDump(Resealed(more)).ok());
}

// A dump of one field of bytes, and frames that each have these flags and this
// state.
std::vector<std::byte> Dump(std::uint32_t state_bytes,
                            const std::vector<std::vector<std::byte>>& frames,
                            std::uint8_t flags_of_first) {
  DesyncDump head;
  head.match = {.players = 1, .size = 1, .delay = 1};
  head.schema.emplace().type = lockstep::StateType::kStruct;
  head.schema->fields.push_back(
      {.name = "b", .type = lockstep::StateType::kBytes, .size = state_bytes});
  std::vector<std::byte> bytes = EncodeDesyncDump(head);
  bytes.resize(bytes.size() - 5);  // no frames, and the sum
  ByteWriter writer(bytes);
  writer.VarUint(frames.size());
  writer.VarUint(0);
  for (const std::vector<std::byte>& state : frames) {
    writer.U8(&state == &frames[0] ? flags_of_first : 2);
    writer.U32(0);
    writer.VarUint(state.size());
    writer.Bytes(state);
  }
  return Sealed(bytes);
}

// A few bytes that say "nothing changed" are another state all the same.
TEST(DesyncDumpTest, AFewBytesUnpackToNoMoreThanThereMayBe) {
  constexpr std::uint32_t kState = lockstep::kStateBytesMax;
  constexpr std::size_t kMost = lockstep::kDesyncUnpackedMax / kState;
  std::vector<std::byte> same;
  ByteWriter(same).VarUint(kState);
  std::vector<std::vector<std::byte>> frames(kMost, same);
  frames[0] = std::vector<std::byte>(kState);
  EXPECT_THAT(ParseDesyncDump(Dump(kState, frames, 1)), IsOk());
  frames.push_back(same);
  EXPECT_THAT(ParseDesyncDump(Dump(kState, frames, 1)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("too many states")));
}

TEST(DesyncDumpTest, NothingChangesBeforeThereIsAState) {
  std::vector<std::byte> zeros;
  ByteWriter(zeros).VarUint(8);
  EXPECT_THAT(ParseDesyncDump(Dump(8, {std::vector<std::byte>(8), zeros}, 1)),
              IsOk());
  EXPECT_THAT(ParseDesyncDump(Dump(8, {zeros}, 2)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("cannot be here")));
}

// The sum finds every flipped bit; and without it, what is taken is a dump.
TEST(DesyncDumpTest, WithAnyBitFlippedItIsRefusedOrADump) {
  std::vector<std::byte> bytes = EncodeDesyncDump(Sample(2, 9));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const std::byte mask = std::byte{1} << (bit % 8);
    bytes[bit / 8] ^= mask;
    EXPECT_FALSE(ParseDesyncDump(bytes).ok()) << bit;
    const auto dump = ParseDesyncDump(Resealed(bytes));
    if (dump.ok()) {
      const auto again = ParseDesyncDump(EncodeDesyncDump(*dump));
      ASSERT_THAT(again, IsOk()) << bit;
      ExpectSame(*again, *dump);
    } else {
      EXPECT_THAT(dump, StatusIs(absl::StatusCode::kInvalidArgument));
    }
    bytes[bit / 8] ^= mask;
  }
}

TEST(DesyncDumpTest, HostileBytesAreRefusedOrADump) {
  Random random(TestSeed());
  const std::vector<std::byte> right = EncodeDesyncDump(Sample(3, 20));
  for (int i = 0; i < 5'000; ++i) {
    std::vector<std::byte> bytes = right;
    for (std::uint32_t n = 1 + random.Below(6); n > 0; --n) {
      bytes[random.Below(static_cast<std::uint32_t>(bytes.size()))] =
          static_cast<std::byte>(random.Below(256));
    }
    const auto dump = ParseDesyncDump(Resealed(bytes));
    if (!dump.ok()) continue;
    // Whatever it says, it can be looked into.
    const std::vector<DesyncDump> dumps = {*ParseDesyncDump(right), *dump};
    (void)lockstep::FindDesync(dumps, FreshEntities(3));
    (void)lockstep::FindDesync({&dumps[1], 1}, FreshEntities(3));
  }
}

}  // namespace
}  // namespace parlor::test
