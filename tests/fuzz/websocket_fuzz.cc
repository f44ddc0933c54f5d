// A fuzzer's bytes are what a WebSocket's peer sends. Whatever they are,
// nothing may assert, what the codec says does not depend on how they were cut,
// and no message is above the cap.
//
// The first byte chooses: bit 0 the role, bit 1 whether lanes are marked, bits
// 2 and 3 the cap, bits 4 to 7 how the third run is cut.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "parlor/entropy.h"
#include "stream/websocket_codec.h"
#include "support/codec_events.h"

namespace parlor::test {
namespace {

class WebSocketFuzz {
 public:
  WebSocketFuzz(unsigned choice, std::span<const std::byte> wire)
      : choice_(choice), wire_(wire) {}

  void Run() {
    const std::vector<CodecEvent> whole = DecodeIn(wire_.size());
    CheckSizes(whole);
    for (const std::size_t cut :
         {std::size_t{1}, std::size_t{2 + (choice_ >> 4)}}) {
      const std::vector<CodecEvent> pieces = DecodeIn(cut);
      if (pieces == whole) continue;
      std::fprintf(stderr, "whole    %s\nby %zu     %s\n",
                   ToText(whole).c_str(), cut, ToText(pieces).c_str());
      std::abort();
    }
  }

 private:
  std::size_t cap() const {
    constexpr std::array<std::size_t, 4> kCaps = {0, 5, 200, 100'000};
    return kCaps[(choice_ >> 2) & 3];
  }

  std::vector<CodecEvent> DecodeIn(std::size_t cut) {
    const bool client = (choice_ & 1) != 0;
    const auto codec = client ? stream::MakeWebSocketClientCodec(cap(), keys_)
                              : stream::MakeWebSocketServerCodec(cap());
    codec->set_lanes_marked((choice_ & 2) != 0);
    return Decode(*codec, wire_, [cut] { return cut; });
  }

  void CheckSizes(const std::vector<CodecEvent>& events) const {
    for (const CodecEvent& event : events) {
      const bool message = event.kind == stream::Incoming::Kind::kMessage;
      const std::size_t most = message ? cap() : stream::kControlBytesMax;
      if (event.bytes.size() <= most) continue;
      std::fprintf(stderr, "above the cap: %s\n", ToText(event).c_str());
      std::abort();
    }
  }

  unsigned choice_;
  std::span<const std::byte> wire_;
  SeededEntropy entropy_{1};
  stream::MaskKeys keys_{entropy_};
};

}  // namespace
}  // namespace parlor::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size < 2) return 0;
  const auto wire = std::as_bytes(std::span(data + 1, size - 1));
  parlor::test::WebSocketFuzz(data[0], wire).Run();
  return 0;
}
