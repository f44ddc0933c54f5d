// Byte streams as TCP gives them, over a simulated link, for the handshakes,
// codecs and connections that run on sockets otherwise.
//
// What the link loses of the bytes comes late (network.h); what comes late
// holds up all behind it. A sender can have kSendBytes on its way and in the
// system, a reader that does not read so much again, and then the sender is
// blocked (kBlocked). A cut link keeps both ends open, until someone's own
// patience ends; where a process has ended meanwhile, the first byte that gets
// there is answered with a reset.
#ifndef PARLOR_TRANSPORTS_SIM_SIM_STREAM_H_
#define PARLOR_TRANSPORTS_SIM_SIM_STREAM_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "parlor/sim/network.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"

namespace parlor::sim {

// What a path takes of a stream before the receiving system has it (some ten
// packets, Linux's initial window), and what that keeps for a reader (its
// initial buffer).
inline constexpr std::size_t kSendBytes = 16 * 1024;
inline constexpr std::size_t kReceiveBytes = 128 * 1024;

// Where a machine is reached by streams. Outlives the links' streams to it.
class StreamPort {
 public:
  // `link`: that it came by.
  using Accept = std::function<void(const Link& link,
                                    std::unique_ptr<stream::ByteStream>)>;

  // Streams that arrive from here on are given to `accept`, in a turn of
  // `loop`, on which they live. The machine is on.
  void Listen(VirtualLoop& loop, Accept accept);
  // Nobody listens: who comes is told so (a reset).
  void Shut();
  // The machine is off: who comes hears nothing.
  void Unplug();

 private:
  friend class StreamWire;
  VirtualLoop* loop_ = nullptr;
  Accept accept_;
  bool unplugged_ = false;
};

// The first end of a stream to `port`; it connects, for a round trip, before it
// reads or writes. `link`, this its first end, outlives it.
std::unique_ptr<stream::ByteStream> ConnectStream(Link& link, VirtualLoop& loop,
                                                  StreamPort& port);

// Bytes move in pieces of 1 to `bytes_max`, drawn; for tests of parsers.
void SetPieces(stream::ByteStream& stream, std::size_t bytes_max);

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_SIM_STREAM_H_
