#include "load/load.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "load/client.h"
#include "load/clock.h"
#include "load/crowd.h"
#include "load/room_check.h"
#include "load/schedule.h"
#include "parlor/lockstep/wire.h"
#include "parlor/status.h"

namespace parlor::load {
namespace {

using stream::FrameType;

// Between the last WELCOME and the first frame: the server is done with joins.
constexpr std::int64_t kRestNs = kSecondNs / 20;
// For what is still on its way in the end, and then for what is there twice.
constexpr std::int64_t kDrainNs = 60 * kSecondNs;
constexpr std::int64_t kQuietNs = kSecondNs / 20;
// Of what is written at once.
constexpr std::size_t kFramesAWrite = 64;

// What is known of the processes at one moment.
struct Reading {
  std::int64_t at_ns = 0;
  std::int64_t own_cpu_ns = 0;
  std::int64_t server_cpu_ns = 0;
  std::uint64_t delivered = 0;
};

class Load final : private CrowdEvents {
 public:
  explicit Load(const LoadOptions& options) : options_(options) {}

  absl::StatusOr<LoadResult> Run();

 private:
  absl::Status OnMessage(Client& client, MessageKind kind,
                         std::span<const std::byte> bytes,
                         std::int64_t now_ns) override;
  absl::Status OnWritable(Client& client) override;

  absl::Status Settle();
  absl::Status Idle();
  void Begin();
  absl::Status Play();
  absl::Status LastTurns();
  absl::Status Drain();
  absl::Status Read(Reading* reading);
  absl::Status ReadMemory();

  absl::Status TakeInput(Client& client, const lockstep::Message& message,
                         std::int64_t now_ns);
  absl::Status SendDue(std::int64_t until_ns);
  absl::Status Send(Client& client, bool on_time);
  bool open_loop() const { return options_.loop == LoadOptions::Loop::kOpen; }
  bool IsMeasured(std::int64_t due_ns) const {
    return due_ns >= begin_ns_ && due_ns < end_ns_;
  }
  std::size_t PlaceOf(std::uint32_t room, int seat) const {
    return room * static_cast<std::size_t>(options_.seats) +
           static_cast<std::size_t>(seat);
  }

  const LoadOptions& options_;
  LoadResult result_;
  std::unique_ptr<Crowd> crowd_;
  std::vector<RoomCheck> rooms_;
  std::vector<Client*> client_of_;  // by place
  std::unique_ptr<Schedule> schedule_;
  std::int64_t begin_ns_ = kNeverNs;  // of the measured time
  std::int64_t end_ns_ = kNeverNs;
  std::uint64_t delivered_ = 0;
  std::vector<std::byte> out_;  // what is being written
};

absl::Status Load::Settle() {
  // Waits end when they are to, and not up to 50 us later.
  prctl(PR_SET_TIMERSLACK, 1);
  if (options_.cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(*options_.cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
      return InvalidArgument("--cpu " + std::to_string(*options_.cpu) +
                             ": this machine has no such core for us");
    }
  }
  if (options_.server_pid) {
    const auto memory = ProcessMemory(*options_.server_pid);
    if (!memory.ok()) {
      return MakeStatus(
          memory.status().code(),
          std::string("--server-pid: ").append(StatusText(memory.status())));
    }
    result_.server.emplace().before = *memory;
  }
  auto crowd = Crowd::Create(options_, *this);
  if (!crowd.ok()) return crowd.status();
  crowd_ = *std::move(crowd);
  return absl::OkStatus();
}

absl::StatusOr<LoadResult> Load::Run() {
  absl::Status status = Settle();
  if (!status.ok()) return status;
  status = crowd_->Join();
  if (status.ok()) {
    if (options_.idle > 0) {
      status = Idle();
    } else {
      Begin();
      status = Play();
      if (status.ok()) status = LastTurns();
      if (status.ok()) status = Drain();
    }
  }
  crowd_->Leave();
  if (!status.ok()) return status;
  return std::move(result_);
}

// What waits for its turn to be read is not delivered yet. That is as much at
// either end of the measured time, turns being spread evenly over theirs, and
// so in neither sum.
absl::Status Load::Read(Reading* reading) {
  reading->own_cpu_ns = OwnCpuNs();
  reading->delivered = delivered_;
  reading->at_ns = NowNs();
  if (!options_.server_pid) return absl::OkStatus();
  const auto cpu_ns = ProcessCpuNs(*options_.server_pid);
  if (!cpu_ns.ok()) return cpu_ns.status();
  reading->server_cpu_ns = *cpu_ns;
  return absl::OkStatus();
}

absl::Status Load::ReadMemory() {
  if (!options_.server_pid) return absl::OkStatus();
  const auto memory = ProcessMemory(*options_.server_pid);
  if (!memory.ok()) return memory.status();
  result_.server->after = *memory;
  return absl::OkStatus();
}

absl::Status Load::Idle() {
  const std::int64_t end_ns = NowNs() + Nanoseconds(options_.warm_seconds);
  while (NowNs() < end_ns) {
    absl::Status status = crowd_->Poll(end_ns);
    if (!status.ok()) return status;
  }
  return ReadMemory();
}

void Load::Begin() {
  client_of_.resize(crowd_->clients().size());
  rooms_.reserve(options_.rooms);
  for (std::uint32_t room = 0; room < options_.rooms; ++room) {
    rooms_.emplace_back(room, options_.seats);
  }
  for (Client& client : crowd_->clients()) {
    client_of_[PlaceOf(client.room(), client.seat)] = &client;
    client.timed = options_.IsTimed(client.room(), client.seat);
  }
  crowd_->ReadInTurn();
  const std::int64_t start_ns = NowNs() + kRestNs;
  schedule_ = std::make_unique<Schedule>(options_, client_of_.size(), start_ns);
  begin_ns_ = start_ns + Nanoseconds(options_.warm_seconds);
  end_ns_ = begin_ns_ + Nanoseconds(options_.seconds);
}

absl::Status Load::Play() {
  Reading first;
  Reading last;
  bool begun = false;
  bool ended = false;
  while (!ended) {
    const std::int64_t now_ns = NowNs();
    absl::Status status = SendDue(std::min(now_ns, end_ns_ - 1));
    if (status.ok() && !begun && now_ns >= begin_ns_) {
      begun = true;
      status = Read(&first);
    }
    if (status.ok() && now_ns >= end_ns_) {
      ended = true;
      status = Read(&last);
    }
    if (!status.ok()) return status;
    const std::int64_t edge_ns = begun ? end_ns_ : begin_ns_;
    status = crowd_->Poll(std::min(schedule_->next_ns(), edge_ns));
    if (!status.ok()) return status;
  }
  result_.seconds = static_cast<double>(last.at_ns - first.at_ns) / 1e9;
  result_.delivered = last.delivered - first.delivered;
  result_.own_cpu_ns = last.own_cpu_ns - first.own_cpu_ns;
  if (result_.server) {
    result_.server->cpu_ns = last.server_cpu_ns - first.server_cpu_ns;
  }
  return ReadMemory();
}

absl::Status Load::SendDue(std::int64_t until_ns) {
  while (schedule_->next_ns() <= until_ns) {
    Client& client = *client_of_[schedule_->next_place()];
    schedule_->Advance();
    ++client.due;
    // What waits for the server to read is not this program's delay.
    if (client.blocked()) continue;
    absl::Status status = Send(client, /*on_time=*/true);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// All that is due of this seat, in as few writes as can be.
absl::Status Load::Send(Client& client, bool on_time) {
  RoomCheck& room = rooms_[client.room()];
  const std::size_t place = PlaceOf(client.room(), client.seat);
  while (room.sent(client.seat) < client.due && !client.blocked()) {
    out_.clear();
    const std::int64_t now_ns = NowNs();
    for (std::size_t i = 0;
         i < kFramesAWrite && room.sent(client.seat) < client.due; ++i) {
      const std::uint32_t frame = room.Send(client.seat);
      lockstep::Message message = InputOf(client.room(), client.seat, frame);
      // The room is to write the sender's seat into it.
      message.slot = 0;
      client.AppendFrame(FrameType::kBinary, lockstep::Encode(message), out_);
      const std::int64_t due_ns = schedule_->DueNs(place, frame);
      if (on_time && IsMeasured(due_ns)) result_.late.Add(now_ns - due_ns);
    }
    absl::Status status = client.Write(out_);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Load::OnWritable(Client& client) {
  return Send(client, /*on_time=*/false);
}

absl::Status Load::OnMessage(Client& client, MessageKind kind,
                             std::span<const std::byte> bytes,
                             std::int64_t now_ns) {
  if (kind != MessageKind::kBinary || bytes.size() != lockstep::kMessageSize) {
    result_.findings.Add(client.room(), client.seat, [&] {
      return "a message of " + std::to_string(bytes.size()) +
             " bytes; all are 12 bytes, binary";
    });
    return absl::OkStatus();
  }
  const lockstep::Message message =
      lockstep::Decode(bytes.first<lockstep::kMessageSize>());
  if (message.kind == lockstep::Kind::kInput && schedule_ != nullptr) {
    return TakeInput(client, message, now_ns);
  }
  // Nobody leaves or sends anything else.
  result_.findings.Add(client.room(), client.seat, [&] {
    return "a message of kind " +
           std::to_string(static_cast<int>(message.kind)) +
           ", which nothing gave cause for";
  });
  return absl::OkStatus();
}

absl::Status Load::TakeInput(Client& client, const lockstep::Message& message,
                             std::int64_t now_ns) {
  RoomCheck& room = rooms_[client.room()];
  const RoomCheck::Taken taken =
      room.Take(client.seat, message, result_.findings);
  if (!taken.delivered) return absl::OkStatus();
  ++delivered_;
  if (!client.timed) return absl::OkStatus();
  const std::int64_t due_ns =
      schedule_->DueNs(PlaceOf(client.room(), message.slot), message.frame);
  if (IsMeasured(due_ns)) result_.message.Add(now_ns - due_ns);
  if (taken.completed == 0) return absl::OkStatus();

  const std::size_t place = PlaceOf(client.room(), client.seat);
  const std::uint32_t waiting = room.waiting(client.seat);
  for (std::uint32_t frame = waiting - taken.completed; frame < waiting;
       ++frame) {
    const std::int64_t last_due_ns = schedule_->LastDueNs(place, frame);
    if (IsMeasured(last_due_ns)) result_.frame.Add(now_ns - last_due_ns);
  }
  if (open_loop() || waiting < client.due || now_ns >= end_ns_) {
    return absl::OkStatus();
  }
  schedule_->MayNow(place, client.due++, now_ns);
  return Send(client, /*on_time=*/true);
}

// Once around more, so that what is on its way to timed seats does not wait
// behind all that there is for the others.
absl::Status Load::LastTurns() {
  const std::int64_t end_ns = NowNs() + Crowd::kTurnNs;
  while (NowNs() < end_ns) {
    absl::Status status = crowd_->Poll(end_ns);
    if (!status.ok()) return status;
  }
  crowd_->ReadAtOnce();
  return absl::OkStatus();
}

absl::Status Load::Drain() {
  std::uint64_t expected = 0;
  for (const Client* client : client_of_) {
    expected += std::uint64_t{client->due} *
                static_cast<std::uint64_t>(options_.seats - 1);
  }
  const std::int64_t silence_ns = Nanoseconds(options_.drain_seconds);
  const std::int64_t end_ns = NowNs() + kDrainNs;
  std::int64_t heard_ns = NowNs();
  while (true) {
    // Once all are in, a moment more, for what comes twice.
    const bool all = delivered_ >= expected;
    const std::int64_t deadline_ns =
        std::min(end_ns, heard_ns + (all ? kQuietNs : silence_ns));
    if (NowNs() >= deadline_ns) break;
    const std::uint64_t delivered = delivered_;
    absl::Status status = crowd_->Poll(deadline_ns);
    if (!status.ok()) return status;
    if (delivered_ > delivered) heard_ns = NowNs();
  }
  for (const RoomCheck& room : rooms_) room.Finish(result_.findings);
  for (const Client* client : client_of_) {
    if (client->blocked()) {
      return MakeStatus(absl::StatusCode::kUnavailable,
                        "room " + std::to_string(client->room()) + ", seat " +
                            std::to_string(client->seat) +
                            ": the server does not read what is sent to it");
    }
  }
  result_.lost = expected - std::min(delivered_, expected);
  return absl::OkStatus();
}

}  // namespace

bool IsSaturated(const LoadOptions& options, const LoadResult& result) {
  if (result.own_cpu_share() > kCpuShareMax) return true;
  if (options.loop == LoadOptions::Loop::kClosed) return false;
  const std::int64_t step_ns = kSecondNs / options.rate;
  const bool in_step = options.phases == LoadOptions::Phases::kStep;
  return result.late.Quantile(99, 100) >
         (in_step ? step_ns * 3 / 4 : step_ns / 4);
}

absl::StatusOr<LoadResult> RunLoad(const LoadOptions& options) {
  return Load(options).Run();
}

}  // namespace parlor::load
