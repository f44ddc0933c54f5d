#include "logic/gate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "logic/origin.h"
#include "parlor/check.h"
#include "parlor/connector.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/time.h"
#include "parlor/transports/request.h"

namespace parlor::host {
namespace {

constexpr std::string_view kInvite = "invite.";
constexpr std::string_view kResume = "resume.";

constexpr std::string_view kInviteRefused = R"({"ok":false})";

// Of a rate too low to have a third, one: who may never fail is never let in.
std::int64_t Third(std::int64_t rate) {
  return std::max<std::int64_t>(rate / 3, 1);
}

std::vector<std::string> NormalOrigins(const GateOptions& options) {
  std::vector<std::string> origins;
  for (const std::string& text : options.origins) {
    absl::StatusOr<std::string> origin = NormalOrigin(text);
    PARLOR_CHECK(origin.ok());
    origins.push_back(*std::move(origin));
  }
  return origins;
}

// What may be said again in a header. Heads let bytes above ASCII pass.
bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isgraph(c); });
}

}  // namespace

Gate::Gate(const GateOptions& options, GateRooms rooms,
           std::size_t addresses_max)
    : rooms_(std::move(rooms)),
      attempts_(options.joins_per_minute, addresses_max),
      failures_(Third(options.joins_per_minute), addresses_max) {
  SetOptions(options);
}

void Gate::SetOptions(const GateOptions& options) {
  open_ = options.open;
  codes_.SetOwn(options.codes);
  origins_ = NormalOrigins(options);
  proxies_ = TrustedProxies(options.trusted_proxies);
  attempts_.SetPerMinute(options.joins_per_minute);
  failures_.SetPerMinute(Third(options.joins_per_minute));
}

Refusal Gate::CheckPath(const Request& request) const {
  const bool resumes = std::any_of(
      request.protocols.begin(), request.protocols.end(),
      [](std::string_view text) { return text.starts_with(kResume); });
  if (draining_ && !resumes) return {.status = 503};
  const auto room = ParseRoomNumber(request.target, rooms_.base_path);
  if (!room || *room >= rooms_.rooms) return {.status = 404};
  return {};
}

Refusal Gate::CheckJoin(TimePoint now, const Request& request,
                        const Address& address, Hello* hello) {
  Hello read;
  const std::uint16_t wrong =
      ParseRoomRequest(request, rooms_.base_path, &read);
  if (wrong != 0) return {.status = wrong};
  if (read.players > rooms_.seats) return {.status = 400};
  if (request.origin && !IsAllowed(*request.origin)) return {.status = 403};
  const std::uint32_t wait = CountAttempt(now, address);
  if (wait > 0) return {.status = 429, .retry_after_s = wait};
  if (!HasAccess(read)) {
    failures_.Take(now, {address});
    return {.status = 403};
  }
  *hello = std::move(read);
  return {};
}

Gate::InviteAnswer Gate::CheckInvite(TimePoint now, std::string_view body,
                                     std::optional<std::string_view> origin,
                                     const Address& address) {
  InviteAnswer answer;
  const bool allowed = !origin || IsAllowed(*origin);
  if (origin && allowed && IsVisible(*origin)) answer.allow_origin = *origin;
  answer.retry_after_s = CountAttempt(now, address);
  if (answer.retry_after_s > 0) {
    answer.status = 429;
    return answer;
  }
  const bool let_in = allowed && (open_ || codes_.Has(body));
  if (allowed && !let_in) failures_.Take(now, {address});
  if (!let_in) {
    answer.status = 403;
    answer.body = kInviteRefused;
    return answer;
  }
  answer.body = R"({"ok":true,"players":)" + std::to_string(rooms_.seats) + "}";
  return answer;
}

// 0, or the seconds until the next attempt is looked at: who has failed too
// often is told before anything is looked up, so that guesses cost nothing and
// tell nothing.
std::uint32_t Gate::CountAttempt(TimePoint now, const Address& address) {
  const RateKey key{address};
  const std::uint32_t wait =
      std::max(attempts_.Wait(now, key), failures_.Wait(now, key));
  if (wait == 0) attempts_.Take(now, key);
  return wait;
}

bool Gate::IsAllowed(std::string_view origin) const {
  return origins_.empty() ||
         std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

bool Gate::HasAccess(const Hello& hello) const {
  if (open_) return true;
  std::string_view access = hello.access;
  if (!access.starts_with(kInvite)) return false;
  access.remove_prefix(kInvite.size());
  return codes_.Has(access);
}

}  // namespace parlor::host
