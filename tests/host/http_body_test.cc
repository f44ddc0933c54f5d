// Bodies of HTTP requests: what is taken and what is refused, where the next
// request begins, the limits, and that the cut of the input does not matter.
#include "logic/http_body.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "parlor/byte_io.h"

namespace parlor::host {
namespace {

using Progress = HttpBody::Progress;

constexpr std::size_t kMax = 16;
constexpr std::nullopt_t kChunked = std::nullopt;

struct Outcome {
  Progress progress = Progress::kMore;
  std::string text;
  std::string rest;  // what was not taken

  bool operator==(const Outcome&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    return out << static_cast<int>(outcome.progress) << " \"" << outcome.text
               << "\" and \"" << outcome.rest << '"';
  }
};

// Feeds `wire` in two pieces, or byte by byte when `cut` is behind its end.
Outcome Read(std::optional<std::uint64_t> length, std::string_view wire,
             std::size_t cut, std::size_t bytes_max) {
  HttpBody body(length, bytes_max);
  std::vector<std::byte> bytes(AsBytes(wire).begin(), AsBytes(wire).end());
  std::span<std::byte> left(bytes);
  std::span<std::byte> nothing;
  Progress progress = body.Feed(nothing);
  bool first = true;
  while (progress == Progress::kMore && !left.empty()) {
    std::size_t size = cut > wire.size() ? 1 : left.size();
    if (cut <= wire.size() && first) size = cut;
    first = false;
    std::span<std::byte> piece = left.first(size);
    progress = body.Feed(piece);
    EXPECT_TRUE(progress != Progress::kMore || piece.empty());
    left = left.subspan(size - piece.size());
  }
  return {progress, std::string(body.text()), std::string(AsText(left))};
}

// The outcome of the whole in one piece, which is that of every other cut.
Outcome ReadAllCuts(std::optional<std::uint64_t> length, std::string_view wire,
                    std::size_t bytes_max = kMax) {
  Outcome whole = Read(length, wire, wire.size(), bytes_max);
  for (std::size_t cut = 0; cut < wire.size() + 2; ++cut) {
    EXPECT_EQ(Read(length, wire, cut, bytes_max), whole) << "cut at " << cut;
  }
  return whole;
}

struct Row {
  std::string name;
  std::optional<std::uint64_t> length;
  std::string wire;
  Progress progress = Progress::kDone;
  std::string text{};
  std::string rest{};  // with kDone

  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name;
  }
};

const std::vector<Row>& Rows() {
  constexpr Progress kMore = Progress::kMore;
  constexpr Progress kDone = Progress::kDone;
  constexpr Progress kTooLarge = Progress::kTooLarge;
  constexpr Progress kBad = Progress::kBad;
  static const std::vector<Row> rows = {
      // By length.
      {"None", 0, "", kDone},
      {"NoneAndNext", 0, "GET", kDone, "", "GET"},
      {"Length", 5, "hello", kDone, "hello"},
      {"LengthAndNext", 5, "helloGET /", kDone, "hello", "GET /"},
      {"LengthShort", 5, "hell", kMore, "hell"},
      {"LengthAnyBytes", 4, std::string("\0\n\r\xff", 4), kDone,
       std::string("\0\n\r\xff", 4)},
      {"LengthAtLimit", 16, "0123456789abcdef", kDone, "0123456789abcdef"},
      {"LengthAboveLimit", 17, "", kTooLarge},
      {"LengthMax", UINT64_MAX, "x", kTooLarge},

      // Chunked.
      {"NoChunks", kChunked, "0\r\n\r\nGET", kDone, "", "GET"},
      {"OneChunk", kChunked, "5\r\nhello\r\n0\r\n\r\nGET", kDone, "hello",
       "GET"},
      {"Chunks", kChunked, "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", kDone, "abc"},
      {"LineEndsInAChunk", kChunked, "4\r\n\r\n\r\n\r\n0\r\n\r\n", kDone,
       "\r\n\r\n"},
      {"HexInAnyCase", kChunked, "A\r\n0123456789\r\n0\r\n\r\n", kDone,
       "0123456789"},
      {"HexLower", kChunked, "a\r\n0123456789\r\n0\r\n\r\n", kDone,
       "0123456789"},
      {"ZerosBefore", kChunked, "0001\r\na\r\n000\r\n\r\n", kDone, "a"},
      {"ManyZerosBefore", kChunked,
       std::string(100, '0') + "1\r\na\r\n0\r\n\r\n", kDone, "a"},
      {"AtLimit", kChunked, "10\r\n0123456789abcdef\r\n0\r\n\r\n", kDone,
       "0123456789abcdef"},
      {"AboveLimit", kChunked, "11\r\n", kTooLarge},
      {"TogetherAtLimit", kChunked,
       "8\r\n01234567\r\n8\r\n89abcdef\r\n0\r\n\r\n", kDone,
       "0123456789abcdef"},
      {"TogetherAboveLimit", kChunked, "8\r\n01234567\r\n9\r\n", kTooLarge,
       "01234567"},
      {"ByteAboveLimit", kChunked, "10\r\n0123456789abcdef\r\n1\r\n", kTooLarge,
       "0123456789abcdef"},
      {"Size64Bit", kChunked, "ffffffffffffffff\r\n", kTooLarge},
      {"SizeAbove64Bit", kChunked, "10000000000000000\r\n", kTooLarge},
      {"Extension", kChunked, "1;a=b;c=\"d\"\r\nx\r\n0;e\r\n\r\n", kDone, "x"},
      {"SpaceBeforeExtension", kChunked, "1 \t;a\r\nx\r\n0 ;e\r\n\r\n", kDone,
       "x"},
      {"Trailers", kChunked, "0\r\nHost: b\r\nX:y\r\n\r\nGET", kDone, "",
       "GET"},
      {"HalfASize", kChunked, "1", kMore},
      {"HalfALineEnd", kChunked, "1\r", kMore},
      {"NoDataYet", kChunked, "1\r\n", kMore},
      {"NoEndYet", kChunked, "1\r\na\r\n0\r\n", kMore, "a"},
      {"NoEndOfTrailersYet", kChunked, "1\r\na\r\n0\r\nX: y\r\n\r", kMore, "a"},

      // What two readers could understand differently.
      {"EmptySize", kChunked, "\r\n", kBad},
      {"OnlyExtension", kChunked, ";a\r\n", kBad},
      {"NoHex", kChunked, "g\r\n", kBad},
      {"HexPrefix", kChunked, "0x1\r\na\r\n", kBad},
      {"Plus", kChunked, "+1\r\na\r\n", kBad},
      {"Minus", kChunked, "-1\r\na\r\n", kBad},
      {"SpaceBeforeSize", kChunked, " 1\r\na\r\n", kBad},
      {"SpaceBehindSize", kChunked, "1 \r\na\r\n", kBad},
      {"SpaceInSize", kChunked, "1 0;a\r\n", kBad},
      {"Underscore", kChunked, "1_0\r\n", kBad},
      {"BareLfBehindSize", kChunked, "1\na\r\n0\r\n\r\n", kBad},
      {"BareLfBehindData", kChunked, "1\r\na\n0\r\n\r\n", kBad, "a"},
      {"BareLfInExtension", kChunked, "1;a\nb\r\na\r\n", kBad},
      {"BareLfAtEnd", kChunked, "0\r\n\n", kBad},
      {"BareCrBehindSize", kChunked, "1\ra\r\n", kBad},
      {"BareCrAtEnd", kChunked, "0\r\n\rG", kBad},
      {"TwoCr", kChunked, "1\r\r\na\r\n", kBad},
      {"NulInExtension", kChunked, std::string("1;\0\r\n", 5), kBad},
      {"DelInTrailer", kChunked, "0\r\nX: \x7f\r\n\r\n", kBad},
      {"NoLineEndBehindData", kChunked, "1\r\nab\r\n0\r\n\r\n", kBad, "a"},
      {"TrailerWithoutColon", kChunked, "0\r\nX\r\n\r\n", kBad},
      {"TrailerFolded", kChunked, "0\r\nX: y\r\n z\r\n\r\n", kBad},
      {"TrailerSpaceBeforeColon", kChunked, "0\r\nX : y\r\n\r\n", kBad},
      {"TrailerWithoutName", kChunked, "0\r\n: y\r\n\r\n", kBad},
  };
  return rows;
}

class HttpBodyTest : public ::testing::TestWithParam<Row> {};

TEST_P(HttpBodyTest, IsReadHoweverItIsCut) {
  const Row& row = GetParam();
  const Outcome outcome = ReadAllCuts(row.length, row.wire);
  EXPECT_EQ(outcome.progress, row.progress);
  EXPECT_EQ(outcome.text, row.text);
  if (row.progress == Progress::kDone || row.progress == Progress::kMore) {
    EXPECT_EQ(outcome.rest, row.rest);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, HttpBodyTest, ::testing::ValuesIn(Rows()),
                         [](const auto& row) { return row.param.name; });

TEST(HttpBodyLimitsTest, OneLine) {
  const auto wire = [](std::size_t line_bytes) {
    return "1;" + std::string(line_bytes - 4, 'x') + "\r\na\r\n0\r\n\r\n";
  };
  EXPECT_EQ(ReadAllCuts(kChunked, wire(kHttpChunkLineMax)).progress,
            Progress::kDone);
  EXPECT_EQ(ReadAllCuts(kChunked, wire(kHttpChunkLineMax + 1)).progress,
            Progress::kBad);
}

// Nobody is read for ever who never says what there is a limit for.
TEST(HttpBodyLimitsTest, AllLines) {
  const std::string trailer = "X: " + std::string(123, 'y') + "\r\n";
  ASSERT_EQ(trailer.size(), 128u);
  std::string wire = "0\r\n";
  for (int i = 0; i < 63; ++i) wire += trailer;
  // What is left: 128 bytes, less the size's line and the empty one.
  const std::string fits = "X: " + std::string(118, 'y') + "\r\n";
  EXPECT_EQ(wire.size() + fits.size() + 2, kHttpChunkLinesMax);
  const auto read = [](std::string_view text) {
    const Outcome whole = Read(kChunked, text, text.size(), kMax);
    EXPECT_EQ(whole, Read(kChunked, text, SIZE_MAX, kMax));
    return whole.progress;
  };
  EXPECT_EQ(read(wire + fits + "\r\n"), Progress::kDone);
  EXPECT_EQ(read(wire + "x" + fits + "\r\n"), Progress::kBad);
}

TEST(HttpBodyLimitsTest, SmallestChunks) {
  std::string wire;
  for (int i = 0; i < 1'024; ++i) wire += "1\r\nx\r\n";
  wire += "0\r\n\r\n";
  const Outcome outcome = Read(kChunked, wire, SIZE_MAX, 1'024);
  EXPECT_EQ(outcome.progress, Progress::kDone);
  EXPECT_EQ(outcome.text, std::string(1'024, 'x'));
}

}  // namespace
}  // namespace parlor::host
