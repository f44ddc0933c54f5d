// A game that hosts a friend: a Server with a thread of its own, one seat in
// this process and one over a socket.
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"

namespace {

parlor::TimePoint Now() {
  return parlor::TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

struct Seat final : parlor::ConnectionHandler {
  void OnMessage(parlor::TimePoint, parlor::Connection&, parlor::Lane,
                 parlor::MessageKind,
                 std::span<const std::byte> bytes) override {
    const auto kind = static_cast<parlor::lockstep::Kind>(bytes[0]);
    plays = plays || kind == parlor::lockstep::Kind::kWelcome;
  }
  void OnClose(parlor::TimePoint, parlor::Connection&,
               const parlor::CloseEvent& event) override {
    closed = event.code;
  }

  bool plays = false;
  int closed = 0;
  std::unique_ptr<parlor::Connection> connection;
};

}  // namespace

int main() {
  parlor::host::OsEntropy entropy;
  parlor::PipePump pump;
  parlor::NetLoop loop;
  parlor::host::ServerOptions options;
  options.gate.open = true;
  auto server = parlor::host::Server::Create(options, entropy);
  if (!server.ok()) return 1;
  auto network = parlor::MakeNetConnector(
      loop, entropy, "ws://127.0.0.1:" + std::to_string((*server)->port()));
  if (!network.ok()) return 1;
  const auto own = (*server)->MakeConnector(pump);

  Seat host;
  Seat guest;
  const parlor::Hello hello{.room = 0, .players = 2};
  host.connection = own->Connect(Now(), hello, &host);
  guest.connection = (*network)->Connect(Now(), hello, &guest);

  const parlor::TimePoint patience = Now() + std::chrono::seconds(20);
  bool told = false;
  while ((host.closed == 0 || guest.closed == 0) && Now() < patience) {
    pump.Pump(Now());
    loop.Poll(Now());
    if (!told && host.plays && guest.plays) {
      std::puts("two seats");
      (*server)->Stop(parlor::CloseReason::kHostLeft);
      told = true;
    }
  }
  std::printf("closed %d\nclosed %d\n", host.closed, guest.closed);
  return (*server)->WaitStopped(std::chrono::seconds(20)) ? 0 : 1;
}
