#include "sim/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/executor.h"
#include "parlor/lane.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/xml.h"
#include "support/seed.h"

namespace parlor::sim {
namespace {

using test::IsWellFormed;
using What = NetworkEvent::What;

TimePoint At(std::int64_t us) { return TimePoint(us * kMicrosecond); }

// Two clients, and the host they play at.
class TraceTest : public testing::Test {
 protected:
  explicit TraceTest(std::size_t events_max = 100) : trace_(events_max) {
    const std::size_t host = trace_.AddMachine("host");
    const std::size_t alice = trace_.AddMachine("alice");
    const std::size_t bob = trace_.AddMachine("bob");
    trace_.SetEnds(alice_, alice, host);
    trace_.SetEnds(bob_, bob, host);
  }

  static NetworkEvent Event(What what, const Link& link, Direction direction,
                            std::int64_t sent_us, std::int64_t arrives_us) {
    NetworkEvent event;
    event.what = what;
    event.link = &link;
    event.direction = direction;
    event.connection = 1;
    event.sent = At(sent_us);
    event.arrives = At(arrives_us);
    return event;
  }

  void Say(const Link& link, Direction direction, std::int64_t sent_us,
           std::int64_t arrives_us, const lockstep::Message& message,
           What what = What::kMessage) {
    const lockstep::MessageBytes bytes = lockstep::Encode(message);
    NetworkEvent event = Event(what, link, direction, sent_us, arrives_us);
    event.kind = MessageKind::kBinary;
    event.lost = What::kMessage;
    event.bytes = bytes;
    trace_.OnNetworkEvent(event);
  }
  void Tell(What what, const Link& link, Direction direction,
            std::int64_t sent_us, std::int64_t arrives_us,
            std::uint32_t number = 0, bool lost = false) {
    NetworkEvent event = Event(what, link, direction, sent_us, arrives_us);
    if (lost) event.what = What::kLost;
    event.lost = what;
    event.number = number;
    if (what == What::kCut || what == What::kHealed) event.connection = 0;
    trace_.OnNetworkEvent(event);
  }

  Executor executor_{1};
  Network network_{executor_};
  Link alice_{network_, kPerfect, "alice's"};
  Link bob_{network_, kPerfect, "bob's"};
  Trace trace_;
};

TEST_F(TraceTest, TellsOneLineAnEvent) {
  Tell(What::kOpen, alice_, Direction::kUp, 0, 300);
  Tell(What::kOpen, alice_, Direction::kDown, 300, 600);
  Say(alice_, Direction::kDown, 300, 600,
      {.kind = lockstep::Kind::kLobby, .slot = 0, .players = 2, .mode = 1});
  Say(alice_, Direction::kUp, 1'000, 1'300,
      {.kind = lockstep::Kind::kStart, .players = 2, .mode = 7});
  Say(bob_, Direction::kDown, 2'500, 2'917,
      {.kind = lockstep::Kind::kWelcome,
       .slot = 1,
       .players = 2,
       .mode = 7,
       .frame = 77,
       .value = 0xdeadbeef});
  Say(alice_, Direction::kUp, 16'667, 16'999,
      {.kind = lockstep::Kind::kInput, .frame = 118, .value = 31});
  Say(bob_, Direction::kDown, 16'999, 17'400,
      {.kind = lockstep::Kind::kHash, .frame = 120, .value = 0x1f});
  Tell(What::kControl, bob_, Direction::kUp, 17'500, 17'900);
  Tell(What::kCut, bob_, Direction::kUp, 18'000, 18'000);
  Say(bob_, Direction::kUp, 18'100, 0,
      {.kind = lockstep::Kind::kInput, .slot = 1, .frame = 3}, What::kLost);
  Tell(What::kClose, bob_, Direction::kUp, 18'200, 0, 1000, /*lost=*/true);
  Tell(What::kHealed, bob_, Direction::kUp, 1'020'000, 1'020'000);
  Tell(What::kClose, alice_, Direction::kDown, 1'020'500, 1'021'000, 4001);
  Tell(What::kReset, bob_, Direction::kDown, 1'030'000, 1'030'000);
  trace_.Mark(At(1'041'500), 0, "crashes");
  Tell(What::kRefused, alice_, Direction::kDown, 1'050'000, 1'050'001, 404);
  EXPECT_EQ(trace_.Text(),
            "       0.000 alice -> host #1 open, at 0.300\n"
            "       0.300 host -> alice #1 open, at 0.600\n"
            "       0.300 host -> alice #1 LOBBY seat 0, 1 of 2, at 0.600\n"
            "       1.000 alice -> host #1 START at 2 mode 7, at 1.300\n"
            "       2.500 host -> bob #1 WELCOME seat 1 of 2 mode 7, at 2.917\n"
            "      16.667 alice -> host #1 INPUT seat 0 frame 118 word 1f, at "
            "16.999\n"
            "      16.999 host -> bob #1 HASH seat 0 frame 120 is 1f, at "
            "17.400\n"
            "      17.500 bob -> host #1 ping or pong, at 17.900\n"
            "      18.000 bob -- host cut\n"
            "      18.100 bob -> host #1 lost: INPUT seat 1 frame 3 word 0\n"
            "      18.200 bob -> host #1 lost: close 1000\n"
            "    1020.000 bob -- host healed\n"
            "    1020.500 host -> alice #1 close 4001, at 1021.000\n"
            "    1030.000 host -> bob #1 reset, at 1030.000\n"
            "    1041.500 host crashes\n"
            "    1050.000 host -> alice #1 refused 404, at 1050.001\n");
}

// A handshake in pieces of twelve bytes is not taken for messages.
TEST_F(TraceTest, TellsOfAStreamOnlyHowMuch) {
  const std::string_view text = "\1resume.cafe";
  ASSERT_EQ(text.size(), lockstep::kMessageSize);
  NetworkEvent event = Event(What::kMessage, alice_, Direction::kUp, 0, 300);
  event.kind = MessageKind::kBinary;
  event.bytes = AsBytes(text);
  event.stream = true;
  trace_.OnNetworkEvent(event);
  event.stream = false;
  event.kind = MessageKind::kText;
  event.lane = Lane::kState;
  trace_.OnNetworkEvent(event);
  EXPECT_EQ(trace_.Text(),
            "       0.000 alice -> host #1 12 bytes of a stream, at 0.300\n"
            "       0.000 alice -> host #1 12 bytes (state lane), at 0.300\n");
}

// What a hosted room hears may have a lockstep message's length.
TEST_F(TraceTest, TellsOfAHostedRoomOnlyHowMuch) {
  const lockstep::MessageBytes bytes =
      lockstep::Encode({.kind = lockstep::Kind::kLeave, .slot = 1});
  NetworkEvent event = Event(What::kMessage, alice_, Direction::kUp, 0, 300);
  event.kind = MessageKind::kBinary;
  event.bytes = bytes;
  event.hosted = true;
  trace_.OnNetworkEvent(event);
  event.what = What::kLost;
  event.lost = What::kMessage;
  trace_.OnNetworkEvent(event);
  EXPECT_EQ(trace_.Text(),
            "       0.000 alice -> host #1 12 bytes, at 0.300\n"
            "       0.000 alice -> host #1 lost: 12 bytes\n");
}

// A reset that answers what is still on its way is known early; and the words
// of a close are not taken for a message.
TEST_F(TraceTest, TellsInTheOrderOfTime) {
  Tell(What::kReset, alice_, Direction::kDown, 7'000, 9'000);
  NetworkEvent event = Event(What::kLost, alice_, Direction::kUp, 1'000, 0);
  event.kind = MessageKind::kBinary;
  event.lost = What::kClose;
  event.number = 1001;
  event.bytes = AsBytes("room is idle");
  trace_.OnNetworkEvent(event);
  EXPECT_EQ(trace_.Text(),
            "       1.000 alice -> host #1 lost: close 1001\n"
            "       7.000 host -> alice #1 reset, at 9.000\n");
}

TEST_F(TraceTest, SaysWhatIsSentAgain) {
  const lockstep::MessageBytes bytes =
      lockstep::Encode({.kind = lockstep::Kind::kLeave, .slot = 1});
  NetworkEvent event =
      Event(What::kMessage, alice_, Direction::kDown, 500, 900);
  event.kind = MessageKind::kBinary;
  event.bytes = bytes;
  event.again = true;
  trace_.OnNetworkEvent(event);
  EXPECT_EQ(trace_.Text(),
            "       0.500 host -> alice #1 again: LEAVE seat 1, at 0.900\n");
}

TEST_F(TraceTest, NamesALinkThatNobodyNamed) {
  const Link carol(network_, kPerfect, "carol");
  Tell(What::kOpen, carol, Direction::kUp, 0, 300);
  EXPECT_EQ(trace_.Text(), "       0.000 carol -> host #1 open, at 0.300\n");
}

class ShortTraceTest : public TraceTest {
 protected:
  ShortTraceTest() : TraceTest(2) {}
};

TEST_F(ShortTraceTest, KeepsTheNewest) {
  for (std::uint32_t frame = 0; frame < 5; ++frame) {
    Say(alice_, Direction::kUp, frame, frame,
        {.kind = lockstep::Kind::kInput, .frame = frame});
  }
  EXPECT_EQ(trace_.size(), 2u);
  EXPECT_EQ(trace_.forgotten(), 3u);
  EXPECT_EQ(trace_.Text(),
            "(3 earlier events are forgotten)\n"
            "       0.003 alice -> host #1 INPUT seat 0 frame 3 word 0, at "
            "0.003\n"
            "       0.004 alice -> host #1 INPUT seat 0 frame 4 word 0, at "
            "0.004\n");
}

// What is drawn, without what it looks like.
std::string Drawn(const std::string& svg) {
  return svg.substr(svg.find("</marker>\n") + 10);
}

TEST_F(TraceTest, DrawsAnArrowFromWhereItWasSentToWhereItArrives) {
  Say(alice_, Direction::kUp, 1'000, 11'000,
      {.kind = lockstep::Kind::kInput, .frame = 1});
  Say(bob_, Direction::kDown, 11'000, 0,
      {.kind = lockstep::Kind::kInput, .frame = 1}, What::kLost);
  EXPECT_EQ(Drawn(trace_.Svg()), R"svg(<path class="life" d="M155 34V90"/>
<path class="life" d="M419 34V90"/>
<path class="life" d="M683 34V90"/>
<path marker-end="url(#end)" d="M419 44L155 64"/>
<path class="gone" d="M155 64L623 68"/>
<g class="gone"><path d="M619 64l8 8M619 72l8 -8"/></g>
<text class="what" x="425" y="41">INPUT seat 0 frame 1 word 0</text>
<text class="bad" x="689" y="61">lost: INPUT seat 0 frame 1 word 0</text>
<text class="time" x="82" y="48">1.000</text>
<text class="time" x="82" y="68">11.000</text>
<text class="name" x="155" y="28">host</text>
<text class="name" x="419" y="28">alice</text>
<text class="name" x="683" y="28">bob</text>
</svg>
)svg");
}

// From 4 ms to 24 ms, and then nothing for two seconds.
TEST_F(TraceTest, DrawsCutsMarksAndSilence) {
  Tell(What::kCut, alice_, Direction::kDown, 4'000, 4'000);
  Tell(What::kHealed, alice_, Direction::kDown, 24'000, 24'000);
  trace_.Mark(At(2'024'000), 0, "crashes");
  EXPECT_EQ(Drawn(trace_.Svg()), R"svg(<path class="life" d="M155 34V170"/>
<path class="life" d="M419 34V170"/>
<path class="life" d="M683 34V170"/>
<rect class="cut" x="415" y="44" width="3" height="40"/>
<g class="gone"><path d="M151 140l8 8M151 148l8 -8"/></g>
<text class="bad" x="425" y="41">cut, down</text>
<text class="what" x="425" y="81">healed, down</text>
<text class="bad" x="161" y="141">crashes</text>
<text class="time" x="82" y="48">4.000</text>
<text class="time" x="82" y="88">24.000</text>
<text class="time" x="82" y="148">2024.000</text>
<path class="gap" d="M90 114H947"/>
<text class="time" x="82" y="118">+2000.000</text>
<text class="name" x="155" y="28">host</text>
<text class="name" x="419" y="28">alice</text>
<text class="name" x="683" y="28">bob</text>
</svg>
)svg");
}

TEST_F(TraceTest, ANameIsNoMarkup) {
  trace_.AddMachine("<b>\"o'&\n\x01\xff</b>");
  const std::string svg = trace_.Svg();
  EXPECT_TRUE(IsWellFormed(svg));
  EXPECT_NE(svg.find(">&lt;b&gt;\"o'&amp;\\x0a\\x01\\xff&lt;/b&gt;</text>"),
            std::string::npos)
      << svg;
}

TEST(XmlTest, KnowsWhatIsWellFormed) {
  for (const std::string_view good :
       {"<a/>", "<a> <b/>c\n<b/></a>", "<a b=\"c\"><d>&amp;</d> e</a>\n",
        "<a-b:c d=\"&lt;\"/>"}) {
    EXPECT_TRUE(IsWellFormed(good)) << good;
  }
  for (const std::string_view bad :
       {"", "a", "<a>", "</a>", "<a></b>", "<a/><a/>", "<a b=c/>", "<a>&</a>",
        "<a>&x;</a>", "<a b=\"1\" b=\"2\"/>", "<a b=\"<\"/>", "<a>\x01</a>",
        "<a b=\"1\"c=\"2\"/>", "<a/>b"}) {
    EXPECT_FALSE(IsWellFormed(bad)) << bad;
  }
}

// Lines of one machine do not overlap, and what comes later stands lower.
class LongTraceTest : public TraceTest {
 protected:
  LongTraceTest() : TraceTest(20'000) {}

  // The heights of the labels at `x`, in the order of the events.
  static std::vector<std::int64_t> LabelsAt(const std::string& svg,
                                            const std::string& x) {
    std::vector<std::int64_t> heights;
    const std::string before = "\" x=\"" + x + "\" y=\"";
    for (std::size_t at = svg.find(before); at != std::string::npos;
         at = svg.find(before, at + 1)) {
      heights.push_back(std::atoll(svg.c_str() + at + before.size()));
    }
    return heights;
  }
};

TEST_F(LongTraceTest, ALargeOneCanBeRead) {
  Random random(test::TestSeed());
  for (std::int64_t i = 0; i < 30'000; ++i) {
    const Link& link = random.Chance(1, 2) ? alice_ : bob_;
    const Direction direction =
        random.Chance(1, 2) ? Direction::kUp : Direction::kDown;
    const std::int64_t sent = i * 2'000 + random.Below(1'000);
    const std::int64_t arrives = sent + random.Below(80'000);
    switch (random.Below(20)) {
      case 0:
        Tell(static_cast<What>(random.Below(10)), link, direction, sent,
             arrives, random.Below(5'000));
        break;
      case 1:
        trace_.Mark(At(sent), random.Below(3), "stalls");
        break;
      default:
        Say(link, direction, sent, arrives,
            {.kind = static_cast<lockstep::Kind>(random.Below(10)),
             .slot = static_cast<std::uint8_t>(random.Below(3)),
             .frame = static_cast<std::uint32_t>(i)});
    }
  }
  EXPECT_EQ(trace_.size(), 20'000u);
  EXPECT_EQ(trace_.forgotten(), 10'000u);
  const std::string text = trace_.Text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 20'001);
  const std::string svg = trace_.Svg();
  EXPECT_TRUE(IsWellFormed(svg));
  std::size_t labels = 0;
  for (const char* const x : {"161", "425", "689"}) {
    std::vector<std::int64_t> heights = LabelsAt(svg, x);
    labels += heights.size();
    std::sort(heights.begin(), heights.end());
    for (std::size_t i = 1; i < heights.size(); ++i) {
      ASSERT_GE(heights[i] - heights[i - 1], 13) << x;
    }
  }
  EXPECT_EQ(labels, Trace::kChartEvents);
  const char* const file = std::getenv("PARLOR_CHART");
  if (file != nullptr) std::ofstream(file) << svg;
}

}  // namespace
}  // namespace parlor::sim
