// A Connection that goes nowhere and remembers everything it was told: for
// tests of whoever talks to connections. Its events are the test's to make.
#ifndef PARLOR_TESTS_SUPPORT_RECORDING_CONNECTION_H_
#define PARLOR_TESTS_SUPPORT_RECORDING_CONNECTION_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/connection.h"

namespace parlor::test {

class RecordingConnection final : public Connection {
 public:
  // One thing it was told, in order.
  struct Entry {
    bool is_close = false;
    // A message.
    Lane lane = Lane::kReliable;
    MessageKind kind = MessageKind::kBinary;
    std::vector<std::byte> bytes;
    // The close that counts: the first.
    CloseCode code = 0;
    std::string text;
  };

  void SetHandler(ConnectionHandler* handler) override { handler_ = handler; }

  using Connection::Send;
  SendResult Send(Lane lane, MessageKind kind,
                  std::span<const std::byte> bytes) override {
    if (!open_) return SendResult::kClosed;
    if (messages_left_ && *messages_left_ == 0) {
      Close(CloseReason::kTooSlow);
      return SendResult::kOverflow;
    }
    if (messages_left_) --*messages_left_;
    log_.push_back({.lane = lane,
                    .kind = kind,
                    .bytes = {bytes.begin(), bytes.end()},
                    .text = {}});
    return SendResult::kQueued;
  }

  using Connection::Close;
  void Close(CloseCode code, std::string_view text) override {
    if (!open_) return;
    open_ = false;
    log_.push_back({.is_close = true,
                    .bytes = {},
                    .code = code,
                    .text = std::string(text)});
  }
  void Abort() override { Close(close_code::kDropped, "aborted"); }
  bool is_open() const override { return open_; }
  std::size_t queued_bytes(Lane lane) const override {
    return lane == Lane::kReliable ? queued_ : 0;
  }

  // The link ended, or the peer closed: nothing can be sent any more. The
  // OnClose that tells of it is the test's to pass on.
  void Lose() { open_ = false; }

  // The reliable lane takes `messages` more, then it is over its limit.
  void FillUpAfter(std::size_t messages) { messages_left_ = messages; }

  // So many bytes of the reliable lane have not been taken.
  void Queue(std::size_t bytes) { queued_ = bytes; }

  // What it was told since the last call.
  std::vector<Entry> Take() { return std::exchange(log_, {}); }

 private:
  ConnectionHandler* handler_ = nullptr;
  bool open_ = true;
  std::optional<std::size_t> messages_left_;
  std::size_t queued_ = 0;
  std::vector<Entry> log_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_RECORDING_CONNECTION_H_
