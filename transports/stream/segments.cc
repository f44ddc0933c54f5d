#include "stream/segments.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "stream/byte_stream.h"

namespace parlor::stream {
namespace {

// How many pieces one write takes at most.
constexpr std::size_t kPiecesMax = 16;

}  // namespace

SegmentPool::~SegmentPool() {
  for (Shelf* shelf : {&shared_, &small_, &large_}) {
    while (shelf->first != nullptr) {
      Segment* const segment = std::exchange(shelf->first, shelf->first->next);
      segment->~Segment();
      ::operator delete(segment);
    }
  }
}

Segment* SegmentPool::TakeFrom(Shelf& shelf) {
  if (shelf.first == nullptr) {
    auto* const segment = new (::operator new(shelf.bytes_each)) Segment;
    segment->capacity =
        static_cast<std::uint32_t>(shelf.bytes_each - sizeof(Segment));
    return segment;
  }
  --shelf.count;
  return std::exchange(shelf.first, shelf.first->next);
}

Segment* SegmentPool::Take(std::size_t bytes) {
  return TakeFrom(bytes <= kSmallSegmentBytes - sizeof(Segment) ? small_
                                                                : large_);
}

Segment* SegmentPool::Share(const Payload& payload) {
  Segment* const segment = TakeFrom(shared_);
  segment->payload.emplace(payload);
  segment->end = static_cast<std::uint32_t>(payload.bytes().size());
  return segment;
}

void SegmentPool::Give(Segment* segment) {
  Shelf& shelf = segment->capacity == 0                    ? shared_
                 : segment->capacity <= kSmallSegmentBytes ? small_
                                                           : large_;
  segment->payload.reset();
  if ((shelf.count + 1) * shelf.bytes_each > max_) {
    segment->~Segment();
    ::operator delete(segment);
    return;
  }
  segment->begin = segment->end = 0;
  segment->beside = 0;
  segment->next = shelf.first;
  shelf.first = segment;
  ++shelf.count;
}

// How much fits behind what is there: at least one byte.
std::uint32_t Segments::RoomForMore(std::size_t bytes) {
  if (last_ == nullptr || last_->end >= last_->capacity ||
      last_->counted != counts_) {
    AddPiece(bytes);
  }
  return last_->capacity - last_->end;
}

// A queue that outgrew a small piece goes on in large ones.
void Segments::AddPiece(std::size_t bytes) {
  Link(pool_->Take(std::max(bytes, wire_bytes_)));
}

void Segments::Link(Segment* segment) {
  segment->next = nullptr;
  segment->counted = counts_;
  (last_ == nullptr ? first_ : last_->next) = segment;
  last_ = segment;
}

void Segments::Append(const Payload& payload) {
  PARLOR_DCHECK(!payload.bytes().empty());
  Link(pool_->Share(payload));
  Added(payload.bytes().size());
}

void Segments::Splice(Segments& other) {
  PARLOR_DCHECK(pool_ == other.pool_);
  if (other.empty()) return;
  (last_ == nullptr ? first_ : last_->next) = other.first_;
  last_ = other.last_;
  wire_bytes_ += std::exchange(other.wire_bytes_, 0);
  counted_ += std::exchange(other.counted_, 0);
  other.first_ = other.last_ = nullptr;
}

std::size_t Segments::Gather(std::span<Bytes> pieces) const {
  std::size_t count = 0;
  for (const Segment* at = first_; at != nullptr && count < pieces.size();
       at = at->next) {
    pieces[count++] = {at->bytes() + at->begin, at->end - at->begin};
  }
  return count;
}

void Segments::Consume(std::size_t bytes) {
  PARLOR_CHECK(bytes <= wire_bytes_);
  while (bytes > 0) {
    const std::size_t left = first_->end - first_->begin;
    const std::size_t gone = std::min(bytes, left);
    bytes -= gone;
    if (gone == left) {
      Pop();
      continue;
    }
    first_->begin += static_cast<std::uint32_t>(gone);
    wire_bytes_ -= gone;
    if (first_->counted) counted_ -= static_cast<std::int64_t>(gone);
  }
}

IoStatus Segments::WriteTo(ByteStream& stream) {
  while (!empty()) {
    // One piece is nearly always all there is.
    std::size_t tried = first_->end - first_->begin;
    const Bytes piece(first_->bytes() + first_->begin, tried);
    const IoResult result = first_ == last_ ? stream.Write({&piece, 1})
                                            : WritePieces(stream, tried);
    if (result.status == IoStatus::kLost) return IoStatus::kLost;
    Consume(result.bytes);
    // To ask again what did not take all would be a call for nothing.
    if (result.bytes < tried) return IoStatus::kBlocked;
  }
  return IoStatus::kOk;
}

// One write of several pieces; of how many bytes, is in `tried`.
IoResult Segments::WritePieces(ByteStream& stream, std::size_t& tried) const {
  std::array<Bytes, kPiecesMax> pieces;
  const std::span filled(pieces.data(), Gather(pieces));
  tried = 0;
  for (const Bytes& piece : filled) tried += piece.size();
  return stream.Write(filled);
}

void Segments::Pop() {
  Segment* const segment = std::exchange(first_, first_->next);
  if (first_ == nullptr) last_ = nullptr;
  const std::size_t left = segment->end - segment->begin;
  wire_bytes_ -= left;
  counted_ -= segment->beside;
  if (segment->counted) counted_ -= static_cast<std::int64_t>(left);
  pool_->Give(segment);
}

void Segments::Clear() {
  while (first_ != nullptr) Pop();
}

}  // namespace parlor::stream
