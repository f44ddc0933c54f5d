// Entrance: what the connectors of a server need of it: which rooms it runs,
// whether it takes anyone, and the inboxes of its doors. Outlives the server.
#ifndef PARLOR_HOST_NET_ROOM_CONNECTOR_H_
#define PARLOR_HOST_NET_ROOM_CONNECTOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "logic/play_keys.h"
#include "net/inbox.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/host/shard.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::host {

class Entrance {
 public:
  // How far a server has come; it only rises.
  enum class Phase : std::uint8_t {
    kOpen,
    kDraining,  // no joins; resumes pass
    kEnding,    // nobody comes in
  };

  Entrance(const ShardOptions& rooms, const PipeOptions& pipe)
      : rooms_(rooms.rooms),
        seats_(rooms.seats),
        play_keys_(rooms.play_rooms),
        pipe_(pipe) {}

  // Before anyone connects. Room n is at inbox n modulo their number, and
  // hosted room n too.
  void Add(std::shared_ptr<Inbox> inbox) {
    inboxes_.push_back(std::move(inbox));
  }

  // The rest may be called from any thread.

  // Of a key that no room has, 0.
  std::uint32_t NumberOf(std::string_view play_key) const {
    return play_keys_.Find(play_key).value_or(0);
  }
  Inbox& InboxOf(const Hello& hello) const {
    const std::uint32_t number =
        hello.play.empty() ? hello.room : NumberOf(hello.play);
    return *inboxes_[number % inboxes_.size()];
  }

  Phase phase() const { return phase_.load(std::memory_order_acquire); }
  void RaiseTo(Phase phase);

  // 0, 404, 400 or 503.
  std::uint16_t Check(const Hello& hello) const;

  // On the thread of `client`.
  std::unique_ptr<Connection> Connect(PipePump& client, const Hello& hello,
                                      ConnectionHandler* handler) const;

 private:
  const std::int64_t rooms_;
  const std::int64_t seats_;
  const PlayKeys play_keys_;
  const PipeOptions pipe_;
  std::vector<std::shared_ptr<Inbox>> inboxes_;
  std::atomic<Phase> phase_ = Phase::kOpen;
};

class RoomConnector final : public Connector {
 public:
  RoomConnector(std::shared_ptr<const Entrance> entrance, PipePump& client)
      : entrance_(std::move(entrance)), client_(client) {}

  std::unique_ptr<Connection> Connect(TimePoint /*now*/, const Hello& hello,
                                      ConnectionHandler* handler) override {
    return entrance_->Connect(client_, hello, handler);
  }

 private:
  const std::shared_ptr<const Entrance> entrance_;
  PipePump& client_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_NET_ROOM_CONNECTOR_H_
