// Two TLS streams over a pair of memory streams in virtual time, and what reads
// and writes them.
#ifndef PARLOR_TESTS_TRANSPORTS_TLS_LINK_H_
#define PARLOR_TESTS_TRANSPORTS_TLS_LINK_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parlor/executor.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "parlor/transports/tls.h"
#include "stream/byte_stream.h"
#include "stream/tls_stream.h"
#include "support/memory_stream.h"

namespace parlor::test {

inline std::vector<std::byte> BytesOf(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline std::vector<std::byte> RandomBytes(Random& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.Next());
  return bytes;
}

// One side: sends what it was given, in pieces, and reads all that comes. Works
// by its events alone, and sees that they come from the loop.
class StreamEnd final : public stream::ByteStream::Events {
  template <typename Call>
  auto Calling(Call call) {
    in_call_ = true;
    struct Guard {
      bool& flag;
      ~Guard() { flag = false; }
    } guard{in_call_};
    return call();
  }

 public:
  explicit StreamEnd(Executor& executor) : executor_(executor) {}

  void Attach(std::unique_ptr<stream::ByteStream> stream) {
    stream_ = std::move(stream);
    Calling([&] {
      stream_->SetEvents(this);
      stream_->WantRead(true);
    });
  }

  void Send(stream::Bytes bytes) {
    unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
    Flush();
  }
  // Behind what is to be sent.
  void End() {
    end_ = true;
    Flush();
  }
  void WantRead(bool wanted) {
    Calling([&] { stream_->WantRead(wanted); });
  }
  void Destroy() { stream_.reset(); }

  stream::ByteStream* stream() { return stream_.get(); }
  const std::vector<std::byte>& received() const { return received_; }
  std::size_t unsent() const { return unsent_.size(); }
  // kBlocked: neither has come yet.
  stream::IoStatus ended() const { return ended_; }
  bool write_lost() const { return write_lost_; }
  int events() const { return events_; }

  // At most how much one event reads and one call writes.
  std::size_t read_bytes_max = 4096;
  std::size_t piece_bytes_max = 4096;
  // Called before an event is handled; false: it is not handled. May Destroy.
  std::function<bool()> on_event;

 private:
  bool Begin() {
    EXPECT_FALSE(in_call_) << "an event inside a call";
    ++events_;
    return !on_event || on_event();
  }

  void OnReadable() override {
    EXPECT_NE(ended_, stream::IoStatus::kLost) << "after the loss";
    if (!Begin()) return;
    std::vector<std::byte> into(
        1 +
        executor_.random().Below(static_cast<std::uint32_t>(read_bytes_max)));
    const stream::IoResult result =
        Calling([&] { return stream_->Read(into); });
    received_.insert(received_.end(), into.begin(),
                     into.begin() + static_cast<std::ptrdiff_t>(result.bytes));
    EXPECT_EQ(result.status == stream::IoStatus::kOk, result.bytes > 0);
    if (result.status == stream::IoStatus::kOk ||
        result.status == stream::IoStatus::kBlocked) {
      return;
    }
    EXPECT_EQ(ended_, stream::IoStatus::kBlocked) << "told twice";
    ended_ = result.status;
    WantRead(false);
  }

  void OnWritable() override {
    if (Begin()) Flush();
  }

  void Flush() {
    while (!unsent_.empty()) {
      std::array<stream::Bytes, 5> pieces;
      std::size_t count = 0;
      for (stream::Bytes left = unsent_; !left.empty() && count < 5; ++count) {
        const auto most = std::min(left.size(), piece_bytes_max);
        const std::size_t size =
            1 + executor_.random().Below(static_cast<std::uint32_t>(most));
        pieces[count] = left.first(size);
        left = left.subspan(size);
      }
      const stream::IoResult result = Calling(
          [&] { return stream_->Write(std::span(pieces).first(count)); });
      EXPECT_EQ(result.status == stream::IoStatus::kOk, result.bytes > 0);
      if (result.status == stream::IoStatus::kLost) {
        write_lost_ = true;
        return;
      }
      if (result.status == stream::IoStatus::kBlocked) {
        return Calling([&] { stream_->WantWrite(); });
      }
      unsent_.erase(
          unsent_.begin(),
          unsent_.begin() + static_cast<std::ptrdiff_t>(result.bytes));
    }
    if (std::exchange(end_, false)) Calling([&] { stream_->EndWrite(); });
  }

  Executor& executor_;
  std::unique_ptr<stream::ByteStream> stream_;
  std::vector<std::byte> received_, unsent_;
  stream::IoStatus ended_ = stream::IoStatus::kBlocked;
  bool end_ = false;
  bool write_lost_ = false;
  bool in_call_ = false;
  int events_ = 0;
};

// A network of two: both ends over memory, either of them with TLS or without.
struct TlsLink {
  explicit TlsLink(std::uint64_t seed, const MemoryStreamOptions& options = {})
      : executor(seed, Executor::Ties::kShuffled) {
    MemoryStreamPair pair =
        MakeMemoryStreams(executor, server_loop, client_loop, options);
    server_under = pair.first.get();
    client_under = pair.second.get();
    server_raw = std::move(pair.first);
    client_raw = std::move(pair.second);
  }

  void Serve(const TlsServer& tls) {
    server.Attach(stream::MakeTlsServerStream(
        server_loop, std::move(server_raw), tls.context()));
  }
  void Connect(const TlsClient& tls, const std::string& host = "localhost") {
    client.Attach(stream::MakeTlsClientStream(
        client_loop, std::move(client_raw), tls.context(), host));
  }
  void Run() {
    // Far above what any of the cases takes: who spins fails the check inside.
    executor.RunUntil(executor.now() + kMillisecond, 5'000'000);
    EXPECT_EQ(executor.pending(), 0u) << "the loop does not come to rest";
  }

  Executor executor;
  VirtualLoop server_loop{executor}, client_loop{executor};
  VirtualLoop other_loop{executor};  // for who leaves one of them
  StreamEnd server{executor}, client{executor};
  std::unique_ptr<stream::ByteStream> server_raw, client_raw;
  // Below TLS, for as long as the streams above live.
  stream::ByteStream* server_under = nullptr;
  stream::ByteStream* client_under = nullptr;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_TRANSPORTS_TLS_LINK_H_
