// ByteStream: a two-way stream of bytes that never blocks. Codecs, handshakes
// and TLS run over it and know nothing of sockets: a socket, TLS over another
// stream, a test and the simulator all look the same from above.
//
// One thread: that of the StreamLoop it was made for. Events come from the
// loop, never from inside a call. The stream may be destroyed inside its own
// events.
#ifndef PARLOR_TRANSPORTS_STREAM_BYTE_STREAM_H_
#define PARLOR_TRANSPORTS_STREAM_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace parlor::stream {

class ParkedStream;
class StreamLoop;

enum class IoStatus : std::uint8_t {
  kOk,       // `bytes` were moved, at least one
  kBlocked,  // nothing now; the event tells when it is worth another try
  kEnd,      // read only: the peer has said that no more will come
  kLost,     // reset, refused, timed out, or not the protocol it has to be
};

struct IoResult {
  IoStatus status = IoStatus::kBlocked;
  std::size_t bytes = 0;
};

using Bytes = std::span<const std::byte>;

class ByteStream {
 public:
  class Events {
   public:
    // There may be something to read: bytes, the end, or the loss. It comes
    // again, from the loop, as long as reading is wanted and something is
    // there.
    virtual void OnReadable() = 0;
    // Once after WantWrite: a Write may move bytes, or find the loss.
    virtual void OnWritable() = 0;

   protected:
    ~Events() = default;
  };

  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  // Closes at once, without an end that the peer could trust. What Write took
  // may still arrive; to be sure of that, read to the end first.
  virtual ~ByteStream() = default;

  // Null: no events any more. `events` outlives the stream or its own removal.
  virtual void SetEvents(Events* events) = 0;

  // A stream that is still connecting blocks both ways.
  virtual IoResult Read(std::span<std::byte> into) = 0;
  // Takes as much of the pieces, in order, as it can now; none of them is empty
  // and there is one at least.
  virtual IoResult Write(std::span<const Bytes> pieces) = 0;

  // Whether OnReadable is wanted. It is not until the first call.
  virtual void WantRead(bool wanted) = 0;
  virtual void WantWrite() = 0;

  // Ends our direction behind what was written. Reading goes on.
  virtual void EndWrite() = 0;

  // Makes the destruction a reset: the peer is told at once that the link was
  // lost, and what was not delivered yet is not.
  virtual void Reset() = 0;

  // Takes what the stream is made of off its loop, so that it can go on on
  // another one; nothing that arrived or waits to be written is lost. For a
  // stream that is connected. No event comes any more, and nothing is left of
  // this object but its destruction, which the peer does not notice.
  virtual std::unique_ptr<ParkedStream> Park() = 0;
};

// A stream between two loops: of no thread, and may be handed from one to
// another. Its destruction resets it.
class ParkedStream {
 public:
  ParkedStream() = default;
  ParkedStream(const ParkedStream&) = delete;
  ParkedStream& operator=(const ParkedStream&) = delete;
  virtual ~ParkedStream() = default;

  // The stream as it was, without events and wants, on `loop`, which is of the
  // kind it came from, in a turn of it. Once.
  virtual std::unique_ptr<ByteStream> Unpark(StreamLoop& loop) = 0;
};

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_BYTE_STREAM_H_
