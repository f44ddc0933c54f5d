// As much of WebSocket (RFC 6455) as the limit needs: an upgrade, and whole
// frames of at most 125 bytes. It reads what a well-behaved client writes;
// whatever else comes is kBad, which closes the connection.
#ifndef PARLOR_BENCH_LIMIT_RELAY_WEB_SOCKET_H_
#define PARLOR_BENCH_LIMIT_RELAY_WEB_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace parlor::bench {

enum class ReadResult : std::uint8_t {
  kWhole,  // it is in the out parameter
  kMore,   // what is there is its beginning
  kBad,
};

// A request's target, and the answer to it.
struct Upgrade {
  std::string target;
  std::string answer;
  std::size_t size = 0;  // of the request
};
ReadResult ReadUpgrade(std::string_view input, Upgrade& upgrade);

enum class Opcode : std::uint8_t {
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// The most that a frame of this kind carries.
inline constexpr std::size_t kPayloadBytesMax = 125;
// In front of a payload, from the server.
inline constexpr std::size_t kHeaderBytes = 2;

struct Frame {
  Opcode opcode{};
  std::span<const std::byte> payload;  // in the input
  std::size_t size = 0;                // of the whole frame
};
// A client's first frame, which it unmasks where it lies.
ReadResult ReadFrame(std::span<std::byte> input, Frame& frame);

// The first byte of a whole frame.
constexpr std::byte FirstByte(Opcode opcode) {
  return std::byte{0x80} | static_cast<std::byte>(opcode);
}

}  // namespace parlor::bench

#endif  // PARLOR_BENCH_LIMIT_RELAY_WEB_SOCKET_H_
