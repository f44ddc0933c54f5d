// OpeningStream: a client at the level of messages, as the front sees one: a
// stream that says the hello of the TCP transport (TCP.md), once, and is let in
// or hears why not. So who comes by whole messages is asked for the same, in
// the same order and under the same limits, as who comes by bytes.
#ifndef PARLOR_HOST_SIM_OPENING_STREAM_H_
#define PARLOR_HOST_SIM_OPENING_STREAM_H_

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "parlor/sim/network.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"
#include "stream/handshake.h"
#include "stream/stream_loop.h"

namespace parlor::sim {

class OpeningStream final : public stream::ByteStream, private VirtualEvent {
 public:
  // What is left of one that was let in. Its destruction is the opening's.
  class Parked final : public stream::ParkedStream {
   public:
    explicit Parked(std::unique_ptr<Opening> opening)
        : opening_(std::move(opening)) {}
    // Never: it goes on as a connection of messages.
    std::unique_ptr<stream::ByteStream> Unpark(
        stream::StreamLoop& loop) override;

    // Once.
    std::unique_ptr<Opening> TakeOpening() { return std::move(opening_); }

   private:
    std::unique_ptr<Opening> opening_;
  };

  // Refuses the opening with the status that is written. Destroyed before that,
  // or before Park, it leaves the opening without an answer.
  OpeningStream(VirtualLoop& loop, std::unique_ptr<Opening> opening);

  void SetEvents(Events* events) override { events_ = events; }
  stream::IoResult Read(std::span<std::byte> into) override;
  stream::IoResult Write(std::span<const stream::Bytes> pieces) override;
  void WantRead(bool wanted) override;
  void WantWrite() override;
  void EndWrite() override;
  void Reset() override { opening_ = nullptr; }
  std::unique_ptr<stream::ParkedStream> Park() override;

 private:
  void OnEvent() override;
  bool readable() const { return !unread_.empty() || ended_; }

  std::unique_ptr<Opening> opening_;  // null: it was answered, or is parked
  const std::unique_ptr<stream::ClientHandshake> handshake_;
  std::span<const std::byte> unread_;  // of the hello
  Events* events_ = nullptr;
  bool wants_read_ = false;
  bool wants_write_ = false;
  bool ended_ = false;  // by the host, and so by the client
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_OPENING_STREAM_H_
