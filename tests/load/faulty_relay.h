// FaultyRelay: a relay of one room on a thread of its own that does what a
// lockstep room has to do, but for one fault. It breaks out on seat kFaultSeat,
// in what is relayed to it of seat 0's frame kFaultFrame, unless it says
// otherwise.
#ifndef PARLOR_TESTS_LOAD_FAULTY_RELAY_H_
#define PARLOR_TESTS_LOAD_FAULTY_RELAY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "parlor/lockstep/wire.h"
#include "stream/codec.h"
#include "stream/handshake.h"
#include "support/raw_socket.h"

namespace parlor::test {

enum class Fault : std::uint8_t {
  kNone,
  kDrop,         // it never arrives
  kRepeat,       // it arrives twice
  kSwap,         // it arrives behind the next one
  kLate,         // it, and what follows it, arrives 50 ms later
  kSlot,         // it names the receiver
  kNoSlot,       // it names seat 200
  kWord,         // a bit of its word is flipped
  kMode,         // a bit of byte 3 is flipped
  kInvent,       // a frame that nobody sent comes first
  kSize,         // 13 bytes
  kText,         // 12 bytes of text
  kKind,         // an AWAY comes first
  kEcho,         // its own frame kFaultFrame comes back
  kPing,         // a ping comes first, and nothing else until its pong
  kClose,        // the connection is closed with 1008
  kCut,          // the connection ends without a close
  kGarbage,      // no WebSocket frame
  kDeaf,         // from then on nothing is relayed to anyone
  kMute,         // from then on nothing is relayed to it
  kRefuse,       // every join is refused with 429
  kNoHandshake,  // a join is answered with 200
  kSameSeat,     // everyone's WELCOME is for seat 0
  kEarly,        // an INPUT comes before WELCOME
  kSilent,       // nobody gets a WELCOME
};

inline constexpr std::uint8_t kFaultSeat = 1;
inline constexpr std::uint32_t kFaultFrame = 5;

class FaultyRelay {
 public:
  explicit FaultyRelay(Fault fault);
  ~FaultyRelay();

  std::uint16_t port() const { return listener_.port(); }

 private:
  struct Seat {
    RawSocket socket;
    std::unique_ptr<stream::ServerHandshake> handshake;
    std::unique_ptr<stream::Codec> codec;
    std::vector<std::byte> held;     // what goes out later
    std::int64_t held_until_ns = 0;  // 0: not; kNeverNs: until something else
  };

  void Run();
  void Turn();
  bool Hear(Seat& seat);  // false when it is gone
  bool Open(Seat& seat, std::span<std::byte>& input);
  void Welcome();
  void Relay(Seat& sender, std::span<const std::byte> bytes);
  // To kFaultSeat, of seat 0's fault frame.
  void RelayWrongly(Seat& to, lockstep::Message message);
  void SayOddly(Seat& to, const lockstep::Message& message);
  void HoldFrame(Seat& to, const lockstep::Message& message);
  void Say(Seat& to, const lockstep::Message& message);
  static std::vector<std::byte> FrameOf(Seat& to, stream::FrameType type,
                                        std::span<const std::byte> payload);
  void SayFrame(Seat& to, stream::FrameType type,
                std::span<const std::byte> payload);
  void Put(Seat& to, std::span<const std::byte> bytes);
  void Release(Seat& to);
  std::uint8_t NumberOf(const Seat& seat) const;

  const Fault fault_;
  RawSocket listener_ = RawSocket::Listen();
  std::list<Seat> seats_;  // of one room; by their number
  std::size_t players_ = 0;
  bool playing_ = false;
  bool deaf_ = false;
  bool mute_ = false;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_LOAD_FAULTY_RELAY_H_
