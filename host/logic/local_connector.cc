#include "parlor/host/local_connector.h"

#include <utility>

namespace parlor::host {

std::unique_ptr<Connection> LocalConnector::Connect(
    TimePoint now, const Hello& hello, ConnectionHandler* handler) {
  if (const Refusal refusal = shard_.Admit(now, hello); refusal.status != 0) {
    auto refused = MakeRefusedPipe(client_, refusal.status);
    refused->SetHandler(handler);
    return refused;
  }
  PipePair pipe = MakePipe(client_, host_, options_);
  pipe.first->SetHandler(handler);
  shard_.Attach(now, std::move(pipe.second), hello);
  return std::move(pipe.first);
}

}  // namespace parlor::host
