// PipeRelay: lockstep rooms on memory pipes, through a shard and its sessions,
// and the players who load them. One thread, virtual time: what it does is the
// same in each run.
#ifndef PARLOR_BENCH_PIPE_RELAY_H_
#define PARLOR_BENCH_PIPE_RELAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/host/local_connector.h"
#include "parlor/host/room_records.h"
#include "parlor/host/shard.h"
#include "parlor/lane.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::bench {

// A seat that plays by hand: it counts what it is given, and reads every byte
// that a peer would.
class PipePlayer final : public ConnectionHandler {
 public:
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    const auto message =
        lockstep::Decode(bytes.first<lockstep::kMessageSize>());
    if (message.kind != lockstep::Kind::kInput) return;
    ++delivered;
    sum += message.slot + message.frame + message.value;
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override {
    closed = true;
  }

  std::unique_ptr<Connection> connection;
  std::uint64_t delivered = 0;
  std::uint64_t sum = 0;
  bool closed = false;
};

struct PipeRelayOptions {
  int rooms = 1;
  int seats = 8;
  int rate_hz = 60;  // steps a second of virtual time
  std::int64_t gather_ms = 0;
  host::RoomRecords* records = nullptr;  // null: nothing is recorded
};

class PipeRelay {
 public:
  explicit PipeRelay(const PipeRelayOptions& options)
      : seats_(static_cast<std::size_t>(options.seats)),
        step_(Duration(1'000'000'000 / options.rate_hz)),
        entropy_(1),
        shard_(ShardOptionsFor(options), entropy_),
        connector_(pump_, pump_, shard_),
        players_(static_cast<std::size_t>(options.rooms) * seats_) {
    if (options.records != nullptr) shard_.SetRecords(options.records);
    Hello hello;
    hello.players = options.seats;
    for (std::size_t i = 0; i < players_.size(); ++i) {
      hello.room = static_cast<std::uint32_t>(i / seats_);
      players_[i].connection = connector_.Connect(now_, hello, &players_[i]);
    }
    while (pump_.Pump(now_) > 0) {
    }
  }

  // Every seat says its input for the next frame, all at once, and hears the
  // others'.
  void Step() {
    now_ += step_;
    for (PipePlayer& player : players_) Say(player);
    Deliver();
    ++frame_;
  }

  // The same, but each seat of a room has its own moment of the step, and the
  // rooms have done what they do before the next one speaks.
  void SpreadStep() {
    for (std::size_t seat = 0; seat < seats_; ++seat) {
      now_ += step_ / static_cast<std::int64_t>(seats_);
      for (std::size_t i = seat; i < players_.size(); i += seats_) {
        Say(players_[i]);
      }
      Deliver();
    }
    ++frame_;
  }

  // INPUTs that were handed to a player.
  std::uint64_t delivered() const {
    std::uint64_t sum = 0;
    for (const PipePlayer& player : players_) sum += player.delivered;
    return sum;
  }

  bool all_open() const {
    for (const PipePlayer& player : players_) {
      if (player.closed) return false;
    }
    return true;
  }

  std::size_t room_bytes() const { return shard_.FindRoom(0)->memory_bytes(); }

 private:
  static host::ShardOptions ShardOptionsFor(const PipeRelayOptions& options) {
    host::ShardOptions shard;
    shard.rooms = limits::kRooms.ceiling;
    shard.seats = limits::kSeats.ceiling;
    shard.room.lifetime_ms = limits::kLifetimeMs.ceiling;
    shard.room.gather_ms = options.gather_ms;
    return shard;
  }

  void Say(PipePlayer& player) {
    const lockstep::Message input{
        .kind = lockstep::Kind::kInput,
        .frame = frame_,
        .value = static_cast<std::uint32_t>(player.delivered)};
    player.connection->Send(Lane::kReliable, MessageKind::kBinary,
                            lockstep::Encode(input));
  }

  void Deliver() {
    pump_.Pump(now_);  // the rooms' ends
    pump_.Pump(now_);  // the players' ends
    while (shard_.next_alarm() <= now_) shard_.OnAlarm(now_);
  }

  std::size_t seats_;
  Duration step_;
  TimePoint now_{};
  std::uint32_t frame_ = 0;
  SeededEntropy entropy_;
  PipePump pump_;
  host::Shard shard_;
  host::LocalConnector connector_;
  std::vector<PipePlayer> players_;
};

}  // namespace parlor::bench

#endif  // PARLOR_BENCH_PIPE_RELAY_H_
