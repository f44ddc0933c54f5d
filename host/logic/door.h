// Door: a shard on a loop. Takes what the front hands over and what is attached
// in the process, and turns the shard's alarms and its pipes.
//
// One thread, that of its loop; what comes from others comes by `post`.
#ifndef PARLOR_HOST_LOGIC_DOOR_H_
#define PARLOR_HOST_LOGIC_DOOR_H_

#include <functional>
#include <memory>

#include "logic/handover.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/shard.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/stream_options.h"
#include "stream/stream_loop.h"

namespace parlor::host {

class Door {
 public:
  // Runs a task in a later turn of the loop; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;

  // `options` are valid. `loop` and `entropy` outlive the door; tasks that were
  // posted do not run after its end.
  Door(stream::StreamLoop& loop, Post post, const ShardOptions& options,
       const StreamOptions& stream, Entropy& entropy);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // In a turn of the loop. The room's own refusals (its join rate, its size)
  // are answered, or the client is accepted and seated.
  void OnHandover(Handover handover);

  // In a turn of the loop: seats a connection that lives on it (or on pump()).
  // One that is not admitted is closed with CloseReason::kRefused.
  void Attach(std::unique_ptr<Connection> connection, const Hello& hello);

  // Pipes whose other end lives elsewhere have their end here on this pump;
  // they may be made on any thread.
  PipePump& pump();

  Shard& shard();
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_DOOR_H_
