// StreamEnd: one end of a stream wire, a ByteStream.
#ifndef PARLOR_TRANSPORTS_SIM_STREAM_END_H_
#define PARLOR_TRANSPORTS_SIM_STREAM_END_H_

#include <cstddef>
#include <memory>
#include <span>

#include "parlor/sim/network.h"
#include "sim/stream_wire.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"

namespace parlor::sim {

class StreamEnd final : public stream::ByteStream, private VirtualEvent {
 public:
  // Of the side that sends in `out`, which nobody else owns.
  static std::unique_ptr<StreamEnd> Make(StreamWire& wire, Direction out,
                                         VirtualLoop& loop);
  ~StreamEnd() override;

  void SetEvents(Events* events) override;
  stream::IoResult Read(std::span<std::byte> into) override;
  stream::IoResult Write(std::span<const stream::Bytes> pieces) override;
  void WantRead(bool wanted) override;
  void WantWrite() override;
  void EndWrite() override;
  void Reset() override;
  std::unique_ptr<stream::ParkedStream> Park() override;

  void SetPieces(std::size_t bytes_max) { wire_->SetPieces(out_, bytes_max); }
  // The wire may have something for it.
  void Notify();

 private:
  class Parked;

  StreamEnd(StreamWire* wire, Direction out, VirtualLoop& loop);

  bool IsReady() const;
  void OnEvent() override;

  StreamWire* wire_;  // null: it was parked
  const Direction out_;
  Events* events_ = nullptr;
  bool read_wanted_ = false;
  bool write_wanted_ = false;
  bool reset_ = false;
  bool* destroyed_ = nullptr;  // while an event runs
};

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_STREAM_END_H_
