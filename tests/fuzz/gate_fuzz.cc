// A fuzzer's bytes are requests at a gate. The first byte says what the gate's
// options are; behind it are fields that end in NUL, of which each request
// takes some:
//   "<how><target>" "<protocol>,<protocol>..." "<origin>"   for a room
//   "<how><body>" "<origin>"                                for an invite
// <how> is a byte: which of the two, from which of four addresses, how much
// later, whether it waits when it is told to, and whether the gate drains. An
// empty origin is none. A byte 1 and the one behind it stand for a pass that
// the gate's secret signed: what it says, and what the store says of it.
//
// Whatever they are, nothing may assert, and whoever gets in had to: the code
// is one of the gate's, the pass is right and the store says so, the origin is
// on its list, and no address came more often than it may, nor failed. Who
// waits as long as it was told is looked at.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "logic/gate.h"
#include "logic/pass.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/connector.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/time.h"
#include "parlor/transports/request.h"

namespace parlor::host {
namespace {

constexpr std::string_view kCode = "CODE-NUMBER-1";
constexpr std::string_view kPage = "https://a.example";
constexpr std::size_t kAddresses = 4;
constexpr std::int64_t kRate = 6;
constexpr std::int64_t kFailures = 2;
constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::int64_t kWallSeconds = 1'800'000'000;
constexpr std::int64_t kTwentyDays = 20 * 86'400;
constexpr std::int64_t kDevices = 2;

std::string Upper(std::string_view text) {
  std::string upper(text);
  absl::AsciiStrToUpper(&upper);
  return upper;
}

// Of those that last 20 days from now the gate takes those for one or two
// devices; what the store answers is their number.
Pass PassOf(std::uint8_t byte) {
  return {.id = byte & 3u,
          .expires_s = kWallSeconds + ((byte >> 2 & 3) - 1) * kTwentyDays,
          .devices = 1 + (byte >> 4 & 3)};
}

bool IsRight(const Pass& pass) {
  return pass.expires_s == kWallSeconds + kTwentyDays &&
         pass.devices <= kDevices;
}

std::string WithPasses(std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\1' && i + 1 < text.size()) {
      const auto byte = static_cast<std::uint8_t>(text[++i]);
      all += WritePass(PassOf(byte), kSecret);
    } else {
      all += text[i];
    }
  }
  return all;
}

// Whether the events of an address so far leave room for one more, as the
// header of the rates has it.
struct Minute {
  TimePoint begin = TimePoint(-3'600 * kSecond);
  std::int64_t count = 0;

  bool Take(TimePoint now, std::int64_t max) {
    if (now - begin >= 60 * kSecond) *this = {.begin = now};
    return ++count <= max;
  }
};

class World {
 public:
  explicit World(std::uint8_t choice)
      : options_(Options(choice)),
        rooms_(Rooms(choice)),
        gate_(
            options_, rooms_, [] { return kWallSeconds; }, kAddresses) {}

  void Play(std::string_view fields) {
    rest_ = fields;
    while (!rest_.empty()) {
      std::string_view field = Field();
      const std::uint8_t how =
          field.empty() ? 0 : static_cast<std::uint8_t>(field.front());
      if (!field.empty()) field.remove_prefix(1);
      who_ = how >> 1 & 3;
      const int later = how >> 3 & 7;
      now_ += later * later * kSecond;
      waits_ = (how & 0x40) != 0;
      if ((how & 0x80) != 0) gate_.Drain();
      if ((how & 1) == 0) {
        AskForRoom(field);
      } else {
        AskForInvite(field);
      }
    }
  }

 private:
  static GateOptions Options(std::uint8_t choice) {
    GateOptions options;
    options.joins_per_minute = kRate;
    options.open = (choice & 3) == 1;
    if ((choice & 3) > 1) options.codes = {std::string(kCode)};
    if (!options.open && (choice & 16) != 0) {
      options.passes = true;
      options.pass_secret = kSecret;
      options.pass_devices = kDevices;
    }
    if ((choice & 4) != 0) options.origins = {std::string(kPage)};
    return options;
  }
  static GateRooms Rooms(std::uint8_t choice) {
    return {.rooms = 4,
            .seats = 8,
            .base_path = (choice & 8) != 0 ? "/b" : "",
            .play = {{.key = "c"}, {.key = "p", .open = true}}};
  }

  std::string_view Field() {
    const std::size_t end = std::min(rest_.find('\0'), rest_.size());
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return field;
  }

  void AskForRoom(std::string_view target) {
    Request request{.target = std::string(target)};
    const std::string all = WithPasses(Field());
    std::string_view protocols = all;
    while (!protocols.empty()) {
      const std::size_t end = std::min(protocols.find(','), protocols.size());
      request.protocols.emplace_back(protocols.substr(0, end));
      protocols.remove_prefix(std::min(end + 1, protocols.size()));
    }
    const std::string_view origin = Field();
    if (!origin.empty()) request.origin = origin;

    const Refusal path = gate_.CheckPath(request);
    PARLOR_CHECK(path.retry_after_s == 0);
    PARLOR_CHECK(path.status == 0 || path.status == 404 ||
                 (path.status == 503 && gate_.draining()));
    if (path.status != 0) return;
    const Hello before{.room = 99, .players = -99};
    Hello hello = before;
    Gate::JoinAnswer answer = gate_.CheckJoin(now_, request, Who(), &hello);
    CheckWait(answer.refusal.status, answer.refusal.retry_after_s);
    if (answer.refusal.status == 429 && waits_) {
      now_ += answer.refusal.retry_after_s * kSecond;
      answer = gate_.CheckJoin(now_, request, Who(), &hello);
      PARLOR_CHECK(answer.refusal.status != 429);
    }
    const Refusal refusal = answer.refusal;
    if (refusal.status != 0) {
      PARLOR_CHECK(hello.room == before.room &&
                   hello.players == before.players);
    }
    switch (refusal.status) {
      case 0:
        CheckRoom(hello);
        PARLOR_CHECK(MayAsk(origin));
        PARLOR_CHECK(hello.identity ==
                     (answer.ask ? PassIdText(answer.ask->pass) : ""));
        if (answer.ask) return FinishJoin(*answer.ask, hello);
        PARLOR_CHECK(
            options_.open || hello.play == "p" ||
            (!options_.codes.empty() &&
             Upper(hello.access) == Upper("invite." + options_.codes[0])));
        return CountLookedAt(false);
      case 403:
        PARLOR_CHECK(!options_.open || !MayAsk(origin));
        if (MayAsk(origin)) CountLookedAt(true);
        return;
      default:
        PARLOR_CHECK(refusal.status == 400 || refusal.status == 429);
    }
  }

  void CheckRoom(const Hello& hello) const {
    if (hello.play.empty()) {
      PARLOR_CHECK(hello.room < rooms_.rooms);
      PARLOR_CHECK(hello.players >= 1 && hello.players <= rooms_.seats);
    } else {
      PARLOR_CHECK(rooms_.play.at(hello.room).key == hello.play);
      PARLOR_CHECK(hello.players == 0 && !hello.resume);
    }
  }

  // The use is that of a pass that was shown, and is right.
  void CheckUse(const PassUse& use, std::string_view shown) const {
    const Pass pass{
        .id = use.pass, .expires_s = use.expires_s, .devices = use.devices_max};
    PARLOR_CHECK(options_.passes && IsRight(pass));
    PARLOR_CHECK(shown.find(WritePass(pass, kSecret)) != std::string::npos);
  }

  void FinishJoin(const PassUse& use, const Hello& hello) {
    CheckUse(use, hello.access);
    PARLOR_CHECK(use.device == HashDevice(use.pass, hello.device.substr(7)));
    const auto said = static_cast<PassAnswer>(use.pass);
    const Refusal refusal = gate_.FinishJoin(now_, said, hello, Who());
    if (gate_.draining() && !hello.resume && hello.play.empty()) {
      PARLOR_CHECK(refusal.status == 503);
      return CountLookedAt(false);
    }
    const std::uint16_t status = said == PassAnswer::kLetIn    ? 0
                                 : said == PassAnswer::kFailed ? 503
                                                               : 403;
    PARLOR_CHECK(refusal.status == status);
    CountLookedAt(status == 403);
  }

  void FinishInvite(const PassUse& use, std::string_view body,
                    std::optional<std::string_view> origin) {
    CheckUse(use, body);
    PARLOR_CHECK(MayAsk(origin.value_or("")));
    const auto said = static_cast<PassAnswer>(use.pass);
    const Gate::InviteAnswer answer =
        gate_.FinishInvite(now_, said, origin, Who());
    PARLOR_CHECK(!answer.ask);
    switch (said) {
      case PassAnswer::kLetIn:
        PARLOR_CHECK(answer.status == 200);
        PARLOR_CHECK(answer.body == R"({"ok":true,"players":8,"pass":true})");
        return CountLookedAt(false);
      case PassAnswer::kFailed:
        PARLOR_CHECK(answer.status == 503 && answer.body.empty());
        return CountLookedAt(false);
      case PassAnswer::kRevoked:
      case PassAnswer::kOtherDevice:
        PARLOR_CHECK(answer.status == 403);
        return CountLookedAt(true);
    }
  }

  void AskForInvite(std::string_view text) {
    const std::string all = WithPasses(text);
    const std::string_view body =
        std::string_view(all).substr(0, kInviteBodyMax);
    const std::string_view said = Field();
    const auto origin = said.empty() ? std::nullopt : std::optional(said);
    Gate::InviteAnswer answer = gate_.CheckInvite(now_, body, origin, Who());
    CheckWait(answer.status, answer.retry_after_s);
    if (answer.status == 429 && waits_) {
      now_ += answer.retry_after_s * kSecond;
      answer = gate_.CheckInvite(now_, body, origin, Who());
      PARLOR_CHECK(answer.status != 429);
    }
    PARLOR_CHECK(answer.allow_origin.empty() ||
                 (answer.allow_origin == said && MayAsk(said)));
    PARLOR_CHECK(std::all_of(answer.allow_origin.begin(),
                             answer.allow_origin.end(),
                             [](char c) { return absl::ascii_isgraph(c); }));
    if (answer.ask) return FinishInvite(*answer.ask, body, origin);
    switch (answer.status) {
      case 200:
        PARLOR_CHECK(answer.body ==
                     (options_.passes ? R"({"ok":true,"players":8,"pass":true})"
                                      : R"({"ok":true,"players":8})"));
        PARLOR_CHECK(MayAsk(said) &&
                     (options_.open || (!options_.codes.empty() &&
                                        Upper(body).find(options_.codes[0]) !=
                                            std::string::npos)));
        return CountLookedAt(false);
      case 403:
        PARLOR_CHECK(options_.passes
                         ? answer.body.starts_with(
                               R"({"ok":false,"pass":true,"why":"pass )")
                         : answer.body == R"({"ok":false})");
        PARLOR_CHECK(!options_.open || !MayAsk(said));
        return CountLookedAt(MayAsk(said));
      default:
        PARLOR_CHECK(answer.status == 429 && answer.body.empty());
    }
  }

  static void CheckWait(std::uint16_t status, std::uint32_t seconds) {
    PARLOR_CHECK((status == 429) == (seconds > 0));
    PARLOR_CHECK(seconds <= 60);
  }

  bool MayAsk(std::string_view origin) const {
    return origin.empty() || options_.origins.empty() || origin == kPage;
  }

  void CountLookedAt(bool failed) {
    PARLOR_CHECK(attempts_[who_].Take(now_, kRate));
    if (failed) PARLOR_CHECK(failures_[who_].Take(now_, kFailures));
  }

  Address Who() const {
    return Address::Parse("192.0.2." + std::to_string(who_)).value();
  }

  GateOptions options_;
  GateRooms rooms_;
  Gate gate_;
  std::string_view rest_;
  TimePoint now_{};
  std::size_t who_ = 0;
  bool waits_ = false;
  std::array<Minute, kAddresses> attempts_{};
  std::array<Minute, kAddresses> failures_{};
};

}  // namespace
}  // namespace parlor::host

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  parlor::host::World(data[0]).Play(parlor::AsText(bytes));
  return 0;
}
