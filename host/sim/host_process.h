// HostProcess: what a dedicated host runs, on a machine of the simulator's: the
// front with its gate on one loop, each shard behind its door on another, and
// no wire between them. Its destruction is that of a process: whoever is
// connected is cut off.
#ifndef PARLOR_HOST_SIM_HOST_PROCESS_H_
#define PARLOR_HOST_SIM_HOST_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "logic/door.h"
#include "logic/handover.h"
#include "logic/play_keys.h"
#include "logic/reception.h"
#include "parlor/close_reason.h"
#include "parlor/entropy.h"
#include "parlor/host/memory_room_store.h"
#include "parlor/host/server.h"
#include "parlor/host/shard.h"
#include "parlor/hosted_room.h"
#include "parlor/lockstep/room.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"

namespace parlor::sim {

class HostMachine;

class HostProcess final : public Listener, private host::Reception::Ports {
 public:
  // Takes back what `machine`, which outlives it, has kept, and listens there.
  HostProcess(HostMachine& machine, std::uint64_t entropy_seed);
  ~HostProcess();
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  // In a turn of the front's loop, as host::Server's.
  void Drain();
  void Stop(CloseReason reason);
  bool ended() const { return ended_; }

  // As Shard's.
  const lockstep::Room* FindRoom(std::uint32_t number) const;
  const HostedRoom* FindPlayRoom(std::string_view key) const;
  host::ServerFigures figures() const;

 private:
  struct Shard {
    Shard(HostProcess& process, const host::ServerOptions& options);

    VirtualLoop loop;
    host::Door door;
  };

  Shard& ShardOf(std::uint32_t room) const {
    return *shards_[room % shards_.size()];
  }
  void TakeBack(host::MemoryRoomStore& store);
  void Listen();
  void OnStream(const Link& link, std::unique_ptr<stream::ByteStream> stream,
                NetTransport transport);
  void OnOpening(TimePoint now, std::unique_ptr<Opening> opening) override;
  static void Seat(Shard& shard, const host::Handover& handover,
                   Opening& opening);

  void HandOver(host::Handover handover) override;
  void End(CloseReason reason, const std::function<void()>& ended) override;
  void SetOptions(const host::ShardOptions& options) override;
  void DrainDoors() override;
  host::ServerFigures DoorFigures() const override;
  void StopAccepting() override;
  void OnEnded() override { ended_ = true; }
  // What a host tells its operator is of no use to a test, which knows.
  void Log(host::LogLevel /*level*/, std::string_view /*line*/) override {}

  HostMachine& machine_;
  const host::PlayKeys play_keys_;
  SeededEntropy entropy_;
  VirtualLoop loop_;  // the front's
  std::vector<std::unique_ptr<Shard>> shards_;
  host::Reception reception_;
  bool ended_ = false;
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_HOST_PROCESS_H_
