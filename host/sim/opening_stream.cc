#include "sim/opening_stream.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/sim/network.h"
#include "parlor/transports/request.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"
#include "stream/handshake.h"
#include "stream/stream_loop.h"
#include "stream/tcp_handshake.h"

namespace parlor::sim {

using stream::IoResult;
using stream::IoStatus;

std::unique_ptr<stream::ByteStream> OpeningStream::Parked::Unpark(
    stream::StreamLoop& /*loop*/) {
  PARLOR_CHECK(false && "an opening becomes a connection");
}

OpeningStream::OpeningStream(VirtualLoop& loop,
                             std::unique_ptr<Opening> opening)
    : VirtualEvent(loop),
      opening_(std::move(opening)),
      handshake_(
          stream::MakeTcpClientHandshake(RequestForRoom(opening_->hello()))),
      unread_(AsBytes(handshake_->hello())) {}

IoResult OpeningStream::Read(std::span<std::byte> into) {
  if (unread_.empty()) return {ended_ ? IoStatus::kEnd : IoStatus::kBlocked};
  const std::size_t bytes = std::min(into.size(), unread_.size());
  std::ranges::copy(unread_.first(bytes), into.begin());
  unread_ = unread_.subspan(bytes);
  loop().CountRead(bytes);
  return {IoStatus::kOk, bytes};
}

IoResult OpeningStream::Write(std::span<const stream::Bytes> pieces) {
  std::vector<std::byte> all;
  for (const stream::Bytes piece : pieces) {
    all.insert(all.end(), piece.begin(), piece.end());
  }
  std::span<std::byte> input = all;
  if (handshake_->Feed(input) == stream::ClientHandshake::Progress::kRefused &&
      opening_ != nullptr) {
    std::exchange(opening_, nullptr)->Refuse({.status = handshake_->refusal()});
  }
  return {IoStatus::kOk, all.size()};
}

void OpeningStream::WantRead(bool wanted) {
  wants_read_ = wanted;
  if (wanted) RunSoon();
}

void OpeningStream::WantWrite() {
  wants_write_ = true;
  RunSoon();
}

void OpeningStream::EndWrite() {
  ended_ = true;
  RunSoon();
}

std::unique_ptr<stream::ParkedStream> OpeningStream::Park() {
  PARLOR_CHECK(opening_ != nullptr);
  events_ = nullptr;
  return std::make_unique<Parked>(std::move(opening_));
}

// Either may be the last that happens to this object.
void OpeningStream::OnEvent() {
  if (events_ == nullptr) return;
  if (std::exchange(wants_write_, false)) {
    RunSoon();
    return events_->OnWritable();
  }
  if (!wants_read_ || !readable()) return;
  RunSoon();
  events_->OnReadable();
}

}  // namespace parlor::sim
