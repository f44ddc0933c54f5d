#include "sim/swarm_hostile.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/lockstep/wire.h"
#include "parlor/sim/world.h"
#include "sim/swarm_draw.h"

namespace parlor::test {
namespace {

using HostileKind = SwarmHostile::Kind;
using lockstep::Kind;

constexpr std::size_t kLinesMax = 4;  // open at once

}  // namespace

Hostile::Hostile(sim::World& world, SwarmObserver& observer,
                 const SwarmHostile& scenario, const SwarmRoom& room,
                 sim::Host& host, std::uint32_t tag, std::uint64_t seed)
    : world_(world),
      observer_(observer),
      scenario_(scenario),
      room_(room),
      host_(host),
      tag_(tag),
      random_(seed, tag) {}

Hostile::~Hostile() = default;

void Hostile::Turn() {
  if (gone_) return;
  switch (scenario_.kind) {
    case HostileKind::kGuesser:
      if (random_.Chance(1, 20)) Guess();
      return;
    case HostileKind::kThief:
      if (random_.Chance(1, 40)) Steal();
      break;
    case HostileKind::kOldTokens:
      if (random_.Chance(1, 15)) OfferOldTokens();
      return;
    case HostileKind::kIntruder:
      if (random_.Chance(1, 30)) Intrude();
      return;
    default:
      TakePart();
  }
  for (Line& line : lines_) {
    if (line.open && !line.closing) Play(line);
  }
}

void Hostile::GoAway() {
  gone_ = true;
  for (Line& line : lines_) {
    if (!line.closing) Quit(line);
  }
}

// --- Connections

Hostile::Line& Hostile::LineOf(const Connection& connection) {
  const auto found = std::find_if(
      lines_.begin(), lines_.end(),
      [&](const Line& line) { return line.connection.get() == &connection; });
  PARLOR_CHECK(found != lines_.end());
  return *found;
}

void Hostile::Connect(int players, std::optional<std::string> token) {
  if (lines_.size() >= kLinesMax) return;
  std::optional<std::uint32_t> number;
  if (token) number = lockstep::ParseToken(*token);
  observer_.ExpectStranger(tag_, room_.host, room_.number, number);
  Line& line = lines_.emplace_back();
  line.next = line.heard = static_cast<std::uint32_t>(room_.delay);
  Hello hello;
  hello.room = room_.number;
  hello.players = players;
  hello.resume = std::move(token);
  line.connection = world_.Connect(host_, hello, scenario_.via, this);
}

void Hostile::OnOpen(TimePoint /*now*/, Connection& connection) {
  LineOf(connection).open = true;
}

void Hostile::OnMessage(TimePoint /*now*/, Connection& connection,
                        Lane /*lane*/, MessageKind /*kind*/,
                        std::span<const std::byte> bytes) {
  if (bytes.size() != lockstep::kMessageSize) return;
  Line& line = LineOf(connection);
  const auto message = lockstep::Decode(bytes.first<lockstep::kMessageSize>());
  if (message.kind == Kind::kWelcome) {
    line.slot = message.slot;
    line.token = message.value;
    if (scenario_.takes_seat()) own_token_ = message.value;
  }
  // Not of those who are far ahead by intent.
  if (message.kind == Kind::kInput && message.frame < line.heard + 200) {
    line.heard = std::max(line.heard, message.frame);
  }
}

void Hostile::OnClose(TimePoint /*now*/, Connection& connection,
                      const CloseEvent& /*event*/) {
  lines_.remove_if(
      [&](const Line& line) { return line.connection.get() == &connection; });
}

// --- Tokens

void Hostile::Guess() {
  static constexpr std::array<std::string_view, 6> kMalformed = {
      "", "0", "zz", "123456789", "-1", "00000000"};
  const std::vector<std::uint32_t> tokens =
      observer_.Tokens(room_.host, room_.number, /*left=*/false);
  if (tokens.empty() || random_.Chance(1, 4)) {
    return Connect(room_.size,
                   std::string(kMalformed[random_.Below(kMalformed.size())]));
  }
  std::uint32_t token = OneOf(random_, tokens);
  const std::uint32_t bit = random_.Below(32);
  token ^= std::uint32_t{1} << bit;
  if (std::find(tokens.begin(), tokens.end(), token) != tokens.end()) return;
  Connect(room_.size, lockstep::TokenText(token));
}

void Hostile::Steal() {
  const std::vector<std::uint32_t> tokens =
      observer_.Tokens(room_.host, room_.number, /*left=*/false);
  if (tokens.empty()) return;
  const std::string token = lockstep::TokenText(OneOf(random_, tokens));
  stole_ = true;
  Connect(room_.size, token);
  // A second tab.
  if (random_.Chance(1, 3)) Connect(room_.size, token);
}

void Hostile::OfferOldTokens() {
  const std::vector<std::uint32_t> tokens =
      observer_.Tokens(room_.host, room_.number, /*left=*/true);
  if (tokens.empty()) return;
  Connect(room_.size, lockstep::TokenText(OneOf(random_, tokens)));
}

void Hostile::Intrude() {
  if (observer_.Tokens(room_.host, room_.number, /*left=*/false).empty()) {
    return;
  }
  Connect(random_.Chance(1, 2) ? room_.size : room_.size % 8 + 1, std::nullopt);
}

// --- With a seat

void Hostile::TakePart() {
  if (!lines_.empty()) return;
  if (!joined_) {
    joined_ = true;
    return Connect(room_.size, std::nullopt);
  }
  if (own_token_ && random_.Chance(1, 20)) {
    Connect(room_.size, lockstep::TokenText(*own_token_));
  }
}

void Hostile::Play(Line& line) {
  if (line.slot < 0) {
    if (random_.Chance(1, 8)) TalkInLobby(line);
    return;
  }
  if (random_.Chance(1, 250)) return Quit(line);
  if (scenario_.kind == HostileKind::kFlooder && random_.Chance(1, 150)) {
    return Flood(line);
  }
  if (scenario_.kind == HostileKind::kMissizer && random_.Chance(1, 150)) {
    return SayWrongSize(line);
  }
  if (random_.Chance(1, 6)) Misspeak(line);
  for (int i = 0; i < 2 && line.next <= line.heard + 1; ++i) {
    SayInput(line, line.next++);
  }
}

void Hostile::TalkInLobby(Line& line) {
  const std::uint32_t kind = random_.Below(10);
  // Where it is the room's host, its START counts.
  const std::uint32_t players = random_.Below(9);
  const std::uint32_t slot = random_.Below(8);
  Say(line, {.kind = static_cast<Kind>(kind),
             .slot = static_cast<std::uint8_t>(slot),
             .players = static_cast<std::uint8_t>(players),
             .frame = line.next,
             .value = tag_ << 24});
  if (random_.Chance(1, 40)) Quit(line);
}

void Hostile::Misspeak(Line& line) {
  lockstep::Message message{.kind = Kind::kInput,
                            .frame = line.next,
                            .value = tag_ << 24 | random_.Below(1u << 24)};
  const std::uint32_t slot = random_.Below(8);
  switch (random_.Below(8)) {
    case 0:  // one frame again, with another word
    case 1:
      message.frame = line.next - 1;
      break;
    case 2:
      message.frame = line.next / 2;
      break;
    case 3:  // in another's name
      message.slot = static_cast<std::uint8_t>(slot);
      ++line.next;
      break;
    case 4:  // what only a room says
      message.kind = static_cast<Kind>(3 + random_.Below(6));
      message.slot = static_cast<std::uint8_t>(slot);
      break;
    case 5:
      message.kind = static_cast<Kind>(random_.Chance(1, 2) ? 0 : 200);
      break;
    case 6:  // of a frame that has no hash: nobody takes it for a desync
      message.kind = Kind::kHash;
      message.frame = line.next - line.next % 30 + 1;
      break;
    default:
      if (!random_.Chance(1, 10)) return;
      line.next += random_.Below(100);
      message.frame = line.next++;
  }
  Say(line, message);
}

void Hostile::Flood(Line& line) {
  for (int i = 0; i < 700; ++i) {
    lockstep::Message message{.kind = Kind::kHash, .frame = 1};
    Say(line, message);
  }
}

void Hostile::SayWrongSize(Line& line) {
  static constexpr std::array<std::size_t, 5> kSizes = {0, 11, 13, 24, 300};
  const std::size_t size = kSizes[random_.Below(kSizes.size())];
  const std::vector<std::byte> bytes(size, std::byte{1});
  const bool text = random_.Chance(1, 3);
  line.connection->Send(
      Lane::kReliable, text ? MessageKind::kText : MessageKind::kBinary, bytes);
}

// In order, as a lost link, or with a code that means something else.
void Hostile::Quit(Line& line) {
  line.closing = true;
  switch (random_.Below(5)) {
    case 0:
      return line.connection->Close(CloseReason::kNormal);
    case 1:
      return line.connection->Close(1011, "as I like");
    case 2:
      return line.connection->Close(4321, "");
    default:
      return line.connection->Abort();
  }
}

void Hostile::Say(Line& line, const lockstep::Message& message) {
  line.connection->Send(Lane::kReliable, MessageKind::kBinary,
                        lockstep::Encode(message));
}

void Hostile::SayInput(Line& line, std::uint32_t frame) {
  Say(line, {.kind = Kind::kInput,
             .frame = frame,
             .value = tag_ << 24 | random_.Below(1u << 24)});
}

}  // namespace parlor::test
