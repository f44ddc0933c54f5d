#include "parlor/authority/frames.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "authority/golden_frames.h"

namespace parlor::authority {
namespace {

using test::GoldenClientFrames;
using test::GoldenFrame;
using test::GoldenServerFrames;

// Of a frame that can be written; a refusal or an ignored one is empty text.
template <typename Any>
std::string WriteAny(const Any& any) {
  return std::visit(
      [](const auto& frame) -> std::string {
        if constexpr (requires { Write(frame); }) return Write(frame);
        return "";
      },
      any);
}

FrameRefusal RefusalOf(const auto& any) {
  const auto* refusal = std::get_if<FrameRefusal>(&any);
  EXPECT_NE(refusal, nullptr);
  return refusal == nullptr ? FrameRefusal{} : *refusal;
}

class GoldenClientTest
    : public testing::TestWithParam<GoldenFrame<ClientFrame>> {};
class GoldenServerTest
    : public testing::TestWithParam<GoldenFrame<ServerFrame>> {};

TEST_P(GoldenClientTest, IsWrittenAndRead) {
  EXPECT_EQ(WriteAny(GetParam().frame), GetParam().text);
  EXPECT_EQ(ParseClientFrame(GetParam().text), GetParam().frame);
}

TEST_P(GoldenServerTest, IsWrittenAndRead) {
  EXPECT_EQ(WriteAny(GetParam().frame), GetParam().text);
  EXPECT_EQ(ParseServerFrame(GetParam().text), GetParam().frame);
}

// Cut short it is no frame, wherever that is.
TEST_P(GoldenClientTest, IsRefusedInPart) {
  const std::string_view text = GetParam().text;
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(RefusalOf(ParseClientFrame(text.substr(0, size))).error,
              FrameError::kSyntax)
        << size;
  }
}

TEST_P(GoldenServerTest, IsRefusedInPart) {
  const std::string_view text = GetParam().text;
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(RefusalOf(ParseServerFrame(text.substr(0, size))).error,
              FrameError::kSyntax)
        << size;
  }
}

// What a later version adds: a member in front, with the type behind it.
TEST_P(GoldenClientTest, IgnoresMembersThatItDoesNotKnow) {
  const std::string text = R"({ "later" : [{"t":"leave"}, "}]", 1e5] , )" +
                           GetParam().text.substr(1);
  EXPECT_EQ(ParseClientFrame(text), GetParam().frame);
}

TEST_P(GoldenServerTest, IgnoresMembersThatItDoesNotKnow) {
  const std::string text = R"({ "later" : [{"t":"leave"}, "}]", 1e5] , )" +
                           GetParam().text.substr(1);
  EXPECT_EQ(ParseServerFrame(text), GetParam().frame);
}

const auto kRowName = [](const auto& row) {
  return std::string(row.param.name);
};
INSTANTIATE_TEST_SUITE_P(Frames, GoldenClientTest,
                         testing::ValuesIn(GoldenClientFrames()), kRowName);
INSTANTIATE_TEST_SUITE_P(Frames, GoldenServerTest,
                         testing::ValuesIn(GoldenServerFrames()), kRowName);

// ---- What is refused.

struct RefusalRow {
  const char* name;
  std::string text;
  const char* described;
  ErrorCode code = ErrorCode::kPayload;
};

std::string Repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// `value` nested `depth` deep in an unknown member.
std::string Nested(int depth) {
  return R"({"t":"leave","x":)" + Repeated("[", depth) + Repeated("]", depth) +
         "}";
}

// A join whose members are `members`, after its type.
std::string Join(const std::string& members) {
  return R"({"t":"join",)" + members + "}";
}
std::string JoinWith(const std::string& member) {
  return Join(R"("protocol":"a","name":"b",)" + member);
}

class ClientRefusalTest : public testing::TestWithParam<RefusalRow> {};
class ServerRefusalTest : public testing::TestWithParam<RefusalRow> {};

TEST_P(ClientRefusalTest, SaysWhatIsWrong) {
  const FrameRefusal refusal = RefusalOf(ParseClientFrame(GetParam().text));
  EXPECT_EQ(Describe(refusal), GetParam().described);
  EXPECT_EQ(refusal.code, GetParam().code);
}

TEST_P(ServerRefusalTest, SaysWhatIsWrong) {
  const FrameRefusal refusal = RefusalOf(ParseServerFrame(GetParam().text));
  EXPECT_EQ(Describe(refusal), GetParam().described);
}

constexpr char kSyntax[] = "not JSON";
constexpr char kDepth[] = "nested too deep";
constexpr char kTwice[] = "an object has a key twice";
constexpr char kNumber[] = "a number is too large";
constexpr char kNotAFrame[] = "not an object with a text t";

// What `frame`.`member` is refused as.
#define WRONG(member) member ": missing or not what it has to be"

std::vector<RefusalRow> JsonRows() {
  return {
      {"Nothing", "", kSyntax},
      {"Spaces", "  \n", kSyntax},
      {"Behind", R"({"t":"leave"} {})", kSyntax},
      {"BehindANul", std::string("{\"t\":\"leave\"}\0{}", 16), kSyntax},
      {"ByteOrderMark", "\xef\xbb\xbf{\"t\":\"leave\"}", kSyntax},
      {"NotUtf8", "{\"t\":\"leave\",\"x\":\"\xff\"}", kSyntax},
      {"Surrogate", R"({"t":"leave","x":"\ud800"})", kSyntax},
      {"Control", "{\"t\":\"leave\",\"x\":\"\n\"}", kSyntax},
      {"Comment", R"({"t":"leave"/**/})", kSyntax},
      {"TrailingComma", R"({"t":"leave",})", kSyntax},
      {"LeadingZero", R"({"t":"leave","x":01})", kSyntax},
      {"NaN", R"({"t":"leave","x":NaN})", kSyntax},
      {"SingleQuotes", R"({'t':'leave'})", kSyntax},
      {"Deep", Nested(kDepthMax + 1), kDepth},
      {"DeepObjects",
       Repeated(R"({"t":)", kDepthMax + 2) + "1" + Repeated("}", kDepthMax + 2),
       kDepth},
      {"TypeTwice", R"({"t":"leave","t":"leave"})", kTwice},
      {"KeyTwice", R"({"t":"leave","x":1,"y":2,"x":1})", kTwice},
      {"EscapedTwice", R"({"t":"leave","x":1,"\u0078":1})", kTwice},
      {"InnerKeyTwice", R"({"t":"leave","x":[{"y":{"z":1,"z":1}}]})", kTwice},
      {"Overflow", R"({"t":"leave","x":1e999})", kNumber},
      {"OverflowInside", R"({"t":"leave","x":[{"y":-1e309}]})", kNumber},
      {"List", R"(["t","leave"])", kNotAFrame},
      {"Text", R"("leave")", kNotAFrame},
      {"Null", "null", kNotAFrame},
      {"NoType", R"({"T":"leave","x":{"t":"leave"}})", kNotAFrame},
      {"TypeNumber", R"({"t":1})", kNotAFrame},
      {"TypeNull", R"({"t":null})", kNotAFrame},
  };
}
INSTANTIATE_TEST_SUITE_P(Json, ClientRefusalTest, testing::ValuesIn(JsonRows()),
                         kRowName);
INSTANTIATE_TEST_SUITE_P(Json, ServerRefusalTest, testing::ValuesIn(JsonRows()),
                         kRowName);

std::vector<RefusalRow> JoinRows() {
  constexpr auto kProtocol = ErrorCode::kProtocol;
  constexpr auto kName = ErrorCode::kName;
  constexpr auto kResume = ErrorCode::kResumeRefused;
  return {
      {"NoProtocol", Join(R"("name":"b")"), WRONG("join.protocol"), kProtocol},
      {"EmptyProtocol", Join(R"("protocol":"","name":"b")"),
       WRONG("join.protocol"), kProtocol},
      {"LongProtocol",
       Join(R"("protocol":")" + Repeated("a", 65) + R"(","name":"b")"),
       WRONG("join.protocol"), kProtocol},
      {"ProtocolUmlaut", Join(R"("protocol":"ä","name":"b")"),
       WRONG("join.protocol"), kProtocol},
      {"ProtocolNumber", Join(R"("protocol":1,"name":"b")"),
       WRONG("join.protocol"), kProtocol},
      {"NoName", Join(R"("protocol":"a")"), WRONG("join.name"), kName},
      {"EmptyName", Join(R"("protocol":"a","name":"")"), WRONG("join.name"),
       kName},
      {"LongName",
       Join(R"("protocol":"a","name":")" + Repeated("ä", 33) + R"(")"),
       WRONG("join.name"), kName},
      {"NameOfTwoLines", Join(R"("protocol":"a","name":"a\nb")"),
       WRONG("join.name"), kName},
      {"NameOverride", Join(R"("protocol":"a","name":"a\u202eb")"),
       WRONG("join.name"), kName},
      {"NameNull", Join(R"("protocol":"a","name":null)"), WRONG("join.name"),
       kName},
      {"FieldsList", JoinWith(R"("fields":[])"), WRONG("join.fields")},
      {"FieldsNull", JoinWith(R"("fields":null)"), WRONG("join.fields")},
      {"FieldsLarge",
       JoinWith(R"("fields":{"a":")" + Repeated("x", 1'017) + R"("})"),
       WRONG("join.fields")},
      {"CodecsText", JoinWith(R"("codecs":"json")"), WRONG("join.codecs")},
      {"CodecNumber", JoinWith(R"("codecs":["json",1])"), WRONG("join.codecs")},
      {"CodecEmpty", JoinWith(R"("codecs":[""])"), WRONG("join.codecs")},
      {"CodecLong", JoinWith(R"("codecs":[")" + Repeated("c", 33) + R"("])"),
       WRONG("join.codecs")},
      {"NineCodecs",
       JoinWith(R"("codecs":["a")" + Repeated(R"(,"a")", 8) + "]"),
       WRONG("join.codecs")},
      {"ResumeShort", JoinWith(R"("resume":")" + Repeated("a", 31) + R"(")"),
       WRONG("join.resume"), kResume},
      {"ResumeLong", JoinWith(R"("resume":")" + Repeated("a", 33) + R"(")"),
       WRONG("join.resume"), kResume},
      {"ResumeNotHex", JoinWith(R"("resume":"g)" + Repeated("a", 31) + R"(")"),
       WRONG("join.resume"), kResume},
      {"ResumeSigned", JoinWith(R"("resume":"-)" + Repeated("a", 31) + R"(")"),
       WRONG("join.resume"), kResume},
      {"ResumeNumber", JoinWith(R"("resume":1)"), WRONG("join.resume"),
       kResume},
  };
}
INSTANTIATE_TEST_SUITE_P(Join, ClientRefusalTest, testing::ValuesIn(JoinRows()),
                         kRowName);

std::vector<RefusalRow> ClientRows() {
  return {
      {"Large", R"({"t":"leave","x":")" + Repeated("x", 2'541) + R"("})",
       "larger than a client's text frame may be"},
      {"SeqNone", R"({"t":"input"})", WRONG("input.seq")},
      {"SeqZero", R"({"t":"input","seq":0})", WRONG("input.seq")},
      {"SeqLarge", R"({"t":"input","seq":4294967296})", WRONG("input.seq")},
      {"SeqNegative", R"({"t":"input","seq":-1})", WRONG("input.seq")},
      {"SeqFraction", R"({"t":"input","seq":1.0})", WRONG("input.seq")},
      {"SeqExponent", R"({"t":"input","seq":1e1})", WRONG("input.seq")},
      {"SeqText", R"({"t":"input","seq":"1"})", WRONG("input.seq")},
      {"SeqHuge", R"({"t":"input","seq":18446744073709551617})",
       WRONG("input.seq")},
      {"HeldNumber", R"({"t":"input","seq":1,"held":5})", WRONG("input.held")},
      {"HeldShort", R"({"t":"input","seq":1,"held":[5]})", WRONG("input.held")},
      {"HeldLong", R"({"t":"input","seq":1,"held":[5,0,0]})",
       WRONG("input.held")},
      {"HeldLarge", R"({"t":"input","seq":1,"held":[4294967296,0]})",
       WRONG("input.held")},
      {"PressedNegative", R"({"t":"input","seq":1,"pressed":[0,-1]})",
       WRONG("input.pressed")},
      {"AxesThree", R"({"t":"input","seq":1,"axes":[0,0,0]})",
       WRONG("input.axes")},
      {"AxesLarge", R"({"t":"input","seq":1,"axes":[0,0,0,32768]})",
       WRONG("input.axes")},
      {"SummedSmall", R"({"t":"input","seq":1,"summed":[-32769,0,0,0]})",
       WRONG("input.summed")},
      {"AckNone", R"({"t":"ack"})", WRONG("ack.tick")},
      {"AckNegative", R"({"t":"ack","tick":-1})", WRONG("ack.tick")},
      {"AckLarge", R"({"t":"ack","tick":4294967296})", WRONG("ack.tick")},
      {"MsgNoName", R"({"t":"msg","payload":1})", WRONG("msg.name")},
      {"MsgEmptyName", R"({"t":"msg","name":"","payload":1})",
       WRONG("msg.name")},
      {"MsgOddName", R"({"t":"msg","name":"a b","payload":1})",
       WRONG("msg.name")},
      {"MsgLongName",
       R"({"t":"msg","payload":1,"name":")" + Repeated("n", 65) + R"("})",
       WRONG("msg.name")},
      {"MsgNoPayload", R"({"t":"msg","name":"a"})", WRONG("msg.payload")},
      {"PublishNoKey", R"({"t":"publish","value":1})", WRONG("publish.key")},
      {"PublishOddKey", R"({"t":"publish","key":"\n","value":1})",
       WRONG("publish.key")},
      {"PublishNoValue", R"({"t":"publish","key":"a"})",
       WRONG("publish.value")},
      {"UnpublishNoKey", R"({"t":"unpublish"})", WRONG("unpublish.key")},
      {"ChatNone", R"({"t":"chat"})", WRONG("chat.text")},
      {"ChatEmpty", R"({"t":"chat","text":""})", WRONG("chat.text")},
      {"ChatLong", R"({"t":"chat","text":")" + Repeated("x", 281) + R"("})",
       WRONG("chat.text")},
      {"ChatTwoLines", R"({"t":"chat","text":"a\u2028b"})", WRONG("chat.text")},
      {"PingOther", R"({"t":"ping","kind":"Here"})", WRONG("ping.kind")},
      {"PingNone", R"({"t":"ping"})", WRONG("ping.kind")},
      {"ModOther", R"({"t":"mod","action":"mute"})", WRONG("mod.action")},
      {"ModKickNobody", R"({"t":"mod","action":"kick"})", WRONG("mod.target")},
      {"ModBanZero", R"({"t":"mod","action":"ban","target":"p0"})",
       WRONG("mod.target")},
      {"ModBanSeat", R"({"t":"mod","action":"ban","target":1})",
       WRONG("mod.target")},
      {"ModKickLong", R"({"t":"mod","action":"kick","target":"p12345678901"})",
       WRONG("mod.target")},
      {"RttNone", R"({"t":"rtt"})", WRONG("rtt.at")},
      {"RttText", R"({"t":"rtt","at":"1"})", WRONG("rtt.at")},
  };
}
INSTANTIATE_TEST_SUITE_P(Members, ClientRefusalTest,
                         testing::ValuesIn(ClientRows()), kRowName);

// A frame of `text` with `from` replaced by `to`.
std::string Changed(std::string text, std::string_view from,
                    std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string GoldenText(std::string_view name) {
  for (const auto& row : GoldenServerFrames()) {
    if (row.name == name) return row.text;
  }
  ADD_FAILURE() << name;
  return "";
}

std::vector<RefusalRow> WelcomeRows() {
  const auto with = [](std::string_view from, std::string_view to) {
    return Changed(GoldenText("Welcome"), from, to);
  };
  return {
      {"Player", with(R"("p3")", R"("p03")"), WRONG("welcome.player")},
      {"Seat", with(R"("seat":1)", R"("seat":256)"), WRONG("welcome.seat")},
      {"NoSeat", with(R"("seat":1)", R"("seat":-1)"), WRONG("welcome.seat")},
      {"Token", with("00112233", "0011223"), WRONG("welcome.token")},
      {"Protocol", with("arena-1", ""), WRONG("welcome.protocol")},
      {"Codec", with(R"("binary")", R"("")"), WRONG("welcome.codec")},
      {"Schema", with(R"({"kinds":[]})", "[]"), WRONG("welcome.schema")},
      {"TickHz", with(R"("tickHz":60)", R"("tickHz":9)"),
       WRONG("welcome.tickHz")},
      {"TickHzLarge", with(R"("tickHz":60)", R"("tickHz":241)"),
       WRONG("welcome.tickHz")},
      {"SnapshotHz", with(R"("snapshotHz":20)", R"("snapshotHz":0)"),
       WRONG("welcome.snapshotHz")},
      {"Epoch", with(R"("epoch":2)", R"("epoch":-2)"), WRONG("welcome.epoch")},
      {"Tick", with(R"("tick":1200)", R"("tick":"1200")"),
       WRONG("welcome.tick")},
      {"Entity", with(R"("entity":12)", R"("entity":null)"),
       WRONG("welcome.entity")},
      {"Grace", with("15000", "120001"), WRONG("welcome.graceMs")},
      {"NoGrace", with(R"(,"graceMs":15000)", ""), WRONG("welcome.graceMs")},
  };
}
INSTANTIATE_TEST_SUITE_P(Welcome, ServerRefusalTest,
                         testing::ValuesIn(WelcomeRows()), kRowName);

std::vector<RefusalRow> ServerRows() {
  const auto with = [](std::string_view name, std::string_view from,
                       std::string_view to) {
    return Changed(GoldenText(name), from, to);
  };
  const std::string events = R"({"kind":"later"},)";
  return {
      {"RosterObject", R"({"t":"roster","players":{},"locked":true})",
       WRONG("roster.players")},
      {"RosterOfTexts", R"({"t":"roster","players":["p1"],"locked":true})",
       WRONG("roster.players.id")},
      {"RosterId", with("Roster", R"("p1")", R"("x1")"),
       WRONG("roster.players.id")},
      {"RosterSeat", with("Roster", R"("seat":0)", R"("seat":256)"),
       WRONG("roster.players.seat")},
      {"RosterOrder", with("Roster", R"("seat":0)", R"("seat":2)"),
       WRONG("roster.players")},
      {"RosterSeatTwice", with("Roster", R"("seat":0)", R"("seat":1)"),
       WRONG("roster.players")},
      {"RosterName", with("Roster", "Zoë", R"(\u0007)"),
       WRONG("roster.players.name")},
      {"RosterConnected", with("Roster", "true", "1"),
       WRONG("roster.players.connected")},
      {"RosterHost", with("Roster", R"("host":true)", R"("host":"true")"),
       WRONG("roster.players.host")},
      {"RosterLocked", with("Roster", R"(,"locked":true)", ""),
       WRONG("roster.locked")},
      {"TickTick", with("Tick", "1203", "-1"), WRONG("tick.tick")},
      {"TickAck", with("Tick", R"("ack":77)", R"("ack":7.7)"),
       WRONG("tick.ack")},
      {"TickEntity", with("Tick", R"(,"entity":12)", ""), WRONG("tick.entity")},
      {"TickEvents",
       with("Tick", R"("entity":12)", R"("entity":12,"events":1)"),
       WRONG("tick.events")},
      {"TickEventKind", with("TickWithEvents", R"("camera")", "1"),
       WRONG("tick.events.kind")},
      {"TickEventValue", with("TickWithEvents", R"({"zoom":2})", "2"),
       WRONG("tick.events.value")},
      {"TickManyEvents",
       with("TickWithEvents", R"([)", "[" + Repeated(events, 15)),
       WRONG("tick.events")},
      {"MsgFrom", with("Msg", "255", "256"), WRONG("msg.from")},
      {"MsgFromNobody", with("Msg", "255", "-2"), WRONG("msg.from")},
      {"MsgName", with("Msg", "shop:buy", "shop buy"), WRONG("msg.name")},
      {"MsgPayload", with("Msg", R"(,"payload":7)", ""), WRONG("msg.payload")},
      {"ChatId", with("Chat", R"("id":9)", R"("id":0)"), WRONG("chat.id")},
      {"ChatFrom", with("Chat", R"("p1")", R"("1")"), WRONG("chat.from")},
      {"ChatName", with("Chat", "Al", ""), WRONG("chat.name")},
      {"ChatText", with("Chat", "gg", R"(\u202e)"), WRONG("chat.text")},
      {"ChatAt", with("Chat", "61500", "9007199254740992"), WRONG("chat.at")},
      {"PingFrom", with("Ping", R"("p1")", "null"), WRONG("ping.from")},
      {"PingKind", with("Ping", "ball", "bal"), WRONG("ping.kind")},
      {"PingPosition", with("Ping", ",2147483647", ""), WRONG("ping.position")},
      {"PingFar", with("Ping", "2147483647", "2147483648"),
       WRONG("ping.position")},
      {"PingExpires", with("Ping", "69500", "-1"), WRONG("ping.expiresAt")},
      {"RttAt", with("Rtt", R"("at":0.25,)", ""), WRONG("rtt.at")},
      {"RttServer", with("Rtt", "61501", "0.5"), WRONG("rtt.server")},
      {"ErrorCode", with("Error", R"("full")", "4000"), WRONG("error.code")},
      {"ErrorMessage", with("Error", R"("room is full")", "null"),
       WRONG("error.message")},
  };
}
INSTANTIATE_TEST_SUITE_P(Members, ServerRefusalTest,
                         testing::ValuesIn(ServerRows()), kRowName);

// ---- What is let through.

TEST(FramesTest, UnknownTypesAreIgnored) {
  EXPECT_EQ(ParseClientFrame(R"({"t":"dance","x":[1]})"),
            ClientFrame(IgnoredFrame{}));
  EXPECT_EQ(ParseServerFrame(R"({"t":"dance"})"), ServerFrame(IgnoredFrame{}));
  // The other side's are nothing here.
  EXPECT_EQ(ParseClientFrame(GoldenText("Welcome")),
            ClientFrame(IgnoredFrame{}));
  EXPECT_EQ(ParseClientFrame(R"({"t":"baseline","rows":[]})"),
            ClientFrame(IgnoredFrame{}));
  EXPECT_EQ(ParseServerFrame(R"({"t":"leave"})"), ServerFrame(IgnoredFrame{}));
}

TEST(FramesTest, LimitsAreTheLargestThatPass) {
  const auto is = [](const std::string& text) {
    return !std::holds_alternative<FrameRefusal>(ParseClientFrame(text));
  };
  EXPECT_TRUE(is(R"({"t":"leave","x":")" + Repeated("x", 2'538) + R"("})"));
  EXPECT_TRUE(is(Nested(kDepthMax)));
  EXPECT_TRUE(is(Join(R"("protocol":")" + Repeated("~", 64) + R"(","name":")" +
                      Repeated("ä", 32) + R"(")")));
  EXPECT_TRUE(
      is(JoinWith(R"("fields":{"a":")" + Repeated("x", 1'016) + R"("})")));
  EXPECT_TRUE(is(JoinWith(R"("codecs":[")" + Repeated("c", 32) + R"(")" +
                          Repeated(R"(,"b")", 7) + "]")));
  EXPECT_TRUE(is(JoinWith(R"("codecs":[])")));
  EXPECT_TRUE(is(R"({"t":"msg","payload":null,"name":")" + Repeated("n", 64) +
                 R"("})"));
  EXPECT_TRUE(is(R"({"t":"chat","text":")" + Repeated("ä", 280) + R"("})"));
}

TEST(FramesTest, SpacesAndEscapesMakeNoDifference) {
  EXPECT_EQ(
      ParseClientFrame(
          "\r\n\t {\t\"\\u0074\" : \"c\\u0068at\"\n,\"text\":\"\\u00e4\" } "),
      ClientFrame(ChatFrame{.text = "ä"}));
}

TEST(FramesTest, PayloadsKeepTheirBytes) {
  constexpr std::string_view kPayload =
      R"({"b" : 1.0, "a":[ 1e2,"\u00e4}]" ] , "c":18446744073709551616})";
  const ClientFrame frame =
      ParseClientFrame(R"({"payload": )" + std::string(kPayload) +
                       R"( , "name":"n","t":"msg"})");
  ASSERT_TRUE(std::holds_alternative<MsgFrame>(frame));
  EXPECT_EQ(std::get<MsgFrame>(frame).payload, kPayload);
}

TEST(FramesTest, ATokenIsReadInAnyCase) {
  const ClientFrame frame = ParseClientFrame(
      JoinWith(R"("resume":"00112233445566778899AAbbCCddEEff")"));
  ASSERT_TRUE(std::holds_alternative<JoinFrame>(frame));
  EXPECT_EQ(std::get<JoinFrame>(frame).resume, test::GoldenToken());
}

TEST(FramesTest, ALockHasNoTarget) {
  EXPECT_EQ(ParseClientFrame(R"({"t":"mod","action":"lock","target":7})"),
            ClientFrame(ModFrame{.action = ModAction::kLock}));
}

// The state codec reads them, and refuses what is wrong with them.
TEST(FramesTest, StateFramesAreLeftToTheirCodec) {
  const ServerFrame state = StateTextFrame{};
  EXPECT_EQ(ParseServerFrame(R"({"t":"baseline","epoch":1})"), state);
  EXPECT_EQ(ParseServerFrame(R"({"t":"delta",)"), state);
  EXPECT_EQ(ParseServerFrame(R"({"t":"recovery","tick":1,"rows":[]})"), state);
  EXPECT_EQ(ParseServerFrame(R"({"epoch":1, "t" : "delta"})"), state);
}

TEST(FramesTest, EventsThatALaterRoomSendsArePassedOver) {
  EXPECT_EQ(
      ParseServerFrame(R"({"t":"tick","tick":1,"ack":2,"entity":3,"events":[)"
                       R"({"kind":"sky"},{"kind":"hud","value":{}}]})"),
      ServerFrame(TickFrame{
          .tick = 1,
          .ack = 2,
          .entity = 3,
          .events = {{.kind = TickEvent::Kind::kHud, .value = "{}"}}}));
}

TEST(FramesTest, EveryErrorHasItsWord) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"protocol", "name", "full", "locked", "banned", "refused",
       "resume_refused", "budget", "rate", "payload", "quota", "not_leader",
       "ban_needs_identity", "ban_list_full", "ended", "other"});
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_EQ(Word(code), kWords[i]);
    EXPECT_EQ(ParseServerFrame(Write(ErrorFrame{.code = code})),
              ServerFrame(ErrorFrame{.code = code}));
  }
  EXPECT_EQ(ParseServerFrame(R"({"t":"error","code":"new","message":"m"})"),
            ServerFrame(ErrorFrame{.code = ErrorCode::kOther, .message = "m"}));
}

TEST(FramesTest, TextsThatAreNotUtf8AreMended) {
  EXPECT_EQ(Write(ErrorFrame{.code = ErrorCode::kRefused,
                             .message = "a\xff\n\"\x01"}),
            "{\"t\":\"error\",\"code\":\"refused\","
            "\"message\":\"a\xef\xbf\xbd\\n\\\"\\u0001\"}");
}

TEST(FramesTest, NumbersAreWrittenShort) {
  const auto at = [](double value) { return Write(RttFrame{.at = value}); };
  EXPECT_EQ(at(9'007'199'254'740'991), R"({"t":"rtt","at":9007199254740991})");
  EXPECT_EQ(at(0.1), R"({"t":"rtt","at":0.1})");
  EXPECT_EQ(at(-1e300), R"({"t":"rtt","at":-1e+300})");
  EXPECT_EQ(ParseClientFrame(at(-1e300)), ClientFrame(RttFrame{.at = -1e300}));
}

TEST(FramesTest, JsonTextsAreWholeValues) {
  EXPECT_TRUE(IsJsonText(" 1 "));
  EXPECT_TRUE(IsJsonText("1", 0));
  EXPECT_FALSE(IsJsonText("[]", 0));
  EXPECT_TRUE(IsJsonText("[]", 1));
  EXPECT_FALSE(IsJsonText("1 1"));
  EXPECT_TRUE(IsJsonObject(" {}"));
  EXPECT_FALSE(IsJsonObject("[{}]"));
  EXPECT_FALSE(IsJsonObject("{"));
}

}  // namespace
}  // namespace parlor::authority
