#include "stream/websocket_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/entropy.h"
#include "parlor/random.h"
#include "support/codec_events.h"
#include "support/counting_allocator.h"
#include "support/flip_bits.h"
#include "support/hex.h"
#include "support/seed.h"
#include "support/short_headers.h"
#include "support/websocket_frames.h"

namespace parlor::stream {
namespace {

using test::CodecEvent;
using test::Decode;
using test::DecodeWhole;
using test::Hex;
using test::Reader;
using test::ToText;
using test::Wire;
using ByteVector = std::vector<std::byte>;

// Gives kMaskKey again and again, and counts what it was asked for.
class FixedEntropy final : public Entropy {
 public:
  void Fill(std::span<std::byte> out) override {
    bytes_asked += out.size();
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = test::kMaskKey[i % test::kMaskKey.size()];
    }
  }

  std::size_t bytes_asked = 0;
};

// Codecs of both roles, as many as a test wants.
class Codecs {
 public:
  std::unique_ptr<Codec> Make(Reader reader, std::size_t message_bytes_max,
                              bool lanes = true) {
    auto codec = reader == Reader::kServer
                     ? MakeWebSocketServerCodec(message_bytes_max)
                     : MakeWebSocketClientCodec(message_bytes_max, keys_);
    codec->set_lanes_marked(lanes);
    return codec;
  }

 private:
  FixedEntropy entropy_;
  MaskKeys keys_{entropy_};
};

ByteVector Encode(Codec& codec, FrameType type, Lane lane,
                  std::span<const std::byte> payload) {
  std::array<std::byte, kHeaderMax> header;
  const std::size_t size =
      codec.WriteHeader(type, lane, payload.size(), header);
  ByteVector wire(header.begin(),
                  header.begin() + static_cast<std::ptrdiff_t>(size));
  wire.insert(wire.end(), payload.begin(), payload.end());
  if (codec.masks()) codec.Mask(std::span(wire).subspan(size), 0);
  return wire;
}

ByteVector RandomBytes(Random& random, std::size_t size) {
  ByteVector bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.Next());
  return bytes;
}

// The rules, a row each. `wire` is in the notation of Wire, and every row runs
// for both roles unless it says which. A row that ends in an error ends at the
// byte that makes it one.
struct RuleRow {
  const char* name;
  const char* wire;
  const char* events;
  std::size_t cap = 1000;
  bool lanes = false;
  const char* only = "";  // "server" or "client": the role that reads
};

constexpr RuleRow kRules[] = {
    // RFC 6455 section 5.7, byte for byte.
    {"RfcText", "8105 48656c6c6f", "text 48656c6c6f", 1000, false, "client"},
    {"RfcMaskedText", "8185 37fa213d 7f9f4d5158", "text 48656c6c6f", 1000,
     false, "server"},
    {"RfcFragments", "0103 48656c 8002 6c6f", "text 48656c6c6f", 1000, false,
     "client"},
    {"RfcPing", "8905 48656c6c6f", "ping 48656c6c6f", 1000, false, "client"},
    {"RfcMaskedPong", "8a85 37fa213d 7f9f4d5158", "pong 48656c6c6f", 1000,
     false, "server"},
    {"Rfc256", "827e 0100 00*256", "binary (256)", 1000, false, "client"},
    {"Rfc64KiB", "827f 0000000000010000 00*65536", "binary (65536)", 65536,
     false, "client"},

    // Section 5.1: masking.
    {"UnmaskedToAServer", "8200", "error protocol_error", 1000, false,
     "server"},
    {"MaskedToAClient", "8280", "error protocol_error", 1000, false, "client"},
    {"KeyOfZeros", "8283 00000000 010203", "binary 010203", 1000, false,
     "server"},

    // Section 5.2: opcodes and reserved bits.
    {"Opcode3", "83", "error protocol_error"},
    {"Opcode4", "84", "error protocol_error"},
    {"Opcode5", "85", "error protocol_error"},
    {"Opcode6", "86", "error protocol_error"},
    {"Opcode7", "87", "error protocol_error"},
    {"OpcodeB", "8b", "error protocol_error"},
    {"OpcodeC", "8c", "error protocol_error"},
    {"OpcodeD", "8d", "error protocol_error"},
    {"OpcodeE", "8e", "error protocol_error"},
    {"OpcodeF", "8f", "error protocol_error"},
    {"Rsv1", "c2", "error protocol_error"},
    {"Rsv1OfText", "c1", "error protocol_error"},
    {"Rsv2", "a2", "error protocol_error"},
    {"Rsv3", "92", "error protocol_error"},
    {"Rsv1WithLanes", "c2", "error protocol_error", 1000, true},
    {"Rsv3WithLanes", "92", "error protocol_error", 1000, true},
    {"Rsv12WithLanes", "e2", "error protocol_error", 1000, true},
    {"Rsv23WithLanes", "b2", "error protocol_error", 1000, true},
    {"RsvOfPing", "a9", "error protocol_error", 1000, true},
    {"RsvOfPong", "aa", "error protocol_error", 1000, true},
    {"RsvOfClose", "a8", "error protocol_error", 1000, true},
    {"RsvOfContinuation", "22 m01 k 61 ; a0", "error protocol_error", 1000,
     true},
    {"StateBinary", "a2 m02 k 0102 ; 82 m00 k ;", "state binary 0102, binary",
     1000, true},
    {"StateText", "a1 m01 k 61 ;", "state text 61", 1000, true},
    {"StateFragments", "21 m01 k 61 ; 89 m00 k ; 80 m01 k 62 ; 81 m01 k 63 ;",
     "ping, state text 6162, text 63", 1000, true},

    // Section 5.2: length forms.
    {"Length0", "82 m00 k ;", "binary"},
    {"Length125", "82 m7d k 61*125 ;", "binary (125)"},
    {"Length126", "82 m7e 007e k 61*126 ;", "binary (126)"},
    {"Length65535", "82 m7e ffff k 61*65535 ;", "binary (65535)", 65535},
    {"Length65536", "82 m7f 0000000000010000 k 61*65536 ;", "binary (65536)",
     65536},
    {"Long16Of0", "82 m7e 0000", "error protocol_error"},
    {"Long16Of125", "82 m7e 007d", "error protocol_error"},
    {"Long64Of125", "82 m7f 000000000000007d", "error protocol_error"},
    {"Long64Of65535", "82 m7f 000000000000ffff", "error protocol_error"},
    {"Long64OfFragment", "02 m7f 000000000000ffff", "error protocol_error"},
    {"TopBit", "82 m7f 8000000000000000", "error protocol_error"},
    {"TopBitAndMore", "82 m7f ffffffffffffffff", "error protocol_error"},

    // The cap, at the announced length.
    {"CapMet", "82 m03 k 010203 ;", "binary 010203", 3},
    {"CapPassed", "82 m04", "error message_size", 3},
    {"CapPassed16", "82 m7e 03e9", "error message_size"},
    {"CapPassed64", "82 m7f 7fffffffffffffff", "error message_size"},
    {"CapMetByFragments", "02 m02 k 0102 ; 00 m00 k ; 80 m01 k 03 ;",
     "binary 010203", 3},
    {"CapPassedByFragments", "02 m02 k 0102 ; 80 m02", "error message_size", 3},
    {"CapPassedByFragment64", "02 m02 k 0102 ; 00 m7f 7fffffffffffffff",
     "error message_size", 3},
    {"CapIsPerMessage", "82 m03 k 010203 ; 02 m01 k 04 ; 80 m02 k 0506 ;",
     "binary 010203, binary 040506", 3},
    {"CapDoesNotCountControls", "02 m02 k 0102 ; 89 m7d k 61*125 ; 80 m01 k 03",
     "ping (125), binary 010203", 3},
    {"CapOf0", "82 m00 k ; 82 m01", "binary, error message_size", 0},

    // Section 5.4: fragmentation.
    {"ControlsBetweenFragments",
     "01 m01 k 61 ; 89 m01 k 31 ; 00 m01 k 62 ; 8a m02 k 3233 ; 80 m01 k 63 ;",
     "ping 31, pong 3233, text 616263"},
    {"CloseBetweenFragments", "01 m01 k 61 ; 88 m02 k 03e8 ;", "close 1000"},
    {"EmptyFragments", "01 m00 k ; 00 m00 k ; 80 m00 k ;", "text"},
    {"ContinuationOfNothing", "80", "error protocol_error"},
    {"FirstContinuationOfNothing", "00", "error protocol_error"},
    {"ContinuationAfterTheLast", "01 m01 k 61 ; 80 m01 k 62 ; 80",
     "text 6162, error protocol_error"},
    {"ContinuationAfterWhole", "81 m01 k 61 ; 00",
     "text 61, error protocol_error"},
    {"TextInAMessage", "01 m01 k 61 ; 81", "error protocol_error"},
    {"BinaryInAMessage", "02 m01 k 61 ; 02", "error protocol_error"},

    // Section 5.5: control frames.
    {"Ping0", "89 m00 k ;", "ping"},
    {"Ping125", "89 m7d k 61*125 ;", "ping (125)"},
    {"Pong125", "8a m7d k 61*125 ;", "pong (125)"},
    {"PingIsNotText", "89 m01 k ff ;", "ping ff"},
    {"Ping126", "89 m7e", "error protocol_error"},
    {"Pong127", "8a m7f", "error protocol_error"},
    {"Close126", "88 m7e", "error protocol_error"},
    {"PingFragment", "09", "error protocol_error"},
    {"PongFragment", "0a", "error protocol_error"},
    {"CloseFragment", "08", "error protocol_error"},

    // Section 8.1: text is UTF-8, whole.
    {"TextOfTwoBytes", "81 m02 k c3a9 ;", "text c3a9"},
    {"TextCutInsideACharacter", "01 m02 k e282 ; 80 m01 k ac ;", "text e282ac"},
    {"TextOfFourCuts",
     "01 m01 k f0 ; 00 m01 k 9f ; 89 m00 k ; 00 m01 k 8e ; 80 m01 k b2 ;",
     "ping, text f09f8eb2"},
    {"InvalidText", "81 m01 k ff", "error invalid_text"},
    {"InvalidTextOverlong", "81 m02 k c080", "error invalid_text"},
    {"InvalidTextSurrogate", "81 m03 k eda080", "error invalid_text"},
    {"InvalidTextCutOff", "81 m02 k e282", "error invalid_text"},
    {"InvalidTextAcross", "01 m01 k c3 ; 80 m01 k 28", "error invalid_text"},
    {"BinaryIsNotText", "82 m01 k ff ;", "binary ff"},

    // Sections 5.5.1 and 7.4: closes.
    {"CloseEmpty", "88 m00 k ;", "close 1005"},
    {"CloseOfOneByte", "88 m01 k 03", "error protocol_error"},
    {"CloseWithText", "88 m05 k 03e9627965 ;", "close 1001 627965"},
    {"CloseOf125", "88 m7d k 03e8 61*123 ;", "close 1000 (123)"},
    {"CloseOfInvalidText", "88 m03 k 03e8ff", "error invalid_text"},
    {"CloseOfCutText", "88 m04 k 03e8e282", "error invalid_text"},
    {"CloseCodeBeforeText", "88 m03 k 03edff", "error protocol_error"},
    {"Close0", "88 m02 k 0000", "error protocol_error"},
    {"Close999", "88 m02 k 03e7", "error protocol_error"},
    {"Close1003", "88 m02 k 03eb ;", "close 1003"},
    {"Close1004", "88 m02 k 03ec", "error protocol_error"},
    {"Close1005", "88 m02 k 03ed", "error protocol_error"},
    {"Close1006", "88 m02 k 03ee", "error protocol_error"},
    {"Close1007", "88 m02 k 03ef ;", "close 1007"},
    {"Close1012", "88 m02 k 03f4 ;", "close 1012"},
    {"Close1013", "88 m02 k 03f5 ;", "close 1013"},
    {"Close1014", "88 m02 k 03f6 ;", "close 1014"},
    {"Close1015", "88 m02 k 03f7", "error protocol_error"},
    {"Close2999", "88 m02 k 0bb7", "error protocol_error"},
    {"Close3000", "88 m02 k 0bb8 ;", "close 3000"},
    {"Close4999", "88 m02 k 1387 ;", "close 4999"},
    {"Close5000", "88 m02 k 1388", "error protocol_error"},
    {"Close65535", "88 m02 k ffff", "error protocol_error"},
};

struct RuleCase {
  RuleRow row;
  Reader reader;
  friend void PrintTo(const RuleCase& rule, std::ostream* out) {
    *out << rule.row.wire;
  }
};

std::vector<RuleCase> RuleCases() {
  std::vector<RuleCase> cases;
  for (const RuleRow& row : kRules) {
    const std::string_view only = row.only;
    if (only != "client") cases.push_back({row, Reader::kServer});
    if (only != "server") cases.push_back({row, Reader::kClient});
  }
  return cases;
}

class WebSocketRuleTest : public testing::TestWithParam<RuleCase> {
 protected:
  std::unique_ptr<Codec> MakeCodec() {
    return codecs_.Make(GetParam().reader, row_.cap, row_.lanes);
  }

  const RuleRow& row_ = GetParam().row;
  const ByteVector wire_ = Wire(row_.wire, GetParam().reader);
  Codecs codecs_;
};

TEST_P(WebSocketRuleTest, Whole) {
  const auto codec = MakeCodec();
  EXPECT_EQ(ToText(DecodeWhole(*codec, wire_)), row_.events);
}

TEST_P(WebSocketRuleTest, OneByteAtATime) {
  const auto codec = MakeCodec();
  EXPECT_EQ(ToText(Decode(*codec, wire_, [] { return 1; })), row_.events);
}

TEST_P(WebSocketRuleTest, InRandomCuts) {
  Random random(test::TestSeed());
  for (int i = 0; i < 20; ++i) {
    const auto codec = MakeCodec();
    const std::uint32_t most = 2 + random.Below(40);
    EXPECT_EQ(
        ToText(Decode(*codec, wire_, [&] { return 1 + random.Below(most); })),
        row_.events);
  }
}

// An error is found at the byte that makes it one, and not before; anything
// else is not there before its last byte.
TEST_P(WebSocketRuleTest, TheLastByteDecides) {
  const auto codec = MakeCodec();
  const std::vector<CodecEvent> all = DecodeWhole(*codec, wire_);
  const auto early = MakeCodec();
  const std::vector<CodecEvent> cut =
      DecodeWhole(*early, std::span(wire_).first(wire_.size() - 1));
  ASSERT_EQ(cut.size() + 1, all.size());
  EXPECT_TRUE(std::equal(cut.begin(), cut.end(), all.begin()));
}

INSTANTIATE_TEST_SUITE_P(Rules, WebSocketRuleTest,
                         testing::ValuesIn(RuleCases()), [](const auto& row) {
                           return std::string(row.param.row.name) +
                                  (row.param.reader == Reader::kServer
                                       ? "_Server"
                                       : "_Client");
                         });

// What is written, to the byte.
struct GoldenRow {
  const char* name;
  Reader to;
  FrameType type;
  Lane lane;
  const char* payload;
  const char* wire;
  bool lanes = true;
  friend void PrintTo(const GoldenRow& row, std::ostream* out) {
    *out << row.name;
  }
};

constexpr Lane kReliable = Lane::kReliable;
constexpr Lane kState = Lane::kState;
constexpr Reader kToServer = Reader::kServer;
constexpr Reader kToClient = Reader::kClient;

constexpr GoldenRow kGolden[] = {
    {"RfcText", kToClient, FrameType::kText, kReliable, "48656c6c6f",
     "8105 48656c6c6f"},
    {"RfcMaskedText", kToServer, FrameType::kText, kReliable, "48656c6c6f",
     "8185 37fa213d 7f9f4d5158"},
    {"RfcPing", kToClient, FrameType::kPing, kReliable, "48656c6c6f",
     "8905 48656c6c6f"},
    {"RfcMaskedPong", kToServer, FrameType::kPong, kReliable, "48656c6c6f",
     "8a85 37fa213d 7f9f4d5158"},
    {"Rfc256", kToClient, FrameType::kBinary, kReliable, "00*256",
     "827e 0100 00*256"},
    {"Rfc64KiB", kToClient, FrameType::kBinary, kReliable, "00*65536",
     "827f 0000000000010000 00*65536"},
    {"Empty", kToClient, FrameType::kBinary, kReliable, "", "8200"},
    {"EmptyMasked", kToServer, FrameType::kText, kReliable, "",
     "8180 37fa213d"},
    {"Length125", kToClient, FrameType::kBinary, kReliable, "61*125",
     "827d 61*125"},
    {"Length126", kToClient, FrameType::kBinary, kReliable, "61*126",
     "827e 007e 61*126"},
    {"Length126Masked", kToServer, FrameType::kBinary, kReliable, "00*126",
     "82fe 007e 37fa213d 37fa213d*31 37fa"},
    {"Length65535", kToClient, FrameType::kBinary, kReliable, "61*65535",
     "827e ffff 61*65535"},
    {"Length65536Masked", kToServer, FrameType::kBinary, kReliable, "00*65536",
     "82ff 0000000000010000 37fa213d 37fa213d*16384"},
    {"State", kToClient, FrameType::kBinary, kState, "01", "a201 01"},
    {"StateText", kToServer, FrameType::kText, kState, "00",
     "a181 37fa213d 37"},
    {"StateOfUnmarkedLanes", kToClient, FrameType::kBinary, kState, "01",
     "8201 01", false},
    {"ControlHasNoLane", kToClient, FrameType::kPing, kState, "", "8900"},
    {"Close", kToClient, FrameType::kClose, kReliable, "03e9 627965",
     "8805 03e9 627965"},
};

class WebSocketGoldenTest : public testing::TestWithParam<GoldenRow> {};

TEST_P(WebSocketGoldenTest, WritesIt) {
  const GoldenRow& row = GetParam();
  Codecs codecs;
  const Reader from = row.to == kToServer ? kToClient : kToServer;
  const auto codec = codecs.Make(from, 0, row.lanes);
  EXPECT_EQ(codec->masks(), row.to == kToServer);
  EXPECT_EQ(Hex(Encode(*codec, row.type, row.lane, Wire(row.payload))),
            Hex(Wire(row.wire)));
}

INSTANTIATE_TEST_SUITE_P(Rows, WebSocketGoldenTest, testing::ValuesIn(kGolden),
                         [](const auto& row) { return row.param.name; });

// Each would cost work that no message rate counts.
TEST(WebSocketCodecTest, AMessageHasSoManyEmptyFragments) {
  Codecs codecs;
  const std::vector<std::byte> one = {std::byte{7}};
  for (const Reader reader : {Reader::kServer, Reader::kClient}) {
    const auto message = [&](ByteVector& wire, int empty, bool first_empty) {
      unsigned first = 0x02;
      if (!first_empty) {
        test::AppendFrame(wire, reader, std::exchange(first, 0), one);
      }
      for (int i = 0; i < empty; ++i) {
        test::AppendFrame(wire, reader, std::exchange(first, 0), {});
        test::AppendFrame(wire, reader, 0x8a, {});  // counts for itself
      }
      test::AppendFrame(wire, reader, 0x80, {});
    };
    for (const bool first_empty : {false, true}) {
      SCOPED_TRACE(first_empty);
      ByteVector wire;
      message(wire, 64, first_empty);
      message(wire, 64, first_empty);
      ByteVector more;
      message(more, 65, first_empty);
      const auto decode = [&](const ByteVector& bytes) {
        return DecodeWhole(*codecs.Make(reader, 1000, false), bytes);
      };
      const std::vector<CodecEvent> all = decode(wire);
      EXPECT_EQ(
          std::ranges::count(all, Incoming::Kind::kMessage, &CodecEvent::kind),
          2);
      EXPECT_EQ(all.size(), 2u + 128u);
      const std::vector<CodecEvent> refused = decode(more);
      ASSERT_EQ(refused.size(), 65u);
      EXPECT_EQ(ToText({refused.back()}), "error message_size");
    }
  }
}

TEST(WebSocketCodecTest, ShortHeadersAreThoseThatAreWritten) {
  Codecs codecs;
  test::ExpectShortHeadersAsWritten(*codecs.Make(Reader::kServer, 0));
  const auto client = codecs.Make(Reader::kClient, 0);
  EXPECT_TRUE(client->masks());
  EXPECT_EQ(client->short_headers().size_end, 0);
}

TEST(WebSocketCodecTest, WritesCloses) {
  const auto codec = MakeWebSocketServerCodec(0);
  std::array<std::byte, kControlBytesMax> payload;
  const auto write = [&](CloseCode code, std::string_view text) {
    const std::size_t size = codec->WriteClose(code, text, payload);
    return Hex(std::span(payload).first(size));
  };
  EXPECT_EQ(write(1001, "bye"), "03e9627965");
  EXPECT_EQ(write(4999, ""), "1387");
  EXPECT_EQ(write(close_code::kNoCode, ""), "");
  EXPECT_EQ(write(1000, std::string(kCloseTextMax, 'a')),
            Hex(Wire("03e8 61*123")));
}

TEST(WebSocketCodecTest, MasksPartsAtAnyOffsetAndAlignment) {
  Codecs codecs;
  const auto codec = codecs.Make(Reader::kClient, 0);
  std::array<std::byte, kHeaderMax> header;
  codec->WriteHeader(FrameType::kBinary, kReliable, 1000, header);
  Random random(test::TestSeed());
  for (std::size_t size = 0; size <= 70; ++size) {
    for (std::size_t from = 0; from < 16; ++from) {
      const ByteVector plain = RandomBytes(random, 100);
      const std::size_t offset = random.Below(100);
      ByteVector masked = plain;
      codec->Mask(std::span(masked).subspan(from, size), offset);
      for (std::size_t i = 0; i < plain.size(); ++i) {
        const bool inside = i >= from && i < from + size;
        const std::byte key =
            inside ? test::kMaskKey[(offset + i - from) % 4] : std::byte{0};
        ASSERT_EQ(masked[i], plain[i] ^ key)
            << "size " << size << " from " << from << " offset " << offset;
      }
    }
  }
}

TEST(MaskKeysTest, GivesWhatEntropyGivesOnce) {
  SeededEntropy entropy(5), same(5);
  MaskKeys keys(entropy);
  ByteVector expected(4 * 5000);
  same.Fill(expected);
  for (std::size_t i = 0; i < 5000; ++i) {
    const std::uint32_t key = keys.Next();
    ASSERT_EQ(Hex(std::as_bytes(std::span(&key, 1))),
              Hex(std::span(expected).subspan(4 * i, 4)));
  }
}

TEST(MaskKeysTest, AsksForManyAtATime) {
  FixedEntropy entropy;
  MaskKeys keys(entropy);
  EXPECT_EQ(entropy.bytes_asked, 0u);
  for (int i = 0; i < 1024; ++i) keys.Next();
  EXPECT_EQ(entropy.bytes_asked, 4096u);
  keys.Next();
  EXPECT_EQ(entropy.bytes_asked, 8192u);
}

// Memory: what the heap holds for a codec, in bytes and in calls.
class WebSocketMemoryTest : public testing::Test {
 protected:
  static constexpr std::size_t kCap = 1 << 20;
  static constexpr bool kCounts = PARLOR_COUNTS_ALLOCATIONS != 0;

  // Feeds `wire` whole and says how many messages came out.
  int Feed(std::span<std::byte> wire) {
    int messages = 0;
    while (codec_->Next(wire).kind != Incoming::Kind::kNothing) ++messages;
    return messages;
  }
  std::uint64_t held() const { return parlor_allocated_bytes() - before_; }

  std::unique_ptr<Codec> codec_ = MakeWebSocketServerCodec(kCap);
  std::uint64_t before_ = parlor_allocated_bytes();
};

TEST_F(WebSocketMemoryTest, AnAnnouncedLengthTakesNoMemory) {
  ByteVector wire = Wire("82 m7f 0000000000100000 k 61*1000", Reader::kServer);
  EXPECT_EQ(Feed(wire), 0);
  EXPECT_LE(held() - (kCounts ? wire.capacity() : 0), 2100u);
}

TEST_F(WebSocketMemoryTest, GrowsWithWhatArrivesUpToTheCap) {
  const ByteVector payload(kCap);
  ByteVector wire;
  test::AppendFrame(wire, Reader::kServer, 0x82, payload);
  before_ = parlor_allocated_bytes();
  std::span<std::byte> rest(wire);
  std::size_t arrived = 0;
  while (rest.size() > 100) {
    ASSERT_EQ(Feed(rest.first(100)), 0);
    arrived += 100;
    rest = rest.subspan(100);
    ASSERT_LE(held(), 2 * arrived + 64);
  }
  EXPECT_LE(held(), kCap + 64);
  EXPECT_EQ(held() > kCap / 2, kCounts);
  EXPECT_EQ(Feed(rest), 1);
}

TEST_F(WebSocketMemoryTest, KeepsItsMemoryUntilItIsTrimmed) {
  ByteVector wire =
      Wire("02 m7d k 61*125 ; 80 m7d k 62*125 ;", Reader::kServer);
  const ByteVector copy = wire;
  before_ = parlor_allocated_bytes();
  EXPECT_EQ(Feed(wire), 1);
  const std::uint64_t kept = held();
  EXPECT_EQ(kept > 0, kCounts);
  const std::uint64_t calls = parlor_allocation_count();
  for (int i = 0; i < 10; ++i) {
    std::ranges::copy(copy, wire.begin());
    EXPECT_EQ(Feed(wire), 1);
  }
  EXPECT_EQ(parlor_allocation_count(), calls);
  EXPECT_EQ(held(), kept);
  codec_->Trim();
  EXPECT_EQ(held(), 0u);
}

TEST_F(WebSocketMemoryTest, TrimLosesNothingOfAMessageOnItsWay) {
  ByteVector wire =
      Wire("02 m02 k 0102 ; 89 m00 k ; 80 m02 k 0304 ;", Reader::kServer);
  std::vector<std::byte> message;
  for (std::byte& byte : wire) {
    std::span<std::byte> input(&byte, 1);
    const Incoming in = codec_->Next(input);
    if (in.kind == Incoming::Kind::kMessage) {
      message.assign(in.bytes.begin(), in.bytes.end());
    }
    codec_->Trim();
  }
  EXPECT_EQ(Hex(message), "01020304");
}

// The relay's path: a frame that came whole is looked at where it lies.
TEST_F(WebSocketMemoryTest, AWholeFrameIsNotCopied) {
  for (const char* notation : {"82 m03 k 010203 ;", "81 m03 k 616263 ;",
                               "89 m03 k 010203 ;", "88 m03 k 03e861 ;"}) {
    ByteVector wire = Wire(notation, Reader::kServer);
    const std::uint64_t calls = parlor_allocation_count();
    std::span<std::byte> input(wire);
    const Incoming in = codec_->Next(input);
    EXPECT_EQ(parlor_allocation_count(), calls);
    ASSERT_FALSE(in.bytes.empty());
    EXPECT_EQ(&in.bytes.back(), &wire.back()) << notation;
  }
}

// A random conversation in one direction: the bytes, and what they say.
struct Conversation {
  ByteVector wire;
  std::vector<CodecEvent> events;
};

class ConversationMaker {
 public:
  explicit ConversationMaker(Random& random) : random_(random) {}

  // Whole messages and controls, written by `codec`.
  Conversation Encoded(Codec& codec, int count) {
    Conversation made;
    for (int i = 0; i < count; ++i) {
      const CodecEvent event = RandomEvent();
      const ByteVector wire =
          Encode(codec, TypeOf(event), event.lane, event.bytes);
      made.wire.insert(made.wire.end(), wire.begin(), wire.end());
      made.events.push_back(event);
    }
    return made;
  }

  // The same for `reader`, in fragments with controls between them.
  Conversation Fragmented(Reader reader, int count) {
    Conversation made;
    while (count-- > 0) {
      const CodecEvent event = RandomEvent();
      if (event.kind != Incoming::Kind::kMessage) {
        AppendControl(made, reader, event);
        continue;
      }
      const unsigned text = event.message == MessageKind::kText ? 1 : 2;
      unsigned first = text | (event.lane == Lane::kState ? 0x20 : 0);
      std::span<const std::byte> rest(event.bytes);
      while (random_.Chance(2, 3)) {
        const auto size = static_cast<std::size_t>(
            random_.Below(static_cast<std::uint32_t>(rest.size()) + 1));
        test::AppendFrame(made.wire, reader, first, rest.first(size), Key());
        first = 0;
        rest = rest.subspan(size);
        if (random_.Chance(1, 3)) AppendControl(made, reader, RandomControl());
      }
      test::AppendFrame(made.wire, reader, 0x80 | first, rest, Key());
      made.events.push_back(event);
    }
    return made;
  }

 private:
  CodecEvent RandomControl() {
    CodecEvent event;
    event.kind =
        random_.Chance(1, 2) ? Incoming::Kind::kPing : Incoming::Kind::kPong;
    event.bytes = RandomBytes(random_, random_.Below(kControlBytesMax + 1));
    return event;
  }

  CodecEvent RandomEvent() {
    if (random_.Chance(1, 5)) return RandomControl();
    CodecEvent event;
    event.kind = Incoming::Kind::kMessage;
    if (random_.Chance(1, 3)) event.lane = Lane::kState;
    // Every length form, the long ones seldom.
    constexpr std::uint32_t kMost[] = {4, 20, 20, 130, 130, 200, 1000, 70'000};
    const std::uint32_t most = kMost[random_.Below(8)];
    const std::size_t size = random_.Below(most);
    if (random_.Chance(1, 3)) {
      event.message = MessageKind::kText;
      while (event.bytes.size() < size) {
        constexpr std::string_view kLetters[] = {"a", "\u00e9", "\u20ac",
                                                 "\U0001f3b2"};
        const auto letter = AsBytes(kLetters[random_.Below(4)]);
        event.bytes.insert(event.bytes.end(), letter.begin(), letter.end());
      }
    } else {
      event.bytes = RandomBytes(random_, size);
    }
    return event;
  }

  static FrameType TypeOf(const CodecEvent& event) {
    if (event.kind == Incoming::Kind::kPing) return FrameType::kPing;
    if (event.kind == Incoming::Kind::kPong) return FrameType::kPong;
    return event.message == MessageKind::kText ? FrameType::kText
                                               : FrameType::kBinary;
  }

  void AppendControl(Conversation& made, Reader reader,
                     const CodecEvent& control) {
    const bool ping = control.kind == Incoming::Kind::kPing;
    test::AppendFrame(made.wire, reader, ping ? 0x89 : 0x8a, control.bytes,
                      Key());
    made.events.push_back(control);
  }

  std::array<std::byte, 4> Key() {
    std::array<std::byte, 4> key;
    for (std::byte& byte : key) byte = static_cast<std::byte>(random_.Next());
    return key;
  }

  Random& random_;
};

class WebSocketRandomTest : public testing::TestWithParam<Reader> {
 protected:
  static constexpr std::size_t kCap = 80'000;

  // `made` is understood however it is cut.
  void Check(const Conversation& made) {
    for (const std::uint32_t most : {1u, 3u, 50u, 5'000u, 1'000'000u}) {
      const auto codec = codecs_.Make(GetParam(), kCap);
      ASSERT_EQ(
          Decode(*codec, made.wire, [&] { return 1 + random_.Below(most); }),
          made.events)
          << "cuts up to " << most;
    }
  }

  Random random_{test::TestSeed()};
  Codecs codecs_;
};

TEST_P(WebSocketRandomTest, WhatIsWrittenIsRead) {
  const auto writer = codecs_.Make(
      GetParam() == Reader::kServer ? Reader::kClient : Reader::kServer, 0);
  ConversationMaker maker(random_);
  for (int i = 0; i < 10; ++i) Check(maker.Encoded(*writer, 10));
}

TEST_P(WebSocketRandomTest, FragmentsAreRead) {
  ConversationMaker maker(random_);
  for (int i = 0; i < 10; ++i) Check(maker.Fragmented(GetParam(), 10));
}

TEST_P(WebSocketRandomTest, ABeginningIsReadAsOne) {
  ConversationMaker maker(random_);
  const Conversation made = maker.Fragmented(GetParam(), 10);
  const std::size_t most = std::min<std::size_t>(made.wire.size(), 3'000);
  for (std::size_t size = 0; size < most; ++size) {
    const auto codec = codecs_.Make(GetParam(), kCap);
    const std::vector<CodecEvent> events =
        DecodeWhole(*codec, std::span(made.wire).first(size));
    ASSERT_LE(events.size(), made.events.size());
    ASSERT_TRUE(std::equal(events.begin(), events.end(), made.events.begin()));
  }
}

// Broken bytes: nothing but an answer, and the same for every cut.
TEST_P(WebSocketRandomTest, FlippedBitsAreReadTheSameHoweverCut) {
  int refused = 0;
  for (int i = 0; i < 2'000; ++i) {
    ConversationMaker maker(random_);
    Conversation made = maker.Fragmented(GetParam(), 3);
    const std::size_t begin = std::min<std::size_t>(made.wire.size(), 200);
    test::FlipBits(random_, std::span(made.wire).first(begin));
    const auto whole = codecs_.Make(GetParam(), kCap);
    const auto cut = codecs_.Make(GetParam(), kCap);
    const std::vector<CodecEvent> events = DecodeWhole(*whole, made.wire);
    ASSERT_EQ(Decode(*cut, made.wire, [&] { return 1 + random_.Below(20); }),
              events);
    refused += events.empty() || events.back().kind == Incoming::Kind::kError;
  }
  EXPECT_GT(refused, 200);
}

INSTANTIATE_TEST_SUITE_P(Readers, WebSocketRandomTest,
                         testing::Values(Reader::kServer, Reader::kClient),
                         [](const auto& row) {
                           return row.param == Reader::kServer ? "Server"
                                                               : "Client";
                         });

}  // namespace
}  // namespace parlor::stream
