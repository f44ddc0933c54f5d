// Segments: a queue of bytes on their way out, in pieces taken from a pool, so
// that a connection with nothing to send holds none and a steady flow allocates
// nothing. A piece may also be a shared Payload, which is not copied.
#ifndef PARLOR_TRANSPORTS_STREAM_SEGMENTS_H_
#define PARLOR_TRANSPORTS_STREAM_SEGMENTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "stream/byte_stream.h"

namespace parlor::stream {

struct Segment {
  Segment* next = nullptr;
  // What is left lies in [begin, end) of bytes(); up to `capacity` there is
  // room for more. 0 with a payload.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t capacity = 0;
  // Whether Connection::queued_bytes counts what is left, and how much beside
  // that, until all of the piece has left.
  bool counted = true;
  std::int32_t beside = 0;
  std::optional<Payload> payload{};

  std::byte* room() { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* bytes() const {
    return payload ? payload->bytes().data()
                   : reinterpret_cast<const std::byte*>(this + 1);
  }
};

// Two sizes of piece, the Segment included: what one turn says to one player,
// and what a large message or a slow reader needs.
inline constexpr std::size_t kSmallSegmentBytes = 512;
inline constexpr std::size_t kLargeSegmentBytes = 16 * 1024;

// The free pieces of one loop.
class SegmentPool {
 public:
  // Shared payloads, small and large pieces.
  static constexpr std::size_t kSizes = 3;

  // Keeps at most so many bytes of each size for later.
  explicit SegmentPool(std::size_t kept_bytes_max) : max_(kept_bytes_max) {}
  ~SegmentPool();
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  // `bytes` is how much there is to put in: a hint at the size.
  Segment* Take(std::size_t bytes);
  Segment* Share(const Payload& payload);
  void Give(Segment* segment);

 private:
  struct Shelf {
    std::size_t bytes_each;
    Segment* first = nullptr;
    std::size_t count = 0;
  };

  Segment* TakeFrom(Shelf& shelf);

  std::size_t max_;
  Shelf shared_{sizeof(Segment)};
  Shelf small_{kSmallSegmentBytes};
  Shelf large_{kLargeSegmentBytes};
};

// First in, first out.
class Segments {
 public:
  // Whether queued_bytes counts what is appended; that goes with it in Splice.
  enum class Counted : bool { kNo, kYes };

  explicit Segments(SegmentPool& pool, Counted counted = Counted::kYes)
      : pool_(&pool), counts_(counted == Counted::kYes) {}
  Segments(Segments&& other) noexcept
      : pool_(other.pool_), counts_(other.counts_) {
    Splice(other);
  }
  Segments& operator=(Segments&&) = delete;
  ~Segments() { Clear(); }

  bool empty() const { return first_ == nullptr; }
  std::size_t wire_bytes() const { return wire_bytes_; }
  // As Connection::queued_bytes counts: exact while no piece has left in part,
  // and wrong by what Count said of that piece otherwise.
  std::size_t counted_bytes() const {
    return counted_ > 0 ? static_cast<std::size_t>(counted_) : 0;
  }

  // Copies. `on_copy(part, offset)` sees each part of the copy, as it lies, and
  // where in `bytes` it begins.
  template <typename OnCopy>
  void Append(Bytes bytes, OnCopy on_copy);
  void Append(Bytes bytes) {
    Append(bytes, [](std::span<std::byte>, std::size_t) {});
  }
  // For few bytes: where to put up to so many, in one piece. Grow follows, with
  // how many were put there, one at least, and what they count beside that.
  std::byte* Reserve(std::size_t bytes) {
    if (last_ == nullptr || last_->end + bytes > last_->capacity ||
        last_->counted != counts_) {
      AddPiece(bytes);
    }
    return last_->room() + last_->end;
  }
  void Grow(std::size_t bytes, std::int64_t difference) {
    last_->end += static_cast<std::uint32_t>(bytes);
    Added(bytes);
    Count(difference);
  }
  // Keeps a reference, behind what is there. The payload is not empty.
  void Append(const Payload& payload);

  // What was appended last counts `difference` more than its bytes on the wire.
  // Not on an empty queue.
  void Count(std::int64_t difference) {
    PARLOR_DCHECK(last_ != nullptr);
    last_->beside += static_cast<std::int32_t>(difference);
    counted_ += difference;
  }

  // Moves all of `other` behind what is here.
  void Splice(Segments& other);

  // `on_part(part, offset)` for all that is here and not shared.
  template <typename OnPart>
  void ForEach(OnPart on_part);

  // Until nothing is left (kOk), or `stream` takes no more now (kBlocked) or
  // ever (kLost).
  IoStatus WriteTo(ByteStream& stream);

  void Clear();

 private:
  std::uint32_t RoomForMore(std::size_t bytes);
  void AddPiece(std::size_t bytes);
  void Added(std::size_t bytes) {
    wire_bytes_ += bytes;
    if (counts_) counted_ += static_cast<std::int64_t>(bytes);
  }
  void Link(Segment* segment);
  // Fills `pieces` with the first of what is queued; returns how many.
  std::size_t Gather(std::span<Bytes> pieces) const;
  IoResult WritePieces(ByteStream& stream, std::size_t& tried) const;
  // The first `bytes` have left.
  void Consume(std::size_t bytes);
  void Pop();

  SegmentPool* pool_;
  Segment* first_ = nullptr;
  Segment* last_ = nullptr;
  bool counts_;
  std::size_t wire_bytes_ = 0;
  std::int64_t counted_ = 0;
};

template <typename OnCopy>
void Segments::Append(Bytes bytes, OnCopy on_copy) {
  for (std::size_t offset = 0; offset < bytes.size();) {
    const std::size_t part = std::min<std::size_t>(
        RoomForMore(bytes.size() - offset), bytes.size() - offset);
    std::byte* const at = last_->room() + last_->end;
    std::memcpy(at, bytes.data() + offset, part);
    on_copy(std::span(at, part), offset);
    last_->end += static_cast<std::uint32_t>(part);
    Added(part);
    offset += part;
  }
}

template <typename OnPart>
void Segments::ForEach(OnPart on_part) {
  std::size_t offset = 0;
  for (Segment* at = first_; at != nullptr; at = at->next) {
    const std::size_t size = at->end - at->begin;
    if (!at->payload) on_part(std::span(at->room() + at->begin, size), offset);
    offset += size;
  }
}

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_SEGMENTS_H_
