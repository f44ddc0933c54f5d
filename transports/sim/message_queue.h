// What is on its way in one direction of a connection: the reliable lane's
// records, in order, and the state lane's messages, by arrival. Memory is kept
// for what comes next, so that a steady flow allocates nothing.
#ifndef PARLOR_TRANSPORTS_SIM_MESSAGE_QUEUE_H_
#define PARLOR_TRANSPORTS_SIM_MESSAGE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "parlor/connection.h"
#include "parlor/lane.h"
#include "parlor/time.h"

namespace parlor::sim {

struct Record {
  enum class Type : std::uint8_t {
    kOpen,      // a client asks
    kAccepted,  // the answer
    kRefused,   // the other one; `number` is the status
    kMessage,
    kPing,
    kPong,
    kClose,  // the end of the lane; `number` is the code, the bytes its text
  };

  TimePoint sent{};
  TimePoint arrives{};       // kNever: it is held up until a later try
  std::uint64_t order = 0;   // what is sent later has a higher one
  std::size_t size = 0;      // of the message
  std::uint32_t stored = 0;  // bytes of it that are there: all, or none of one
                             // that is too large for its receiver
  std::uint16_t number = 0;
  Type type{};
  MessageKind kind{};
};

// Records lie end to end in chunks, each followed by its bytes; their addresses
// hold until Pop.
class RecordQueue {
 public:
  RecordQueue() = default;
  ~RecordQueue();
  RecordQueue(const RecordQueue&) = delete;
  RecordQueue& operator=(const RecordQueue&) = delete;

  bool empty() const { return count_ == 0; }
  Record& Front() const { return *At(read_chunk_, read_); }
  static std::span<const std::byte> BytesOf(const Record& record) {
    return {reinterpret_cast<const std::byte*>(&record + 1), record.stored};
  }

  void Append(const Record& record, std::span<const std::byte> bytes) {
    const std::size_t size = SizeOf(bytes.size());
    if (write_chunk_ == nullptr ||
        write_chunk_->capacity - write_chunk_->used < size) {
      NextChunk(size);
    }
    Record* const place = At(write_chunk_, write_chunk_->used);
    *place = record;
    place->stored = static_cast<std::uint32_t>(bytes.size());
    if (!bytes.empty()) std::memcpy(place + 1, bytes.data(), bytes.size());
    write_chunk_->used += size;
    ++count_;
  }

  void Pop() {
    read_ += SizeOf(Front().stored);
    --count_;
    if (read_ == read_chunk_->used) EndChunk();
  }

  void Clear() {
    while (!empty()) Pop();
  }

  // In order; `visit` takes a Record&.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    std::size_t at = read_;
    for (Chunk* chunk = read_chunk_; chunk != nullptr; chunk = chunk->next) {
      while (at < chunk->used) {
        Record& record = *At(chunk, at);
        at += SizeOf(record.stored);
        visit(record);
      }
      at = 0;
    }
  }

 private:
  struct Chunk {
    Chunk* next;
    std::size_t capacity;
    std::size_t used;
  };
  static constexpr std::size_t kChunkBytesMin = 2 * 1024;
  static constexpr std::size_t kChunkBytesMax = 64 * 1024;

  static constexpr std::size_t SizeOf(std::size_t stored) {
    return sizeof(Record) + ((stored + 7) & ~std::size_t{7});
  }
  static Record* At(Chunk* chunk, std::size_t at) {
    return reinterpret_cast<Record*>(reinterpret_cast<std::byte*>(chunk + 1) +
                                     at);
  }
  void NextChunk(std::size_t size);
  void EndChunk();

  Chunk* read_chunk_ = nullptr;
  Chunk* write_chunk_ = nullptr;
  Chunk* free_ = nullptr;
  std::size_t read_ = 0;
  std::size_t count_ = 0;
};

// One message of the state lane, or its second copy.
struct StateMessage {
  TimePoint sent{};
  TimePoint arrives{};
  std::uint64_t order = 0;
  std::size_t size = 0;
  MessageKind kind{};
  std::vector<std::byte> bytes{};
};

class StateQueue {
 public:
  bool empty() const { return first_ == messages_.size(); }
  StateMessage& Front() { return messages_[first_]; }
  const StateMessage& Front() const { return messages_[first_]; }
  std::span<StateMessage> all() { return std::span(messages_).subspan(first_); }
  // Of all, each with kMessageOverhead.
  std::size_t bytes() const { return bytes_; }

  // By arrival, behind those of the same.
  void Insert(StateMessage message);
  // In the place of all()[index].
  void Replace(std::size_t index, StateMessage message);
  // Its bytes come back by Recycle.
  StateMessage PopFront();
  void Erase(std::size_t index);  // of all()
  void Clear();

  std::vector<std::byte> TakeBuffer();
  void Recycle(std::vector<std::byte> buffer);

 private:
  static std::size_t Weight(const StateMessage& message) {
    return message.bytes.size() + kMessageOverhead;
  }

  // More than that many buffers are not kept.
  static constexpr std::size_t kBuffersMax = 64;

  std::vector<StateMessage> messages_;  // those before first_ are gone
  std::size_t first_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::vector<std::byte>> buffers_;
};

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_MESSAGE_QUEUE_H_
