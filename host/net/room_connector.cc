#include "net/room_connector.h"

#include <cstdint>
#include <memory>

#include "net/inbox.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::host {

void Entrance::RaiseTo(Phase phase) {
  Phase old = this->phase();
  while (old < phase && !phase_.compare_exchange_weak(old, phase)) {
  }
}

std::uint16_t Entrance::Check(const Hello& hello) const {
  const Phase phase = this->phase();
  if (phase == Phase::kEnding) return 503;
  if (!hello.play.empty()) return play_keys_.Find(hello.play) ? 0 : 404;
  if (phase == Phase::kDraining && !hello.resume) return 503;
  if (hello.room >= static_cast<std::uint64_t>(rooms_)) return 404;
  if (hello.players < 1 || hello.players > seats_) return 400;
  return 0;
}

std::unique_ptr<Connection> Entrance::Connect(
    PipePump& client, const Hello& hello, ConnectionHandler* handler) const {
  std::uint16_t refusal = Check(hello);
  std::unique_ptr<Connection> connection;
  if (refusal == 0) {
    connection = InboxOf(hello).Open(client, pipe_, hello);
    if (connection == nullptr) refusal = 503;  // the server is gone
  }
  if (refusal != 0) connection = MakeRefusedPipe(client, refusal);
  connection->SetHandler(handler);
  return connection;
}

}  // namespace parlor::host
