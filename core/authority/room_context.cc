// What a room's game says, and is asked.
#include <algorithm>
#include <string>
#include <utility>

#include "authority/room_parts.h"
#include "parlor/authority/message.h"
#include "parlor/authority/room.h"

namespace parlor::authority {
namespace {

// What kept messages may go on holding between two steps.
constexpr std::size_t kKeptBytesMax = 64 * 1'024;

bool IsPhase(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-';
  };
  return !text.empty() && text.size() <= 32 &&
         std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

// --- Messages

bool Room::SendMessage(std::string_view name, std::string_view payload,
                       int to) {
  switch (game_->messages().Check(name, payload)) {
    case MessageVerdict::kOk:
      break;
    case MessageVerdict::kReserved:
      return CountUnsent("(reserved)");
    case MessageVerdict::kUndefined:
      return CountUnsent("(undeclared)");
    default:
      return CountUnsent(name);
  }
  const RoomMsgFrame frame{.from = kAuthoritySender,
                           .name = std::string(name),
                           .payload = std::string(payload)};
  if (to != kEverybody) {
    const Player* const player = FindPlayer(to);
    if (player == nullptr || !player->connected) return false;
    SendText(to, Write(frame));
    return true;
  }
  const Payload shared = TextPayload(Write(frame));
  for (const Player& player : players_) {
    if (player.connected) SendPayload(player.seat, shared);
  }
  return true;
}

// `what` is never a payload, and a name only where the game declared it: what
// else it sends may be something that a client said.
bool Room::CountUnsent(std::string_view what) {
  ++counters_.unsent;
  if (std::find(unsent_noted_.begin(), unsent_noted_.end(), what) ==
      unsent_noted_.end()) {
    unsent_noted_.emplace_back(what);
    Note(RoomNote::kUnsent, what);
  }
  return false;
}

void Room::GameContext::Keep(int seat, std::string_view name,
                             std::string_view payload) {
  text_ += name;
  const std::size_t name_end = text_.size();
  text_ += payload;
  kept_.push_back(
      {.from = seat, .name_end = name_end, .payload_end = text_.size()});
}

void Room::GameContext::Forget(int seat) {
  for (Kept& kept : kept_) {
    if (kept.from == seat) kept.from = -1;
  }
}

void Room::GameContext::BeginStep() {
  const std::string_view text = text_;
  std::size_t begin = 0;
  for (const Kept& kept : kept_) {
    const std::size_t from = std::exchange(begin, kept.payload_end);
    if (kept.from < 0) continue;
    messages_.push_back({.from = kept.from,
                         .name = text.substr(from, kept.name_end - from),
                         .payload = text.substr(
                             kept.name_end, kept.payload_end - kept.name_end)});
  }
}

void Room::GameContext::EndStep() {
  messages_.clear();
  kept_.clear();
  text_.clear();
  if (text_.capacity() > kKeptBytesMax) text_.shrink_to_fit();
}

std::size_t Room::GameContext::memory_bytes() const {
  return sizeof(*this) + text_.capacity() + kept_.capacity() * sizeof(Kept) +
         messages_.capacity() * sizeof(ReceivedMessage);
}

// --- What one player sees

bool Room::SetView(int number, std::string_view json, bool camera) {
  if (FindPlayer(number) == nullptr) return false;
  SeatView& view = camera ? seat(number).camera : seat(number).hud;
  if (view.json == json) return true;
  if (json.size() > kMessageBytesMax ||
      (json != "null" && !IsJsonObject(json))) {
    return CountUnsent(camera ? "camera" : "hud");
  }
  view.json = json;
  view.stale = true;
  return true;
}

bool Room::GameViews::InView(int viewer, RowId row) {
  bool seen = false;
  room_.Guarded("in_view", [&] { seen = room_.game_->InView(viewer, row); });
  return seen;
}

// --- The rest of the context

const InputFrame& Room::GameContext::input(int seat) const {
  static constexpr InputFrame kNeutral;
  for (const SeatInput& input : room_.inputs_) {
    if (input.seat == seat) return input.frame;
  }
  return kNeutral;
}

bool Room::GameContext::DoSetPhase(std::string_view phase) {
  if (room_.phase_ == phase) return true;
  if (!IsPhase(phase)) return room_.CountUnsent("phase");
  room_.phase_ = phase;
  if (room_.sink_ != nullptr) room_.sink_->OnPhase(room_.now_, phase);
  return true;
}

bool Room::GameContext::DoPossess(int seat, std::uint32_t entity) {
  Player* const player = room_.FindPlayer(seat);
  if (player == nullptr) return false;
  player->entity = entity;
  return true;
}

void Room::GameContext::DoNewEpoch() {
  room_.rows_.NewEpoch();
  for (Player& player : room_.players_) player.entity = 0;
}

}  // namespace parlor::authority
