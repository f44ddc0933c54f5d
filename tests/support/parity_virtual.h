// Lockstep rooms behind a gate, a front, its hand-overs and a door, reached by
// streams of a simulated network: what a host is, without a socket.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_VIRTUAL_H_
#define PARLOR_TESTS_SUPPORT_PARITY_VIRTUAL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "logic/door.h"
#include "logic/front.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/executor.h"
#include "parlor/host/gate_options.h"
#include "parlor/host/shard.h"
#include "parlor/limits.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "sim/sim_stream.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"
#include "stream/parts.h"
#include "stream/stream_connection.h"
#include "stream/tls_stream.h"
#include "stream/websocket_codec.h"
#include "support/local_tls.h"
#include "support/parity_script.h"
#include "support/parity_world.h"
#include "support/quiet_stream.h"
#include "support/stream_net.h"

namespace parlor::test {

class VirtualRooms final : public ParityRooms,
                           private ParityWorld,
                           private host::Front::Ports {
 public:
  VirtualRooms(host::ShardOptions rooms, std::uint64_t seed,
               const ParityLimits& limits, NetTransport transport, Tls tls)
      : transport_(transport),
        tls_(tls),
        stream_(QuietStream(limits)),
        rooms_entropy_(seed),
        clients_entropy_(1),
        executor_(seed, Executor::Ties::kShuffled) {
    // Everybody comes from one address, again and again.
    rooms.room_joins_per_minute = limits::kRoomJoinRate.ceiling;
    host::GateOptions gate{.open = true};
    gate.joins_per_minute = limits::kAddressRate.ceiling;
    gate_ = std::make_unique<host::Gate>(
        gate,
        host::GateRooms{.rooms = rooms.rooms,
                        .seats = rooms.seats,
                        .base_path = "",
                        .play = rooms.play_rooms},
        [] { return std::int64_t{1'800'000'000}; });
    host::FrontOptions front;
    front.stream = stream_;
    host::Front::Ports& ports = *this;
    front_ = std::make_unique<host::Front>(front_loop_, front, *gate_, ports);
    // No pipes lead here, so that nobody wakes it.
    door_ = std::make_unique<host::Door>(
        shard_loop_, [] {}, rooms, stream_, rooms_entropy_);
    port_.Listen(
        front_loop_,
        [this](const sim::Link&, std::unique_ptr<stream::ByteStream> stream) {
          OnAccept(std::move(stream));
        });
  }

  ParityWorld& world() override { return *this; }
  void EndAll() override {
    shard_loop_.Post([this] { door_->End(CloseReason::kHostLeft, [] {}); });
  }
  void Drop() override {
    port_.Shut();
    front_ = nullptr;
    door_ = nullptr;
  }

 private:
  std::unique_ptr<Connection> Connect(const Hello& hello,
                                      ConnectionHandler* handler) override {
    const Request request = RequestForRoom(hello);
    std::unique_ptr<stream::ByteStream> stream =
        sim::ConnectStream(link_, client_loop_, port_);
    if (tls_ == Tls::kYes) {
      stream = stream::MakeTlsClientStream(client_loop_, std::move(stream),
                                           SharedLocalTls().client.context(),
                                           "localhost");
    }
    return stream::MakeClientConnection(
        client_loop_, stream_,
        stream::MakeClientStart(transport_, stream_, std::move(stream),
                                {.request = request,
                                 .authority = "test",
                                 .entropy = clients_entropy_,
                                 .keys = keys_}),
        handler);
  }
  void OnAccept(std::unique_ptr<stream::ByteStream> stream) {
    if (tls_ == Tls::kYes) {
      stream = stream::MakeTlsServerStream(front_loop_, std::move(stream),
                                           SharedLocalTls().server.context());
    }
    front_->OnAccept(std::move(stream), "192.0.2.1", transport_);
  }

  void OnHost(const std::function<void()>& task) override { task(); }
  void Barrier() override { executor_.RunUntil(now(), 10'000'000); }
  TimePoint next_alarm() override { return executor_.next(); }

  void HandOver(host::Handover handover) override {
    const auto shared = std::make_shared<host::Handover>(std::move(handover));
    shard_loop_.Post([this, shared] {
      if (door_ != nullptr) door_->OnHandover(std::move(*shared));
    });
  }
  host::HostFigures Figures(TimePoint) override { return {}; }
  void AskStore(const host::PassUse&,
                std::function<void(host::PassAnswer)>) override {}

  const NetTransport transport_;
  const Tls tls_;
  const StreamOptions stream_;
  SeededEntropy rooms_entropy_, clients_entropy_;
  Executor executor_;
  sim::Network network_{executor_};
  sim::Link link_{network_, sim::kPerfect, "link"};
  sim::StreamPort port_;
  sim::VirtualLoop client_loop_{executor_}, front_loop_{executor_},
      shard_loop_{executor_};
  stream::MaskKeys keys_{clients_entropy_};
  std::unique_ptr<host::Gate> gate_;
  std::unique_ptr<host::Front> front_;
  std::unique_ptr<host::Door> door_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_VIRTUAL_H_
