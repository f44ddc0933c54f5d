#include "load/crowd.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>

#include "load/clock.h"
#include "load/decimal.h"
#include "parlor/check.h"
#include "parlor/lockstep/wire.h"
#include "parlor/status.h"

namespace parlor::load {
namespace {

using lockstep::Kind;

// A host has 64 unseated connections of an address by default.
constexpr std::size_t kJoiningMax = 32;
constexpr std::int64_t kLeavePatienceNs = 5 * kSecondNs;
constexpr int kEventsMax = 256;
// Between two looks at the epoll set, which are what timed clients wait for.
constexpr int kTurnsMax = 4;
// So long a turn waits for something else to wake us. With a wake-up for each
// turn 64 rooms of 8 seats in step took 0.72 of a core, and take 0.43.
constexpr std::int64_t kTurnSlackNs = kSecondNs / 1'000;
constexpr std::size_t kBufferBytes = 64 * 1'024;
// Standard streams, the epoll set, what /proc is read through.
constexpr std::size_t kOtherFiles = 16;

// As many open files as this process may have.
std::size_t RaiseFileLimit() {
  rlimit limit{};
  PARLOR_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  PARLOR_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  return limit.rlim_cur;
}

absl::Status DataLoss(std::string_view text) {
  return MakeStatus(absl::StatusCode::kDataLoss, text);
}

// The `index`th of 127.0.0.1 and up.
in_addr LoopbackAddress(std::size_t index) {
  return {.s_addr = htonl(INADDR_LOOPBACK + static_cast<std::uint32_t>(index))};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Crowd>> Crowd::Create(const LoadOptions& options,
                                                     CrowdEvents& events) {
  const std::size_t count =
      options.idle > 0
          ? options.idle
          : options.rooms * static_cast<std::size_t>(options.seats);
  const std::size_t files = RaiseFileLimit();
  if (count + kOtherFiles > files) {
    return MakeStatus(
        absl::StatusCode::kResourceExhausted,
        std::to_string(count) + " connections do not fit: this process may " +
            "have " + std::to_string(files) + " files open (ulimit -Hn), so " +
            std::to_string(files - std::min(files, kOtherFiles)) +
            " connections are the most here");
  }
  std::unique_ptr<Crowd> crowd(new Crowd(options, events, count));
  crowd->epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (crowd->epoll_ >= 0) return crowd;
  return MakeStatus(absl::StatusCode::kResourceExhausted,
                    "epoll: " + std::generic_category().message(errno));
}

Crowd::Crowd(const LoadOptions& options, CrowdEvents& events, std::size_t count)
    : options_(options),
      events_(events),
      entropy_(options.seed),
      keys_(entropy_),
      buffer_(kBufferBytes),
      clients_(count) {}

Crowd::~Crowd() {
  if (epoll_ >= 0) close(epoll_);
}

absl::Status Crowd::Begin(std::size_t index) {
  const auto seats = static_cast<std::size_t>(options_.seats);
  const std::size_t room = index / seats;
  ClientPlace place{.room = static_cast<std::uint32_t>(room),
                    .players = static_cast<int>(
                        std::min(seats, clients_.size() - room * seats))};
  place.server.sin_family = AF_INET;
  place.server.sin_port = htons(options_.port);
  PARLOR_CHECK(
      inet_pton(AF_INET, options_.host.c_str(), &place.server.sin_addr) == 1);
  if (options_.addresses > 1) {
    place.from =
        LoopbackAddress(index % static_cast<std::size_t>(options_.addresses));
  }
  return clients_[index].Connect(place, epoll_, entropy_, keys_);
}

absl::Status Crowd::Join() {
  std::size_t begun = 0;
  std::size_t open = 0;    // those before it are past their handshake
  std::size_t seated = 0;  // when it was looked at last
  const std::int64_t patience_ns = Nanoseconds(options_.join_seconds);
  std::int64_t deadline_ns = NowNs() + patience_ns;
  while (seated_ < clients_.size()) {
    const std::size_t open_before = open;
    while (open < begun && clients_[open].open()) ++open;
    if (open > open_before || seated_ > seated) {
      deadline_ns = NowNs() + patience_ns;
    }
    seated = seated_;
    while (begun < clients_.size() && begun < open + kJoiningMax) {
      absl::Status status = Begin(begun++);
      if (!status.ok()) return status;
    }
    absl::Status status = Poll(deadline_ns);
    if (!status.ok()) return status;
    if (NowNs() > deadline_ns) {
      return MakeStatus(
          absl::StatusCode::kDeadlineExceeded,
          "the server was silent for " + Decimal(options_.join_seconds, 1) +
              " s: " + std::to_string(open) + " of " +
              std::to_string(clients_.size()) + " connections were opened, " +
              std::to_string(seated_) + " of them had their WELCOME");
    }
  }
  return absl::OkStatus();
}

absl::Status Crowd::Poll(std::int64_t wake_ns) {
  std::array<epoll_event, kEventsMax> found;
  if (!in_turn_.empty()) wake_ns = std::min(wake_ns, turn_ns_ + kTurnSlackNs);
  const std::int64_t wait_ns = std::max<std::int64_t>(wake_ns - NowNs(), 0);
  const timespec timeout{.tv_sec = wait_ns / kSecondNs,
                         .tv_nsec = wait_ns % kSecondNs};
  const int count =
      epoll_pwait2(epoll_, found.data(), kEventsMax, &timeout, nullptr);
  if (count < 0 && errno != EINTR) {
    return MakeStatus(absl::StatusCode::kUnavailable,
                      "epoll_pwait2 (Linux 5.11 and up): " +
                          std::generic_category().message(errno));
  }
  for (int i = 0; i < count; ++i) {
    auto& client =
        *static_cast<Client*>(found[static_cast<std::size_t>(i)].data.ptr);
    absl::Status status = client.OnEvent(
        found[static_cast<std::size_t>(i)].events, buffer_, *this);
    if (!status.ok()) return status;
  }
  return ReadThoseInTurn();
}

absl::Status Crowd::ReadThoseInTurn() {
  if (in_turn_.empty()) return absl::OkStatus();
  const std::int64_t now_ns = NowNs();
  const std::int64_t gap_ns =
      kTurnNs / static_cast<std::int64_t>(in_turn_.size());
  // After a stall, once around is all that there is to catch up with.
  turn_ns_ = std::max(turn_ns_, now_ns - kTurnNs);
  for (int i = 0; i < kTurnsMax && turn_ns_ <= now_ns; ++i) {
    turn_ns_ += gap_ns;
    Client& client = *in_turn_[turn_];
    turn_ = (turn_ + 1) % in_turn_.size();
    absl::Status status = client.OnTurn(buffer_, *this);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void Crowd::ReadInTurn() {
  for (Client& client : clients_) {
    if (client.timed) continue;
    client.WakeForInput(epoll_, false);
    in_turn_.push_back(&client);
  }
  turn_ = 0;
  if (!in_turn_.empty()) turn_ns_ = NowNs();
}

void Crowd::ReadAtOnce() {
  for (Client* client : in_turn_) client->WakeForInput(epoll_, true);
  in_turn_.clear();
  turn_ns_ = kNeverNs;
}

void Crowd::Leave() {
  ReadAtOnce();
  for (Client& client : clients_) client.Leave();
  const std::int64_t deadline_ns = NowNs() + kLeavePatienceNs;
  const auto is_gone = [](const Client& client) { return client.closed(); };
  while (!std::all_of(clients_.begin(), clients_.end(), is_gone) &&
         NowNs() < deadline_ns) {
    if (!Poll(deadline_ns).ok()) break;
  }
  for (Client& client : clients_) client.Close();
}

absl::Status Crowd::Welcome(Client& client, MessageKind kind,
                            std::span<const std::byte> bytes) {
  const std::string where = "room " + std::to_string(client.room()) + ": ";
  if (kind != MessageKind::kBinary || bytes.size() != lockstep::kMessageSize) {
    return DataLoss(where + "a message of " + std::to_string(bytes.size()) +
                    " bytes, before WELCOME; all are 12 bytes, binary");
  }
  const lockstep::Message message =
      lockstep::Decode(bytes.first<lockstep::kMessageSize>());
  if (message.kind == Kind::kLobby) return absl::OkStatus();
  if (message.kind != Kind::kWelcome) {
    return DataLoss(where + "a message of kind " +
                    std::to_string(static_cast<int>(message.kind)) +
                    " came before WELCOME");
  }
  if (message.players != client.players() || message.slot >= client.players()) {
    return DataLoss(where + "WELCOME gives seat " +
                    std::to_string(message.slot) + " of " +
                    std::to_string(message.players) + " in a room of " +
                    std::to_string(client.players()));
  }
  // Those of its room: they joined one behind the other.
  const std::size_t first =
      client.room() * static_cast<std::size_t>(options_.seats);
  for (int i = 0; i < client.players(); ++i) {
    if (clients_[first + static_cast<std::size_t>(i)].seat == message.slot) {
      return DataLoss(where + "WELCOME gives seat " +
                      std::to_string(message.slot) + " twice");
    }
  }
  client.seat = message.slot;
  ++seated_;
  return absl::OkStatus();
}

absl::Status Crowd::OnMessage(Client& client, MessageKind kind,
                              std::span<const std::byte> bytes,
                              std::int64_t now_ns) {
  if (client.seat < 0) return Welcome(client, kind, bytes);
  return events_.OnMessage(client, kind, bytes, now_ns);
}

absl::Status Crowd::OnWritable(Client& client) {
  return events_.OnWritable(client);
}

}  // namespace parlor::load
