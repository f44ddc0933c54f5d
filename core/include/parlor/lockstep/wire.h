// The lockstep messages: 12 bytes, binary, integers little-endian. WIRE.md
// beside the sources describes each kind; the bytes are pinned by wire_test.cc.
//
//   byte  0     1     2        3     4..7            8..11
//         kind  slot  players  mode  frame or seed   word, hash or token
#ifndef PARLOR_LOCKSTEP_WIRE_H_
#define PARLOR_LOCKSTEP_WIRE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "parlor/byte_io.h"
#include "parlor/close_reason.h"

namespace parlor::lockstep {

inline constexpr std::size_t kMessageSize = 12;

enum class Kind : std::uint8_t {
  kInput = 1,    // a seat -> every other seat: frame, input word
  kHash = 2,     // a seat -> every other seat: frame, hash of the state
  kWelcome = 3,  // room -> a seat: seed, token, the match's players, mode
  kLeave = 4,    // room -> the others: slot is gone for good
  kResume = 5,   // room -> everyone: slot is back in its seat
  kAway = 6,     // room -> the others: slot dropped, its seat is held
  kStart = 7,    // seat 0 -> room: start at `players` seated (0: now), mode
  kLobby = 8,    // room -> a waiting seat: its slot, the size; mode: seated
};

// A message's fields by their place. `frame` is the seed in WELCOME, `value`
// the input word, the hash or the token.
struct Message {
  Kind kind{};
  std::uint8_t slot = 0;
  std::uint8_t players = 0;
  std::uint8_t mode = 0;
  std::uint32_t frame = 0;
  std::uint32_t value = 0;

  friend bool operator==(const Message&, const Message&) = default;
};

using MessageBytes = std::array<std::byte, kMessageSize>;

inline MessageBytes Encode(const Message& message) {
  MessageBytes bytes;
  bytes[0] = static_cast<std::byte>(message.kind);
  bytes[1] = static_cast<std::byte>(message.slot);
  bytes[2] = static_cast<std::byte>(message.players);
  bytes[3] = static_cast<std::byte>(message.mode);
  StoreU32(&bytes[4], message.frame);
  StoreU32(&bytes[8], message.value);
  return bytes;
}

// Any 12 bytes decode: a kind outside the enum is kept as it came, and the
// receiver ignores it. `bytes` holds exactly kMessageSize, which the receiver
// has checked (1009 otherwise).
inline Message Decode(std::span<const std::byte, kMessageSize> bytes) {
  return Message{.kind = static_cast<Kind>(bytes[0]),
                 .slot = std::to_integer<std::uint8_t>(bytes[1]),
                 .players = std::to_integer<std::uint8_t>(bytes[2]),
                 .mode = std::to_integer<std::uint8_t>(bytes[3]),
                 .frame = LoadU32(&bytes[4]),
                 .value = LoadU32(&bytes[8])};
}

// The room replays this many INPUTs of a seat to one that resumes, at most.
inline constexpr std::size_t kReplayInputs = 64;

// A resume token as it is offered: 1 to 8 hexadecimal digits, any case, leading
// zeros fine. ParseToken gives 0, which no seat has, for anything else.
std::string TokenText(std::uint32_t token);
std::uint32_t ParseToken(std::string_view text);

// Closes after which a seat is held and a client comes back: the link was lost
// or the host restarts. Every other code is a leave.
constexpr bool IsDrop(CloseCode code) {
  return code == close_code::kDropped || code == close_code::kInternal ||
         code == close_code::kRestart || code == close_code::kBadGateway;
}

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_WIRE_H_
