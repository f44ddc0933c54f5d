// Reception: what a host is between its ports and its doors, whatever carries
// its bytes and turns its loops: the gate and the front, the drain and the end,
// what Reload changes, and what the access store is asked. Sockets and threads
// are a server's (net/server.cc); the simulator runs the same one.
//
// One thread, that of its loop, but where something else is said.
#ifndef PARLOR_HOST_LOGIC_RECEPTION_H_
#define PARLOR_HOST_LOGIC_RECEPTION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "logic/answer_box.h"
#include "logic/end_watch.h"
#include "logic/front.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "parlor/close_reason.h"
#include "parlor/host/access_store.h"
#include "parlor/host/server.h"
#include "parlor/host/shard.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"

namespace parlor::host {

class Reception final : private Front::Ports {
 public:
  // Its ports and doors. None of the calls may call into the reception.
  class Ports {
   public:
    // In turns of each door's own loop: handovers in the order of the calls,
    // and End behind all of them; the drain before it, and before or after
    // handovers that were called first.
    virtual void HandOver(Handover handover) = 0;  // to that of hello.room
    virtual void DrainDoors() = 0;                 // all of them (Door::Drain)
    // All doors; each calls `ended` once, on any thread (Door::End).
    virtual void End(CloseReason reason,
                     const std::function<void()>& ended) = 0;
    // All doors, in the order of the calls.
    virtual void SetOptions(const ShardOptions& options) = 0;
    // Of all doors: rooms and players.
    virtual ServerFigures DoorFigures() const = 0;
    // Nobody comes in any more, by no way.
    virtual void StopAccepting() = 0;
    // On any thread, once: all that the front and the doors had has ended, and
    // the log has been told.
    virtual void OnEnded() = 0;
    // As LogSink; on any thread.
    virtual void Log(LogLevel level, std::string_view line) = 0;

   protected:
    ~Ports() = default;
  };

  struct World {
    std::size_t doors = 1;
    Gate::WallClock wall_clock;
    AnswerBox::Post post;  // to `loop`
  };

  // `options` are valid. `loop` and `ports` outlive it. The codes of its access
  // store are watched from here on.
  Reception(stream::StreamLoop& loop, const ServerOptions& options, World world,
            Ports& ports);
  // When nothing turns the loop any more, which still takes tasks.
  ~Reception();

  // The rest in turns of the loop.

  // In the first one: the host is up since then.
  void Begin() { started_ = loop_.now(); }

  // As Front's.
  void OnAccept(std::unique_ptr<stream::ByteStream> stream,
                std::string_view address, NetTransport transport) {
    front_.OnAccept(std::move(stream), address, transport);
  }
  // How many may be connected in all.
  std::uint64_t connections_max() const { return connections_max_; }
  // One more than may be wants to connect: cuts off one who is leaving, or else
  // who came first of those that have no seat. False: there is none.
  bool MakeRoom() { return loop_.CutLeaver() || front_.DropOldest(); }

  // `options` passed CheckReload.
  void SetOptions(const ServerOptions& options);
  // As Server's.
  void Drain();
  void Stop(CloseReason reason);

  // This alone may be asked from any thread.
  std::size_t unseated() const { return front_.unseated(); }

 private:
  // The time that a drain gives.
  class DrainEnd final : public stream::LoopMember {
   public:
    explicit DrainEnd(Reception& reception)
        : LoopMember(reception.loop_), reception_(reception) {}

   private:
    void OnTurnEnd() override {}  // never asked for
    void OnAlarm() override { reception_.Stop(CloseReason::kRestart); }

    Reception& reception_;
  };

  void HandOver(Handover handover) override;
  HostFigures Figures(TimePoint now) override;
  void AskStore(const PassUse& use,
                std::function<void(PassAnswer)> answer) override;

  // The front, or one of the doors, has nothing left to end; on any thread.
  void OnPartEnded();
  void LogInfo(const std::string& line) { ports_.Log(LogLevel::kInfo, line); }

  stream::StreamLoop& loop_;
  Ports& ports_;
  const std::int64_t linger_ms_;
  const std::shared_ptr<AccessStore> store_;
  const std::shared_ptr<AnswerBox> answers_;
  Gate gate_;
  Front front_;
  std::uint64_t connections_max_;
  std::int64_t drain_ms_;
  DrainEnd drain_end_{*this};
  EndWatch end_watch_;
  TimePoint started_{};
  bool ending_ = false;
  std::atomic<std::size_t> parts_left_;  // that have not ended what they have
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_RECEPTION_H_
