#include "sim/message_queue.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

namespace parlor::sim {

RecordQueue::~RecordQueue() {
  for (Chunk* list : {read_chunk_, free_}) {
    while (list != nullptr) {
      ::operator delete(std::exchange(list, list->next));
    }
  }
}

// The first free chunk that is large enough, or one twice as large as the last.
void RecordQueue::NextChunk(std::size_t size) {
  Chunk* chunk = nullptr;
  for (Chunk** link = &free_; *link != nullptr; link = &(*link)->next) {
    if ((*link)->capacity < size) continue;
    chunk = *link;
    *link = chunk->next;
    break;
  }
  if (chunk == nullptr) {
    std::size_t capacity = kChunkBytesMin;
    if (write_chunk_ != nullptr) capacity = 2 * write_chunk_->capacity;
    capacity = std::max(std::min(capacity, kChunkBytesMax), size);
    chunk = new (::operator new(sizeof(Chunk) + capacity))
        Chunk{nullptr, capacity, 0};
  }
  chunk->next = nullptr;
  chunk->used = 0;
  if (count_ == 0) {
    // The one that is there holds nothing and is too small.
    if (read_chunk_ != nullptr) {
      read_chunk_->next = std::exchange(free_, read_chunk_);
    }
    read_chunk_ = chunk;
  } else {
    write_chunk_->next = chunk;
  }
  write_chunk_ = chunk;
}

// The reader came to the end of its chunk.
void RecordQueue::EndChunk() {
  read_ = 0;
  if (read_chunk_ == write_chunk_) {
    read_chunk_->used = 0;
    return;
  }
  Chunk* const drained = std::exchange(read_chunk_, read_chunk_->next);
  drained->next = std::exchange(free_, drained);
}

void StateQueue::Insert(StateMessage message) {
  bytes_ += Weight(message);
  if (messages_.size() == messages_.capacity() &&
      first_ > messages_.size() / 2) {
    messages_.erase(messages_.begin(),
                    messages_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  auto place = messages_.end();
  const auto begin = messages_.begin() + static_cast<std::ptrdiff_t>(first_);
  while (place != begin && std::prev(place)->arrives > message.arrives) {
    --place;
  }
  messages_.insert(place, std::move(message));
}

StateMessage StateQueue::PopFront() {
  StateMessage message = std::move(messages_[first_++]);
  bytes_ -= Weight(message);
  if (empty()) {
    messages_.clear();
    first_ = 0;
  }
  return message;
}

void StateQueue::Erase(std::size_t index) {
  const auto place =
      messages_.begin() + static_cast<std::ptrdiff_t>(first_ + index);
  bytes_ -= Weight(*place);
  Recycle(std::move(place->bytes));
  messages_.erase(place);
}

void StateQueue::Replace(std::size_t index, StateMessage message) {
  StateMessage& place = messages_[first_ + index];
  bytes_ += Weight(message);
  bytes_ -= Weight(place);
  Recycle(std::exchange(place, std::move(message)).bytes);
}

void StateQueue::Clear() {
  while (!empty()) Recycle(PopFront().bytes);
}

std::vector<std::byte> StateQueue::TakeBuffer() {
  if (buffers_.empty()) return {};
  std::vector<std::byte> buffer = std::move(buffers_.back());
  buffers_.pop_back();
  return buffer;
}

void StateQueue::Recycle(std::vector<std::byte> buffer) {
  if (buffers_.size() < kBuffersMax) buffers_.push_back(std::move(buffer));
}

}  // namespace parlor::sim
