// Segments: a queue of bytes on their way out, in pieces taken from a pool, so
// that a connection with nothing to send holds none and a steady flow allocates
// nothing. A piece may also be a shared Payload, which is not copied.
#ifndef PARLOR_TRANSPORTS_STREAM_SEGMENTS_H_
#define PARLOR_TRANSPORTS_STREAM_SEGMENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "parlor/connection.h"

namespace parlor::stream {

// Two sizes of piece: what one turn says to one player, and what a large
// message or a slow reader needs.
inline constexpr std::size_t kSmallSegmentBytes = 512;
inline constexpr std::size_t kLargeSegmentBytes = 16 * 1024;

struct Segment {
  Segment* next = nullptr;
  std::uint32_t begin = 0;  // what is left lies in [begin, end)
  std::uint32_t end = 0;
  std::uint32_t capacity = 0;  // of data; 0 with a payload
  // What queued_bytes counts for this piece beyond end - begin, until all of
  // the piece has left.
  std::int32_t uncounted = 0;
  std::optional<Payload> payload;

  const std::byte* bytes() const {
    return payload ? payload->bytes().data() : data();
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* data() const {
    return reinterpret_cast<const std::byte*>(this + 1);
  }
};

// One loop's free pieces. Keeps at most `kept_bytes_max` of each size.
class SegmentPool {
 public:
  explicit SegmentPool(std::size_t kept_bytes_max) : max_(kept_bytes_max) {}
  ~SegmentPool();
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  // `bytes` is how much there is to put in: a hint at the size.
  Segment* Take(std::size_t bytes);
  Segment* Take(Payload payload);
  void Give(Segment* segment);

 private:
  struct Shelf {
    Segment* first = nullptr;
    std::size_t bytes = 0;
  };
  Shelf& shelf(std::size_t capacity) {
    return capacity == kSmallSegmentBytes ? small_ : large_;
  }

  std::size_t max_;
  Shelf small_, large_, shared_;
};

// First in, first out.
class Segments {
 public:
  explicit Segments(SegmentPool& pool) : pool_(&pool) {}
  Segments(Segments&& other) noexcept;
  Segments& operator=(Segments&& other) noexcept;
  ~Segments() { Clear(); }

  bool empty() const { return first_ == nullptr; }
  // On the wire.
  std::size_t wire_bytes() const { return wire_bytes_; }
  // As Connection::queued_bytes counts.
  std::size_t counted_bytes() const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(wire_bytes_) +
                                    uncounted_);
  }

  // Copies. The views that Append returns point at the copy, for masking; it
  // lies in at most as many pieces as it is handed to `each`.
  void Append(std::span<const std::byte> bytes);
  void Append(const Payload& payload);
  // Says that what was appended last counts `difference` more than its bytes
  // on the wire, or fewer.
  void Count(std::int32_t difference);

  // Moves all of `other` behind what is here.
  void Splice(Segments& other);

  // Fills `pieces` with the first of what is queued; returns how many.
  std::size_t Gather(std::span<std::span<const std::byte>> pieces) const;
  // The first `bytes` of it have left.
  void Consume(std::size_t bytes);

  void Clear();

 private:
  SegmentPool* pool_;
  Segment* first_ = nullptr;
  Segment* last_ = nullptr;
  std::size_t wire_bytes_ = 0;
  std::int64_t uncounted_ = 0;
};

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_SEGMENTS_H_
