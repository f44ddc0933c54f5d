// One end of a connection in a parity script, and what it heard.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_SEAT_H_
#define PARLOR_TESTS_SUPPORT_PARITY_SEAT_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "support/hex.h"

namespace parlor::test {

class ParitySeat final : public ConnectionHandler {
 public:
  explicit ParitySeat(std::string name) : name_(std::move(name)) {}

  std::unique_ptr<Connection> connection;
  // See every message of their lane, inside its callback.
  std::function<void(MessageKind, std::span<const std::byte>)> on_message,
      on_state;

  bool is_open() const {
    return connection != nullptr && connection->is_open();
  }

  SendResult Send(std::string_view bytes,
                  MessageKind kind = MessageKind::kBinary,
                  Lane lane = Lane::kReliable) {
    return connection->Send(lane, kind, AsBytes(bytes));
  }

  // Since the last call.
  std::vector<std::string> Take() {
    if (newest_state_) Note("state " + *std::exchange(newest_state_, {}));
    return std::exchange(trace_, {});
  }

  void Note(const std::string& what) { trace_.push_back(name_ + ": " + what); }

  void OnOpen(TimePoint, Connection&) override { Note("open"); }
  void OnMessage(TimePoint, Connection&, Lane lane, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    std::string text = (kind == MessageKind::kText ? "text " : "") + Hex(bytes);
    if (lane == Lane::kState) {
      newest_state_ = std::move(text);
      if (on_state) on_state(kind, bytes);
      return;
    }
    Note(text);
    if (on_message) on_message(kind, bytes);
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    newest_state_.reset();
    Note("close " + std::to_string(event.code) + " '" +
         std::string(event.text) + "'" + (event.by_us ? " by us" : "") +
         (event.refusal != 0 ? " refused " + std::to_string(event.refusal)
                             : ""));
    connection.reset();
  }

 private:
  std::string name_;
  std::vector<std::string> trace_;
  std::optional<std::string> newest_state_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_SEAT_H_
