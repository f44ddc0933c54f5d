#include "sim/swarm_play_hostile.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parlor/authority/frames.h"
#include "parlor/authority/input.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/sim/world.h"
#include "sim/swarm_draw.h"
#include "sim/swarm_play_game.h"
#include "sim/swarm_play_room.h"
#include "sim/swarm_play_scenario.h"

namespace parlor::test {
namespace {

using HostileKind = PlayHostileDraw::Kind;

constexpr std::size_t kLinesMax = 4;  // open at once

}  // namespace

PlayHostile::PlayHostile(sim::World& world, PlayBook& book,
                         const PlayHostileDraw& draw, const PlayRoomDraw& room,
                         sim::Host& host, std::function<void()> connects,
                         std::uint64_t seed, std::uint64_t number)
    : world_(world),
      book_(book),
      draw_(draw),
      room_(room),
      host_(host),
      connects_(std::move(connects)),
      name_("H" + std::to_string(number)),
      random_(seed, 1'000 + number) {}

PlayHostile::~PlayHostile() = default;

void PlayHostile::Turn() {
  if (gone_) return;
  switch (draw_.kind) {
    case HostileKind::kGuesser:
      if (random_.Chance(1, 20)) Guess();
      return;
    case HostileKind::kThief:
      if (random_.Chance(1, 60)) Steal();
      break;
    case HostileKind::kOldTokens:
      if (random_.Chance(1, 15)) OfferOldTokens();
      return;
    case HostileKind::kIntruder:
      if (random_.Chance(1, 20)) Intrude();
      return;
    default:
      TakePart();
  }
  for (Line& line : lines_) {
    if (line.seated && line.open && !line.closing) Play(line);
  }
}

void PlayHostile::GoAway() {
  gone_ = true;
  for (Line& line : lines_) {
    if (!line.closing) Quit(line);
  }
}

// ---- Connections

PlayHostile::Line& PlayHostile::LineOf(const Connection& connection) {
  const auto found = std::ranges::find_if(lines_, [&](const Line& line) {
    return line.connection.get() == &connection;
  });
  PARLOR_CHECK(found != lines_.end());
  return *found;
}

// Null: it has enough of them.
PlayHostile::Line* PlayHostile::Connect(
    std::optional<authority::ResumeToken> token) {
  if (lines_.size() >= kLinesMax) return nullptr;
  connects_();
  Line& line = lines_.emplace_back();
  line.join = {.protocol = kPlayProtocol, .name = name_, .resume = token};
  if (random_.Chance(1, 2)) line.join.codecs = {"binary", "json"};
  line.connection = world_.Connect(host_, {.play = room_.key}, draw_.via, this);
  return &line;
}

void PlayHostile::OnOpen(TimePoint /*now*/, Connection& connection) {
  Line& line = LineOf(connection);
  line.open = true;
  if (line.speaks) SayText(line, authority::Write(line.join));
}

void PlayHostile::OnMessage(TimePoint /*now*/, Connection& connection,
                            Lane /*lane*/, MessageKind kind,
                            std::span<const std::byte> bytes) {
  if (kind != MessageKind::kText) return;
  Line& line = LineOf(connection);
  const authority::ServerFrame frame =
      authority::ParseServerFrame(AsText(bytes));
  if (const auto* const welcome =
          std::get_if<authority::WelcomeFrame>(&frame)) {
    line.seated = true;
    line.tick = welcome->tick;
    if (draw_.kind != HostileKind::kThief) token_ = welcome->token;
  } else if (const auto* const tick =
                 std::get_if<authority::TickFrame>(&frame)) {
    line.tick = tick->tick;
  } else if (const auto* const error =
                 std::get_if<authority::ErrorFrame>(&frame);
             error != nullptr &&
             error->code == authority::ErrorCode::kResumeRefused) {
    // Its own seat is gone, and the connection may still join, or not.
    token_.reset();
    if (!line.closing && random_.Chance(1, 2)) Quit(line);
  }
}

void PlayHostile::OnClose(TimePoint /*now*/, Connection& connection,
                          const CloseEvent& /*event*/) {
  lines_.remove_if(
      [&](const Line& line) { return line.connection.get() == &connection; });
}

// ---- Tokens

// Null: none is open.
const WatchedRoom* PlayHostile::Room() const {
  const PlayRoomBook* const newest = book_.Newest(room_.key);
  return newest == nullptr ? nullptr : newest->room;
}

void PlayHostile::Guess() {
  const WatchedRoom* const room = Room();
  authority::ResumeToken token{};
  if (room != nullptr && random_.Chance(3, 4)) {
    const std::vector<WatchedRoom::Token> live = room->LiveTokens();
    if (!live.empty()) token = OneOf(random_, live).token;
  }
  token[random_.Below(16)] ^= std::byte{1} << random_.Below(8);
  Connect(token);
}

void PlayHostile::Steal() {
  const WatchedRoom* const room = Room();
  if (room == nullptr) return;
  const std::vector<WatchedRoom::Token> live = room->LiveTokens();
  if (live.empty()) return;
  const WatchedRoom::Token& token = OneOf(random_, live);
  if (Connect(token.token) == nullptr) return;
  book_.robbed.insert(token.name);
  if (random_.Chance(1, 3)) Connect(token.token);  // a second tab
}

void PlayHostile::OfferOldTokens() {
  std::vector<authority::ResumeToken> tokens;
  const WatchedRoom* const room = Room();
  if (room != nullptr) tokens = room->DeadTokens();
  for (const auto& other : book_.rooms) {
    if (other->room == nullptr || other->room == room) continue;
    for (const WatchedRoom::Token& token : other->room->LiveTokens()) {
      tokens.push_back(token.token);
    }
  }
  if (!tokens.empty()) Connect(OneOf(random_, tokens));
}

void PlayHostile::Intrude() {
  Line* const line = Connect(std::nullopt);
  if (line == nullptr) return;
  switch (random_.Below(6)) {
    case 0:
      line->join.protocol = "swarm-2";
      return;
    case 1:
      line->join.fields = R"({"a":1})";
      return;
    case 2:
      line->join.name = "\n";
      return;
    case 3:
      line->speaks = false;
      return;
    case 4:
      line->join.codecs = {"none"};
      return;
    default:
      return;  // the room may be full
  }
}

// ---- With a seat

void PlayHostile::TakePart() {
  if (lines_.empty()) {
    if (random_.Chance(1, 30)) Connect(token_);
    return;
  }
  if (draw_.kind == HostileKind::kTwin && token_ && random_.Chance(1, 40)) {
    Connect(token_);
  }
}

void PlayHostile::Play(Line& line) {
  if (random_.Chance(1, 300)) return Quit(line);
  switch (draw_.kind) {
    case HostileKind::kGarbler:
      if (random_.Chance(1, 8)) Garble(line);
      break;
    case HostileKind::kAcker:
      return Ack(line);
    case HostileKind::kFlooder:
      if (random_.Chance(1, 150)) return Flood(line);
      break;
    case HostileKind::kSilent:
      return SayInput(line);
    default:
      break;
  }
  SayInput(line);
  if (random_.Chance(1, 3)) SayBytes(line, authority::EncodeAck(line.tick));
}

void PlayHostile::Garble(Line& line) {
  static constexpr std::array<std::string_view, 14> kTexts = {
      "",
      "{",
      "null",
      R"({"t":1})",
      R"({"t":"msg","name":"aos:kick","payload":1})",
      R"({"t":"msg","name":"unknown","payload":1})",
      R"({"t":"msg","name":"say","payload":"a text that is far too long for it"})",
      R"({"t":"msg","name":"say","payload":1e999})",
      R"({"t":"join","protocol":"swarm-1","name":"P0"})",
      R"({"t":"mod","action":"kick","target":"p1"})",
      R"({"t":"chat","text":"hello"})",
      R"({"t":"publish","key":"a","value":1})",
      R"({"t":"restart","t":"restart"})",
      R"({"t":"baseline","epoch":1,"base":1,"tick":1,"rows":[]})"};
  switch (random_.Below(6)) {
    case 0: {
      std::vector<std::byte> bytes(random_.Below(60));
      for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random_.Below(256));
      }
      if (!bytes.empty() && random_.Chance(1, 2)) {
        bytes[0] =
            random_.Chance(1, 2) ? authority::kInputKind : authority::kAckKind;
      }
      return SayBytes(line, bytes);
    }
    case 1: {
      std::string deep = R"({"t":"msg","name":"say","payload":)";
      deep.append(200, '[').append(200, ']');
      return SayText(line, deep + "}");
    }
    case 2:
      if (!random_.Chance(1, 10)) return;
      return SayText(line, std::string(3'000, ' '));
    case 3:  // where it is host, this counts
      return SayText(line, R"({"t":"msg","name":"restart","payload":{}})");
    default:
      return SayText(line, kTexts[random_.Below(kTexts.size())]);
  }
}

// Of what was not sent yet, of what is long past, and in both forms.
void PlayHostile::Ack(Line& line) {
  const std::uint32_t ahead = 1 + random_.Below(1'000);
  switch (random_.Below(6)) {
    case 0:
      return SayBytes(line, authority::EncodeAck(line.tick + ahead));
    case 1:
      return SayBytes(line, authority::EncodeAck(0xffffffff));
    case 2:
      return SayBytes(line, authority::EncodeAck(line.tick / 2));
    case 3:
      return SayText(line, authority::Write(
                               authority::AckFrame{.tick = line.tick + ahead}));
    case 4:
      return SayText(line, authority::Write(authority::ResyncFrame{}));
    default:
      return SayInput(line);
  }
}

void PlayHostile::Flood(Line& line) {
  const std::uint32_t kind = random_.Below(3);
  for (int i = 0; i < 700; ++i) {
    if (kind == 0) {
      SayInput(line);
    } else if (kind == 1) {
      SayText(line, R"({"t":"msg","name":"say","payload":-1})");
    } else {
      SayText(line, "?");
    }
  }
}

// In order, as a lost link, or with a code that means something else.
void PlayHostile::Quit(Line& line) {
  line.closing = true;
  switch (random_.Below(6)) {
    case 0:
      return line.connection->Close(CloseReason::kNormal);
    case 1:
      return line.connection->Close(1011, "as I like");
    case 2:
      return line.connection->Close(4321, "");
    case 3:
      SayText(line, authority::Write(authority::LeaveFrame{}));
      return line.connection->Close(1001, "");
    default:
      return line.connection->Abort();
  }
}

void PlayHostile::SayText(Line& line, std::string_view text) {
  line.connection->Send(Lane::kReliable, MessageKind::kText, AsBytes(text));
}

void PlayHostile::SayBytes(Line& line, std::span<const std::byte> bytes) {
  line.connection->Send(Lane::kReliable, MessageKind::kBinary, bytes);
}

void PlayHostile::SayInput(Line& line) {
  if (random_.Chance(1, 12)) line.seq /= 2;  // again, or backwards
  const std::uint64_t held = random_.Next();
  SayBytes(line, authority::EncodeInput(
                     {.seq = ++line.seq, .held = held, .pressed = held}));
}

}  // namespace parlor::test
