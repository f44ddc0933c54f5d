// wire.json against the parsers and writers: neither may say more or less than
// the other.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "authority/described_state.h"
#include "authority/golden_frames.h"
#include "authority/state_frames.h"
#include "authority/state_schema.h"
#include "authority/wire_description.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/input.h"
#include "parlor/authority/message.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/values.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/byte_io.h"
#include "support/hex.h"

namespace parlor::authority {
namespace {

using nlohmann::json;
using test::WireDescription;

// One side's frames: the goldens, its parser and its part of the description.
template <typename Any>
struct Side {
  const char* name;
  std::vector<test::GoldenFrame<Any>> golden;
  Any (*parse)(std::string_view);

  const FrameRefusal* Refusal(const json& object) {
    parsed = parse(object.dump());
    return std::get_if<FrameRefusal>(&parsed);
  }
  Any parsed{};
};

Side<ClientFrame> ClientSide() {
  return {"client", test::GoldenClientFrames(), ParseClientFrame};
}
Side<ServerFrame> ServerSide() {
  return {"server", test::GoldenServerFrames(), ParseServerFrame};
}

// Every member of every golden frame is described, and of the type that the
// description gives it; every frame and member described is in one of them.
void CheckGoldenFrames(const auto& side) {
  const WireDescription description;
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& golden : side.golden) {
    SCOPED_TRACE(golden.text);
    const json object = json::parse(golden.text);
    const std::string type = object["t"];
    ASSERT_TRUE(description.text(side.name).contains(type));
    const json& members = description.text(side.name)[type];
    EXPECT_TRUE(description.IsValid(members, object));
    seen[type];
    for (const auto& [member, value] : object.items()) {
      if (member == "t") continue;
      const std::string key = WireDescription::KeyOf(members, member);
      EXPECT_NE(key, "") << member;
      seen[type].insert(key);
    }
  }
  // Those of StateWireTest.
  const std::set<std::string> states = {"baseline", "delta", "recovery"};
  for (const auto& [type, members] : description.text(side.name).items()) {
    if (states.contains(type)) continue;
    ASSERT_TRUE(seen.contains(type)) << type;
    for (const auto& [key, value] : members.items()) {
      EXPECT_TRUE(seen[type].contains(key)) << type << "." << key;
    }
  }
}

TEST(WireJsonTest, DescribesWhatAClientSends) {
  CheckGoldenFrames(ClientSide());
}
TEST(WireJsonTest, DescribesWhatARoomSends) { CheckGoldenFrames(ServerSide()); }

// Values about the edges of the types there are.
std::vector<json> Probes() {
  std::vector<json> probes = {nullptr,
                              true,
                              0,
                              1,
                              -1,
                              -2,
                              9,
                              10,
                              60,
                              61,
                              240,
                              241,
                              255,
                              256,
                              0.5,
                              1.0,
                              120'000,
                              120'001,
                              4'294'967'295,
                              4'294'967'296,
                              9'007'199'254'740'991,
                              9'007'199'254'740'992,
                              std::uint64_t{0xffffffffffffffff},
                              "",
                              "a",
                              "p0",
                              "p1",
                              "p12345678901",
                              "here",
                              "Here",
                              "lock",
                              "kick",
                              "budget",
                              "json",
                              "a b",
                              "a\tb",
                              "\u00e4",
                              "\u2028",
                              "00112233445566778899aabbccddeeff",
                              "00112233445566778899aabbccddeefg",
                              json::array(),
                              json::object(),
                              json::parse(R"({"a":[1]})")};
  for (const std::size_t size : {32u, 33u, 64u, 65u, 280u, 281u, 1'100u}) {
    probes.emplace_back(std::string(size, 'x'));
    probes.push_back(json{{"a", std::string(size, 'x')}});
    probes.emplace_back(json::array_t(size, 1));
    probes.emplace_back(json::array_t(size, "x"));
  }
  for (const std::size_t size : {1u, 2u, 3u, 4u, 5u, 8u, 9u}) {
    for (const json& item : {json(0), json(-32'768), json(32'768), json("b"),
                             json(2'147'483'648), json(-1), json(1.5)}) {
      probes.emplace_back(json::array_t(size, item));
    }
  }
  return probes;
}

// With one member of a golden frame replaced or gone, the parser takes what the
// description calls valid and refuses what it does not, by that member's name.
void CheckParser(auto side) {
  const WireDescription description;
  const std::vector<json> probes = Probes();
  int valid = 0;
  int invalid = 0;
  for (const auto& golden : side.golden) {
    const json object = json::parse(golden.text);
    const std::string type = object["t"];
    const json& members = description.text(side.name)[type];
    for (const auto& [key, member_type] : members.items()) {
      const std::string name = WireDescription::NameOf(key);
      json changed = object;
      changed.erase(name);
      for (std::size_t i = 0; i <= probes.size(); ++i) {
        if (i > 0) changed[name] = probes[i - 1];
        const std::string text = changed.dump();
        if (text.size() > kClientFrameBytesMax) continue;
        const bool is_valid = description.IsValid(members, changed);
        const FrameRefusal* refusal = side.Refusal(changed);
        ASSERT_EQ(refusal == nullptr, is_valid) << text;
        is_valid ? ++valid : ++invalid;
        if (is_valid) continue;
        // The word that a `when` hangs on may ask for another member.
        const std::string where = type == "mod" ? type : type + "." + name;
        EXPECT_TRUE(Describe(*refusal).starts_with(where)) << text;
      }
    }
  }
  EXPECT_GT(valid, 100);
  EXPECT_GT(invalid, 500);
}

TEST(WireJsonTest, ClientFramesAreTakenAsDescribed) {
  CheckParser(ClientSide());
}
TEST(WireJsonTest, RoomFramesAreTakenAsDescribed) { CheckParser(ServerSide()); }

TEST(WireJsonTest, LimitsAreThoseOfTheCode) {
  const json limits = WireDescription().wire()["limits"];
  EXPECT_EQ(limits["clientTextBytesMax"], kClientFrameBytesMax);
  EXPECT_EQ(limits["valueDepthMax"], kDepthMax);
  EXPECT_EQ(limits["messagePayloadBytesMax"], kMessageBytesMax);
  EXPECT_EQ(WireDescription().wire()["subprotocol"], kSubprotocol);
}

// The numbers of a fixed binary frame, taken apart by its description.
std::map<std::string, std::vector<std::int64_t>> TakenApart(
    const json& frame, std::span<const std::byte> bytes) {
  std::map<std::string, std::vector<std::int64_t>> taken;
  ByteReader in(bytes);
  EXPECT_EQ(in.U8(), frame["kind"].get<int>());
  EXPECT_EQ(bytes.size(), frame["bytes"].get<std::size_t>());
  for (const json& field : frame["fields"]) {
    const std::string type = field["type"];
    for (int i = 0; i < field.value("count", 1); ++i) {
      std::int64_t value = 0;
      if (type == "u32") value = in.U32();
      if (type == "u64") value = static_cast<std::int64_t>(in.U64());
      if (type == "i16") value = static_cast<std::int16_t>(in.U16());
      taken[field["name"]].push_back(value);
    }
  }
  EXPECT_TRUE(in.AtEnd());
  return taken;
}

std::vector<std::int64_t> Listed(const Axes& axes) {
  return {axes.begin(), axes.end()};
}

TEST(WireJsonTest, DescribesTheBytesOfInputsAndAcks) {
  const json wire = WireDescription().wire()["binary"]["client"];
  const InputFrame input{.seq = 0x01020304,
                         .held = 0x1122334455667788,
                         .pressed = 5,
                         .axes = {-32'767, 2, -3, 4},
                         .summed = {5, -6, 7, 32'767}};
  auto taken = TakenApart(wire["input"], EncodeInput(input));
  EXPECT_EQ(taken.size(), 5u);
  EXPECT_EQ(taken["seq"], std::vector<std::int64_t>{0x01020304});
  EXPECT_EQ(taken["held"], std::vector<std::int64_t>{0x1122334455667788});
  EXPECT_EQ(taken["pressed"], std::vector<std::int64_t>{5});
  EXPECT_EQ(taken["axes"], Listed(input.axes));
  EXPECT_EQ(taken["summed"], Listed(input.summed));
  taken = TakenApart(wire["ack"], EncodeAck(77));
  EXPECT_EQ(taken["tick"], std::vector<std::int64_t>{77});
}

// Rows of every kind of change, and what both codecs say of them.
class StateWireTest : public testing::Test {
 protected:
  StateWireTest() {
    for (int i = 0; i < 70; ++i) room_.Add(kPlayer);  // on two pages
    thing_ = room_.Add(kThing);
    room_.Set(thing_, kCount, -5);
    room_.Set(thing_, kHeat, 1.25F);
    room_.SetNull(thing_, kUv);
    room_.Set(thing_, kColour, Vec3{0.5F, -1, 2});
    room_.Set(thing_, kFacing, Quat{0, 0, 1, 0});
    room_.Set(thing_, kPlace, Vec3{-1, 2, 3});
    room_.Teleport(3, {{1, 2, 3}, {}});
    room_.Remove(66);
    room_.TakeBaseline();
  }

  // What the client of the JSON codec gets, its floats as whole numbers.
  json Said(const std::vector<std::byte>& text) const {
    json said = json::parse(AsText(text));
    const WireDescription description;
    const std::string type = said["t"];
    const json& members = description.text("server")[type];
    EXPECT_TRUE(description.IsValid(members, said)) << said;
    for (const auto& [member, value] : said.items()) {
      EXPECT_TRUE(member == "t" ||
                  !WireDescription::KeyOf(members, member).empty());
    }
    for (json& row : said[type == "delta" ? "set" : "rows"]) {
      for (const char* field : {"heat", "uv", "colour"}) {
        if (row["f"].contains(field)) MakeWhole(row["f"][field]);
      }
    }
    if (said.contains("own")) MakeWhole(said["own"]["velocity"]);
    return said;
  }

  static void MakeWhole(json& value) {
    if (value.is_array()) {
      for (json& item : value) MakeWhole(item);
    } else if (value.is_number()) {
      value = std::llround(value.get<double>() * 1e4);
    }
  }

  const Schema schema_ = MakeSchema(TestKinds());
  RowTable room_{schema_};
  RowId thing_ = 0;
  test::DescribedState reader_{json::parse(schema_.ToJson())};
};

TEST_F(StateWireTest, BaselinesAreTheSameInBothForms) {
  const json said = Said(WriteBaseline(JsonStateCodec(), room_, 7));
  EXPECT_EQ(said["rows"].size(), 70u);
  EXPECT_EQ(reader_.Read(WriteBaseline(BinaryStateCodec(), room_, 7)), said);
}

TEST_F(StateWireTest, DeltasAreTheSameInBothForms) {
  reader_.Read(WriteBaseline(BinaryStateCodec(), room_, 7));
  room_.Set(1, kHp, 7);
  room_.Set(1, kName, "Zo\xc3\xab");
  room_.SetTransform(3, {{1, 2.5F, 3}, {1, 0, 0, 0}});
  room_.Set(thing_, kOpen, true);
  room_.Set(thing_, kCount, 1);
  room_.Set(thing_, kHeat, -1);
  room_.Set(thing_, kUv, Vec2{3, -4});
  room_.SetNull(thing_, kColour);
  room_.Set(thing_, kFacing, Quat{});
  room_.Set(thing_, kPlace, Vec3{-1, 2.001F, 3});
  room_.Remove(2);
  room_.Remove(70);
  room_.Add(kMark);
  room_.Set(room_.Add(kPlayer), kHp, -1);
  const OwnWords own{.seq = 9,
                     .position = {1, -2, 2'147'483'647},
                     .velocity = {-10'000, 5, 0},
                     .grounded = true};
  for (const OwnWords* body : {static_cast<const OwnWords*>(nullptr), &own}) {
    const json said = Said(WriteDelta(JsonStateCodec(), room_, 8, body));
    EXPECT_EQ(said["set"].size(), 5u);
    EXPECT_EQ(said["gone"], json({2, 70}));
    EXPECT_EQ(said.contains("own"), body != nullptr);
    EXPECT_EQ(reader_.Read(WriteDelta(BinaryStateCodec(), room_, 8, body)),
              said);
  }
}

TEST_F(StateWireTest, RecoveriesAreTheSameInBothForms) {
  room_.Set(1, kHp, 7);
  const json said = Said(WriteRecovery(JsonStateCodec(), room_, 9));
  EXPECT_EQ(reader_.Read(WriteRecovery(BinaryStateCodec(), room_, 9)), said);
}

// Every example of WIRE.md that is a text frame of this page is one that its
// side reads, and writes again as it stands there; and the bytes are an input
// and an ack.
TEST(WireJsonTest, TheExamplesOfThePageAreFrames) {
  std::ifstream page(PARLOR_WIRE_MD);
  ASSERT_TRUE(page.is_open());
  std::set<std::string> golden;
  for (const auto& row : test::GoldenClientFrames()) golden.insert(row.text);
  for (const auto& row : test::GoldenServerFrames()) golden.insert(row.text);
  int texts = 0;
  int bytes = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with(R"(    {"t":")") &&
        ParseServerFrame(line.substr(4)) != ServerFrame(StateTextFrame{})) {
      EXPECT_TRUE(golden.contains(line.substr(4))) << line;
      ++texts;
    }
    if (line.starts_with("    10 ") || line.starts_with("    11 ")) {
      std::erase(line, ' ');
      const std::vector<std::byte> message = test::FromHex(line);
      EXPECT_TRUE(DecodeInput(message) || DecodeAck(message)) << line;
      ++bytes;
    }
  }
  EXPECT_GE(texts, 20);
  EXPECT_EQ(bytes, 2);
}

}  // namespace
}  // namespace parlor::authority
