// RestartWorld: a match of peers in a host's shard, in virtual time, whose host
// ends and begins anew: killed, with all that is on its way and all that its
// store does not have, or in order.
//
// Each client has its own pump, which runs at its own ticks (60 a second, at
// its own phase); the host's runs every 4 ms. So when a host is killed, some
// clients have heard what others have not.
#ifndef PARLOR_TESTS_SUPPORT_RESTART_WORLD_H_
#define PARLOR_TESTS_SUPPORT_RESTART_WORLD_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/entropy.h"
#include "parlor/executor.h"
#include "parlor/host/local_connector.h"
#include "parlor/host/memory_room_store.h"
#include "parlor/host/room_store.h"
#include "parlor/host/shard.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/room.h"
#include "parlor/transports/memory_pipe.h"
#include "support/lockstep_world.h"
#include "support/memory_room_records.h"

namespace parlor::test {

class RestartWorld {
 public:
  static constexpr std::uint32_t kRoom = 3;

  struct Options {
    std::uint64_t seed = 1;
    int players = 3;
    std::uint32_t frames = 600;  // how many LoggedGame::stop_state is after
    lockstep::PeerOptions peer = {};
    host::ShardOptions shard = {};
  };

  class Client final : public Connector {
   public:
    explicit Client(RestartWorld& world)
        : world_(world), peer_(*this, game_, world.options_.peer) {
      game_.stop_frame = world.options_.frames;
      game_.keep_frames = true;
      peer_.Join(world.now(), MakeHello());
    }

    std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                        ConnectionHandler* handler) override {
      if (world_.process_ == nullptr || world_.process_->ended || cut_off) {
        PipePair pipe = MakePipe(pump_, pump_);
        pipe.first->SetHandler(handler);
        return std::move(pipe.first);
      }
      Process& process = *world_.process_;
      auto made = host::LocalConnector(pump_, process.pump, process.shard)
                      .Connect(now, hello, handler);
      link_ = made.get();
      return made;
    }

    // The link is lost, with what is on its way; no new one is to be had.
    void CutOff() {
      if (peer_.state() == lockstep::PeerState::kPlaying) link_->Abort();
      cut_off = true;
    }

    lockstep::Peer& peer() { return peer_; }
    LoggedGame& game() { return game_; }
    bool in_match() const {
      return peer_.state() == lockstep::PeerState::kPlaying ||
             peer_.state() == lockstep::PeerState::kReconnecting;
    }

    bool cut_off = false;

   private:
    friend class RestartWorld;

    Hello MakeHello() const {
      Hello hello;
      hello.room = kRoom;
      hello.players = world_.options_.players;
      return hello;
    }
    void Tick() {
      pump_.Pump(world_.now());
      if (peer_.next_alarm() <= world_.now()) peer_.OnAlarm(world_.now());
      peer_.Step(world_.now());
    }

    RestartWorld& world_;
    PipePump pump_;
    LoggedGame game_;
    Connection* link_ = nullptr;  // that of kPlaying
    lockstep::Peer peer_;
  };

  explicit RestartWorld(const Options& options)
      : options_(options), executor_(options.seed) {
    Start();
    RunHost();
    for (int i = 0; i < options.players; ++i) AddClient();
  }

  void RunFor(Duration time) { executor_.RunFor(time); }

  // kill -9: what the store has is all that is left.
  void Kill() {
    records_.killed = true;
    process_.reset();
    records_.killed = false;
  }
  // What SIGTERM does at the end of its drain; the process ends with Kill.
  // Nobody comes in any more (host/logic/door.h).
  void EndInOrder() {
    process_->ended = true;
    process_->shard.EndAll(now(), CloseReason::kRestart);
  }
  // The next process, which takes back what was kept.
  void Start() {
    process_ = std::make_unique<Process>(options_, ++starts_);
    process_->shard.SetStore(&store_);
    process_->shard.SetRecords(&records_);
    for (const host::KeptRoom& room : store_.rooms()) {
      PARLOR_CHECK(process_->shard.Restore(now(), room.number, room.state));
    }
  }

  // Null between Kill and Start, and when the match is over.
  const lockstep::Room* room() const {
    return process_ == nullptr ? nullptr : process_->shard.FindRoom(kRoom);
  }
  host::MemoryRoomStore& store() { return store_; }
  MemoryRoomRecords& records() { return records_; }
  TimePoint now() const { return executor_.now(); }
  std::vector<std::unique_ptr<Client>>& clients() { return clients_; }

 private:
  struct Process {
    Process(const Options& options, std::uint64_t start)
        : entropy(options.seed * 1'000 + start),
          shard(options.shard, entropy) {}

    PipePump pump;
    SeededEntropy entropy;
    host::Shard shard;
    bool ended = false;
  };

  static constexpr Duration kTick{16'666'667};

  void AddClient() {
    clients_.push_back(std::make_unique<Client>(*this));
    Client* const client = clients_.back().get();
    const Duration phase{
        executor_.random().Below(static_cast<std::uint32_t>(kTick.count()))};
    executor_.After(phase, [this, client] { RunClient(*client); });
  }

  void RunClient(Client& client) {
    client.Tick();
    executor_.After(kTick, [this, &client] { RunClient(client); });
  }

  void RunHost() {
    if (process_ != nullptr) {
      process_->pump.Pump(now());
      if (process_->shard.next_alarm() <= now()) process_->shard.OnAlarm(now());
    }
    executor_.After(4 * kMillisecond, [this] { RunHost(); });
  }

  const Options options_;
  Executor executor_;
  host::MemoryRoomStore store_;
  MemoryRoomRecords records_;
  std::uint64_t starts_ = 0;
  std::unique_ptr<Process> process_;
  // After it: their ends of pipes may go first.
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_RESTART_WORLD_H_
