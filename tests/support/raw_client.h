// A client of bytes on a ByteStream: says what the test says, keeps what it
// hears.
#ifndef PARLOR_TESTS_SUPPORT_RAW_CLIENT_H_
#define PARLOR_TESTS_SUPPORT_RAW_CLIENT_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "parlor/byte_io.h"
#include "stream/byte_stream.h"

namespace parlor::test {

class RawClient final : private stream::ByteStream::Events {
 public:
  explicit RawClient(std::unique_ptr<stream::ByteStream> stream)
      : stream_(std::move(stream)) {
    stream_->SetEvents(this);
    stream_->WantRead(true);
  }

  void Say(std::string_view text) { ASSERT_EQ(SayWhatFits(text), text.size()); }
  // Returns how much of it the stream took now.
  std::size_t SayWhatFits(std::string_view text) {
    stream::Bytes rest = AsBytes(text);
    while (!rest.empty()) {
      const stream::IoResult result = stream_->Write(std::span(&rest, 1));
      if (result.status != stream::IoStatus::kOk) break;
      rest = rest.subspan(result.bytes);
    }
    return text.size() - rest.size();
  }
  void End() { stream_->EndWrite(); }
  void Vanish() {
    stream_->Reset();
    stream_ = nullptr;
  }
  // Whether it reads what it is told.
  void Listen(bool wanted) { stream_->WantRead(wanted); }

  const std::string& heard() const { return heard_; }
  // What it has heard since this was called last.
  std::string Take() { return std::exchange(heard_, {}); }
  // kOk: it goes on.
  stream::IoStatus ended() const { return ended_; }

 private:
  void OnReadable() override {
    std::vector<std::byte> buffer(1000);
    const stream::IoResult result = stream_->Read(buffer);
    if (result.status == stream::IoStatus::kOk) {
      heard_ += AsText(std::span(buffer).first(result.bytes));
    } else if (result.status != stream::IoStatus::kBlocked) {
      ended_ = result.status;
      stream_->WantRead(false);
    }
  }
  void OnWritable() override {}

  std::unique_ptr<stream::ByteStream> stream_;
  std::string heard_;
  stream::IoStatus ended_ = stream::IoStatus::kOk;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_RAW_CLIENT_H_
