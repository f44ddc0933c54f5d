#include "sim/host_process.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "logic/door.h"
#include "logic/handover.h"
#include "logic/reception.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connector.h"
#include "parlor/host/memory_room_store.h"
#include "parlor/host/room_store.h"
#include "parlor/host/server.h"
#include "parlor/host/shard.h"
#include "parlor/hosted_room.h"
#include "parlor/lockstep/room.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "sim/host_machine.h"
#include "sim/opening_stream.h"
#include "sim/sim_stream.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"

namespace parlor::sim {

HostProcess::Shard::Shard(HostProcess& process,
                          const host::ServerOptions& options)
    : loop(process.loop_.executor()),
      // Nobody has a pipe to here.
      door(loop, {}, options.shard, options.stream, process.entropy_) {}

HostProcess::HostProcess(HostMachine& machine, std::uint64_t entropy_seed)
    : machine_(machine),
      play_keys_(machine.options().shard.play_rooms),
      entropy_(entropy_seed),
      loop_(machine.network().executor()),
      reception_(loop_, machine.options(),
                 {.doors = static_cast<std::size_t>(machine.options().shards),
                  .wall_clock =
                      [&network = machine.network()] {
                        return kWorldBeginsS +
                               network.now().time_since_epoch() /
                                   std::chrono::seconds(1);
                      },
                  .post = [this](auto task) { loop_.Post(std::move(task)); }},
                 *this) {
  for (int i = 0; i < machine.options().shards; ++i) {
    shards_.push_back(std::make_unique<Shard>(*this, machine.options()));
    shards_.back()->door.shard().SetRecords(machine.records());
  }
  loop_.Post([this] { reception_.Begin(); });
  if (machine.store() != nullptr) TakeBack(*machine.store());
  Listen();
}

HostProcess::~HostProcess() = default;

void HostProcess::TakeBack(host::MemoryRoomStore& store) {
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->door.shard().SetStore(&store);
  }
  for (const host::KeptRoom& room : store.rooms()) {
    PARLOR_CHECK(
        ShardOf(room.number)
            .door.shard()
            .Restore(machine_.network().now(), room.number, room.state));
  }
}

void HostProcess::Listen() {
  machine_.endpoint().SetListener(this);
  const auto listen = [this](StreamPort& port, NetTransport transport) {
    port.Listen(loop_,
                [this, transport](const Link& link,
                                  std::unique_ptr<stream::ByteStream> stream) {
                  OnStream(link, std::move(stream), transport);
                });
  };
  listen(machine_.web_port(), NetTransport::kWebSocket);
  listen(machine_.tcp_port(), NetTransport::kTcp);
}

void HostProcess::OnStream(const Link& link,
                           std::unique_ptr<stream::ByteStream> stream,
                           NetTransport transport) {
  reception_.OnAccept(std::move(stream), machine_.AddressOf(link), transport);
}

// In an event of the endpoint's; the front is asked in a turn of its own.
void HostProcess::OnOpening(TimePoint /*now*/,
                            std::unique_ptr<Opening> opening) {
  loop_.Post([this, held = std::make_shared<std::unique_ptr<Opening>>(
                        std::move(opening))] {
    const Link& link = (*held)->link();
    OnStream(link, std::make_unique<OpeningStream>(loop_, std::move(*held)),
             NetTransport::kTcp);
  });
}

void HostProcess::HandOver(host::Handover handover) {
  Shard& shard = ShardOf(handover.hello.room);
  shard.loop.Post(
      [&shard, held = std::make_shared<host::Handover>(std::move(handover))] {
        auto* const parked =
            dynamic_cast<OpeningStream::Parked*>(held->stream.get());
        if (parked == nullptr) return shard.door.OnHandover(std::move(*held));
        Seat(shard, *held, *parked->TakeOpening());
      });
}

void HostProcess::Seat(Shard& shard, const host::Handover& handover,
                       Opening& opening) {
  const Refusal refusal = shard.door.Admit(handover.hello, handover.address);
  if (refusal.status != 0) return opening.Refuse(refusal);
  shard.door.shard().Attach(shard.loop.now(), opening.Accept(), handover.hello,
                            handover.address);
}

void HostProcess::End(CloseReason reason, const std::function<void()>& ended) {
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->loop.Post(
        [&door = shard->door, reason, ended] { door.End(reason, ended); });
  }
}

void HostProcess::SetOptions(const host::ShardOptions& options) {
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->loop.Post(
        [&door = shard->door, options] { door.shard().SetOptions(options); });
  }
}

void HostProcess::DrainDoors() {
  for (const std::unique_ptr<Shard>& shard : shards_) {
    shard->loop.Post([&door = shard->door] { door.Drain(); });
  }
}

void HostProcess::StopAccepting() { machine_.ShutPorts(); }

void HostProcess::Drain() {
  loop_.Post([this] { reception_.Drain(); });
}

void HostProcess::Stop(CloseReason reason) {
  loop_.Post([this, reason] { reception_.Stop(reason); });
}

const lockstep::Room* HostProcess::FindRoom(std::uint32_t number) const {
  return ShardOf(number).door.shard().FindRoom(number);
}

const HostedRoom* HostProcess::FindPlayRoom(std::string_view key) const {
  const std::optional<std::uint32_t> number = play_keys_.Find(key);
  if (!number) return nullptr;
  return ShardOf(*number).door.shard().FindPlayRoom(key);
}

host::ServerFigures HostProcess::DoorFigures() const {
  host::ServerFigures figures;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    figures.rooms += shard->door.shard().rooms();
    figures.players += shard->door.shard().players();
  }
  return figures;
}

host::ServerFigures HostProcess::figures() const {
  host::ServerFigures figures = DoorFigures();
  figures.unseated = reception_.unseated();
  figures.connections = figures.unseated;
  for (const std::unique_ptr<Shard>& shard : shards_) {
    figures.connections += shard->door.shard().connections();
  }
  return figures;
}

}  // namespace parlor::sim
