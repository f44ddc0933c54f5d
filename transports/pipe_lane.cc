#include "pipe_lane.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "parlor/check.h"

namespace parlor::pipe_internal {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr std::uint32_t kJump = 0xffffffff;

// Header: bit 0 the kind, bit 1 set when the bytes were left out, the rest the
// size. A lane holds at most 2 MiB, so that kJump is no size.
constexpr std::uint32_t kTextBit = 1;
constexpr std::uint32_t kAbsentBit = 2;
constexpr int kSizeShift = 2;
static_assert(limits::kReliableBytes.ceiling < (1 << 29));

// An idle pipe that spoke once keeps one of these a direction.
constexpr std::size_t kChunkBytesMin = 1024;
// A deep queue takes larger chunks, so that what is lost at their ends does
// not count.
constexpr std::size_t kChunkBytesMax = 64 * 1024;

// What a record takes is never more than what it counts.
static_assert(kPipeMessageOverhead >= kHeaderBytes + 3);

constexpr std::size_t RecordBytes(std::size_t stored) {
  return kHeaderBytes + ((stored + 3) & ~std::size_t{3});
}

}  // namespace

ReliableLane::~ReliableLane() {
  FreeAll(read_chunk_ != nullptr ? read_chunk_ : first_chunk_);
  FreeAll(returned_.load(std::memory_order_acquire));
  FreeAll(free_);
}

void ReliableLane::FreeAll(Chunk* chunk) {
  while (chunk != nullptr) ::operator delete(std::exchange(chunk, chunk->next));
}

bool ReliableLane::Append(MessageKind kind, std::size_t size,
                          std::span<const std::byte> stored) {
  const std::size_t cost = size + kPipeMessageOverhead;
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (tail + cost - known_head_ > soft_max_ && !MakeRoom(cost)) return false;

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
  if (!stored.empty()) {
    std::memcpy(write_ + kHeaderBytes, stored.data(), stored.size());
  }
  write_ += record;
  tail_.store(tail + cost, std::memory_order_release);
  return true;
}

// Looks at the consumer's progress only when what is known of it does not do.
bool ReliableLane::MakeRoom(std::size_t cost) {
  known_head_ = head_.load(std::memory_order_acquire);
  const std::uint64_t queued =
      tail_.load(std::memory_order_relaxed) + cost - known_head_;
  if (queued > bytes_max_) return false;
  if (queued > bytes_max_ / 2 && !above_half_.load(std::memory_order_relaxed)) {
    // Published with the message that made it so: the pump which takes that
    // message finds the flag, and no wait for OnWritable is ever missed.
    above_half_.store(true, std::memory_order_relaxed);
    soft_max_ = bytes_max_;
  }
  return true;
}

void ReliableLane::MarkDrained() {
  above_half_.store(false, std::memory_order_relaxed);
  soft_max_ = bytes_max_ / 2;
}

void ReliableLane::NextChunk(std::size_t record_bytes) {
  Chunk* chunk = TakeFree(record_bytes + kHeaderBytes);
  if (chunk == nullptr) chunk = Allocate(record_bytes);
  chunk->next = nullptr;
  if (write_chunk_ == nullptr) {
    first_chunk_ = chunk;
  } else {
    write_chunk_->next = chunk;
    std::memcpy(write_, &kJump, kHeaderBytes);
  }
  write_chunk_ = chunk;
  write_ = chunk->bytes();
  write_end_ = write_ + chunk->capacity;
}

// The first free chunk that is large enough; what the consumer gave back is
// looked at only when none of those at hand is.
ReliableLane::Chunk* ReliableLane::TakeFree(std::size_t capacity) {
  for (int look = 0; look < 2; ++look) {
    for (Chunk** link = &free_; *link != nullptr; link = &(*link)->next) {
      Chunk* chunk = *link;
      if (chunk->capacity < capacity) continue;
      *link = chunk->next;
      return chunk;
    }
    Chunk* returned = Swap<Chunk*>(returned_, nullptr, one_thread_);
    while (returned != nullptr) {
      Chunk* chunk = std::exchange(returned, returned->next);
      chunk->next = std::exchange(free_, chunk);
    }
  }
  return nullptr;
}

ReliableLane::Chunk* ReliableLane::Allocate(std::size_t record_bytes) {
  const std::size_t queued = queued_bytes();
  // As large as what is queued, but not larger than the lane may still take.
  const std::size_t wanted =
      std::min({std::max(queued, kChunkBytesMin), kChunkBytesMax,
                std::max(bytes_max_ - queued, kChunkBytesMin)}) -
      sizeof(Chunk) - kHeaderBytes;
  // Whole records: messages are often all of one size, and large ones would
  // lose much at the end.
  const std::size_t records = std::max<std::size_t>(1, wanted / record_bytes);
  const std::size_t bytes =
      sizeof(Chunk) + records * record_bytes + kHeaderBytes;
  // Free chunks are all too small: they go before the limit is passed.
  while (free_ != nullptr && allocated_ + bytes > bytes_max_) {
    Chunk* small = std::exchange(free_, free_->next);
    allocated_ -= small->capacity + sizeof(Chunk);
    ::operator delete(small);
  }
  allocated_ += bytes;
  return new (::operator new(bytes)) Chunk{nullptr, bytes - sizeof(Chunk)};
}

void ReliableLane::Return(Chunk* chunk) {
  if (one_thread_) {
    chunk->next = std::exchange(free_, chunk);
    return;
  }
  // The producer takes them all at once, so that no address comes back while
  // we look (no ABA).
  chunk->next = returned_.load(std::memory_order_relaxed);
  while (!returned_.compare_exchange_weak(chunk->next, chunk,
                                          std::memory_order_release,
                                          std::memory_order_relaxed)) {
  }
}

PipeMessage ReliableLane::Front() {
  if (read_chunk_ == nullptr) {
    read_chunk_ = first_chunk_;
    read_ = read_chunk_->bytes();
  }
  std::uint32_t header;
  std::memcpy(&header, read_, kHeaderBytes);
  if (header == kJump) {
    Chunk* drained = std::exchange(read_chunk_, read_chunk_->next);
    Return(drained);
    read_ = read_chunk_->bytes();
    std::memcpy(&header, read_, kHeaderBytes);
  }
  const std::size_t size = header >> kSizeShift;
  const std::size_t stored = (header & kAbsentBit) != 0 ? 0 : size;
  return {(header & kTextBit) != 0 ? MessageKind::kText : MessageKind::kBinary,
          size,
          {read_ + kHeaderBytes, stored}};
}

void ReliableLane::Pop(const PipeMessage& message) {
  read_ += RecordBytes(message.bytes.size());
  head_.store(head_.load(std::memory_order_relaxed) + message.size +
                  kPipeMessageOverhead,
              std::memory_order_release);
}

bool ReliableLane::Settle() {
  const std::uint64_t tail = tail_.load(std::memory_order_acquire);
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  if (one_thread_ && head == tail && read_chunk_ != nullptr) {
    // Start over where the cache is warm. On two threads the producer may be
    // writing here.
    PARLOR_DCHECK(read_chunk_ == write_chunk_);
    read_ = write_ = write_chunk_->bytes();
  }
  return above_half_.load(std::memory_order_relaxed) &&
         tail - head <= bytes_max_ / 2;
}

bool Mailbox::Put(MessageKind kind, std::size_t size,
                  std::span<const std::byte> stored) {
  Slot& slot = slots_[write_index_];
  if (slot.capacity < stored.size()) {
    slot.capacity = std::max<std::size_t>(64, std::bit_ceil(stored.size()));
    slot.bytes = std::make_unique_for_overwrite<std::byte[]>(slot.capacity);
  }
  if (!stored.empty()) {
    std::memcpy(slot.bytes.get(), stored.data(), stored.size());
  }
  slot.kind = kind;
  slot.size = size;
  slot.stored = stored.size();
  const std::uint64_t word =
      (std::uint64_t{size} << kSizeShift) | kFresh | write_index_;
  const std::uint64_t old = Swap(word_, word, one_thread_);
  write_index_ = static_cast<std::uint8_t>(old & kIndexMask);
  return (old & kFresh) != 0;
}

bool Mailbox::Take() {
  if ((word_.load(std::memory_order_relaxed) & kFresh) == 0) return false;
  const std::uint64_t old =
      Swap(word_, std::uint64_t{read_index_}, one_thread_);
  read_index_ = static_cast<std::uint8_t>(old & kIndexMask);
  return true;
}

PipeMessage Mailbox::message() const {
  const Slot& slot = slots_[read_index_];
  return {slot.kind, slot.size, {slot.bytes.get(), slot.stored}};
}

}  // namespace parlor::pipe_internal
