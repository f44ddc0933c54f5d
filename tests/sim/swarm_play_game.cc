#include "sim/swarm_play_game.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/authority/context.h"
#include "parlor/authority/input.h"
#include "parlor/authority/message.h"
#include "parlor/authority/room_authority.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/values.h"
#include "parlor/check.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "sim/swarm_play_scenario.h"

namespace parlor::test {
namespace {

using authority::RowId;
using authority::RowView;

// Kinds of rows, and their fields behind a transform's.
constexpr int kBody = 0;
constexpr int kCoin = 1;
constexpr int kSecret = 2;
constexpr int kHp = authority::kTransformFields;
constexpr int kName = kHp + 1;
constexpr int kPlaceField = 0;
constexpr int kWorthField = 1;
constexpr int kLitField = 2;
constexpr int kOwnerField = 0;
constexpr int kWordField = 1;

constexpr std::size_t kBodyWords = 6;    // position, rotation, teleports, hp
constexpr std::size_t kCoinWords = 4;    // place, worth, lit
constexpr std::size_t kSecretWords = 2;  // owner, word
constexpr std::size_t kTeleportsWord = 4;
constexpr std::size_t kHpWord = 5;

std::uint32_t Hash(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t word = a * 0x9e3779b1u ^ b * 0x85ebca77u ^ c * 0xc2b2ae3du;
  word ^= word >> 15;
  word *= 0x2c1b3c6du;
  return word ^ word >> 13;
}

std::string RowText(RowId row) { return "row " + std::to_string(row); }

bool Same(const PlayRow& meant, const RowView& shown) {
  return shown.kind_index() == meant.kind && shown.nulls() == meant.nulls &&
         std::ranges::equal(shown.words(), meant.words) &&
         (meant.kind != kBody || shown.GetString(kName) == meant.text);
}

const PlayRow* Find(const PlayState& state, RowId row) {
  const auto at = std::ranges::lower_bound(state.rows, row, {}, &PlayRow::id);
  return at == state.rows.end() || at->id != row ? nullptr : &*at;
}

}  // namespace

std::string PlayName(std::size_t player) {
  return "P" + std::to_string(player);
}

const authority::Schema& PlaySchema() {
  using authority::FieldType;
  static const authority::Schema schema = *authority::Schema::Create(
      {{.name = "body",
        .fields = {{"hp", FieldType::kInt}, {"name", FieldType::kString}},
        .transform = true,
        .rows_max = 16},
       {.name = "coin",
        .fields = {{"place", FieldType::kVec2},
                   {"worth", FieldType::kInt},
                   {"lit", FieldType::kBool}},
        .rows_max = 90},
       {.name = "secret",
        .fields = {{"owner", FieldType::kInt}, {"word", FieldType::kInt}},
        .rows_max = 16}});
  return schema;
}

const authority::Messages& PlayMessages() {
  static const authority::Messages messages = [] {
    authority::Messages made;
    for (const char* name : {"say", "restart", "told"}) {
      PARLOR_CHECK(made.Define({.name = name, .bytes_max = 32}).ok());
    }
    return made;
  }();
  return messages;
}

void PlayMove(authority::OwnBody& body, const authority::InputFrame& input,
              Duration step) {
  const float seconds = static_cast<float>(step / kMicrosecond) / 1'000'000.0F;
  const auto towards = [&](float& speed, std::int16_t axis) {
    const float wanted = static_cast<float>(axis) / 32'767.0F * 4.0F;
    speed += (wanted - speed) * 0.25F;
    if (std::fabs(speed) < 0.001F) speed = 0;
  };
  towards(body.velocity.x, input.axes[0]);
  towards(body.velocity.z, input.axes[1]);
  body.position.x += body.velocity.x * seconds;
  body.position.z += body.velocity.z * seconds;
  body.grounded = true;
}

// ---- The book

const PlayState* PlayRoomBook::StateAt(std::uint32_t tick) const {
  const auto at = states.find(tick);
  return at == states.end() ? nullptr : &at->second;
}

// Changes with time, so that rows enter views and leave them.
bool PlayRoomBook::Sees(const PlayState& state, const PlayRow& row,
                        std::uint32_t player) const {
  if (!draw.views) return true;
  if (state.throws && row.id % 3 == 0) return false;
  switch (row.kind) {
    case kBody:
      return row.owner == player ||
             Hash(row.id, player, state.tick / 45) % 4 != 0;
    case kCoin:
      return Hash(row.id, player, state.tick / 30) % 3 != 0;
    default:
      return row.owner == player;
  }
}

std::string PlayRoomBook::Compare(const PlayState& state, std::uint32_t player,
                                  const authority::RowTable& shown) const {
  if (shown.epoch() != state.epoch) return "another epoch's";
  std::string wrong;
  shown.ForEach([&](const RowView& row) {
    if (!wrong.empty()) return;
    const PlayRow* const meant = Find(state, row.id());
    if (meant == nullptr) {
      wrong = RowText(row.id()) + " is not there";
    } else if (!Sees(state, *meant, player)) {
      wrong = RowText(row.id()) + " is hidden from it";
    } else if (!Same(*meant, row)) {
      wrong = RowText(row.id()) + " is another";
    }
  });
  for (const PlayRow& row : state.rows) {
    if (!wrong.empty()) break;
    if (Sees(state, row, player) && !shown.Get(row.id).exists()) {
      wrong = RowText(row.id) + " is missing";
    }
  }
  return wrong;
}

std::string PlayRoomBook::CompareBaseline(
    const PlayBaseline& given, const authority::RowTable& shown) const {
  const PlayState* const state = StateAt(given.tick);
  if (state == nullptr) return "a tick that sent nothing";
  if (shown.epoch() != state->epoch) return "another epoch's";
  if (shown.size() != given.rows.size()) return "another number of rows";
  for (const RowId id : given.rows) {
    const PlayRow* const meant = Find(*state, id);
    if (meant == nullptr) return RowText(id) + " is not there";
    const RowView row = shown.Get(id);
    if (!row.exists()) return RowText(id) + " is missing";
    if (!Same(*meant, row)) return RowText(id) + " is another";
  }
  return "";
}

PlayRoomBook& PlayBook::Open(const PlayRoomDraw& draw) {
  const auto before = std::ranges::count_if(
      rooms, [&](const auto& room) { return room->draw.key == draw.key; });
  auto room = std::make_unique<PlayRoomBook>();
  room->draw = draw;
  room->first = before == 0;
  room->name = draw.key + " (" + std::to_string(before + 1) + ")";
  return *rooms.emplace_back(std::move(room));
}

PlayRoomBook* PlayBook::Newest(std::string_view key) {
  const auto at =
      std::find_if(rooms.rbegin(), rooms.rend(),
                   [&](const auto& room) { return room->draw.key == key; });
  return at == rooms.rend() ? nullptr : at->get();
}

// ---- The game: who is in it

PlayGame::PlayGame(PlayBook& book, PlayRoomBook& room, std::uint64_t seed)
    : book_(book), room_(room), random_(seed, /*stream=*/9) {}

absl::Status PlayGame::ValidateJoin(const authority::JoinRequest& request) {
  if (request.fields != "{}") return InvalidArgument("not like this");
  return absl::OkStatus();
}

void PlayGame::AddPlayer(authority::Context& context,
                         const authority::Player& player) {
  add_threw_ = false;
  if (members_.contains(player.seat)) {
    book_.Fail(room_.name + ": two players have seat " +
               std::to_string(player.seat));
  }
  const std::string_view digits = std::string_view(player.id).substr(1);
  Member member{.name = player.name, .honest = player.name[0] == 'P'};
  std::from_chars(digits.data(), digits.data() + digits.size(), member.number);
  if (Throws(20)) {
    add_threw_ = true;
    Throw(/*between=*/true);
  }
  if (member.honest &&
      !book_.seated
           .try_emplace(player.name, PlayBook::Seated{&room_, member.number})
           .second) {
    book_.Fail(room_.name + ": " + player.name + " got a second seat");
  }
  GiveRows(context, player.seat,
           members_.emplace(player.seat, std::move(member)).first->second);
}

void PlayGame::GiveRows(authority::Context& context, int seat, Member& member) {
  authority::RowTable& rows = context.rows();
  member.teleports = 0;
  member.body = AddRow(rows, kBody, member.number, kBodyWords);
  if (member.body != 0) {
    if (!rows.Set(member.body, kName, member.name)) ++refused_;
    rows_[member.body].text = member.name;
  }
  member.secret = AddRow(rows, kSecret, member.number, kSecretWords);
  if (member.secret != 0) {
    if (!rows.Set(member.secret, kOwnerField, member.number)) ++refused_;
    rows_[member.secret].words[0] = member.number;
  }
  if (!context.Possess(seat, member.body)) {
    book_.Fail(room_.name + ": no row can be given to who is there");
  }
}

RowId PlayGame::AddRow(authority::RowTable& rows, int kind, std::uint32_t owner,
                       std::size_t words) {
  const RowId id = rows.Add(kind);
  if (id == 0) {
    ++refused_;
    return 0;
  }
  rows_[id] = {.id = id,
               .kind = kind,
               .owner = owner,
               .words = std::vector<std::int64_t>(words)};
  return id;
}

void PlayGame::RemoveRow(authority::RowTable& rows, RowId row) {
  if (row == 0) return;
  if (!rows.Remove(row)) {
    book_.Fail(room_.name + ": " + RowText(row) + " could not be removed");
  }
  rows_.erase(row);
}

void PlayGame::RemovePlayer(authority::Context& context,
                            const authority::Player& player) {
  const auto at = members_.find(player.seat);
  if (at == members_.end() ||
      player.id != "p" + std::to_string(at->second.number)) {
    return book_.Fail(room_.name + ": " + player.id + " left and was not in");
  }
  RemoveRow(context.rows(), at->second.body);
  RemoveRow(context.rows(), at->second.secret);
  members_.erase(at);
  // Without a hold a player also goes in the midst of a tick.
  if (room_.draw.grace_ms > 0 && Throws(10)) Throw(/*between=*/true);
}

void PlayGame::OnMessage(authority::Context& context, int seat,
                         std::string_view name, std::string_view payload) {
  ++received_;
  const auto at = members_.find(seat);
  if (at == members_.end()) {
    return book_.Fail(room_.name + ": a message of seat " +
                      std::to_string(seat) + ", where nobody is");
  }
  if (name == "restart") {
    if (seat == context.host() && !book_.quiet) NewEpoch(context);
  } else if (at->second.honest) {
    std::int64_t said = -1;
    std::from_chars(payload.data(), payload.data() + payload.size(), said);
    // Whoever stole the seat says other things, which are below 0.
    if (said >= 0 && said <= at->second.said) {
      book_.Fail(room_.name + ": " + at->second.name + " said " +
                 std::to_string(said) + " twice, or too late");
    }
    at->second.said = std::max(at->second.said, said);
  }
  if (Throws(20)) Throw(/*between=*/true);
}

void PlayGame::NewEpoch(authority::Context& context) {
  context.NewEpoch();
  rows_.clear();
  for (auto& [seat, member] : members_) GiveRows(context, seat, member);
}

// ---- Ticks

void PlayGame::CheckInputs(const authority::Context& context,
                           std::span<const authority::SeatInput> inputs) {
  if (!std::ranges::equal(inputs, members_, {}, &authority::SeatInput::seat,
                          [](const auto& member) { return member.first; })) {
    book_.Fail(room_.name + " tick " + std::to_string(tick_) +
               ": the inputs are not those of who is there");
  }
  for (const authority::SeatInput& input : inputs) {
    const authority::Player* const player = context.player(input.seat);
    const authority::InputFrame neutral{.seq = input.frame.seq};
    if (player != nullptr && !player->connected && input.frame != neutral) {
      book_.Fail(room_.name + " tick " + std::to_string(tick_) +
                 ": a held seat does something");
    }
  }
}

void PlayGame::Step(authority::Context& context,
                    std::span<const authority::SeatInput> inputs) {
  FinishTick();
  if (context.tick() != tick_ + 1) book_.Fail(room_.name + " leaves out ticks");
  tick_ = context.tick();
  in_tick_ = true;
  tick_failed_ = std::exchange(next_fails_, false);
  CheckInputs(context, inputs);
  authority::RowTable& rows = context.rows();
  for (const authority::SeatInput& input : inputs) {
    const auto at = members_.find(input.seat);
    if (at == members_.end()) continue;
    PlayMove(at->second.own, input.frame, kSecond / room_.draw.tick_hz);
    Place(rows, at->second, /*teleport=*/false);
  }
  if (book_.quiet) return;
  for (std::uint32_t n = random_.Below(3); n > 0; --n) Act(context);
  const std::uint32_t fails_at = room_.draw.fails_at;
  if (room_.first && fails_at > 0 && tick_ >= fails_at) Throw(false);
  if (Throws(60)) Throw(false);
}

void PlayGame::Place(authority::RowTable& rows, Member& member, bool teleport) {
  if (member.body == 0) return;
  const authority::Vec3& position = member.own.position;
  const authority::Transform transform{.position = position, .rotation = {}};
  const bool done = teleport ? rows.Teleport(member.body, transform)
                             : rows.SetTransform(member.body, transform);
  if (!done) book_.Fail(room_.name + ": a body could not be moved");
  if (teleport) ++member.teleports;
  std::vector<std::int64_t>& words = rows_[member.body].words;
  words[0] = *authority::QuantiseMetres(position.x);
  words[1] = *authority::QuantiseMetres(position.y);
  words[2] = *authority::QuantiseMetres(position.z);
  words[kTeleportsWord] = member.teleports;
  room_.bodies[member.number] = member.own;
}

void PlayGame::Act(authority::Context& context) {
  authority::RowTable& rows = context.rows();
  int seat = -1;
  Member* const member = AnyMember(&seat);
  switch (random_.Below(12)) {
    case 0:
      AddRow(rows, kCoin, 0, kCoinWords);
      return;
    case 1:
      if (const PlayRow* const coin = AnyRow(kCoin)) RemoveRow(rows, coin->id);
      return;
    case 2:
      return Misuse(context);
    case 3:
      return Say(context);
    case 4:
      if (member == nullptr) return;
      if (!random_.Chance(1, 4)) return;
      member->own.position.x += static_cast<float>(random_.Between(-9, 9));
      return Place(rows, *member, random_.Chance(1, 2));
    case 5: {
      if (member == nullptr || member->body == 0) return;
      const std::int32_t hp = random_.Between(0, 3);
      if (!rows.Set(member->body, kHp, hp)) ++refused_;
      rows_[member->body].words[kHpWord] = hp;
      return;
    }
    case 6: {
      if (member == nullptr || member->secret == 0) return;
      const std::uint32_t word = random_.Next();
      if (!rows.Set(member->secret, kWordField, word)) ++refused_;
      rows_[member->secret].words[1] = word;
      return;
    }
    case 7: {
      if (member == nullptr) return;
      const std::string hud = R"({"n":)" + std::to_string(tick_) + "}";
      if (!context.SetHud(seat, hud)) book_.Fail(room_.name + ": no HUD");
      room_.huds[member->number] = hud;
      return;
    }
    case 8:
      if (random_.Chance(1, 30)) NewEpoch(context);
      return;
    default:
      return ActOnCoin(rows);
  }
}

void PlayGame::ActOnCoin(authority::RowTable& rows) {
  PlayRow* const coin = AnyRow(kCoin);
  if (coin == nullptr) return;
  bool done = false;
  switch (random_.Below(5)) {
    case 0: {
      const std::int32_t x = random_.Between(-20'000, 20'000);
      done = rows.Set(coin->id, kPlaceField,
                      authority::Vec2{static_cast<float>(x), 0.5F});
      coin->words[0] = std::int64_t{x} * 10'000;
      coin->words[1] = 5'000;
      coin->nulls &= ~(std::uint64_t{1} << kPlaceField);
      break;
    }
    case 1: {
      const std::int32_t worth = random_.Between(-2, 2);
      done = rows.Set(coin->id, kWorthField, worth);
      coin->words[2] = worth;
      coin->nulls &= ~(std::uint64_t{1} << kWorthField);
      break;
    }
    case 2:
      done = rows.SetNull(coin->id, kWorthField);
      coin->words[2] = 0;
      coin->nulls |= std::uint64_t{1} << kWorthField;
      break;
    case 3:
      done = rows.SetNull(coin->id, kPlaceField);
      coin->words[0] = coin->words[1] = 0;
      coin->nulls |= std::uint64_t{1} << kPlaceField;
      break;
    default: {
      const bool lit = random_.Chance(1, 2);
      done = rows.Set(coin->id, kLitField, lit);
      coin->words[3] = lit ? 1 : 0;
    }
  }
  if (!done) book_.Fail(room_.name + ": a coin could not be set");
}

// What has to be refused, and counted.
void PlayGame::Misuse(authority::Context& context) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  authority::RowTable& rows = context.rows();
  if (const PlayRow* const coin = AnyRow(kCoin)) {
    if (rows.Set(coin->id, kPlaceField, authority::Vec2{1, kNone})) {
      book_.Fail(room_.name + ": a coin took what is no number");
    }
    ++refused_;
  }
  int seat = -1;
  const Member* const member = AnyMember(&seat);
  if (member != nullptr && member->body != 0) {
    if (rows.Teleport(member->body,
                      {.position = {kNone, 0, 0}, .rotation = {}})) {
      book_.Fail(room_.name + ": a body took what is no number");
    }
    ++refused_;
  }
  if (random_.Chance(1, 4)) {
    if (context.Send("untold", "1") || context.Send("aos:told", "1") ||
        context.Send("told", "1 2") || context.SetPhase("not this")) {
      book_.Fail(room_.name + ": took what cannot be sent");
    }
    unsent_ += 4;
  }
}

// All are told of the same, in order.
void PlayGame::Say(authority::Context& context) {
  if (!context.Send("told", std::to_string(++told_))) {
    book_.Fail(room_.name + ": could not tell all");
  }
}

PlayRow* PlayGame::AnyRow(int kind) {
  if (rows_.empty()) return nullptr;
  const auto at = std::next(
      rows_.begin(), random_.Below(static_cast<std::uint32_t>(rows_.size())));
  return at->second.kind == kind ? &at->second : nullptr;
}

PlayGame::Member* PlayGame::AnyMember(int* seat) {
  if (members_.empty()) return nullptr;
  const auto at =
      std::next(members_.begin(),
                random_.Below(static_cast<std::uint32_t>(members_.size())));
  *seat = at->first;
  return &at->second;
}

// ---- Snapshots

void PlayGame::WriteState(authority::Context& context,
                          authority::RowTable& rows) {
  snapshot_failed_ = Throws(80);
  if (snapshot_failed_) Throw(false);
  if (rows.size() != rows_.size()) {
    book_.Fail(room_.name + ": the row table has another number of rows");
  }
  PlayState state{.epoch = rows.epoch(), .tick = context.tick()};
  state.throws = Throws(40);
  state.rows.reserve(rows_.size());
  for (const auto& [id, row] : rows_) {
    const RowView view = rows.Get(id);
    if (!view.exists() || !Same(row, view)) {
      book_.Fail(room_.name + ": the row table has another " + RowText(id));
    }
    state.rows.push_back(row);
  }
  room_.states[state.tick] = std::move(state);
  const auto minute = static_cast<std::uint32_t>(60 * room_.draw.tick_hz);
  while (room_.states.begin()->first + minute < tick_) {
    room_.states.erase(room_.states.begin());
  }
}

bool PlayGame::InView(int seat, std::uint32_t row) {
  const PlayState* const state = room_.StateAt(tick_);
  const auto member = members_.find(seat);
  const PlayRow* const meant = state == nullptr ? nullptr : Find(*state, row);
  if (member == members_.end() || meant == nullptr) {
    book_.Fail(room_.name + " tick " + std::to_string(tick_) +
               ": asked whether seat " + std::to_string(seat) + " sees " +
               RowText(row));
    return false;
  }
  if (state->throws && row % 3 == 0) Throw(false);
  return room_.Sees(*state, *meant, member->second.number);
}

std::optional<authority::OwnBody> PlayGame::Own(int seat) {
  Member& member = members_.at(seat);
  member.own_told = false;
  const std::uint32_t draw =
      Hash(tick_, static_cast<std::uint32_t>(seat), 17) % 256;
  if (room_.draw.throws && !book_.quiet && draw == 0) Throw(false);
  authority::OwnBody own = member.own;
  if (!book_.quiet && draw == 1) {
    own.velocity.y = std::numeric_limits<float>::infinity();
    ++refused_;
    return own;
  }
  member.own_told = true;
  return own;
}

// ---- What failed

bool PlayGame::Throws(std::uint32_t of) {
  return room_.draw.throws && !book_.quiet && random_.Chance(1, of);
}

void PlayGame::Throw(bool between) {
  (between ? next_fails_ : tick_failed_) = true;
  // What comes behind WriteState is about the snapshot.
  if (!between && room_.states.contains(tick_)) snapshot_failed_ = true;
  throw std::runtime_error("as the swarm wants it");
}

void PlayGame::FinishTick() {
  if (!std::exchange(in_tick_, false)) return;
  if (tick_failed_) {
    ++failed_ticks_;
    ++failed_in_a_row_;
  } else if (!snapshot_failed_) {
    failed_in_a_row_ = 0;
  }
}

std::map<int, std::uint32_t> PlayGame::members() const {
  std::map<int, std::uint32_t> members;
  for (const auto& [seat, member] : members_) members[seat] = member.number;
  return members;
}

RowId PlayGame::BodyOf(int seat) const {
  const auto at = members_.find(seat);
  return at == members_.end() ? 0 : at->second.body;
}

bool PlayGame::OwnIsTold(int seat) const {
  const auto at = members_.find(seat);
  return at != members_.end() && at->second.own_told;
}

}  // namespace parlor::test
