// A side of a stream that the tests drive: keeps what it hears, says what it
// was given as the stream takes it, and sees that events come from the loop.
#ifndef PARLOR_TESTS_TRANSPORTS_SIM_END_H_
#define PARLOR_TESTS_TRANSPORTS_SIM_END_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "parlor/byte_io.h"
#include "parlor/executor.h"
#include "parlor/time.h"
#include "stream/byte_stream.h"

namespace parlor::sim {

class SimEnd final : private stream::ByteStream::Events {
 public:
  explicit SimEnd(Executor& executor) : executor_(executor) {}

  // Takes it, and reads it unless `reads` is not set.
  void Own(std::unique_ptr<stream::ByteStream> owned) {
    stream = std::move(owned);
    stream->SetEvents(this);
    stream->WantRead(reads);
    stream->WantWrite();
  }
  void Listen(bool wanted) {
    reads = wanted;
    stream->WantRead(wanted);
  }

  // As the stream takes it, from now on.
  void Say(std::string_view text) {
    unsaid.append(text);
    if (stream != nullptr && writable_at) Flush();
  }
  // How much of `text` the stream takes now.
  std::size_t SayWhatFits(std::string_view text) {
    stream::Bytes rest = AsBytes(text);
    while (!rest.empty()) {
      const stream::IoResult result = stream->Write(std::span(&rest, 1));
      wrote = result.status;
      if (wrote != stream::IoStatus::kOk) break;
      rest = rest.subspan(result.bytes);
    }
    return text.size() - rest.size();
  }
  stream::IoStatus Write(std::string_view text) {
    SayWhatFits(text);
    return wrote;
  }

  std::string Take() { return std::exchange(heard, {}); }

  std::unique_ptr<stream::ByteStream> stream;
  bool reads = true;
  std::string heard;
  std::string unsaid;
  stream::IoStatus wrote = stream::IoStatus::kOk;  // the last time
  stream::IoStatus ended = stream::IoStatus::kOk;  // kOk: it goes on
  std::optional<TimePoint> heard_at;  // when something was heard last
  std::optional<TimePoint> ended_at;
  std::optional<TimePoint> writable_at;  // first
  std::size_t largest_read = 0;
  // Run inside the event, instead of what is above.
  std::function<void()> on_readable, on_writable;

 private:
  void OnReadable() override {
    if (on_readable) return on_readable();
    std::array<std::byte, 4'000> buffer;
    const stream::IoResult result = stream->Read(buffer);
    if (result.status == stream::IoStatus::kOk) {
      heard += AsText(std::span(buffer).first(result.bytes));
      heard_at = executor_.now();
      largest_read = std::max(largest_read, result.bytes);
    } else if (result.status != stream::IoStatus::kBlocked) {
      ended = result.status;
      ended_at = executor_.now();
      stream->WantRead(false);
    }
  }
  void OnWritable() override {
    if (!writable_at) writable_at = executor_.now();
    if (on_writable) return on_writable();
    Flush();
  }
  void Flush() {
    unsaid.erase(0, SayWhatFits(unsaid));
    if (!unsaid.empty()) stream->WantWrite();
  }

  Executor& executor_;
};

}  // namespace parlor::sim

#endif  // PARLOR_TESTS_TRANSPORTS_SIM_END_H_
