#include "limit_relay/web_socket.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "peers/relay_rooms.h"

namespace parlor::bench {
namespace {

constexpr std::size_t kRequestBytesMax = 8 * 1024;
constexpr std::size_t kMaskBytes = 4;
constexpr std::byte kMaskBit{0x80};

// The value of the first header of that name in a request.
std::optional<absl::string_view> Header(absl::string_view request,
                                        absl::string_view name) {
  while (true) {
    const std::size_t end = request.find("\r\n");
    if (end == absl::string_view::npos) return std::nullopt;
    request.remove_prefix(end + 2);
    const std::size_t colon = request.find(':');
    if (colon == absl::string_view::npos) return std::nullopt;
    if (absl::EqualsIgnoreCase(request.substr(0, colon), name)) {
      const absl::string_view rest = request.substr(colon + 1);
      return absl::StripAsciiWhitespace(rest.substr(0, rest.find("\r\n")));
    }
  }
}

// RFC 6455 section 4.2.2, item 5.4.
std::string AcceptValue(absl::string_view key) {
  std::string text(key);
  text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(),
             reinterpret_cast<unsigned char*>(digest.data()), &size, EVP_sha1(),
             nullptr);
  return absl::Base64Escape(absl::string_view(digest.data(), size));
}

}  // namespace

ReadResult ReadUpgrade(std::string_view input, Upgrade& upgrade) {
  constexpr std::string_view kGet = "GET ";
  const std::size_t end = input.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return input.size() < kRequestBytesMax ? ReadResult::kMore
                                           : ReadResult::kBad;
  }
  upgrade.size = end + 4;
  const absl::string_view request(input.data(), upgrade.size);
  const auto key = Header(request, "Sec-WebSocket-Key");
  if (!input.starts_with(kGet) || !key) return ReadResult::kBad;
  const std::string_view target = input.substr(kGet.size());
  upgrade.target = target.substr(0, target.find(' '));
  upgrade.answer =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
      "Connection: Upgrade\r\nSec-WebSocket-Accept: " +
      AcceptValue(*key) + "\r\n";
  if (const auto offered = Header(request, "Sec-WebSocket-Protocol");
      offered &&
      absl::StrContains(*offered, absl::string_view(kSubprotocol.data(),
                                                    kSubprotocol.size()))) {
    upgrade.answer += "Sec-WebSocket-Protocol: ";
    upgrade.answer += kSubprotocol;
    upgrade.answer += "\r\n";
  }
  upgrade.answer += "\r\n";
  return ReadResult::kWhole;
}

ReadResult ReadFrame(std::span<std::byte> input, Frame& frame) {
  if (input.size() < kHeaderBytes) return ReadResult::kMore;
  const std::byte first = input[0];
  const std::byte second = input[1];
  const auto length = std::to_integer<std::size_t>(second & ~kMaskBit);
  if ((second & kMaskBit) != kMaskBit || length > kPayloadBytesMax) {
    return ReadResult::kBad;
  }
  if (first != FirstByte(Opcode::kBinary) &&
      first != FirstByte(Opcode::kClose) && first != FirstByte(Opcode::kPing) &&
      first != FirstByte(Opcode::kPong)) {
    return ReadResult::kBad;
  }
  const std::size_t header = kHeaderBytes + kMaskBytes;
  if (input.size() < header + length) return ReadResult::kMore;
  const std::span<std::byte> payload = input.subspan(header, length);
  for (std::size_t i = 0; i < length; ++i) {
    payload[i] ^= input[kHeaderBytes + i % kMaskBytes];
  }
  frame.opcode = static_cast<Opcode>(first & std::byte{0x0f});
  frame.payload = payload;
  frame.size = header + length;
  return ReadResult::kWhole;
}

}  // namespace parlor::bench
