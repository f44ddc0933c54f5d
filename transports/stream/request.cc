#include "parlor/transports/request.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "parlor/connector.h"
#include "stream/http_head.h"

namespace parlor {
namespace {

constexpr std::string_view kRoomPath = "/room/";
constexpr std::string_view kPlayPath = "/play/";
constexpr std::string_view kPlayers = "players";

// Decimal digits without leading zeros, so that each number is written in one
// way, up to what `Number` holds.
template <typename Number>
std::optional<Number> ReadNumber(std::string_view text) {
  const auto is_digit = [](char c) { return absl::ascii_isdigit(c); };
  if (!std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  Number number = 0;
  const char* const end = text.data() + text.size();
  // Fails when there is no digit.
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end) return std::nullopt;
  return number;
}

// Takes what lies before the first `divider` off the front of `rest`, and the
// divider.
std::string_view TakeUntil(std::string_view& rest, char divider) {
  const std::size_t end = std::min(rest.find(divider), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

// What is behind `base` and `folder`.
std::optional<std::string_view> ReadPath(std::string_view path,
                                         std::string_view base,
                                         std::string_view folder) {
  for (const std::string_view prefix : {base, folder}) {
    if (!path.starts_with(prefix)) return std::nullopt;
    path.remove_prefix(prefix.size());
  }
  return path;
}

std::optional<std::uint32_t> ReadRoom(std::string_view path,
                                      std::string_view base) {
  const auto number = ReadPath(path, base, kRoomPath);
  return number ? ReadNumber<std::uint32_t>(*number) : std::nullopt;
}

std::optional<std::int32_t> ReadPlayers(std::string_view query) {
  std::optional<std::string_view> value;
  while (!query.empty()) {
    std::string_view parameter = TakeUntil(query, '&');
    if (TakeUntil(parameter, '=') != kPlayers) continue;
    if (value) return std::nullopt;
    value = parameter;
  }
  if (!value) return std::nullopt;
  const auto players = ReadNumber<std::int32_t>(*value);
  return players && *players > 0 ? players : std::nullopt;
}

// False when RoomProtocol is missing or anything is said twice: of two codes,
// or two tokens, none is the one that was meant.
bool ReadProtocols(const Request& request, Hello& hello) {
  bool is_offered = false;
  for (const std::string& protocol : request.protocols) {
    const std::string_view text = protocol;
    if (text == RoomProtocol(hello)) {
      if (std::exchange(is_offered, true)) return false;
    } else if (text.starts_with(kInvitePrefix) ||
               text.starts_with(kPassPrefix)) {
      if (!hello.access.empty()) return false;
      hello.access = text;
    } else if (text.starts_with(kDevicePrefix)) {
      if (!hello.device.empty()) return false;
      hello.device = text;
    } else if (hello.play.empty() && text.starts_with(kResumePrefix)) {
      if (hello.resume) return false;
      hello.resume = text.substr(kResumePrefix.size());
    }
  }
  return is_offered;
}

std::string TargetOf(const Hello& hello, std::string_view base) {
  std::string target(base);
  if (hello.play.empty()) {
    target.append(kRoomPath).append(std::to_string(hello.room));
    target.append("?").append(kPlayers).append("=");
    return target.append(std::to_string(hello.players));
  }
  target.append(kPlayPath);
  return IsPlayKey(hello.play) ? target.append(hello.play) : target;
}

}  // namespace

Request RequestForRoom(const Hello& hello, std::string_view base) {
  Request request{.target = TargetOf(hello, base)};
  request.protocols.emplace_back(RoomProtocol(hello));
  // Players type these in; nothing but a token may get into a head, and nothing
  // that would be read as something else.
  const auto add = [&](std::string_view text, auto... prefixes) {
    if (stream::IsHttpToken(text) && (text.starts_with(prefixes) || ...)) {
      request.protocols.emplace_back(text);
    }
  };
  add(hello.access, kInvitePrefix, kPassPrefix);
  add(hello.device, kDevicePrefix);
  if (hello.play.empty() && hello.resume) {
    request.protocols.emplace_back(kResumePrefix);
    if (stream::IsHttpToken(*hello.resume)) {
      request.protocols.back() += *hello.resume;
    }
  }
  return request;
}

std::optional<std::uint32_t> ParseRoomNumber(std::string_view target,
                                             std::string_view base) {
  return ReadRoom(TakeUntil(target, '?'), base);
}

std::optional<std::string_view> ParsePlayKey(std::string_view target,
                                             std::string_view base) {
  const auto key = ReadPath(TakeUntil(target, '?'), base, kPlayPath);
  return key && IsPlayKey(*key) ? key : std::nullopt;
}

std::uint16_t ParseRoomRequest(const Request& request, std::string_view base,
                               Hello* hello) {
  std::string_view query = request.target;
  const std::string_view path = TakeUntil(query, '?');
  const auto room = ReadRoom(path, base);
  if (!room) return stream::http_status::kNotFound;
  const auto players = ReadPlayers(query);
  if (!players) return stream::http_status::kBadRequest;
  Hello read{.room = *room, .players = *players};
  if (!ReadProtocols(request, read)) return stream::http_status::kBadRequest;
  *hello = std::move(read);
  return 0;
}

std::uint16_t ParsePlayRequest(const Request& request, std::string_view base,
                               Hello* hello) {
  const auto key = ParsePlayKey(request.target, base);
  if (!key) return stream::http_status::kNotFound;
  Hello read{.play = std::string(*key)};
  if (!ReadProtocols(request, read)) return stream::http_status::kBadRequest;
  *hello = std::move(read);
  return 0;
}

}  // namespace parlor
