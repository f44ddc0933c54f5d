#include "pipe_lane.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace parlor::pipe_internal {
namespace {

// What does not fit the inline chunk is not rare any more.
constexpr std::size_t kChunkBytesMin = 1024;
// A deep queue takes larger chunks, so that what is lost at their ends does
// not count.
constexpr std::size_t kChunkBytesMax = 64 * 1024;

}  // namespace

ReliableLane::~ReliableLane() {
  FreeAll(read_chunk_);
  FreeAll(returned_.load(std::memory_order_acquire));
  FreeAll(free_);
}

void ReliableLane::FreeAll(Chunk* chunk) {
  while (chunk != nullptr) Free(std::exchange(chunk, chunk->next));
}

void ReliableLane::Free(Chunk* chunk) {
  if (chunk == &inline_.chunk) return;
  allocated_ -= chunk->capacity + sizeof(Chunk);
  ::operator delete(chunk);
}

// Looks at the consumer's progress only when what is known of it does not do.
bool ReliableLane::MakeRoom(std::size_t cost) {
  known_head_ = head_.load(std::memory_order_acquire);
  const std::uint64_t queued = tail_ + cost - known_head_;
  if (queued > bytes_max_) return false;
  if (queued > bytes_max_ / 2 && !above_half_.load(std::memory_order_relaxed)) {
    // Published with the message that made it so: the pump which takes that
    // message finds the flag, and no wait for OnWritable is ever missed.
    above_half_.store(true, std::memory_order_relaxed);
    soft_max_ = bytes_max_;
  }
  return true;
}

void ReliableLane::NextChunk(std::size_t record_bytes) {
  Chunk* chunk = TakeFree(record_bytes + kHeaderBytes);
  if (chunk == nullptr) chunk = Allocate(record_bytes);
  chunk->next = nullptr;
  write_chunk_->next = chunk;
  std::memcpy(write_, &kJump, kHeaderBytes);
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
    Free(std::exchange(free_, free_->next));
  }
  allocated_ += bytes;
  return new (::operator new(bytes)) Chunk{nullptr, bytes - sizeof(Chunk)};
}

void ReliableLane::Return(Chunk* chunk) {
  if (one_thread_) {
    // Rewind goes back to the inline chunk itself.
    if (chunk != &inline_.chunk) chunk->next = std::exchange(free_, chunk);
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

// The chunk that was read to its end goes back.
void ReliableLane::NextReadChunk() {
  Chunk* drained = read_chunk_;
  read_chunk_ = drained->next;
  read_ = read_chunk_->bytes();
  Return(drained);
}

bool Mailbox::Put(MessageKind kind, std::size_t size,
                  std::span<const std::byte> stored) {
  Slot& slot = slots_[write_index_];
  if (slot.capacity < stored.size()) {
    // stored is within limits::kMessageBytes.
    slot.capacity = static_cast<std::uint32_t>(
        std::max<std::size_t>(64, std::bit_ceil(stored.size())));
    slot.bytes = std::make_unique_for_overwrite<std::byte[]>(slot.capacity);
  }
  CopyBytes(slot.bytes.get(), stored);
  slot.kind = kind;
  slot.size = size;
  slot.stored = static_cast<std::uint32_t>(stored.size());
  const std::uint64_t word =
      (std::uint64_t{size} << kSizeShift) | kFresh | write_index_;
  const std::uint64_t old = Swap(word_, word, one_thread_);
  write_index_ = static_cast<std::uint8_t>(old & kIndexMask);
  return (old & kFresh) != 0;
}

}  // namespace parlor::pipe_internal
