// LocalConnector: a client in the same thread as the shard, joined to it by a
// memory pipe. Play Solo's and a test's way into a room; the room cannot tell
// it from a socket.
#ifndef PARLOR_HOST_LOCAL_CONNECTOR_H_
#define PARLOR_HOST_LOCAL_CONNECTOR_H_

#include <memory>

#include "parlor/connector.h"
#include "parlor/host/shard.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::host {

class LocalConnector final : public Connector {
 public:
  // The client's ends run on `client`, the shard's on `host`; they may be one
  // pump. All outlive the connector and the connections it makes.
  LocalConnector(PipePump& client, PipePump& host, Shard& shard,
                 const PipeOptions& options = {})
      : client_(client), host_(host), shard_(shard), options_(options) {}

  // What the shard does not admit hears OnClose(1006) with the refusal.
  std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                      ConnectionHandler* handler) override;

 private:
  PipePump& client_;
  PipePump& host_;
  Shard& shard_;
  PipeOptions options_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOCAL_CONNECTOR_H_
