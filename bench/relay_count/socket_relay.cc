#include "relay_count/socket_relay.h"

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/byte_io.h"
#include "parlor/host/server.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "relay_count/collecting.h"
#include "support/raw_socket.h"
#include "support/requests.h"
#include "support/websocket_frames.h"

namespace parlor::bench {
namespace {

constexpr Duration kStep{1'000'000'000 / 60};
// What a run that hangs is allowed, in real time; nothing measures it.
constexpr std::chrono::seconds kPatience{20};

// RFC 6455, 5.2: the last frame of a binary message, and its length.
constexpr unsigned kBinary = 0x82;
constexpr std::size_t kFrameSize = 2 + lockstep::kMessageSize;

// Everybody comes from one address, at once.
host::ServerOptions ServerOptionsFor(const CountedRelayOptions& options) {
  host::ServerOptions server;
  server.shards = 0;
  server.gate.open = true;
  server.gate.joins_per_minute = limits::kAddressRate.ceiling;
  server.unseated_per_address = limits::kUnseatedPerAddress.ceiling;
  server.shard.seats = limits::kSeats.ceiling;
  server.shard.room_joins_per_minute = limits::kRoomJoinRate.ceiling;
  server.shard.room.lifetime_ms = limits::kLifetimeMs.ceiling;
  server.shard.room.gather_ms = options.gather_ms;
  return server;
}

}  // namespace

SocketRelay::SocketRelay(const CountedRelayOptions& options)
    : seats_(static_cast<std::size_t>(options.seats)),
      players_(static_cast<std::size_t>(options.rooms) * seats_),
      now_(std::chrono::hours(1)) {}

absl::StatusOr<std::unique_ptr<SocketRelay>> SocketRelay::Create(
    const CountedRelayOptions& options) {
  std::unique_ptr<SocketRelay> relay(new SocketRelay(options));
  auto server =
      host::Server::Create(ServerOptionsFor(options), relay->entropy_);
  if (!server.ok()) return server.status();
  relay->server_ = *std::move(server);
  absl::Status status = relay->Join();
  if (!status.ok()) return status;
  return relay;
}

absl::Status SocketRelay::Join() {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    Player& player = players_[i];
    player.socket = test::RawSocket::Connect(server_->port());
    if (!player.socket.valid() || !player.socket.Send(test::UpgradeRequest(
                                      static_cast<std::uint32_t>(i / seats_),
                                      static_cast<int>(seats_)))) {
      return Wrong(i, "cannot connect");
    }
    // One after the other, so that seats are taken in order.
    absl::Status status =
        TurnUntil("the handshake", [&](std::size_t) { return player.open; });
    if (!status.ok()) return status;
  }
  return TurnUntil("WELCOME", [&](std::size_t) {
    for (const Player& player : players_) {
      if (player.seat < 0) return false;
    }
    return true;
  });
}

absl::Status SocketRelay::Step(Phases phases) {
  ++frame_;
  for (Player& player : players_) player.from = 0;
  input_.clear();
  test::AppendFrame(
      input_, test::Reader::kServer, kBinary,
      lockstep::Encode(
          {.kind = lockstep::Kind::kInput, .frame = frame_, .value = frame_}));
  for (std::size_t seat = 0; seat < seats_; ++seat) {
    now_ += kStep / static_cast<std::int64_t>(seats_);
    absl::Status status = Say(seat);
    if (status.ok() && phases == Phases::kSpread) {
      // The server may keep what it read for later.
      status = TurnUntil("the server to read an INPUT",
                         [](std::size_t events) { return events > 0; });
    }
    if (!status.ok()) return status;
  }
  if (AllHeard()) return absl::OkStatus();
  return TurnUntil("INPUTs", [this](std::size_t) { return AllHeard(); });
}

absl::Status SocketRelay::Say(std::size_t seat) {
  for (std::size_t i = seat; i < players_.size(); i += seats_) {
    if (!players_[i].socket.Send(AsText(input_))) {
      return Wrong(i, "cannot send");
    }
  }
  return absl::OkStatus();
}

std::size_t SocketRelay::Turn() {
  const Collecting collecting(collecting_);
  return server_->Poll(now_);
}

template <typename Done>
absl::Status SocketRelay::TurnUntil(std::string_view what, const Done& done) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    const std::size_t events = Turn();
    for (std::size_t i = 0; i < players_.size(); ++i) {
      absl::Status status = Hear(i);
      if (!status.ok()) return status;
    }
    if (done(events)) return absl::OkStatus();
    if (std::chrono::steady_clock::now() > give_up) {
      return MakeStatus(absl::StatusCode::kUnavailable,
                        std::string("waited in vain for ").append(what));
    }
    // The kernel has it under way; looks in vain would be counted.
    if (events == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool SocketRelay::AllHeard() const {
  for (const Player& player : players_) {
    if (std::popcount(player.from) + 1 != static_cast<int>(seats_)) {
      return false;
    }
  }
  return true;
}

absl::Status SocketRelay::Hear(std::size_t index) {
  Player& player = players_[index];
  if (!player.socket.valid()) return absl::OkStatus();  // has not come yet
  if (!player.socket.Receive(player.heard)) return Wrong(index, "was closed");
  std::string_view rest = player.heard;
  if (!player.open) {
    constexpr std::string_view kEnd = "\r\n\r\n";
    const std::size_t end = rest.find(kEnd);
    if (end == std::string_view::npos) return absl::OkStatus();
    if (!rest.starts_with("HTTP/1.1 101 ")) return Wrong(index, "was refused");
    player.open = true;
    rest.remove_prefix(end + kEnd.size());
  }
  for (; rest.size() >= kFrameSize; rest.remove_prefix(kFrameSize)) {
    absl::Status status = Understand(index, rest.substr(0, kFrameSize));
    if (!status.ok()) return status;
  }
  player.heard.erase(0, player.heard.size() - rest.size());
  return absl::OkStatus();
}

absl::Status SocketRelay::Understand(std::size_t index,
                                     std::string_view frame) {
  Player& player = players_[index];
  const auto bytes = AsBytes(frame).first<kFrameSize>();
  if (bytes[0] != std::byte{kBinary} ||
      bytes[1] != std::byte{lockstep::kMessageSize}) {
    return Wrong(index, "heard what is no message of a room");
  }
  const auto message = lockstep::Decode(bytes.last<lockstep::kMessageSize>());
  if (message.kind == lockstep::Kind::kWelcome) player.seat = message.slot;
  if (message.kind != lockstep::Kind::kInput) return absl::OkStatus();
  if (message.slot >= seats_ || message.slot == player.seat ||
      (player.from >> message.slot & 1) != 0 || message.frame != frame_ ||
      message.value != frame_) {
    return Wrong(index, "heard an INPUT that nobody said in this step");
  }
  player.from |= std::uint32_t{1} << message.slot;
  ++delivered_;
  return absl::OkStatus();
}

absl::Status SocketRelay::Wrong(std::size_t index,
                                std::string_view what) const {
  return MakeStatus(absl::StatusCode::kUnavailable,
                    "room " + std::to_string(index / seats_) + ", player " +
                        std::to_string(index % seats_) + ": " +
                        std::string(what));
}

}  // namespace parlor::bench
