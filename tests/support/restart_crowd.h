// A host full of matches that went down, and all their players coming back over
// sockets: what a restart takes.
#ifndef PARLOR_TESTS_SUPPORT_RESTART_CROWD_H_
#define PARLOR_TESTS_SUPPORT_RESTART_CROWD_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "storage/state_file.h"
#include "support/open_files.h"
#include "support/room_states.h"
#include "support/steady_now.h"

namespace parlor::test {

class RestartCrowd {
 public:
  static constexpr int kRooms = 500;
  static constexpr int kSeats = 4;  // of each

  // `path` is where the matches are kept.
  explicit RestartCrowd(const std::string& path) {
    options_.state_path = path;
    options_.shards = 2;
    options_.gate.open = true;
    // They come from one address, at once.
    options_.gate.joins_per_minute = limits::kAddressRate.ceiling;
    options_.unseated = limits::kUnseated.ceiling;
    options_.unseated_per_address = limits::kUnseatedPerAddress.ceiling;
    AllowManyOpenFiles();
  }

  // What a host that played has kept: every seat's last inputs, all there are.
  void WriteFile() const {
    auto opened = host::StateFile::Open(
        options_.state_path, options_.shard.rooms, options_.shard.seats, {});
    PARLOR_CHECK(opened.ok());
    for (std::uint32_t room = 0; room < kRooms; ++room) {
      opened->file->Keep(
          room, BytesOf(MakeRoomState(kSeats, room, lockstep::kReplayInputs)));
    }
  }

  // Makes the host, and answers how long it was until every player had WELCOME
  // and RESUME. Those that come back last hear the least of the others' before.
  Duration ComeBack() {
    const TimePoint begin = SteadyNow();
    auto server = host::Server::Create(options_, entropy_);
    PARLOR_CHECK(server.ok());
    NetLoop loop;
    auto connector = MakeNetConnector(
        loop, entropy_, "ws://127.0.0.1:" + std::to_string((*server)->port()));
    PARLOR_CHECK(connector.ok());
    std::list<Player> players;
    back_ = 0;
    for (std::uint32_t room = 0; room < kRooms; ++room) {
      for (std::uint32_t seat = 0; seat < kSeats; ++seat) {
        Player& player = players.emplace_back(*this, seat);
        player.connection =
            (*connector)
                ->Connect(SteadyNow(),
                          {.room = room,
                           .players = kSeats,
                           .resume = lockstep::TokenText(seat + 1)},
                          &player);
      }
    }
    const TimePoint patience = begin + 60 * Duration(std::chrono::seconds(1));
    while (back_ < kRooms * kSeats && SteadyNow() < patience)
      loop.Poll(SteadyNow());
    PARLOR_CHECK(back_ == kRooms * kSeats);
    const Duration taken = SteadyNow() - begin;
    server->reset();
    return taken;
  }

 private:
  // One who comes back.
  struct Player final : ConnectionHandler {
    Player(RestartCrowd& its_crowd, std::uint32_t its_seat)
        : crowd(its_crowd), seat(its_seat) {}

    void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                   std::span<const std::byte> bytes) override {
      const auto message =
          lockstep::Decode(bytes.first<lockstep::kMessageSize>());
      if (message.kind == lockstep::Kind::kWelcome) {
        PARLOR_CHECK(message.slot == seat && message.value == seat + 1);
        welcome = true;
      } else if (message.kind == lockstep::Kind::kResume &&
                 message.slot == seat) {
        PARLOR_CHECK(std::exchange(welcome, false));
        ++crowd.back_;
      }
    }
    // Not before everyone is back.
    void OnClose(TimePoint, Connection&, const CloseEvent&) override {
      PARLOR_CHECK(false);
    }

    RestartCrowd& crowd;
    const std::uint32_t seat;
    bool welcome = false;
    std::unique_ptr<Connection> connection;
  };

  host::ServerOptions options_;
  host::OsEntropy entropy_;
  int back_ = 0;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_RESTART_CROWD_H_
