// Door: a shard on a loop. Takes what the front hands over and what is attached
// in the process, and turns the shard's alarms and its pipes.
//
// One thread, that of its loop. It knows neither sockets nor a clock, so that
// the simulator runs the same one.
#ifndef PARLOR_HOST_LOGIC_DOOR_H_
#define PARLOR_HOST_LOGIC_DOOR_H_

#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "logic/end_watch.h"
#include "logic/handover.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/address.h"
#include "parlor/host/shard.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/stream_options.h"
#include "stream/stream_loop.h"

namespace parlor::host {

class Door {
 public:
  // `options` are valid. `loop` and `entropy` outlive the door. `wake` asks for
  // OnWake; it is called from any thread that has an end of a pipe to here, and
  // must not call into the door.
  Door(stream::StreamLoop& loop, std::function<void()> wake,
       const ShardOptions& options, const StreamOptions& stream,
       Entropy& entropy);
  // Cuts off whoever is connected.
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // In a turn of the loop. The room's own refusals (its join rate, its size)
  // are answered, or the client is accepted and seated.
  void OnHandover(Handover handover);
  // The same for one who is not answered by a handshake: the refusal, or status
  // 0, with which his connection is given to the shard in the same instant.
  Refusal Admit(const Hello& hello, const Address& from);

  // In a turn of the loop: seats a connection that lives on it (or on pump()).
  // One that is not admitted is closed with CloseReason::kRefused.
  void Attach(std::unique_ptr<Connection> connection, const Hello& hello);

  // In a later turn of the loop than `wake`, at least once for all the calls
  // before it: the pipes have something.
  void OnWake() { pumping_.Pump(); }

  // In a turn of the loop: as Shard's.
  void Drain() { shard_.Drain(loop_.now()); }

  // In a turn of the loop, once: closes everyone with `reason`. Whoever comes
  // later is refused with 503, or closed with `reason`. `ended` is called in a
  // later turn, when everybody has taken the close, or after twice linger_ms,
  // which is what a close over a stream takes at most.
  void End(CloseReason reason, std::function<void()> ended);

  // Pipes whose other end lives elsewhere have their end here on this pump;
  // they may be made on any thread.
  PipePump& pump() { return pump_; }

  Shard& shard() { return shard_; }
  const Shard& shard() const { return shard_; }

 private:
  // The shard's alarm.
  class Alarm final : public stream::LoopMember {
   public:
    explicit Alarm(Door& door) : LoopMember(door.loop_), door_(door) {}

   private:
    void OnTurnEnd() override {}  // never asked for
    void OnAlarm() override;

    Door& door_;
  };

  // The pump's work and its alarm.
  class Pumping final : public stream::LoopMember {
   public:
    explicit Pumping(Door& door) : LoopMember(door.loop_), door_(door) {}

    void Pump();

   private:
    void OnTurnEnd() override { Pump(); }
    void OnAlarm() override { Pump(); }

    Door& door_;
  };

  class Goner;

  void PutOut(std::unique_ptr<Connection> connection, CloseReason reason);

  stream::StreamLoop& loop_;
  const StreamOptions stream_;
  // Ends on it die before it.
  PipePump pump_;
  Shard shard_;
  std::list<Goner> goners_;
  Alarm alarm_;
  Pumping pumping_;
  EndWatch end_watch_;
  std::optional<CloseReason> end_;  // since End
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_DOOR_H_
