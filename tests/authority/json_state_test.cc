// The JSON state codec: the exact text it writes, what it reads, and what it
// refuses.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "authority/state_frames.h"
#include "authority/state_model.h"
#include "parlor/authority/limits.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::authority {
namespace {

constexpr int kBall = 0;    // a transform kind
constexpr int kPlayer = 1;  // a field of each type
enum PlayerField { kAlive, kHp, kSpeed, kAim, kVelocity, kLook, kName, kHome };

Schema MakeSchema() {
  const std::vector<Kind> kinds = {{"ball", {}, /*transform=*/true, 1},
                                   {"player",
                                    {{"alive", FieldType::kBool},
                                     {"hp", FieldType::kInt},
                                     {"speed", FieldType::kFloat},
                                     {"aim", FieldType::kVec2},
                                     {"velocity", FieldType::kVec3},
                                     {"look", FieldType::kQuat},
                                     {"name", FieldType::kString},
                                     {"home", FieldType::kPosition}},
                                    false,
                                    100}};
  auto schema = Schema::Create(kinds);
  PARLOR_CHECK(schema.ok());
  return std::move(*schema);
}

class JsonStateTest : public testing::Test {
 protected:
  std::string Baseline() {
    return std::string(AsText(WriteBaseline(codec_, room_, 7)));
  }
  std::string Delta(const OwnWords* own = nullptr) {
    return std::string(AsText(WriteDelta(codec_, room_, 8, own)));
  }
  // Reads a message and, if it is one, does as it says.
  DecodeResult Read(std::string_view text) {
    const DecodeResult result = codec_.Decode(AsBytes(text), client_, edits_);
    if (result == DecodeResult::kDecoded) client_.Apply(edits_);
    return result;
  }
  void ExpectSame() {
    EXPECT_EQ(Difference(ModelOf(room_), ModelOf(client_)), "");
  }

  const WireStateCodec& codec_ = JsonStateCodec();
  const Schema schema_ = MakeSchema();
  RowTable room_{schema_};
  RowTable client_{schema_};
  StateEdits edits_;
};

TEST_F(JsonStateTest, IsText) {
  EXPECT_EQ(codec_.name(), "json");
  EXPECT_EQ(codec_.message_kind(), MessageKind::kText);
}

// A row of each kind, every field other than a new row's.
void AddGoldenRows(RowTable& room) {
  const RowId ball = room.Add(kBall);
  room.Teleport(ball, {{1.5F, -2, 0.0004F}, {1, 0, 0, 0}});
  const RowId player = room.Add(kPlayer);
  room.Set(player, kAlive, true);
  room.Set(player, kHp, -12);
  room.Set(player, kSpeed, 1.25F);
  room.Set(player, kAim, Vec2{-0.0625F, 1e9F});
  room.Set(player, kVelocity, Vec3{0, -0.0001F, 10});
  room.Set(player, kLook, Quat{0, 0, 1, 0});
  room.Set(player, kName, "\"Zo\xc3\xab\"\\\n");
  room.Set(player, kHome, Vec3{1e9F, 0, -0.001F});
}

TEST_F(JsonStateTest, Baseline) {
  AddGoldenRows(room_);
  room_.Add(kPlayer);
  room_.TakeBaseline();
  const std::string text = Baseline();
  EXPECT_EQ(
      text,
      R"({"t":"baseline","epoch":1,"base":1,"tick":7,"rows":[)"
      R"({"id":1,"kind":"ball","f":{"position":[1500,-2000,0],)"
      R"("rotation":1073741824,"teleports":1}},)"
      R"({"id":2,"kind":"player","f":{"alive":true,"hp":-12,"speed":1.25,)"
      R"("aim":[-0.0625,1000000000],"velocity":[0,-0.0001,10],)"
      R"("look":3221225472,"name":"\"Zoë\"\\\u000a","home":[2147483647,0,-1]}},)"
      R"({"id":3,"kind":"player","f":{}}]})");
  EXPECT_EQ(Read(text), DecodeResult::kDecoded);
  EXPECT_EQ(client_.base(), 1u);
  ExpectSame();
}

TEST_F(JsonStateTest, EmptyBaseline) {
  room_.TakeBaseline();
  EXPECT_EQ(Baseline(),
            R"({"t":"baseline","epoch":1,"base":1,"tick":7,"rows":[]})");
}

TEST_F(JsonStateTest, Recovery) {
  const RowId player = room_.Add(kPlayer);
  room_.SetNull(player, kHp);
  EXPECT_EQ(AsText(WriteRecovery(codec_, room_, 9)),
            R"({"t":"recovery","epoch":1,"tick":9,"rows":[)"
            R"({"id":1,"kind":"player","f":{"hp":null}}]})");
}

// A reset to 0, false, empty or null is said; what stays as it was is not.
TEST_F(JsonStateTest, Delta) {
  AddGoldenRows(room_);
  const RowId gone = room_.Add(kPlayer);
  room_.TakeBaseline();
  ASSERT_EQ(Read(Baseline()), DecodeResult::kDecoded);
  room_.Remove(gone);
  room_.Set(2, kAlive, false);
  room_.Set(2, kHp, 0);
  room_.SetNull(2, kSpeed);
  room_.Set(2, kName, "");
  const RowId added = room_.Add(kPlayer);
  room_.Set(added, kHp, 3);
  const OwnWords own{5, {1, -2, 3}, {5'000, 0, -1}, true};
  const std::string text = Delta(&own);
  EXPECT_EQ(text,
            R"({"t":"delta","epoch":1,"base":1,"tick":8,"set":[)"
            R"({"id":2,"f":{"alive":false,"hp":0,"speed":null,"name":""}},)"
            R"({"id":4,"kind":"player","f":{"hp":3}}],"gone":[3],)"
            R"("own":{"seq":5,"position":[1,-2,3],)"
            R"("velocity":[0.5,0,-0.0001],"grounded":true}})");
  EXPECT_EQ(Read(text), DecodeResult::kDecoded);
  EXPECT_EQ(edits_.own(), own);
  ExpectSame();
}

TEST_F(JsonStateTest, EmptyDelta) {
  room_.TakeBaseline();
  EXPECT_EQ(Delta(),
            R"({"t":"delta","epoch":1,"base":1,"tick":8,"set":[],"gone":[]})");
}

// Every number of a float comes back as itself.
TEST_F(JsonStateTest, FloatsKeepTheirNumbers) {
  const RowId row = room_.Add(kPlayer);
  for (const float value : {0.0001F, 0.5F, 99'999.99F, 0.1F, -3.1416F,
                            123'456.79F, 999'999'936.0F, -1e9F, 9.9999F}) {
    room_.Set(row, kSpeed, value);
    room_.TakeBaseline();
    ASSERT_EQ(Read(Baseline()), DecodeResult::kDecoded);
    ExpectSame();
  }
}

TEST_F(JsonStateTest, TextOfEveryCharacter) {
  const RowId row = room_.Add(kPlayer);
  std::string text;
  for (char c = 0; c < 0x7f; ++c) text += c;
  text += "\x7f\xc2\x80\xe2\x80\xa8\xef\xbf\xbf\xf4\x8f\xbf\xbf";
  ASSERT_TRUE(room_.Set(row, kName, text));
  room_.TakeBaseline();
  ASSERT_EQ(Read(Baseline()), DecodeResult::kDecoded);
  ExpectSame();
}

TEST_F(JsonStateTest, NoBaselineIsLargerThanPromised) {
  for (int i = 0; i < 100; ++i) {
    const RowId row = room_.Add(kPlayer);
    room_.Set(row, kHp, -kIntMax);
    room_.Set(row, kSpeed, -12'345.679F);
    room_.Set(row, kAim, Vec2{-99'999.99F, -99'999.99F});
    room_.Set(row, kVelocity, Vec3{-99'999.99F, -99'999.99F, -99'999.99F});
    room_.Set(row, kLook, Quat{0, 0, 1, 0});
    room_.Set(row, kName, std::string(kStringBytesMax, '\x1f'));
    room_.Set(row, kHome, Vec3{-1e9F, -1e9F, -1e9F});
  }
  room_.Teleport(room_.Add(kBall), {{-1e9F, -1e9F, -1e9F}, {0, 0, 1, 0}});
  room_.TakeBaseline();
  EXPECT_EQ(room_.refusals(), 0u);
  const std::size_t size = Baseline().size();
  const std::size_t promised = BaselineBytesMax(schema_, codec_);
  EXPECT_LE(size, promised);
  EXPECT_GT(size, promised * 9 / 10);
}

// What another writer may put differently, or a newer one add.
TEST_F(JsonStateTest, TakesOtherSpellings) {
  ASSERT_EQ(Read(R"( { "tick" : 7 , "rows" : [ { "f" : { "hp" : 1 , )"
                 R"("\u0073peed" : 1e2 , "aim" : [ 0.5 , -25e-1 ] } , )"
                 R"("new" : [ { } ] , "k\u0069nd" : "pl\u0061yer" , "id":9 } ])"
                 R"( , "base":2 , "epoch" : 3 , "other" : { "a" : [ null ] } ,)"
                 R"( "own" : 1 , "t" : "baseline" } )"),
            DecodeResult::kDecoded);
  const RowView row = client_.Get(9);
  ASSERT_TRUE(row.exists());
  EXPECT_EQ(client_.epoch(), 3u);
  EXPECT_EQ(client_.base(), 2u);
  EXPECT_EQ(row.GetInt(kHp), 1);
  EXPECT_EQ(row.GetFloat(kSpeed), 100);
  EXPECT_EQ(row.GetVec2(kAim), (Vec2{0.5F, -2.5F}));
}

// One change to a good message each.
struct Change {
  std::string_view what;
  std::string_view of;
  std::string_view to;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.what; }

class JsonRefusals : public testing::TestWithParam<Change> {};

constexpr std::string_view kGoodDelta =
    R"({"t":"delta","epoch":1,"base":1,"tick":8,"set":[)"
    R"({"id":2,"f":{"alive":false,"hp":7,"speed":1.5,"aim":[1,2],)"
    R"("velocity":[1,2,3],"look":5,"name":"x","home":[1,2,3]}},)"
    R"({"id":4,"kind":"player","f":{"hp":3}}],"gone":[3],)"
    R"("own":{"seq":5,"position":[1,2,3],"velocity":[1,2,3],"grounded":true}})";

constexpr std::string_view kGoodOwn =
    kGoodDelta.substr(kGoodDelta.find(R"({"seq")"),
                      kGoodDelta.size() - kGoodDelta.find(R"({"seq")") - 1);

constexpr Change kChanges[] = {
    {"a brace too many", R"(true}})", R"(true}}})"},
    {"cut off", R"(true}})", R"(true})"},
    {"an array", kGoodDelta, "[]"},
    {"a number", kGoodDelta, "1"},
    {"nothing", kGoodDelta, ""},
    {"unknown t", R"("delta")", R"("theta")"},
    {"t is no text", R"("t":"delta")", R"("t":2)"},
    {"no t", R"("t":"delta",)", ""},
    {"no epoch", R"("epoch":1,)", ""},
    {"no base", R"("base":1,)", ""},
    {"no tick", R"("tick":8,)", ""},
    {"tick is a fraction", R"("tick":8)", R"("tick":8.5)"},
    {"tick is negative", R"("tick":8)", R"("tick":-8)"},
    {"tick above 32 bits", R"("tick":8)", R"("tick":4294967296)"},
    {"t twice", R"("tick":8)", R"("tick":8,"t":"delta")"},
    {"t twice, escaped", R"("tick":8)", R"("tick":8,"\u0074":"delta")"},
    {"a number that no double is", R"("tick":8)", R"("tick":8,"x":1e999)"},
    {"too deep", R"("tick":8)",
     R"("tick":8,"x":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[)"
     R"(]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]])"},
    {"set is an object", R"("gone":[3])", R"("gone":{})"},
    {"no gone", R"("gone":[3],)", ""},
    {"a row is a number", R"({"id":4,"kind":"player","f":{"hp":3}})", "4"},
    {"a row without id", R"("id":4,)", ""},
    {"a row's id is 0", R"("id":4)", R"("id":0)"},
    {"a row's id is a text", R"("id":4)", R"("id":"4")"},
    {"a row's id above 32 bits", R"("id":4)", R"("id":4294967300)"},
    {"ids fall", R"("id":4)", R"("id":1)"},
    {"a row comes twice", R"("id":4)", R"("id":2)"},
    {"a row that the baseline has comes whole", R"("id":4)", R"("id":3)"},
    {"a row that it lacks is changed", R"("kind":"player",)", ""},
    {"unknown kind", R"("player")", R"("prayer")"},
    {"kind is a number", R"("player")", "1"},
    {"kind is null", R"("player")", "null"},
    {"no room for another ball", R"("player","f":{"hp":3})",
     R"("ball","f":{})"},
    {"no fields", R"(,"f":{"hp":3})", ""},
    {"fields are a list", R"({"hp":3})", R"(["hp"])"},
    {"unknown field", R"("hp":7)", R"("xp":7)"},
    {"a field twice", R"("hp":7)", R"("hp":7,"h\u0070":8)"},
    {"says nothing", R"("hp":3)", R"("hp":0)"},
    {"a change that is none", R"("hp":7)", R"("hp":-12)"},
    {"int is a fraction", R"("hp":7)", R"("hp":7.5)"},
    {"int has an exponent", R"("hp":7)", R"("hp":7e0)"},
    {"int is a text", R"("hp":7)", R"("hp":"7")"},
    {"int above its range", R"("hp":7)", R"("hp":9007199254740992)"},
    {"int above 64 bits", R"("hp":7)", R"("hp":99999999999999999999)"},
    {"bool is a number", R"("alive":false)", R"("alive":0)"},
    {"float above its range", "1.5", "1000000001"},
    {"float far above its range", "1.5", "1e300"},
    {"float below what a double has", "1.5", "1e-400"},
    {"float is a text", "1.5", R"("1.5")"},
    {"vec2 of one", R"("aim":[1,2])", R"("aim":[1])"},
    {"vec2 of three", R"("aim":[1,2])", R"("aim":[1,2,3])"},
    {"vec2 of texts", R"("aim":[1,2])", R"("aim":["1",2])"},
    {"vec2 is a number", R"("aim":[1,2])", R"("aim":1)"},
    {"vec2 is an object", R"("aim":[1,2])", R"("aim":{"x":1,"y":2})"},
    {"a null in a vec2", R"("aim":[1,2])", R"("aim":[null,2])"},
    {"quat that nobody packs", R"("look":5)", R"("look":512)"},
    {"quat is negative", R"("look":5)", R"("look":-1)"},
    {"quat above 32 bits", R"("look":5)", R"("look":4294967296)"},
    {"string is a number", R"("name":"x")", R"("name":1)"},
    {"half a surrogate", R"("name":"x")", R"("name":"\ud800")"},
    {"not UTF-8", R"("name":"x")", "\"name\":\"\xff\""},
    {"position is a fraction", R"("home":[1,2,3])", R"("home":[1,2,3.5])"},
    {"position above 32 bits", R"("home":[1,2,3])",
     R"("home":[1,2,2147483648])"},
    {"gone is 0", R"("gone":[3])", R"("gone":[0])"},
    {"gone is unknown", R"("gone":[3])", R"("gone":[5])"},
    {"gone twice", R"("gone":[3])", R"("gone":[3,3])"},
    {"gone and changed", R"("gone":[3])", R"("gone":[2])"},
    {"gone is no list", R"("gone":[3])", R"("gone":3)"},
    {"own is a list", kGoodOwn, "[1]"},
    {"own is null", kGoodOwn, "null"},
    {"own without seq", R"("seq":5,)", ""},
    {"own without velocity", R"("velocity":[1,2,3],"grounded")",
     R"("grounded")"},
    {"own's position above 32 bits", R"("position":[1)",
     R"("position":[-2147483649)"},
    {"own's velocity above its range", R"("velocity":[1,2,3],"grounded")",
     R"("velocity":[1,2,3e9],"grounded")"},
    {"own's grounded is a number", R"("grounded":true)", R"("grounded":1)"},
};

TEST_P(JsonRefusals, RefusedWhole) {
  const Schema schema = MakeSchema();
  RowTable room(schema);
  AddGoldenRows(room);
  room.Add(kPlayer);
  room.TakeBaseline();
  RowTable client(schema);
  StateEdits edits;
  const WireStateCodec& codec = JsonStateCodec();
  ASSERT_EQ(codec.Decode(WriteBaseline(codec, room, 7), client, edits),
            DecodeResult::kDecoded);
  client.Apply(edits);
  ASSERT_EQ(codec.Decode(AsBytes(kGoodDelta), client, edits),
            DecodeResult::kDecoded);

  std::string text(kGoodDelta);
  const std::size_t at = text.find(GetParam().of);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, GetParam().of.size(), GetParam().to);
  EXPECT_EQ(codec.Decode(AsBytes(text), client, edits),
            DecodeResult::kMalformed);
}

INSTANTIATE_TEST_SUITE_P(Changes, JsonRefusals, testing::ValuesIn(kChanges));

TEST_F(JsonStateTest, TextTooLong) {
  const std::string head =
      R"({"t":"baseline","epoch":1,"base":1,"tick":7,"rows":[)"
      R"({"id":1,"kind":"player","f":{"name":")";
  const std::string end = R"("}}]})";
  EXPECT_EQ(Read(head + std::string(kStringBytesMax, 'a') + end),
            DecodeResult::kDecoded);
  EXPECT_EQ(Read(head + std::string(kStringBytesMax + 1, 'a') + end),
            DecodeResult::kMalformed);
}

TEST_F(JsonStateTest, OfAnotherBaseline) {
  room_.TakeBaseline();
  ASSERT_EQ(Read(Baseline()), DecodeResult::kDecoded);
  room_.TakeBaseline();
  EXPECT_EQ(Read(Delta()), DecodeResult::kOther);
  EXPECT_EQ(edits_.header(), (StateHeader{StateKind::kDelta, 1, 2, 8}));
}

}  // namespace
}  // namespace parlor::authority
