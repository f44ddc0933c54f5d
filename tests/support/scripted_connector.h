// ScriptedConnector: a host that a test plays by hand. Each Connect gives a
// ScriptedLink, on which the test opens, says and closes what it likes, and
// reads what the client sent.
#ifndef PARLOR_TESTS_SUPPORT_SCRIPTED_CONNECTOR_H_
#define PARLOR_TESTS_SUPPORT_SCRIPTED_CONNECTOR_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/connector.h"

namespace parlor::test {

// The host's end of one connection. Outlives the client's.
class ScriptedLink {
 public:
  explicit ScriptedLink(ConnectionHandler* handler) : handler_(handler) {}

  void Open(TimePoint now) { handler_->OnOpen(now, *connection_); }

  // Reaches the client only while it listens (rule 3 of connection.h).
  void Say(TimePoint now, std::span<const std::byte> bytes,
           MessageKind kind = MessageKind::kBinary) {
    if (connection_ == nullptr || close_code_.has_value()) return;
    handler_->OnMessage(now, *connection_, Lane::kReliable, kind, bytes);
  }

  // The client's OnClose, with its own code if it closed first. The event's
  // text dies with the connection, as it may on a real one.
  void Close(TimePoint now, CloseCode code, std::string_view text = {},
             std::uint16_t refusal = 0) {
    PARLOR_CHECK(connection_ != nullptr);
    const bool by_us = close_code_.has_value();
    Mortal& connection = *connection_;
    connection.text = text;
    if (!by_us) close_code_ = code;
    handler_->OnClose(now, connection,
                      CloseEvent{.code = *close_code_,
                                 .text = connection.text,
                                 .by_us = by_us,
                                 .refusal = refusal});
  }

  // What the client sent since the last call.
  std::vector<std::vector<std::byte>> TakeSent() {
    return std::exchange(sent_, {});
  }

  bool destroyed() const { return connection_ == nullptr; }
  // What the client, or the host, closed it with.
  std::optional<CloseCode> close_code() const { return close_code_; }

 private:
  friend class ScriptedConnector;

  struct Mortal final : Connection {
    explicit Mortal(std::shared_ptr<ScriptedLink> to) : link(std::move(to)) {
      link->connection_ = this;
    }
    ~Mortal() override { link->connection_ = nullptr; }

    void SetHandler(ConnectionHandler* handler) override {
      link->handler_ = handler;
    }
    using Connection::Send;
    SendResult Send(Lane, MessageKind,
                    std::span<const std::byte> bytes) override {
      if (!is_open()) return SendResult::kClosed;
      link->sent_.emplace_back(bytes.begin(), bytes.end());
      return SendResult::kQueued;
    }
    std::size_t queued_bytes(Lane) const override { return 0; }
    using Connection::Close;
    void Close(CloseCode code, std::string_view) override {
      if (is_open()) link->close_code_ = code;
    }
    void Abort() override {
      if (is_open()) link->close_code_ = close_code::kDropped;
    }
    bool is_open() const override { return !link->close_code_.has_value(); }

    std::shared_ptr<ScriptedLink> link;
    std::string text;
  };

  ConnectionHandler* handler_;
  Mortal* connection_ = nullptr;
  std::vector<std::vector<std::byte>> sent_;
  std::optional<CloseCode> close_code_;
};

class ScriptedConnector final : public Connector {
 public:
  struct Call {
    TimePoint at;
    Hello hello;
    std::shared_ptr<ScriptedLink> link;
  };

  std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                      ConnectionHandler* handler) override {
    auto link = std::make_shared<ScriptedLink>(handler);
    calls_.push_back({now, hello, link});
    return std::make_unique<ScriptedLink::Mortal>(std::move(link));
  }

  const std::vector<Call>& calls() const { return calls_; }
  ScriptedLink& last() {
    PARLOR_CHECK(!calls_.empty());
    return *calls_.back().link;
  }

 private:
  std::vector<Call> calls_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_SCRIPTED_CONNECTOR_H_
