// A stream wire: one stream between two machines, with what TCP does to it on a
// link. Its ends are StreamEnds. It lives as long as either of them, or as the
// opening that a client left behind in order.
//
// Of TCP it has packets of at most kSegmentBytes, order, retransmission that
// waits twice as long each time, windows at both ends, the three packets of its
// opening, ends of one direction, and resets. It has no acknowledgements: a
// sender knows at once what has arrived, and half a link carries its direction
// for as long as nobody's patience ends.
#ifndef PARLOR_TRANSPORTS_SIM_STREAM_WIRE_H_
#define PARLOR_TRANSPORTS_SIM_STREAM_WIRE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parlor/executor.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/link_path.h"
#include "sim/ring.h"
#include "sim/sim_stream.h"
#include "stream/byte_stream.h"

namespace parlor::sim {

// The most that LinkPath takes for one packet.
inline constexpr std::size_t kSegmentBytes = kPacketBytes - 1;

class StreamEnd;

class StreamWire final : private LinkUser {
 public:
  // Its opening is on its way to `port`. Sides are told apart by the direction
  // that they send in.
  StreamWire(Link& link, StreamPort& port);
  StreamWire(const StreamWire&) = delete;
  StreamWire& operator=(const StreamWire&) = delete;

  Executor& executor() const { return network_.executor(); }

  // ---- For a side's owner.

  // `end` hears of what its side has to say from here on; null: nobody does,
  // and the side is still there (it is parked).
  void Attach(Direction out, StreamEnd* end) { side(out).end = end; }

  stream::IoResult Read(Direction out, std::span<std::byte> into);
  stream::IoResult Write(Direction out, std::span<const stream::Bytes> pieces);
  void EndWrite(Direction out);
  bool readable(Direction out) const;
  bool writable(Direction out) const;
  bool connected(Direction out) const { return side(out).connected; }
  // A read or write moves 1 to so many bytes, drawn.
  void SetPieces(Direction out, std::size_t bytes_max) {
    side(out).piece_bytes_max = bytes_max;
  }

  // Each side holds it, until it leaves: with a reset, where it asks for one or
  // has unread input; else with an end.
  void Hold() { ++holders_; }
  void Leave(Direction out, bool reset);

 private:
  struct Side {
    StreamEnd* end = nullptr;
    bool connected = false;
    bool gone = false;
    bool lost = false;
    std::size_t piece_bytes_max = SIZE_MAX;
  };

  struct Packet {
    enum class Type : std::uint8_t { kStep, kData, kEnd };
    Type type{};
    std::uint64_t begin = 0;  // kData: where in the stream
    std::uint64_t end = 0;
    TimePoint arrives = kNever;
  };

  // One direction.
  struct Way {
    Ring<std::byte> bytes;  // written, and not read
    // Positions in the stream, each at least the one before it.
    std::uint64_t read = 0;
    std::uint64_t arrived = 0;
    std::uint64_t sent = 0;
    std::uint64_t written = 0;
    std::uint64_t told = 0;  // a sink has heard of it
    // The packets of the opening go before all of it: up, the question and the
    // confirmation; down, the answer.
    int steps_arrived = 0;
    int steps_sent = 0;
    int steps_wanted = 0;
    // And its end behind all of it.
    bool end_arrived = false;
    bool end_sent = false;
    bool end_written = false;
    bool mute = false;  // its sender says no more, and nothing again

    Ring<Packet> packets;  // on their way, in the order of their arrival
    TimePoint floor{};     // none arrives before
    // Nothing is sent before the next try of what was lost first then.
    bool held = false;
    std::optional<TimePoint> held_since;
    TimePoint retry_at = kNever;
    // The reader had no room; it has, and its sender hears so then.
    bool starved = false;
    TimePoint resume_at = kNever;
    TimePoint reset_at = kNever;  // when its receiver hears of a reset

    Executor::Event event;
    TimePoint event_at = kNever;
  };

  ~StreamWire();

  void OnCut(Direction direction) override;
  void OnHeal(Direction direction) override;
  void OnReset() override;

  Side& side(Direction out) { return sides_[static_cast<std::size_t>(out)]; }
  const Side& side(Direction out) const {
    return sides_[static_cast<std::size_t>(out)];
  }
  Way& way(Direction direction) {
    return ways_[static_cast<std::size_t>(direction)];
  }
  const Way& way(Direction direction) const {
    return ways_[static_cast<std::size_t>(direction)];
  }
  TimePoint now() const { return network_.now(); }
  bool is_cut(Direction direction) const {
    return state_.cut[static_cast<std::size_t>(direction)];
  }
  // Whether the machine of the side that receives `direction` is off.
  bool IsOff(Direction direction) const;

  std::size_t Piece(Direction out, std::size_t most);
  std::size_t RoomToWrite(Direction out) const;
  bool NextPacket(Direction direction, Packet* packet);
  void Pump(Direction direction);
  void ReportPacket(Direction direction, const Packet& packet);
  static void Trim(Way& way);
  void DropUnsent(Direction direction);
  void LoseSent(Direction direction);
  void HoldUp(Direction direction);
  void Arm(Direction direction);
  void Run(Direction direction);
  void Arrive(Direction direction, const Packet& packet);
  void TakeStep(Direction direction);
  void Accept();
  void SendReset(Direction direction);
  void AnswerWithReset(Direction direction);
  void Lose(Direction out);
  void Notify(Direction out);
  void EndIfAlone();
  void Report(NetworkEvent::What what, Direction direction,
              const Packet& packet, bool again);

  Network& network_;
  Link& link_;
  LinkState& state_;
  StreamPort& port_;
  const std::uint64_t number_;
  std::array<Side, 2> sides_;  // by the direction that they send in
  std::array<Way, 2> ways_;
  std::vector<std::byte> reported_;  // for a sink: a packet in one piece
  bool accepted_ = false;
  bool opening_left_ = false;  // by a client in order
  int holders_ = 0;
};

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_STREAM_WIRE_H_
