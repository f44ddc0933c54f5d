// LockstepWorld: a real room, its clients and the memory pipes between them,
// in virtual time. Clients are peers with a ToyGame, or raw connections that a
// test drives as it likes. Links can be lost, noticed late by the host, and
// refused.
//
// Each client has its own pump, which runs at its own ticks (60 a second, at
// its own phase); the host's pump runs every `host_period`. So messages take
// their time, and a lost link loses those that were on their way.
#ifndef PARLOR_TESTS_SUPPORT_LOCKSTEP_WORLD_H_
#define PARLOR_TESTS_SUPPORT_LOCKSTEP_WORLD_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/executor.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/room.h"
#include "parlor/transports/memory_pipe.h"
#include "support/raw_lockstep_client.h"
#include "support/toy_game.h"

namespace parlor::test {

// A ToyGame that remembers its state after each frame.
class LoggedGame final : public ToyGame {
 public:
  LoggedGame() { keep_frames = false; }

  void OnStart(const lockstep::Match& match) override {
    ToyGame::OnStart(match);
    const auto seat = static_cast<std::uint32_t>(match.seat);
    word = [seat](std::uint32_t frame) {
      return (frame + 1) * 0x9e3779b1u ^ seat * 0x85ebca77u;
    };
  }
  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override {
    ToyGame::Step(frame, inputs, bots);
    states.push_back(state());
    for (std::size_t s = 0; bots != 0; ++s, bots >>= 1) {
      if ((bots & 1) != 0 && frame < bot_from[s]) bot_from[s] = frame;
    }
  }

  std::vector<std::uint64_t> states;  // after frame i
  // The first frame that a bot played in a seat's place.
  std::array<std::uint32_t, 32> bot_from = NoBots();

 private:
  static constexpr std::array<std::uint32_t, 32> NoBots() {
    std::array<std::uint32_t, 32> none{};
    none.fill(0xffffffff);
    return none;
  }
};

// How a host that cannot be reached answers.
enum class Outage : std::uint8_t { kNone, kRefused503, kLost, kSilent };

class LockstepWorld {
 public:
  struct Options {
    std::uint64_t seed = 1;
    int players = 2;
    lockstep::PeerOptions peer = {};
    lockstep::RoomOptions room = {};
    Duration host_period{4'000'000};
    bool ragged = false;  // pumps take a random part of what waits
  };

  class Client;

  explicit LockstepWorld(const Options& options)
      : options_(options),
        executor_(options.seed),
        entropy_(options.seed),
        room_(executor_.now(), options.players, options.room, entropy_) {
    RunHost();
  }

  Client& AddPeer() { return Add(false); }
  Client& AddRaw() { return Add(true); }

  void RunFor(Duration time) { executor_.RunFor(time); }

  // The link of `client` is gone in this moment, with all that is on its way.
  // The host learns of it after `notice`.
  void Lose(Client& client, Duration notice = {}) {
    if (client.link_ == nullptr) return;
    client.link_->notice = notice;
    client.link_->connection->Abort();
    client.link_ = nullptr;
  }

  lockstep::Room& room() { return room_; }
  Executor& executor() { return executor_; }
  TimePoint now() const { return executor_.now(); }
  std::vector<std::unique_ptr<Client>>& clients() { return clients_; }

 private:
  // The host's end of one connection: does what a host's session does.
  struct Link final : ConnectionHandler {
    Link(LockstepWorld& to, Client& from, Hello said)
        : world(to), client(from), hello(std::move(said)) {}

    void OnOpen(TimePoint now, Connection& c) override {
      if (hello.resume) {
        world.room_.Resume(now, c, *hello.resume);
      } else {
        world.room_.Join(now, c);
      }
    }
    void OnMessage(TimePoint now, Connection& c, Lane, MessageKind kind,
                   std::span<const std::byte> bytes) override {
      world.room_.OnMessage(now, c, kind, bytes);
    }
    void OnClose(TimePoint now, Connection& c,
                 const CloseEvent& event) override {
      if (client.link_ == this) client.link_ = nullptr;
      if (notice == Duration{}) return Tell(now, c, event.code);
      const CloseCode code = event.code;
      world.executor_.After(
          notice, [this, code] { Tell(world.now(), *connection, code); });
    }
    void Tell(TimePoint now, Connection& c, CloseCode code) {
      world.room_.OnClose(now, c, code);
      connection.reset();
    }

    LockstepWorld& world;
    Client& client;
    Hello hello;
    std::unique_ptr<Connection> connection;
    Duration notice{};
  };

 public:
  class Client final : public Connector {
   public:
    Client(LockstepWorld& world, bool raw) : world_(world) {
      const Hello hello{.room = 0,
                        .players = world.options_.players,
                        .access = {},
                        .device = {},
                        .resume = {}};
      if (raw) {
        raw_ = std::make_unique<RawLockstepClient>();
        raw_->Use(Connect(world.now(), hello, raw_.get()));
      } else {
        peer_ =
            std::make_unique<lockstep::Peer>(*this, game_, world.options_.peer);
        peer_->Join(world.now(), hello);
      }
    }

    std::unique_ptr<Connection> Connect(TimePoint, const Hello& hello,
                                        ConnectionHandler* handler) override {
      if (outage == Outage::kRefused503) {
        auto refused = MakeRefusedPipe(pump_, 503);
        refused->SetHandler(handler);
        return refused;
      }
      PipePair pipe = MakePipe(pump_, world_.host_pump_);
      pipe.first->SetHandler(handler);
      if (outage == Outage::kLost) pipe.second.reset();
      if (outage == Outage::kSilent) {
        world_.silent_.push_back(std::move(pipe.second));
      }
      if (pipe.second != nullptr) {
        auto link = std::make_unique<Link>(world_, *this, hello);
        pipe.second->SetHandler(link.get());
        link->connection = std::move(pipe.second);
        link_ = link.get();
        world_.links_.push_back(std::move(link));
      }
      return std::move(pipe.first);
    }

    // Comes back with its token, also while its old link is still seated.
    void ResumeRaw() {
      raw_->Use(Connect(world_.now(),
                        Hello{.room = 0,
                              .players = world_.options_.players,
                              .access = {},
                              .device = {},
                              .resume = lockstep::TokenText(raw_->token())},
                        raw_.get()));
    }

    lockstep::Peer& peer() { return *peer_; }
    RawLockstepClient& raw() { return *raw_; }
    bool is_raw() const { return raw_ != nullptr; }
    LoggedGame& game() { return game_; }
    bool in_match() const {
      return peer_->state() == lockstep::PeerState::kPlaying ||
             peer_->state() == lockstep::PeerState::kReconnecting;
    }

    Outage outage = Outage::kNone;
    TimePoint paused_until{};  // takes no steps, and reads nothing
    std::function<void()> on_tick;

   private:
    friend class LockstepWorld;

    void Tick() {
      if (world_.now() < paused_until) return;
      const TimePoint now = world_.now();
      Executor& executor = world_.executor_;
      pump_.Pump(now, world_.options_.ragged && executor.random().Chance(1, 4)
                          ? executor.random().Below(8)
                          : SIZE_MAX);
      if (on_tick) on_tick();
      if (peer_ == nullptr) return;
      if (peer_->next_alarm() <= now) peer_->OnAlarm(now);
      peer_->Step(now);
    }

    LockstepWorld& world_;
    PipePump pump_;
    LoggedGame game_;
    Link* link_ = nullptr;
    std::unique_ptr<RawLockstepClient> raw_;
    std::unique_ptr<lockstep::Peer> peer_;
  };

 private:
  static constexpr Duration kTick{16'666'667};

  Client& Add(bool raw) {
    clients_.push_back(std::make_unique<Client>(*this, raw));
    Client* const client = clients_.back().get();
    const Duration phase{
        executor_.random().Below(static_cast<std::uint32_t>(kTick.count()))};
    executor_.After(phase, [this, client] { RunClient(*client); });
    // Seated before the next one joins: seats are in the order of Add.
    host_pump_.Pump(executor_.now());
    return *client;
  }

  void RunClient(Client& client) {
    client.Tick();
    executor_.After(kTick, [this, &client] { RunClient(client); });
  }

  void RunHost() {
    const TimePoint now = executor_.now();
    host_pump_.Pump(now, options_.ragged && executor_.random().Chance(1, 4)
                             ? executor_.random().Below(8)
                             : SIZE_MAX);
    if (room_.next_alarm() <= now) room_.OnAlarm(now);
    std::erase_if(links_,
                  [](const auto& link) { return link->connection == nullptr; });
    executor_.After(options_.host_period, [this] { RunHost(); });
  }

  const Options options_;
  Executor executor_;
  SeededEntropy entropy_;
  PipePump host_pump_;
  // Clients own the other ends of the links, and their pumps.
  std::vector<std::unique_ptr<Connection>> silent_;
  lockstep::Room room_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Link>> links_;
};

inline std::vector<LockstepWorld::Client*> Honest(LockstepWorld& world) {
  std::vector<LockstepWorld::Client*> honest;
  for (const auto& client : world.clients()) {
    if (!client->is_raw()) honest.push_back(client.get());
  }
  return honest;
}

// Every frame that two peers both ran left both in the same state, so they ran
// it with the same inputs and bots. Save one case: a seat that lost its link
// for good has run some frames with its own last inputs, which nobody else
// ever got; to the others a bot played them.
inline void ExpectSameHistory(LockstepWorld& world) {
  const auto honest = Honest(world);
  auto* const longest =
      *std::max_element(honest.begin(), honest.end(), [](auto* a, auto* b) {
        return a->game().states.size() < b->game().states.size();
      });
  for (LockstepWorld::Client* client : honest) {
    const std::vector<std::uint64_t>& states = client->game().states;
    if (client == longest || states.empty()) continue;
    const auto seat = static_cast<std::size_t>(client->peer().seat());
    const auto other = static_cast<std::size_t>(longest->peer().seat());
    const auto frames = static_cast<std::ptrdiff_t>(
        std::min<std::size_t>({states.size(), longest->game().bot_from[seat],
                               client->game().bot_from[other]}));
    const auto [at, _] = std::mismatch(states.begin(), states.begin() + frames,
                                       longest->game().states.begin());
    EXPECT_EQ(at - states.begin(), frames)
        << "seat " << seat << " differs from seat " << other;
    EXPECT_EQ(client->peer().desync(), -1);
  }
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_LOCKSTEP_WORLD_H_
