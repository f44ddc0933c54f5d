// The two lanes of one direction of a memory pipe: a queue of records for the
// reliable lane and a mailbox for the state lane. One producer, one consumer;
// each method says whose it is. Neither side ever waits for the other.
//
// With `one_thread` producer and consumer are the same thread, and no
// instruction with a lock prefix is spent on pretending otherwise.
#ifndef PARLOR_TRANSPORTS_PIPE_LANE_H_
#define PARLOR_TRANSPORTS_PIPE_LANE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/lane.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::pipe_internal {

// Two cores must not fight over a line that only one of them writes.
inline constexpr std::size_t kCacheLine = 64;

// exchange() is a full barrier on every machine; one thread needs none.
template <typename T>
T Swap(std::atomic<T>& place, T value, bool one_thread) {
  if (!one_thread) return place.exchange(value, std::memory_order_acq_rel);
  const T old = place.load(std::memory_order_relaxed);
  place.store(value, std::memory_order_relaxed);
  return old;
}

// A message as the consumer finds it. `bytes` is shorter than `size` (empty)
// when the producer knew that the receiver takes nothing as large.
struct PipeMessage {
  MessageKind kind;
  std::size_t size;
  std::span<const std::byte> bytes;
};

// Records lie end to end in linked chunks. A record is a 4-byte header (size,
// bits below) and its bytes, padded to 4. Where the next record does not fit,
// the header is kJump and the chunk's `next` goes on. Drained chunks go back
// to the producer, so that a steady flow allocates nothing.
class ReliableLane {
 public:
  ReliableLane(std::size_t bytes_max, bool one_thread)
      : soft_max_(bytes_max / 2),
        bytes_max_(bytes_max),
        one_thread_(one_thread) {
    read_chunk_ = write_chunk_ = &inline_.chunk;
    read_ = write_ = write_chunk_->bytes();
    write_end_ = write_ + kInlineBytes;
  }
  ~ReliableLane();
  ReliableLane(const ReliableLane&) = delete;
  ReliableLane& operator=(const ReliableLane&) = delete;

  // Producer. False when the lane would go over its limit; nothing changed
  // then. `stored` is the whole message, or nothing of it.
  bool Append(MessageKind kind, std::size_t size,
              std::span<const std::byte> stored);

  // Producer.
  std::size_t queued_bytes() const {
    return static_cast<std::size_t>(tail_ -
                                    head_.load(std::memory_order_acquire));
  }

  // Producer. True when the lane was above half its limit and is no more; the
  // caller says so with MarkDrained.
  bool has_drained() const {
    return above_half_.load(std::memory_order_relaxed) &&
           queued_bytes() <= bytes_max_ / 2;
  }
  void MarkDrained() {
    above_half_.store(false, std::memory_order_relaxed);
    soft_max_ = bytes_max_ / 2;
  }

  // Producer: where the lane ends after the last Append, for the consumer to be
  // told. It must not look beyond what it was told.
  std::uint64_t tail() const { return tail_; }

  // Consumer.
  std::uint64_t position() const {
    return head_.load(std::memory_order_relaxed);
  }

  // Consumer, position() below the tail. The view lives until Pop.
  PipeMessage Front();
  std::uint64_t Pop(const PipeMessage& message);  // the new position

  // Fetches what an Append touches, while the reader keeps up.
  void PrefetchProducer() const {
    __builtin_prefetch(&tail_, 1);
    __builtin_prefetch(&inline_, 1);
  }
  // Fetches what reading a few messages touches.
  void PrefetchConsumer() const {
    PrefetchProducer();
    __builtin_prefetch(&head_, 1);
    __builtin_prefetch(&inline_.bytes[kCacheLine], 1);
  }

  // Consumer, after its last Pop for now. True when the producer waits to hear
  // that the lane has drained, and it has.
  bool Settle(std::uint64_t tail);

 private:
  struct Chunk {
    Chunk* next;
    std::size_t capacity;
    std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
  };

  static constexpr std::size_t kHeaderBytes = 4;
  static constexpr std::uint32_t kJump = 0xffffffff;

  // Header: bit 0 the kind, bit 1 set when the bytes were left out, the rest
  // the size. A lane holds at most 2 MiB, so that kJump is no size.
  static constexpr std::uint32_t kTextBit = 1;
  static constexpr std::uint32_t kAbsentBit = 2;
  static constexpr int kSizeShift = 2;
  static_assert(limits::kReliableBytes.ceiling < (1 << 29));

  // What a record takes is never more than what it counts.
  static_assert(kMessageOverhead >= kHeaderBytes + 3);
  static constexpr std::size_t RecordBytes(std::size_t stored) {
    return kHeaderBytes + ((stored + 3) & ~std::size_t{3});
  }

  // The message's path is inline; these are off it.
  bool MakeRoom(std::size_t cost);
  void NextChunk(std::size_t record_bytes);
  Chunk* TakeFree(std::size_t capacity);
  Chunk* Allocate(std::size_t record_bytes);
  void NextReadChunk();
  void Rewind();
  void Return(Chunk* chunk);
  void Free(Chunk* chunk);
  void FreeAll(Chunk* chunk);

  // The first chunk lies in the lane, so that the few messages which wait in a
  // pipe whose reader keeps up are found without following a pointer.
  static constexpr std::size_t kInlineBytes = 560;
  struct Inline {
    Chunk chunk{nullptr, kInlineBytes};
    std::array<std::byte, kInlineBytes> bytes;
  };

  // The producer's line.
  alignas(kCacheLine) std::uint64_t tail_ = 0;
  std::byte* write_ = nullptr;
  std::byte* write_end_ = nullptr;
  std::uint64_t known_head_ = 0;  // head_, as of the last look
  std::size_t soft_max_;          // half the limit until above it, then it
  Chunk* write_chunk_ = nullptr;
  Chunk* free_ = nullptr;
  std::atomic<bool> above_half_{false};

  // The consumer's line.
  alignas(kCacheLine) std::atomic<std::uint64_t> head_{0};
  std::byte* read_ = nullptr;
  Chunk* read_chunk_ = nullptr;
  std::atomic<Chunk*> returned_{nullptr};
  std::size_t allocated_ = 0;  // the producer's, in chunks of the heap
  const std::size_t bytes_max_;
  const bool one_thread_;

  alignas(kCacheLine) Inline inline_;
};

// Three slots: one the producer fills, one the consumer reads, one between
// them, which both trade against theirs with one exchange. Slots keep their
// memory.
class Mailbox {
 public:
  explicit Mailbox(bool one_thread) : one_thread_(one_thread) {}

  // Producer. True when an unread message was replaced.
  bool Put(MessageKind kind, std::size_t size,
           std::span<const std::byte> stored);

  // Producer: what the waiting message counts, 0 if none waits.
  std::size_t queued_bytes() const {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    if ((word & kFresh) == 0) return 0;
    return static_cast<std::size_t>(word >> kSizeShift) + kMessageOverhead;
  }

  // Consumer.
  bool has_new() const {
    return (word_.load(std::memory_order_relaxed) & kFresh) != 0;
  }
  // Consumer, when there is a new one: message() is that one until the next
  // Take.
  void Take();
  PipeMessage message() const;

 private:
  struct Slot {
    std::unique_ptr<std::byte[]> bytes;
    std::uint32_t capacity = 0;
    std::uint32_t stored = 0;
    std::size_t size = 0;  // which may be anything, when nothing is stored
    MessageKind kind = MessageKind::kBinary;
  };

  // word_: bits 0..1 the slot between, bit 2 set when it holds an unread
  // message, the rest that message's size.
  static constexpr std::uint64_t kIndexMask = 3;
  static constexpr std::uint64_t kFresh = 4;
  static constexpr int kSizeShift = 3;

  std::array<Slot, 3> slots_;
  std::uint8_t write_index_ = 0;
  std::uint8_t read_index_ = 1;
  const bool one_thread_;
  std::atomic<std::uint64_t> word_{2};
};

inline bool ReliableLane::Append(MessageKind kind, std::size_t size,
                                 std::span<const std::byte> stored) {
  const std::size_t cost = size + kMessageOverhead;
  if (tail_ + cost - known_head_ > soft_max_ && !MakeRoom(cost)) return false;

  const std::size_t record = RecordBytes(stored.size());
  // A jump must always have a place.
  if (static_cast<std::size_t>(write_end_ - write_) < record + kHeaderBytes) {
    NextChunk(record);
  }
  const std::uint32_t header =
      (static_cast<std::uint32_t>(size) << kSizeShift) |
      (stored.size() == size ? 0 : kAbsentBit) |
      (kind == MessageKind::kText ? kTextBit : 0);
  std::memcpy(write_, &header, kHeaderBytes);
  CopyBytes(write_ + kHeaderBytes, stored);
  write_ += record;
  tail_ += cost;
  return true;
}

inline PipeMessage ReliableLane::Front() {
  std::uint32_t header;
  std::memcpy(&header, read_, kHeaderBytes);
  if (header == kJump) {
    NextReadChunk();
    std::memcpy(&header, read_, kHeaderBytes);
  }
  const std::size_t size = header >> kSizeShift;
  const std::size_t stored = (header & kAbsentBit) != 0 ? 0 : size;
  return {(header & kTextBit) != 0 ? MessageKind::kText : MessageKind::kBinary,
          size,
          {read_ + kHeaderBytes, stored}};
}

inline std::uint64_t ReliableLane::Pop(const PipeMessage& message) {
  read_ += RecordBytes(message.bytes.size());
  const std::uint64_t head = position() + message.size + kMessageOverhead;
  head_.store(head, std::memory_order_release);
  return head;
}

inline void ReliableLane::Rewind() {
  PARLOR_DCHECK(read_chunk_ == write_chunk_);
  if (write_chunk_ != &inline_.chunk) {
    Return(write_chunk_);
    read_chunk_ = write_chunk_ = &inline_.chunk;
    inline_.chunk.next = nullptr;
    write_end_ = write_chunk_->bytes() + kInlineBytes;
  }
  read_ = write_ = write_chunk_->bytes();
}

inline bool ReliableLane::Settle(std::uint64_t tail) {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  // Start over where the cache is warm. On two threads the producer may be
  // writing here.
  if (one_thread_ && head == tail) Rewind();
  return above_half_.load(std::memory_order_relaxed) &&
         tail - head <= bytes_max_ / 2;
}

inline void Mailbox::Take() {
  const std::uint64_t old =
      Swap(word_, std::uint64_t{read_index_}, one_thread_);
  read_index_ = static_cast<std::uint8_t>(old & kIndexMask);
}

inline PipeMessage Mailbox::message() const {
  const Slot& slot = slots_[read_index_];
  return {slot.kind, slot.size, {slot.bytes.get(), slot.stored}};
}

}  // namespace parlor::pipe_internal

#endif  // PARLOR_TRANSPORTS_PIPE_LANE_H_
