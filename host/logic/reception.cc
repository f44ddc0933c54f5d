#include "logic/reception.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "logic/answer_box.h"
#include "logic/front.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/host/access_store.h"
#include "parlor/host/server.h"
#include "parlor/time.h"
#include "stream/stream_loop.h"

namespace parlor::host {
namespace {

FrontOptions ForFront(const ServerOptions& options) {
  FrontOptions front;
  front.stream = options.stream;
  front.unseated_max = static_cast<std::size_t>(options.unseated);
  front.unseated_per_address =
      static_cast<std::size_t>(options.unseated_per_address);
  front.base_path = options.base_path;
  return front;
}

GateRooms ForGate(const ServerOptions& options) {
  return {.rooms = options.shard.rooms,
          .seats = options.shard.seats,
          .base_path = options.base_path,
          .play = options.shard.play_rooms};
}

}  // namespace

Reception::Reception(stream::StreamLoop& loop, const ServerOptions& options,
                     World world, Ports& ports)
    : loop_(loop),
      ports_(ports),
      linger_ms_(options.stream.linger_ms),
      store_(options.access_store),
      answers_(std::make_shared<AnswerBox>(std::move(world.post))),
      gate_(options.gate, ForGate(options), std::move(world.wall_clock)),
      front_(loop, ForFront(options), gate_, *this),
      connections_max_(static_cast<std::uint64_t>(options.connections)),
      drain_ms_(options.drain_ms),
      end_watch_(loop),
      parts_left_(world.doors + 1) {
  if (store_ == nullptr) return;
  store_->WatchCodes([this, box = answers_](std::vector<Sha256> codes) {
    box->Put([this, codes = std::move(codes)] { gate_.SetStoreCodes(codes); });
  });
}

Reception::~Reception() {
  if (store_ != nullptr) store_->WatchCodes({});
  answers_->Shut();
}

void Reception::HandOver(Handover handover) {
  ports_.HandOver(std::move(handover));
}

HostFigures Reception::Figures(TimePoint now) {
  const ServerFigures doors = ports_.DoorFigures();
  return {.rooms = doors.rooms,
          .players = doors.players,
          .uptime_s = static_cast<std::uint64_t>((now - started_) /
                                                 std::chrono::seconds(1))};
}

void Reception::AskStore(const PassUse& use,
                         std::function<void(PassAnswer)> answer) {
  // The options saw to it that there is one.
  PARLOR_CHECK(store_ != nullptr);
  store_->UsePass(
      use, [box = answers_, answer = std::move(answer)](PassAnswer said) {
        box->Put([answer, said] { answer(said); });
      });
}

void Reception::SetOptions(const ServerOptions& options) {
  gate_.SetOptions(options.gate);
  gate_.SetPlayRooms(options.shard.play_rooms);
  front_.SetOptions(ForFront(options));
  connections_max_ = static_cast<std::uint64_t>(options.connections);
  drain_ms_ = options.drain_ms;
  // In the order of the calls; a crowd that was handed over before may still be
  // at the door then.
  ports_.SetOptions(options.shard);
}

void Reception::Drain() {
  if (ending_) return;
  if (gate_.draining()) return Stop(CloseReason::kRestart);
  LogInfo("draining for " + std::to_string(drain_ms_) + " ms");
  gate_.Drain();
  ports_.DrainDoors();
  drain_end_.SetAlarm(loop_.now() + drain_ms_ * kMillisecond);
}

void Reception::Stop(CloseReason reason) {
  if (std::exchange(ending_, true)) return;
  LogInfo("ending: " + std::string(Describe(reason).name));
  drain_end_.SetAlarm(kNever);
  ports_.StopAccepting();
  while (front_.DropOldest()) {
  }
  // Whom the front has handed over comes before this.
  ports_.End(reason, [this] { OnPartEnded(); });
  end_watch_.Start(
      loop_.now() + linger_ms_ * kMillisecond,
      [this] { return loop_.draining() == 0; }, [this] { OnPartEnded(); });
}

void Reception::OnPartEnded() {
  if (parts_left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  LogInfo("ended");
  ports_.OnEnded();
}

}  // namespace parlor::host
