// What a codec says to the bytes it is fed, as values that tests can keep,
// compare and write down.
#ifndef PARLOR_TESTS_SUPPORT_CODEC_EVENTS_H_
#define PARLOR_TESTS_SUPPORT_CODEC_EVENTS_H_

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/lane.h"
#include "stream/codec.h"
#include "support/hex.h"

namespace parlor::test {

// stream::Incoming with bytes of its own.
struct CodecEvent {
  stream::Incoming::Kind kind = stream::Incoming::Kind::kNothing;
  Lane lane = Lane::kReliable;
  MessageKind message = MessageKind::kBinary;
  CloseCode code = 0;
  CloseReason error = CloseReason::kProtocolError;
  std::vector<std::byte> bytes{};

  friend bool operator==(const CodecEvent&, const CodecEvent&) = default;
};

// "text 48656c6c6f", "state binary 00", "ping", "close 1000 627965",
// "error message_size"; bytes above 32 only as how many they are: "binary
// (256)".
inline std::string ToText(const CodecEvent& event) {
  std::string text;
  switch (event.kind) {
    case stream::Incoming::Kind::kNothing:
      return "nothing";
    case stream::Incoming::Kind::kError:
      return "error " + std::string(Describe(event.error).name);
    case stream::Incoming::Kind::kPing:
      text = "ping";
      break;
    case stream::Incoming::Kind::kPong:
      text = "pong";
      break;
    case stream::Incoming::Kind::kClose:
      text = "close " + std::to_string(event.code);
      break;
    case stream::Incoming::Kind::kMessage:
      if (event.lane == Lane::kState) text = "state ";
      text += event.message == MessageKind::kText ? "text" : "binary";
      break;
  }
  if (event.bytes.empty()) return text;
  if (event.bytes.size() <= 32) return text + " " + Hex(event.bytes);
  return text + " (" + std::to_string(event.bytes.size()) + ")";
}

inline std::string ToText(std::span<const CodecEvent> events) {
  std::string text;
  for (const CodecEvent& event : events) {
    if (!text.empty()) text += ", ";
    text += ToText(event);
  }
  return text;
}

inline void PrintTo(const CodecEvent& event, std::ostream* out) {
  *out << ToText(event);
}

// Feeds `bytes` in inputs of as many bytes as `cut()` says each time, at least
// one, and returns all that `codec` says, up to an error. Each input is memory
// of its own size and gone afterwards.
template <typename Cut>
std::vector<CodecEvent> Decode(stream::Codec& codec,
                               std::span<const std::byte> bytes, Cut cut) {
  std::vector<CodecEvent> events;
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(cut(), bytes.size());
    std::vector<std::byte> piece(
        bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    bytes = bytes.subspan(size);
    std::span<std::byte> input(piece);
    while (true) {
      const stream::Incoming in = codec.Next(input);
      if (in.kind == stream::Incoming::Kind::kNothing) break;
      events.push_back({in.kind,
                        in.lane,
                        in.message,
                        in.code,
                        in.error,
                        {in.bytes.begin(), in.bytes.end()}});
      if (in.kind == stream::Incoming::Kind::kError) return events;
    }
    PARLOR_CHECK(input.empty());
  }
  return events;
}

inline std::vector<CodecEvent> DecodeWhole(stream::Codec& codec,
                                           std::span<const std::byte> bytes) {
  return Decode(codec, bytes, [&] { return bytes.size(); });
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_CODEC_EVENTS_H_
