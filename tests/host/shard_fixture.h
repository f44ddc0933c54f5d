// A shard with clients on memory pipes, in virtual time.
#ifndef PARLOR_TESTS_HOST_SHARD_FIXTURE_H_
#define PARLOR_TESTS_HOST_SHARD_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/host/local_connector.h"
#include "parlor/host/shard.h"
#include "parlor/lockstep/wire.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::host {

// A client that keeps what it hears.
class Client final : public ConnectionHandler {
 public:
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    heard.push_back(lockstep::Decode(bytes.first<lockstep::kMessageSize>()));
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    ++closes;
    code = event.code;
    refusal = event.refusal;
    text = event.text;
  }

  void Say(const lockstep::Message& message) {
    connection->Send(Lane::kReliable, MessageKind::kBinary,
                     lockstep::Encode(message));
  }

  std::optional<lockstep::Message> Last(lockstep::Kind kind) const {
    for (auto it = heard.rbegin(); it != heard.rend(); ++it) {
      if (it->kind == kind) return *it;
    }
    return std::nullopt;
  }

  std::unique_ptr<Connection> connection;
  std::vector<lockstep::Message> heard;
  int closes = 0;
  CloseCode code = 0;
  std::uint16_t refusal = 0;
  std::string text;
};

class ShardTest : public testing::Test {
 protected:
  void Make(const ShardOptions& options = {}) {
    shard_ = std::make_unique<Shard>(options, entropy_);
    connector_ = std::make_unique<LocalConnector>(pump_, pump_, *shard_);
  }

  std::unique_ptr<Client> Join(std::uint32_t room, int players,
                               std::optional<std::string> resume = {}) {
    auto client = std::make_unique<Client>();
    Hello hello{.room = room, .players = players};
    hello.resume = std::move(resume);
    client->connection = connector_->Connect(now_, hello, client.get());
    Settle();
    return client;
  }

  void Settle() {
    while (pump_.Pump(now_) > 0) {
    }
    shard_->OnAlarm(now_);
    while (pump_.Pump(now_) > 0) {
    }
  }

  void Pass(Duration time) {
    now_ += time;
    Settle();
  }

  TimePoint now_{std::chrono::seconds(100)};
  SeededEntropy entropy_{7};
  PipePump pump_;
  std::unique_ptr<Shard> shard_;
  std::unique_ptr<LocalConnector> connector_;
};

}  // namespace parlor::host

#endif  // PARLOR_TESTS_HOST_SHARD_FIXTURE_H_
