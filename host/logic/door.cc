#include "logic/door.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <span>
#include <utility>

#include "logic/handover.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/address.h"
#include "parlor/host/shard.h"
#include "parlor/lane.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "stream/parts.h"
#include "stream/server_answer.h"
#include "stream/stream_loop.h"

namespace parlor::host {
namespace {

// Of pipes, in one go: about what one read of a socket brings. Whoever floods
// a pipe does not keep the sockets waiting.
constexpr std::size_t kPipeMessagesMax = 1'024;

}  // namespace

// A connection that was closed without a seat, until it is gone.
class Door::Goner final : public ConnectionHandler {
 public:
  Goner(Door& door, std::unique_ptr<Connection> connection)
      : door_(door), connection_(std::move(connection)) {}

  void Close(std::list<Goner>::iterator place, CloseReason reason) {
    place_ = place;
    connection_->SetHandler(this);
    connection_->Close(reason);
  }

 private:
  void OnMessage(TimePoint /*now*/, Connection& /*connection*/, Lane /*lane*/,
                 MessageKind /*kind*/,
                 std::span<const std::byte> /*bytes*/) override {}
  void OnClose(TimePoint /*now*/, Connection& /*connection*/,
               const CloseEvent& /*event*/) override {
    door_.goners_.erase(place_);
  }

  Door& door_;
  std::unique_ptr<Connection> connection_;
  std::list<Goner>::iterator place_;
};

Door::Door(stream::StreamLoop& loop, std::function<void()> wake,
           const ShardOptions& options, const StreamOptions& stream,
           Entropy& entropy)
    : loop_(loop),
      stream_(stream),
      shard_(options, entropy),
      alarm_(*this),
      pumping_(*this),
      end_watch_(loop) {
  shard_.SetAlarmHook([this](TimePoint at) { alarm_.SetAlarm(at); });
  pump_.SetWake(std::move(wake));
}

Door::~Door() = default;

void Door::Alarm::OnAlarm() {
  const TimePoint now = loop().now();
  door_.shard_.OnAlarm(now);
  // More rooms than it takes at once wait for what else is ready: the loop
  // would run an alarm that is due again in this turn.
  const TimePoint due = door_.shard_.next_alarm();
  SetAlarm(due > now ? due : now + kMillisecond);
}

void Door::Pumping::Pump() {
  PipePump& pump = door_.pump_;
  pump.Pump(loop().now(), kPipeMessagesMax);
  if (pump.has_ready()) Schedule();
  SetAlarm(pump.next_alarm());
}

void Door::OnHandover(Handover handover) {
  PARLOR_CHECK(handover.stream != nullptr && handover.handshake != nullptr);
  stream::ServerParts parts{
      .stream = handover.stream->Unpark(loop_),
      .handshake = std::move(handover.handshake),
      .codec = stream::MakeServerCodec(handover.transport, stream_)};
  const Refusal refusal = Admit(handover.hello, handover.address);
  if (refusal.status != 0) {
    return stream::RefuseClient(loop_, stream_, parts, refusal);
  }
  shard_.Attach(
      loop_.now(),
      stream::AcceptClient(loop_, stream_, parts, RoomProtocol(handover.hello),
                           handover.unread),
      handover.hello, handover.address);
}

Refusal Door::Admit(const Hello& hello, const Address& from) {
  return end_ ? Refusal{503} : shard_.Admit(loop_.now(), hello, from);
}

void Door::Attach(std::unique_ptr<Connection> connection, const Hello& hello) {
  if (end_) return PutOut(std::move(connection), *end_);
  if (shard_.Admit(loop_.now(), hello).status != 0) {
    return PutOut(std::move(connection), CloseReason::kRefused);
  }
  shard_.Attach(loop_.now(), std::move(connection), hello);
}

void Door::PutOut(std::unique_ptr<Connection> connection, CloseReason reason) {
  goners_.emplace_back(*this, std::move(connection));
  goners_.back().Close(std::prev(goners_.end()), reason);
}

void Door::End(CloseReason reason, std::function<void()> ended) {
  PARLOR_CHECK(!end_);
  end_ = reason;
  shard_.EndAll(loop_.now(), reason);
  end_watch_.Start(
      loop_.now() + 2 * stream_.linger_ms * kMillisecond,
      [this] {
        return shard_.connections() == 0 && goners_.empty() &&
               loop_.draining() == 0;
      },
      std::move(ended));
}

}  // namespace parlor::host
