// What a player does in a step: the input frame that a client sends, and the
// queue in which a room keeps a seat's inputs until a tick takes them.
//
// An input and an ack are small and frequent, so they have a binary form, of
// fixed size, integers little-endian:
//
//   input  u8 0x10 | u32 seq | u64 held | u64 pressed | i16 axes[4]
//          | i16 summed[4]                                        37 bytes
//   ack    u8 0x11 | u32 tick                                      5 bytes
//
// Their text form is in frames.h; a room takes both. authority/WIRE.md
// describes them, frames_test.cc pins the bytes.
#ifndef PARLOR_AUTHORITY_INPUT_H_
#define PARLOR_AUTHORITY_INPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "parlor/time.h"

namespace parlor::authority {

inline constexpr std::size_t kAxes = 4;
using Axes = std::array<std::int16_t, kAxes>;

// One step of a client. What a bit or an axis means is the game's.
struct InputFrame {
  // Counts a connection's inputs, from 1; never 0 from a client.
  std::uint32_t seq = 0;
  // Bit n: button n is down now.
  std::uint64_t held = 0;
  // Bit n: button n went down since the input before. A tap shorter than a
  // step is pressed without being held.
  std::uint64_t pressed = 0;
  // Where sticks are now; full deflection is -32767 and 32767.
  Axes axes{};
  // What moved since the input before, such as a mouse's way.
  Axes summed{};

  friend bool operator==(const InputFrame&, const InputFrame&) = default;
};

inline constexpr std::byte kInputKind{0x10};
inline constexpr std::byte kAckKind{0x11};
inline constexpr std::size_t kInputBytes = 37;
inline constexpr std::size_t kAckBytes = 5;

std::array<std::byte, kInputBytes> EncodeInput(const InputFrame& input);
std::array<std::byte, kAckBytes> EncodeAck(std::uint32_t tick);

// Nothing for another kind or size, and for an input with seq 0.
std::optional<InputFrame> DecodeInput(std::span<const std::byte> bytes);
// The tick, or nothing for another kind or size.
std::optional<std::uint32_t> DecodeAck(std::span<const std::byte> bytes);

// A seat's inputs. A client's steps and a room's ticks have the same rate but
// not the same clock, and links jitter: so one or two inputs wait, one is
// taken a tick, and what comes beyond is folded into the last that waits. An
// edge reaches exactly one tick, however many inputs were folded together, and
// what was summed adds up, to the ends of i16.
//
// Without an input a tick repeats the last one: held and axes stay, pressed
// and summed are 0. After kInputSilence without any, everything is released.
//
// Plain values; no clock of its own. Every call's `now` is the room's.
class InputQueue {
 public:
  // No input for so long, as when a page sleeps, lets everything go
  // (contract, "Join, resume, reap" 3).
  static constexpr Duration kInputSilence = 250 * kMillisecond;

  enum class Put : std::uint8_t {
    kQueued,
    kFolded,  // into the last that waits: latest wins, edges and sums add up
    kStale,   // its seq is not above the newest: dropped, nothing changed
  };

  // `waiting_max` is 1 or 2.
  explicit InputQueue(int waiting_max);

  Put Add(TimePoint now, const InputFrame& input);

  // The input of this tick. Its seq is ack().
  InputFrame Take(TimePoint now);

  // Everything is let go at the next tick and what waits is dropped: the
  // player lost focus, or the connection. ack() stays.
  void Release();
  // As Release(), and seqs begin at 1 again: a new connection took the seat.
  void Restart();

  // The newest seq that a tick took; 0 before the first. An input that was
  // folded into another counts as taken with it.
  std::uint32_t ack() const { return last_.seq; }

 private:
  static constexpr std::size_t kWaitingCeiling = 2;

  std::size_t waiting_max_;
  std::size_t waiting_count_ = 0;
  std::array<InputFrame, kWaitingCeiling> waiting_;  // the oldest first
  InputFrame last_;                                  // what the last tick took
  std::uint32_t newest_ = 0;                         // seq that came
  TimePoint heard_{};                                // when it came
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_INPUT_H_
