// Link: what a session stands on. It opens connections to a room and moves
// their bytes; what is behind it, a room in this process or one far away, is
// all the same to the session.
#ifndef PARLOR_SOLO_LINK_H_
#define PARLOR_SOLO_LINK_H_

#include <optional>

#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/local_connector.h"
#include "parlor/host/shard.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::solo {

class Link {
 public:
  virtual ~Link() = default;

  virtual Connector& connector() = 0;
  // Runs what is ready, and the deadlines that have come.
  virtual void Turn(TimePoint now) = 0;
  // Turn has something to do no later than this; it may be now or earlier.
  virtual TimePoint next_turn() const = 0;
};

// A room in this process, behind a memory pipe. No socket, no thread; time is
// what Turn is told, so that a pause stops the room's deadlines too.
class LocalLink final : public Link {
 public:
  // The match's seed is `seed`, or drawn from `entropy`, which outlives this.
  LocalLink(std::optional<std::uint32_t> seed, Entropy& entropy);

  Connector& connector() override { return connector_; }
  void Turn(TimePoint now) override;
  TimePoint next_turn() const override;

  const host::Shard& shard() const { return shard_; }

 private:
  PipePump pump_;  // of both ends: one thread, one turn
  host::Shard shard_;
  host::LocalConnector connector_;
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_LINK_H_
