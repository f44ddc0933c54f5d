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
#include "logic/access_codes.h"
#include "logic/origin.h"
#include "logic/pass.h"
#include "parlor/check.h"
#include "parlor/connector.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/host/play_room.h"
#include "parlor/time.h"
#include "parlor/transports/request.h"

namespace parlor::host {
namespace {

// What /invite says of a refusal (contract).
constexpr std::string_view kExpired = "pass expired";
constexpr std::string_view kRevoked = "pass revoked";
constexpr std::string_view kOtherDevice = "pass in use on another device";
constexpr std::string_view kNotValid = "pass not valid";

constexpr std::uint16_t kForbidden = 403;
constexpr std::uint16_t kTooManyRequests = 429;
constexpr std::uint16_t kUnavailable = 503;

constexpr std::int64_t kSecondsADay = 86'400;

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

bool HasPrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// What may be said again in a header. Heads let bytes above ASCII pass.
bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isgraph(c); });
}

}  // namespace

Gate::Gate(const GateOptions& options, GateRooms rooms, WallClock wall_clock,
           std::size_t addresses_max)
    : rooms_(std::move(rooms)),
      play_keys_(rooms_.play),
      wall_clock_(std::move(wall_clock)),
      attempts_(options.joins_per_minute, addresses_max),
      failures_(Third(options.joins_per_minute), addresses_max) {
  SetOptions(options);
}

void Gate::SetOptions(const GateOptions& options) {
  passes_ = options.passes;
  shut_ = passes_ && options.pass_secret.size() < kPassSecretMin;
  open_ = options.open && !shut_;
  pass_secret_ = options.pass_secret;
  pass_seconds_max_ = options.pass_days * kSecondsADay;
  pass_devices_max_ = options.pass_devices;
  codes_.SetOwn(options.codes);
  origins_ = NormalOrigins(options);
  proxies_ = TrustedProxies(options.trusted_proxies);
  attempts_.SetPerMinute(options.joins_per_minute);
  failures_.SetPerMinute(Third(options.joins_per_minute));
}

void Gate::SetPlayRooms(const std::vector<PlayRoom>& rooms) {
  PARLOR_CHECK(rooms.size() == rooms_.play.size());
  rooms_.play = rooms;
}

Refusal Gate::CheckPath(const Request& request) const {
  if (const auto key = ParsePlayKey(request.target, rooms_.base_path)) {
    if (!play_keys_.Find(*key)) return {.status = 404};
    return {};
  }
  const bool resumes = std::any_of(
      request.protocols.begin(), request.protocols.end(),
      [](std::string_view text) { return text.starts_with(kResumePrefix); });
  if (draining_ && !resumes) return {.status = 503};
  const auto room = ParseRoomNumber(request.target, rooms_.base_path);
  if (!room || *room >= rooms_.rooms) return {.status = 404};
  return {};
}

Gate::JoinAnswer Gate::CheckJoin(TimePoint now, const Request& request,
                                 const Address& address, Hello* hello) {
  Hello read;
  const std::uint16_t wrong = Read(request, &read);
  if (wrong != 0) return {{.status = wrong}};
  if (request.origin && !IsAllowed(*request.origin)) {
    return {{.status = kForbidden}};
  }
  const std::uint32_t wait = CountAttempt(now, address);
  if (wait > 0) return {{.status = kTooManyRequests, .retry_after_s = wait}};
  const bool open = !read.play.empty() && rooms_.play[read.room].open;
  const Verdict verdict = Judge(read, open_ || (open && !shut_));
  if (!verdict.let_in && !verdict.ask) return {CountFailure(now, address)};
  if (verdict.ask) read.identity = PassIdText(verdict.ask->pass);
  *hello = std::move(read);
  return {.ask = verdict.ask};
}

std::uint16_t Gate::Read(const Request& request, Hello* hello) const {
  const auto key = ParsePlayKey(request.target, rooms_.base_path);
  if (!key) {
    const std::uint16_t wrong =
        ParseRoomRequest(request, rooms_.base_path, hello);
    if (wrong != 0) return wrong;
    return hello->players > rooms_.seats ? 400 : 0;
  }
  const auto number = play_keys_.Find(*key);
  if (!number) return 404;
  const std::uint16_t wrong =
      ParsePlayRequest(request, rooms_.base_path, hello);
  hello->room = *number;
  return wrong;
}

Refusal Gate::FinishJoin(TimePoint now, PassAnswer said, const Hello& hello,
                         const Address& address) {
  if (draining_ && !hello.resume && hello.play.empty()) {
    return {.status = kUnavailable};
  }
  switch (said) {
    case PassAnswer::kLetIn:
      return {};
    case PassAnswer::kFailed:
      return {.status = kUnavailable};
    case PassAnswer::kRevoked:
    case PassAnswer::kOtherDevice:
      break;
  }
  return CountFailure(now, address);
}

Gate::InviteAnswer Gate::CheckInvite(TimePoint now, std::string_view body,
                                     std::optional<std::string_view> origin,
                                     const Address& address) {
  InviteAnswer answer = AnswerTo(origin);
  answer.retry_after_s = CountAttempt(now, address);
  if (answer.retry_after_s > 0) {
    answer.status = kTooManyRequests;
    return answer;
  }
  if (origin && !IsAllowed(*origin)) {
    Refuse(answer, kNotValid);
    return answer;
  }
  const Verdict verdict = JudgeBody(body);
  answer.ask = verdict.ask;
  if (verdict.let_in) {
    Accept(answer);
  } else if (!verdict.ask) {
    Refuse(answer, now, address, verdict.why);
  }
  return answer;
}

Gate::InviteAnswer Gate::FinishInvite(TimePoint now, PassAnswer said,
                                      std::optional<std::string_view> origin,
                                      const Address& address) {
  InviteAnswer answer = AnswerTo(origin);
  switch (said) {
    case PassAnswer::kLetIn:
      Accept(answer);
      break;
    case PassAnswer::kRevoked:
      Refuse(answer, now, address, kRevoked);
      break;
    case PassAnswer::kOtherDevice:
      Refuse(answer, now, address, kOtherDevice);
      break;
    case PassAnswer::kFailed:
      answer.status = kUnavailable;
      break;
  }
  return answer;
}

Gate::InviteAnswer Gate::AnswerTo(
    std::optional<std::string_view> origin) const {
  InviteAnswer answer;
  if (origin && IsAllowed(*origin) && IsVisible(*origin)) {
    answer.allow_origin = *origin;
  }
  return answer;
}

void Gate::Accept(InviteAnswer& answer) const {
  answer.body = R"({"ok":true,"players":)" + std::to_string(rooms_.seats);
  answer.body += passes_ ? R"(,"pass":true})" : "}";
}

void Gate::Refuse(InviteAnswer& answer, std::string_view why) const {
  answer.status = kForbidden;
  answer.body = R"({"ok":false)";
  if (passes_) {
    answer.body.append(R"(,"pass":true,"why":")").append(why).append("\"");
  }
  answer.body += '}';
}

void Gate::Refuse(InviteAnswer& answer, TimePoint now, const Address& address,
                  std::string_view why) {
  const Refusal refusal = CountFailure(now, address);
  if (refusal.status == kForbidden) return Refuse(answer, why);
  answer.status = refusal.status;
  answer.retry_after_s = refusal.retry_after_s;
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

// 403; or 429 when there is no failure left to count: of what is asked of the
// store at once, all may have passed CountAttempt.
Refusal Gate::CountFailure(TimePoint now, const Address& address) {
  const std::uint32_t wait = failures_.Take(now, {address});
  if (wait > 0) return {.status = kTooManyRequests, .retry_after_s = wait};
  return {.status = kForbidden};
}

Gate::Verdict Gate::Judge(const Hello& hello, bool open) const {
  std::string_view access = hello.access;
  if (HasPrefix(access, kInvitePrefix)) return JudgeCode(access, open);
  std::string_view device = hello.device;
  if (HasPrefix(access, kPassPrefix) && HasPrefix(device, kDevicePrefix)) {
    return JudgePass(access, device, open);
  }
  return {.let_in = open};
}

Gate::Verdict Gate::JudgeBody(std::string_view body) const {
  body = Trimmed(body);
  const std::size_t end = body.find('\n');
  if (end == std::string_view::npos) return JudgeCode(body, open_);
  std::string_view pass = body.substr(0, end);
  if (pass.ends_with('\r')) pass.remove_suffix(1);
  return JudgePass(pass, body.substr(end + 1), open_);
}

Gate::Verdict Gate::JudgeCode(std::string_view code, bool open) const {
  return {.let_in = open || (!shut_ && codes_.Has(code)), .why = kNotValid};
}

Gate::Verdict Gate::JudgePass(std::string_view text,
                              std::string_view device_key, bool open) const {
  if (!passes_ || shut_) return {.let_in = open, .why = kNotValid};
  const auto pass = ReadPass(text, pass_secret_);
  const std::int64_t now_s = wall_clock_();
  if (!pass || !IsDeviceKey(device_key) || pass->devices > pass_devices_max_ ||
      pass->expires_s > now_s + pass_seconds_max_) {
    return {.why = kNotValid};
  }
  if (pass->expires_s <= now_s) return {.why = kExpired};
  return {.ask = PassUse{.pass = pass->id,
                         .device = HashDevice(pass->id, device_key),
                         .devices_max = pass->devices,
                         .expires_s = pass->expires_s}};
}

}  // namespace parlor::host
