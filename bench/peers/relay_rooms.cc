#include "peers/relay_rooms.h"

#include <charconv>
#include <span>
#include <system_error>

#include "parlor/lockstep/wire.h"

namespace parlor::bench {
namespace {

static_assert(kMessageBytes == lockstep::kMessageSize);

// WELCOME's are drawn by a host; nothing here depends on them, but a token is
// never 0.
constexpr std::uint32_t kSeed = 0x70617231;
constexpr std::uint32_t kToken = 1;

// The number that is all of `text`; 0 to `max`.
std::optional<std::uint32_t> ParseNumber(std::string_view text,
                                         std::uint32_t max) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end || number > max) return std::nullopt;
  return number;
}

lockstep::Message Decoded(const void* data) {
  return lockstep::Decode(std::span<const std::byte, kMessageBytes>(
      static_cast<const std::byte*>(data), kMessageBytes));
}

MessageBytes Encoded(const lockstep::Message& message) {
  const lockstep::MessageBytes bytes = lockstep::Encode(message);
  MessageBytes encoded;
  std::transform(
      bytes.begin(), bytes.end(), encoded.begin(),
      [](std::byte byte) { return std::to_integer<unsigned char>(byte); });
  return encoded;
}

}  // namespace

std::optional<Seating> ParseTarget(std::string_view target) {
  constexpr std::string_view kPath = "/room/";
  constexpr std::string_view kQuery = "?players=";
  const std::size_t query = target.find(kQuery);
  if (target.substr(0, kPath.size()) != kPath ||
      query == std::string_view::npos) {
    return std::nullopt;
  }
  const auto room = ParseNumber(
      target.substr(kPath.size(), query - kPath.size()), UINT32_MAX);
  const auto players =
      ParseNumber(target.substr(query + kQuery.size()), kPlayersMax);
  if (!room || !players || *players == 0) return std::nullopt;
  return Seating{.room = *room, .players = *players};
}

MessageBytes Welcome(std::uint32_t room, std::size_t seat,
                     std::size_t players) {
  return Encoded({.kind = lockstep::Kind::kWelcome,
                  .slot = static_cast<std::uint8_t>(seat),
                  .players = static_cast<std::uint8_t>(players),
                  .mode = 0,
                  .frame = kSeed + room,
                  .value = kToken + static_cast<std::uint32_t>(seat)});
}

bool IsInput(const void* data) {
  return Decoded(data).kind == lockstep::Kind::kInput;
}

std::uint32_t InputFrame(const void* data) { return Decoded(data).frame; }

MessageBytes Relayed(const void* data, std::size_t seat) {
  MessageBytes bytes;
  const auto* const from = static_cast<const unsigned char*>(data);
  std::copy_n(from, kMessageBytes, bytes.begin());
  bytes[1] = static_cast<unsigned char>(seat);
  return bytes;
}

}  // namespace parlor::bench
