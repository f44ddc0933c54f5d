// ByteStreams in virtual time. Bytes move in random pieces through buffers as
// small as one byte.
#ifndef PARLOR_TESTS_SUPPORT_MEMORY_STREAM_H_
#define PARLOR_TESTS_SUPPORT_MEMORY_STREAM_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "parlor/check.h"
#include "parlor/executor.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"

namespace parlor::test {

using sim::VirtualLoop;

struct MemoryStreamOptions {
  std::size_t buffer_bytes = 64 * 1024;    // of each direction
  std::size_t piece_bytes_max = SIZE_MAX;  // a read or write moves 1..this many
};

struct MemoryStreamPair;

// One end of a pair. Either end may be destroyed at any time.
class MemoryStream final : public stream::ByteStream {
 public:
  ~MemoryStream() override {
    *alive_ = false;
    if (other_ == nullptr) return;
    other_->other_ = nullptr;
    // Like a socket closed with input unread, or told to reset.
    if (reset_ || !in_.empty()) other_->lost_ = true;
    other_->in_ended_ = true;
    other_->Notify();
  }

  void SetEvents(Events* events) override { events_ = events; }

  stream::IoResult Read(std::span<std::byte> into) override {
    if (lost_) return {stream::IoStatus::kLost, 0};
    if (in_.empty()) {
      return {in_ended_ ? stream::IoStatus::kEnd : stream::IoStatus::kBlocked,
              0};
    }
    const std::size_t size = Piece(std::min(into.size(), in_.size()));
    std::copy_n(in_.begin(), size, into.begin());
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(size));
    if (other_ != nullptr) other_->Notify();
    return {stream::IoStatus::kOk, size};
  }

  stream::IoResult Write(std::span<const stream::Bytes> pieces) override {
    PARLOR_CHECK(!pieces.empty() && !write_ended_);
    if (lost_ || other_ == nullptr) {
      // Nobody is there. What came before can still be read.
      return {stream::IoStatus::kLost, 0};
    }
    const std::size_t room = options_.buffer_bytes - other_->in_.size();
    if (room == 0) return {stream::IoStatus::kBlocked, 0};
    std::size_t total = 0;
    for (stream::Bytes piece : pieces) total += piece.size();
    const std::size_t size = Piece(std::min(room, total));
    std::size_t left = size;
    for (stream::Bytes piece : pieces) {
      const stream::Bytes part = piece.first(std::min(left, piece.size()));
      other_->in_.insert(other_->in_.end(), part.begin(), part.end());
      left -= part.size();
    }
    other_->Notify();
    return {stream::IoStatus::kOk, size};
  }

  void WantRead(bool wanted) override {
    want_read_ = wanted;
    Notify();
  }
  void WantWrite() override {
    want_write_ = true;
    Notify();
  }

  void EndWrite() override {
    if (std::exchange(write_ended_, true) || other_ == nullptr) return;
    other_->in_ended_ = true;
    other_->Notify();
  }

  void Reset() override { reset_ = true; }

  // Moves to an object of no loop, which the other end writes to meanwhile.
  std::unique_ptr<stream::ParkedStream> Park() override {
    return std::make_unique<Parked>(
        std::unique_ptr<MemoryStream>(new MemoryStream(*this, Moved{})));
  }

 private:
  friend MemoryStreamPair MakeMemoryStreams(Executor& executor,
                                            VirtualLoop& first,
                                            VirtualLoop& second,
                                            const MemoryStreamOptions& options);

  struct Moved {};

  class Readiness final : public sim::VirtualEvent {
   public:
    Readiness(VirtualLoop& loop, MemoryStream& stream)
        : VirtualEvent(loop), stream_(stream) {}

   private:
    void OnEvent() override { stream_.Run(); }

    MemoryStream& stream_;
  };

  class Parked final : public stream::ParkedStream {
   public:
    explicit Parked(std::unique_ptr<MemoryStream> stream)
        : stream_(std::move(stream)) {}
    ~Parked() override {
      if (stream_ != nullptr) stream_->Reset();
    }
    std::unique_ptr<stream::ByteStream> Unpark(
        stream::StreamLoop& loop) override {
      PARLOR_CHECK(stream_ != nullptr);
      auto* const virtual_loop = dynamic_cast<VirtualLoop*>(&loop);
      PARLOR_CHECK(virtual_loop != nullptr);
      stream_->readiness_.emplace(*virtual_loop, *stream_);
      return std::move(stream_);
    }

   private:
    std::unique_ptr<MemoryStream> stream_;
  };

  MemoryStream(Executor& executor, VirtualLoop& loop,
               const MemoryStreamOptions& options)
      : executor_(executor), options_(options) {
    readiness_.emplace(loop, *this);
  }

  // Takes the place of `from`, of which nothing is left.
  MemoryStream(MemoryStream& from, Moved /*unused*/)
      : executor_(from.executor_),
        options_(from.options_),
        other_(std::exchange(from.other_, nullptr)),
        in_(std::exchange(from.in_, {})),
        in_ended_(from.in_ended_),
        lost_(from.lost_),
        reset_(from.reset_),
        write_ended_(from.write_ended_) {
    if (other_ != nullptr) other_->other_ = this;
    *from.alive_ = false;
    from.events_ = nullptr;
    from.readiness_.reset();
  }

  std::size_t Piece(std::size_t most) {
    most = std::min(most, options_.piece_bytes_max);
    if (options_.piece_bytes_max == SIZE_MAX) return most;
    return executor_.random().Below(static_cast<std::uint32_t>(most)) + 1;
  }

  bool readable() const {
    return want_read_ && (lost_ || in_ended_ || !in_.empty());
  }
  bool writable() const {
    return want_write_ && (lost_ || other_ == nullptr ||
                           other_->in_.size() < options_.buffer_bytes);
  }

  void Notify() {
    if (readiness_ && (readable() || writable())) readiness_->RunSoon();
  }

  void Run() {
    const std::shared_ptr<bool> alive = alive_;
    if (writable()) {
      want_write_ = false;
      if (events_ != nullptr) events_->OnWritable();
      if (!*alive) return;
    }
    if (readable() && events_ != nullptr) events_->OnReadable();
    if (*alive && events_ != nullptr) Notify();
  }

  Executor& executor_;
  MemoryStreamOptions options_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  MemoryStream* other_ = nullptr;
  Events* events_ = nullptr;
  std::deque<std::byte> in_;
  bool in_ended_ = false;
  bool lost_ = false;
  bool reset_ = false;
  bool write_ended_ = false;
  bool want_read_ = false;
  bool want_write_ = false;
  std::optional<Readiness> readiness_;  // none while parked
};

struct MemoryStreamPair {
  std::unique_ptr<stream::ByteStream> first;
  std::unique_ptr<stream::ByteStream> second;
};

inline MemoryStreamPair MakeMemoryStreams(
    Executor& executor, VirtualLoop& first, VirtualLoop& second,
    const MemoryStreamOptions& options = {}) {
  auto a =
      std::unique_ptr<MemoryStream>(new MemoryStream(executor, first, options));
  auto b = std::unique_ptr<MemoryStream>(
      new MemoryStream(executor, second, options));
  a->other_ = b.get();
  b->other_ = a.get();
  return {std::move(a), std::move(b)};
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_MEMORY_STREAM_H_
