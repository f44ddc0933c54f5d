// LockstepClient: one end in a lockstep room that plays no game: it says what
// the test says, and keeps what it heard as text.
#ifndef PARLOR_TESTS_SUPPORT_LOCKSTEP_CLIENT_H_
#define PARLOR_TESTS_SUPPORT_LOCKSTEP_CLIENT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/connection.h"
#include "parlor/lockstep/wire.h"
#include "support/lockstep_text.h"

namespace parlor::test {

class LockstepClient final : public ConnectionHandler {
 public:
  void Input(std::uint32_t frame) {
    const auto bytes = lockstep::Encode(
        {.kind = lockstep::Kind::kInput, .frame = frame, .value = frame});
    connection->Send(Lane::kReliable, MessageKind::kBinary, bytes);
  }

  // What it heard since it was asked last.
  std::vector<std::string> Take() { return std::exchange(heard, {}); }

  std::vector<std::string> heard;
  std::uint32_t token = 0;       // of the last WELCOME
  TimePoint closed_at = kNever;  // and gone
  std::unique_ptr<Connection> connection;

 private:
  void OnOpen(TimePoint, Connection&) override { heard.emplace_back("open"); }
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    const auto message =
        lockstep::Decode(bytes.first<lockstep::kMessageSize>());
    if (message.kind != lockstep::Kind::kWelcome) {
      heard.push_back(MessageText(bytes));
      return;
    }
    // The seed and the token are nobody's guess.
    token = message.value;
    heard.push_back("WELCOME " + std::to_string(message.slot));
  }
  void OnClose(TimePoint now, Connection&, const CloseEvent& event) override {
    if (event.refusal != 0) {
      heard.push_back("refused " + std::to_string(event.refusal));
    } else {
      heard.push_back("close " + std::to_string(event.code) + " " +
                      std::string(event.text));
    }
    closed_at = now;
    connection.reset();
  }
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_LOCKSTEP_CLIENT_H_
