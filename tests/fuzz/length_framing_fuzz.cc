// Any bytes as the frames of a TCP connection: what is read does not depend on
// how they were cut, keeps the rules, and, written again, is read the same.
// The first byte says how long the pieces are.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/utf8.h"
#include "stream/length_framing.h"
#include "support/codec_events.h"

namespace parlor::stream {
namespace {

constexpr std::size_t kCap = 300;

FrameType TypeOf(const test::CodecEvent& event) {
  switch (event.kind) {
    case Incoming::Kind::kPing:
      return FrameType::kPing;
    case Incoming::Kind::kPong:
      return FrameType::kPong;
    case Incoming::Kind::kClose:
      return FrameType::kClose;
    default:
      break;
  }
  return event.message == MessageKind::kText ? FrameType::kText
                                             : FrameType::kBinary;
}

void CheckRules(const test::CodecEvent& event) {
  const bool message = event.kind == Incoming::Kind::kMessage;
  PARLOR_CHECK(event.bytes.size() <= (message ? kCap : kControlBytesMax));
  PARLOR_CHECK(message || event.lane == Lane::kReliable);
  const FrameType type = TypeOf(event);
  if (type == FrameType::kText || type == FrameType::kClose) {
    PARLOR_CHECK(IsUtf8(event.bytes));
  }
}

void Write(const test::CodecEvent& event, std::vector<std::byte>& wire) {
  const auto codec = MakeLengthFraming(kCap);
  std::vector<std::byte> payload = event.bytes;
  if (event.kind == Incoming::Kind::kClose) {
    payload.resize(kControlBytesMax);
    payload.resize(
        codec->WriteClose(event.code, AsText(event.bytes),
                          std::span(payload).first<kControlBytesMax>()));
  }
  std::byte header[kHeaderMax];
  const std::size_t size =
      codec->WriteHeader(TypeOf(event), event.lane, payload.size(), header);
  wire.insert(wire.end(), header, header + size);
  wire.insert(wire.end(), payload.begin(), payload.end());
}

void Try(std::span<const std::byte> bytes, std::size_t piece) {
  const auto events = test::DecodeWhole(*MakeLengthFraming(kCap), bytes);
  const auto cut =
      test::Decode(*MakeLengthFraming(kCap), bytes, [&] { return piece; });
  PARLOR_CHECK(events == cut);
  std::vector<std::byte> again;
  std::size_t errors = 0;
  for (const test::CodecEvent& event : events) {
    if (event.kind == Incoming::Kind::kError) {
      ++errors;
      continue;
    }
    CheckRules(event);
    Write(event, again);
  }
  // Each frame has one encoding, and nothing follows an error.
  PARLOR_CHECK(again.size() <= bytes.size());
  PARLOR_CHECK(std::equal(again.begin(), again.end(), bytes.begin()));
  PARLOR_CHECK(errors == 0 ||
               (errors == 1 && events.back().kind == Incoming::Kind::kError));
}

}  // namespace
}  // namespace parlor::stream

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  parlor::stream::Try(bytes.subspan(1), 1 + data[0] % 16);
  return 0;
}
