#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "parlor/host/os_entropy.h"
#include "parlor/host/shard.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/request.h"

parlor::TimePoint Now() {
  return parlor::TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

// The host's side: asks the shard about each client, and seats it there.
class Door final : public parlor::NetListenerHandler {
 public:
  explicit Door(parlor::host::Shard& shard) : shard_(shard) {}

  parlor::Verdict OnKnock(parlor::TimePoint now,
                          const parlor::Knock& knock) override {
    parlor::Verdict verdict{.refusal = {},
                            .protocol = parlor::kLockstepProtocol};
    auto& refusal = verdict.refusal;
    refusal.status = parlor::ParseRoomRequest(knock.request, "", &hello_);
    if (refusal.status == 0) refusal = shard_.Admit(now, hello_);
    return verdict;
  }
  void OnConnection(parlor::TimePoint now, const parlor::Knock&,
                    std::unique_ptr<parlor::Connection> connection) override {
    shard_.Attach(now, std::move(connection), hello_);
  }

 private:
  parlor::host::Shard& shard_;
  parlor::Hello hello_;
};

// The player's side. A game gives the connector to its lockstep::Peer.
class Player final : public parlor::ConnectionHandler {
 public:
  int messages = 0;

  void OnMessage(parlor::TimePoint, parlor::Connection&, parlor::Lane,
                 parlor::MessageKind, std::span<const std::byte>) override {
    ++messages;
  }
  void OnClose(parlor::TimePoint, parlor::Connection&,
               const parlor::CloseEvent& event) override {
    std::printf("closed %d\n", event.code);
  }
};

int main() {
  parlor::host::OsEntropy entropy;
  parlor::NetLoop loop;  // turned by the game's own loop, or by Run on a thread

  parlor::host::Shard shard({}, entropy);
  Door door(shard);
  auto listener = parlor::NetListener::Create(loop, {}, &door);
  if (!listener.ok()) return 1;

  const std::string url =
      "ws://127.0.0.1:" + std::to_string((*listener)->port());
  auto connector = parlor::MakeNetConnector(loop, entropy, url);
  if (!connector.ok()) return 1;
  Player player;
  auto connection =
      (*connector)->Connect(Now(), {.room = 0, .players = 1}, &player);

  while (player.messages == 0) {
    const parlor::TimePoint now = Now();
    loop.Poll(now);
    shard.OnAlarm(now);  // holds end and rooms time out by it
  }
  std::printf("seated over %s\n",
              connection->is_open() ? "a socket" : "nothing");
  connection->Close(parlor::CloseReason::kNormal);
  while (shard.connections() > 0) loop.Poll(Now());
}
