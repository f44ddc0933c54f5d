#include "sim/sim_stream.h"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "parlor/check.h"
#include "parlor/sim/network.h"
#include "sim/stream_end.h"
#include "sim/stream_wire.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"

namespace parlor::sim {

using stream::Bytes;
using stream::IoResult;

// Between two loops.
class StreamEnd::Parked final : public stream::ParkedStream {
 public:
  Parked(StreamWire& wire, Direction out) : wire_(&wire), out_(out) {}
  ~Parked() override {
    if (wire_ != nullptr) wire_->Leave(out_, /*reset=*/true);
  }

  std::unique_ptr<stream::ByteStream> Unpark(
      stream::StreamLoop& loop) override {
    auto* const virtual_loop = dynamic_cast<VirtualLoop*>(&loop);
    PARLOR_CHECK(virtual_loop != nullptr && wire_ != nullptr);
    return std::unique_ptr<StreamEnd>(
        new StreamEnd(std::exchange(wire_, nullptr), out_, *virtual_loop));
  }

 private:
  StreamWire* wire_;  // null: it was unparked
  const Direction out_;
};

std::unique_ptr<StreamEnd> StreamEnd::Make(StreamWire& wire, Direction out,
                                           VirtualLoop& loop) {
  wire.Hold();
  return std::unique_ptr<StreamEnd>(new StreamEnd(&wire, out, loop));
}

StreamEnd::StreamEnd(StreamWire* wire, Direction out, VirtualLoop& loop)
    : VirtualEvent(loop), wire_(wire), out_(out) {
  wire_->Attach(out_, this);
}

StreamEnd::~StreamEnd() {
  if (destroyed_ != nullptr) *destroyed_ = true;
  if (wire_ != nullptr) wire_->Leave(out_, reset_);
}

void StreamEnd::SetEvents(Events* events) {
  events_ = events;
  if (events_ != nullptr) Notify();
}

IoResult StreamEnd::Read(std::span<std::byte> into) {
  const IoResult result = wire_->Read(out_, into);
  if (result.bytes > 0) loop().CountRead(result.bytes);
  return result;
}

IoResult StreamEnd::Write(std::span<const Bytes> pieces) {
  return wire_->Write(out_, pieces);
}

void StreamEnd::WantRead(bool wanted) {
  read_wanted_ = wanted;
  Notify();
}

void StreamEnd::WantWrite() {
  write_wanted_ = true;
  Notify();
}

void StreamEnd::EndWrite() { wire_->EndWrite(out_); }

void StreamEnd::Reset() { reset_ = true; }

std::unique_ptr<stream::ParkedStream> StreamEnd::Park() {
  PARLOR_CHECK(wire_->connected(out_));
  Cancel();
  events_ = nullptr;
  StreamWire& wire = *std::exchange(wire_, nullptr);
  wire.Attach(out_, nullptr);
  return std::make_unique<Parked>(wire, out_);
}

bool StreamEnd::IsReady() const {
  if (wire_ == nullptr || events_ == nullptr) return false;
  return (read_wanted_ && wire_->readable(out_)) ||
         (write_wanted_ && wire_->writable(out_));
}

void StreamEnd::Notify() {
  if (IsReady()) RunSoon();
}

void StreamEnd::OnEvent() {
  bool destroyed = false;
  destroyed_ = &destroyed;
  if (IsReady() && write_wanted_ && wire_->writable(out_)) {
    write_wanted_ = false;
    events_->OnWritable();
    if (destroyed) return;
  }
  if (IsReady() && read_wanted_ && wire_->readable(out_)) {
    events_->OnReadable();
    if (destroyed) return;
  }
  destroyed_ = nullptr;
  Notify();
}

// ---- The header's.

void StreamPort::Listen(VirtualLoop& loop, Accept accept) {
  loop_ = &loop;
  accept_ = std::move(accept);
  unplugged_ = false;
}

void StreamPort::Shut() {
  accept_ = nullptr;
  unplugged_ = false;
}

void StreamPort::Unplug() {
  accept_ = nullptr;
  unplugged_ = true;
}

std::unique_ptr<stream::ByteStream> ConnectStream(Link& link, VirtualLoop& loop,
                                                  StreamPort& port) {
  return StreamEnd::Make(*new StreamWire(link, port), Direction::kUp, loop);
}

void SetPieces(stream::ByteStream& stream, std::size_t bytes_max) {
  auto* const end = dynamic_cast<StreamEnd*>(&stream);
  PARLOR_CHECK(end != nullptr && bytes_max > 0);
  end->SetPieces(bytes_max);
}

}  // namespace parlor::sim
