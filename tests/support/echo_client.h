// EchoClient: one end in an EchoRoom, which says what the test says and keeps
// what it heard.
#ifndef PARLOR_TESTS_SUPPORT_ECHO_CLIENT_H_
#define PARLOR_TESTS_SUPPORT_ECHO_CLIENT_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/time.h"

namespace parlor::test {

class EchoClient final : public ConnectionHandler {
 public:
  void Say(std::string_view text) {
    connection->Send(Lane::kReliable, MessageKind::kText, AsBytes(text));
  }

  // What it heard since it was asked last.
  std::vector<std::string> Take() { return std::exchange(heard, {}); }

  std::vector<std::string> heard;
  std::unique_ptr<Connection> connection;  // null once it has closed

 private:
  void OnOpen(TimePoint, Connection&) override { heard.emplace_back("open"); }
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    heard.emplace_back(AsText(bytes));
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    if (event.refusal != 0) {
      heard.push_back("refused " + std::to_string(event.refusal));
    } else {
      heard.push_back("close " + std::to_string(event.code) + " " +
                      std::string(event.text));
    }
    connection.reset();
  }
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_ECHO_CLIENT_H_
