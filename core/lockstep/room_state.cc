#include "parlor/lockstep/room_state.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "lockstep/room_state_bytes.h"
#include "parlor/byte_io.h"
#include "parlor/limits.h"
#include "parlor/status.h"

namespace parlor::lockstep {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kHeadBytes = 16;
constexpr std::size_t kSeatBytes = 4 + 8 + 8 + 1;
// Above 0xFFFFFFFF, the last frame there is, by the 1 that is added.
constexpr std::uint64_t kFrameMax = std::uint64_t{1} << 32;

absl::Status Wrong(std::string_view what) {
  return InvalidArgument("room state: " + std::string(what));
}

absl::Status WrongSeat(std::size_t seat, std::string_view what) {
  return Wrong("seat " + std::to_string(seat) + ": " + std::string(what));
}

// What a room would have relayed of this seat, and kept.
absl::Status ParseInputs(ByteReader& reader, std::size_t seat,
                         SeatState& state) {
  const std::size_t count = reader.U8();
  if (count > kReplayInputs) return WrongSeat(seat, "too many inputs");
  state.inputs.reserve(count);
  std::int64_t last = -1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const std::byte> bytes = reader.Bytes(kMessageSize);
    if (!reader.ok()) return Wrong("it ends too early");
    const Message message = Decode(bytes.first<kMessageSize>());
    if (message.kind != Kind::kInput) return WrongSeat(seat, "not an input");
    if (message.slot != seat) return WrongSeat(seat, "another seat's input");
    if (message.frame <= last) return WrongSeat(seat, "inputs do not ascend");
    last = message.frame;
    std::copy(bytes.begin(), bytes.end(), state.inputs.emplace_back().begin());
  }
  if (last != state.last_input) {
    return WrongSeat(seat, "its last input is another");
  }
  return absl::OkStatus();
}

absl::Status ParseSeat(ByteReader& reader, std::size_t seat, SeatState& state) {
  state.token = reader.U32();
  const std::uint64_t input = reader.U64();
  const std::uint64_t hash = reader.U64();
  if (!reader.ok()) return Wrong("it ends too early");
  if (input > kFrameMax || hash > kFrameMax) {
    return WrongSeat(seat, "no such frame");
  }
  state.last_input = static_cast<std::int64_t>(input) - 1;
  state.last_hash = static_cast<std::int64_t>(hash) - 1;
  return ParseInputs(reader, seat, state);
}

// A seat regains what its token says: it must say one thing.
absl::Status CheckTokens(const RoomState& state) {
  std::vector<std::uint32_t> tokens;
  for (const SeatState& seat : state.seats) {
    if (seat.token != 0) tokens.push_back(seat.token);
  }
  if (tokens.empty()) return Wrong("every seat has left");
  std::sort(tokens.begin(), tokens.end());
  if (std::adjacent_find(tokens.begin(), tokens.end()) != tokens.end()) {
    return Wrong("two seats have one token");
  }
  return absl::OkStatus();
}

}  // namespace

std::size_t StateBytesMax(int players) {
  return kHeadBytes + static_cast<std::size_t>(players) *
                          (kSeatBytes + kReplayInputs * kMessageSize);
}

void AppendHead(const RoomState& state, int seats,
                std::vector<std::byte>& out) {
  ByteWriter writer(out);
  writer.U8(kVersion);
  writer.U8(static_cast<std::uint8_t>(state.opened_for));
  writer.U8(static_cast<std::uint8_t>(seats));
  writer.U8(state.mode);
  writer.U32(state.seed);
  writer.U64(static_cast<std::uint64_t>(state.age_ms));
}

void AppendSeat(const SeatState& seat, std::size_t inputs,
                std::vector<std::byte>& out) {
  ByteWriter writer(out);
  writer.U32(seat.token);
  writer.U64(static_cast<std::uint64_t>(seat.last_input + 1));
  writer.U64(static_cast<std::uint64_t>(seat.last_hash + 1));
  writer.U8(static_cast<std::uint8_t>(inputs));
}

absl::StatusOr<RoomState> ParseRoomState(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  RoomState state;
  if (reader.U8() != kVersion) return Wrong("not of this version");
  state.opened_for = reader.U8();
  const int players = reader.U8();
  state.mode = reader.U8();
  state.seed = reader.U32();
  const std::uint64_t age_ms = reader.U64();
  if (!reader.ok()) return Wrong("it ends too early");
  if (state.opened_for < 1 || state.opened_for > limits::kSeats.ceiling) {
    return Wrong("no room has its size");
  }
  if (players < 1 || players > state.opened_for) {
    return Wrong("no match of its size has its seats");
  }
  if (age_ms > static_cast<std::uint64_t>(limits::kLifetimeMs.ceiling)) {
    return Wrong("no room gets as old");
  }
  state.age_ms = static_cast<std::int64_t>(age_ms);
  state.seats.resize(static_cast<std::size_t>(players));
  for (std::size_t seat = 0; seat < state.seats.size(); ++seat) {
    absl::Status status = ParseSeat(reader, seat, state.seats[seat]);
    if (!status.ok()) return status;
  }
  if (!reader.AtEnd()) return Wrong("bytes behind its end");
  if (absl::Status status = CheckTokens(state); !status.ok()) return status;
  return state;
}

}  // namespace parlor::lockstep
