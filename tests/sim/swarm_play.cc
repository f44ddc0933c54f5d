#include "sim/swarm_play.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parlor/authority/context.h"
#include "parlor/authority/peer.h"
#include "parlor/authority/room.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/close_reason.h"
#include "parlor/entropy.h"
#include "parlor/host/play_room.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/sim/player.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/swarm_play_game.h"
#include "sim/swarm_play_hostile.h"
#include "sim/swarm_play_room.h"
#include "sim/swarm_play_scenario.h"
#include "sim/swarm_scenario.h"

namespace parlor::test {
namespace {

using authority::ErrorCode;
using authority::Peer;
using authority::PeerEnd;
using authority::PeerState;
using FaultKind = SwarmFault::Kind;

constexpr Duration kHostileTurn{16'666'667};
constexpr int kSecretKind = 2;

authority::RoomOptions ToOptions(const PlayRoomDraw& draw) {
  authority::RoomOptions options;
  options.protocol = kPlayProtocol;
  options.seats = draw.seats;
  options.tick_hz = draw.tick_hz;
  options.snapshot_hz = draw.snapshot_hz;
  options.grace_ms = draw.grace_ms;
  options.join_ms = draw.join_ms;
  options.inputs_waiting = draw.inputs_waiting;
  options.end_when_empty = draw.end_when_empty;
  if (draw.json_only) options.codecs = {&authority::JsonStateCodec()};
  return options;
}

std::vector<std::string> CodecsOf(const PlayPlayer& player) {
  if (player.codecs == 1) return {"json"};
  if (player.codecs == 2) return {"json", "binary"};
  return {"binary", "json"};
}

sim::PlayerOptions ToOptions(const PlayPlayer& player, int tick_hz) {
  sim::PlayerOptions options;
  options.via = player.via;
  options.peer.protocol = kPlayProtocol;
  options.peer.codecs = CodecsOf(player);
  if (player.predicts) options.peer.move = PlayMove;
  options.stream.linger_ms = 1'000;
  options.stream.handshake_ms = 3'000;
  options.rate_hz = tick_hz;
  options.clock_ppm = player.clock_ppm;
  return options;
}

}  // namespace

// ---- What there is

std::vector<host::PlayRoom> SwarmPlay::RoomsOf(const PlayScenario& scenario,
                                               std::size_t host,
                                               std::uint64_t seed,
                                               PlayRecords& records) {
  std::vector<host::PlayRoom> rooms;
  for (const PlayRoomDraw& draw : scenario.rooms) {
    if (draw.host != host) continue;
    rooms.push_back(
        {.key = draw.key,
         .make = [draw, seed, &records](TimePoint now, Entropy& entropy) {
           PlayRoomBook& book = records.book.Open(draw);
           return std::make_unique<WatchedRoom>(
               now, ToOptions(draw), records.book, book, records.figures,
               seed + records.book.rooms.size(), entropy);
         }});
  }
  return rooms;
}

SwarmPlay::SwarmPlay(const PlayScenario& scenario, std::uint64_t seed,
                     PlayRecords& records, sim::World& world,
                     const std::vector<sim::Host*>& hosts,
                     const std::function<void(const sim::Link&)>& on_link,
                     const std::function<void()>& connects)
    : scenario_(scenario),
      records_(records),
      world_(world),
      hosts_(hosts),
      host_fell_(hosts.size()),
      players_(scenario.players.size()) {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    AddPlayer(i, seed);
    on_link(players_[i].player->link());
  }
  for (const PlayHostileDraw& draw : scenario_.hostiles) {
    const PlayRoomDraw& room = scenario_.rooms[draw.room];
    hostiles_.push_back(std::make_unique<PlayHostile>(
        world_, records_.book, draw, room, *hosts_[room.host], connects, seed,
        hostiles_.size()));
    PlayHostile* const it = hostiles_.back().get();
    world_.executor().After(draw.at, [this, it] { Turn(*it); });
  }
  for (const SwarmFault& fault : scenario_.faults) {
    world_.executor().After(fault.at, [this, &fault] { OnFault(fault); });
  }
}

SwarmPlay::~SwarmPlay() = default;

void SwarmPlay::AddPlayer(std::size_t index, std::uint64_t seed) {
  It& it = players_[index];
  const PlayPlayer& draw = Draw(index);
  it.random = Random(seed, 2'000 + index);
  it.player = &world_.AddPlayer(PlaySchema(), PlayMessages(),
                                SwarmPresets()[draw.preset].conditions,
                                ToOptions(draw, RoomOf(index).tick_hz));
  it.troubled = SwarmPresets()[draw.preset].conditions == sim::kAwful;
  it.player->SetOnStep([this, index] { OnStep(index); });
  world_.executor().After(draw.joins, [this, index] { Join(index); });
}

void SwarmPlay::Join(std::size_t index) {
  It& it = players_[index];
  if (it.player->crashed() || it.left) return;
  it.joined = true;
  it.player->Join(*hosts_[RoomOf(index).host], {.play = RoomOf(index).key},
                  {.name = PlayName(index)});
}

void SwarmPlay::Turn(PlayHostile& hostile) {
  if (quiet_) return;
  hostile.Turn();
  world_.executor().After(kHostileTurn, [this, &hostile] { Turn(hostile); });
}

void SwarmPlay::OnFault(const SwarmFault& fault) {
  It& it = players_[fault.target];
  sim::Player& player = *it.player;
  if (quiet_ || player.crashed()) return;
  it.troubled = true;
  switch (fault.kind) {
    case FaultKind::kCut:
      player.Cut();
      break;
    case FaultKind::kCutUp:
      player.Cut(sim::Direction::kUp);
      break;
    case FaultKind::kCutDown:
      player.Cut(sim::Direction::kDown);
      break;
    case FaultKind::kReset:
      return player.Reset();
    case FaultKind::kStall:
      return player.Stall(fault.time);
    case FaultKind::kConditions:
      return player.link().SetConditions(
          SwarmPresets()[fault.preset].conditions);
    case FaultKind::kCrash:
      return player.Crash();
    default:
      it.left = true;
      return player.Leave();
  }
  world_.executor().After(fault.time, [&player] { player.Heal(); });
}

// ---- A player's step

void SwarmPlay::Fail(std::size_t index, const std::string& what) {
  records_.book.Fail(PlayName(index) + " of " + RoomOf(index).key + ": " +
                     what);
}

void SwarmPlay::OnStep(std::size_t index) {
  if (!records_.book.error.empty()) return;
  CheckShown(index);
  CheckMessages(index);
  Act(players_[index]);
}

void SwarmPlay::Act(It& it) {
  if (quiet_) return it.player->SetControls({});
  Peer& peer = it.player->peer();
  if (it.random.Chance(1, 20)) {
    authority::Controls controls;
    for (std::int16_t& axis : controls.axes) {
      axis = static_cast<std::int16_t>(it.random.Between(-32'767, 32'767));
    }
    controls.held = it.random.Below(4);
    it.player->SetControls(controls);
  }
  if (peer.state() != PeerState::kPlaying) return;
  if (it.random.Chance(1, 60)) peer.Send("say", std::to_string(++it.said));
  if (it.random.Chance(1, 600)) peer.Send("restart", "{}");
  if (it.random.Chance(1, 200)) peer.SetFocus(it.random.Chance(3, 4));
}

void SwarmPlay::CheckShown(std::size_t index) {
  It& it = players_[index];
  const Peer& peer = std::as_const(*it.player).peer();
  if (peer.tick() == 0) return;
  const Shown now{.any = true,
                  .epoch = peer.epoch(),
                  .tick = peer.tick(),
                  .recovery = peer.shows_recovery(),
                  .resumes = peer.counters().resumes};
  const Shown before = it.shown;
  if (before.any && before.epoch == now.epoch && before.tick == now.tick &&
      before.recovery == now.recovery) {
    return;
  }
  it.shown = now;
  // A baseline may be of before a recovery, and of before what the connection
  // that was lost had shown.
  const bool begins_again = before.recovery || before.resumes != now.resumes;
  if (before.any && !begins_again &&
      (now.epoch < before.epoch ||
       (now.epoch == before.epoch && now.tick < before.tick))) {
    Fail(index, "goes back from tick " + std::to_string(before.tick) + " to " +
                    std::to_string(now.tick));
  }
  const auto seated = records_.book.seated.find(PlayName(index));
  if (seated == records_.book.seated.end()) {
    return Fail(index, "plays and was never given a seat");
  }
  CheckSecrets(index);
  const auto& [room, number] = seated->second;
  const PlayState* const state = room->StateAt(now.tick);
  if (state == nullptr) {
    return Fail(index, "shows tick " + std::to_string(now.tick) +
                           ", which sent nothing");
  }
  const std::string wrong = room->Compare(*state, number, peer.rows());
  if (wrong.empty()) return;
  // The delta behind a baseline may be lost.
  if (!now.recovery) {
    for (const PlayBaseline& given : room->baselines[number]) {
      if (given.tick == now.tick &&
          room->CompareBaseline(given, peer.rows()).empty()) {
        return;
      }
    }
  }
  Fail(index, "is in " + room->name + " and shows tick " +
                  std::to_string(now.tick) + ", in which " + wrong);
}

void SwarmPlay::CheckSecrets(std::size_t index) {
  if (!RoomOf(index).views) return;
  const Peer& peer = std::as_const(*players_[index].player).peer();
  const std::string own = peer.welcome()->player.substr(1);
  peer.rows().ForEach([&](const authority::RowView& row) {
    if (row.kind_index() != kSecretKind || row.nulls() != 0) return;
    if (std::to_string(row.GetInt(0)) != own) {
      Fail(index, "is shown at tick " + std::to_string(peer.tick()) +
                      " what is p" + std::to_string(row.GetInt(0)) + "'s");
    }
  });
}

// What all are told counts up. Who was away missed some of it.
void SwarmPlay::CheckMessages(std::size_t index) {
  It& it = players_[index];
  const Peer& peer = std::as_const(*it.player).peer();
  const std::uint64_t resumes = peer.counters().resumes;
  for (const authority::ReceivedMessage& message : peer.messages()) {
    std::int64_t number = 0;
    std::from_chars(message.payload.data(),
                    message.payload.data() + message.payload.size(), number);
    const bool goes_on = it.heard != 0 && it.heard_resumes == resumes;
    if (number <= it.heard || (goes_on && number != it.heard + 1)) {
      Fail(index, "is told " + std::to_string(number) + " behind " +
                      std::to_string(it.heard));
    }
    it.heard = number;
    it.heard_resumes = resumes;
  }
}

// ---- While it goes on

const WatchedRoom* SwarmPlay::Open(std::size_t room) const {
  const PlayRoomDraw& draw = scenario_.rooms[room];
  return dynamic_cast<const WatchedRoom*>(
      hosts_[draw.host]->FindPlayRoom(draw.key));
}

std::size_t SwarmPlay::seats() const {
  std::size_t seats = 0;
  for (const PlayRoomDraw& room : scenario_.rooms) {
    seats += static_cast<std::size_t>(room.seats);
  }
  return seats;
}

void SwarmPlay::Look() {
  for (std::size_t room = 0; room < scenario_.rooms.size(); ++room) {
    const WatchedRoom* const open = Open(room);
    if (open == nullptr || open->ended()) continue;
    if (open->seated() + open->room().held() > scenario_.rooms[room].seats) {
      records_.book.Fail(scenario_.rooms[room].key +
                         ": has more players than seats");
    }
  }
}

// ---- After the trouble

void SwarmPlay::EndTrouble(const sim::Conditions& network) {
  quiet_ = true;
  records_.book.quiet = true;
  for (const auto& hostile : hostiles_) hostile->GoAway();
  for (const It& it : players_) {
    it.player->Heal();
    it.player->link().SetConditions(network);
    if (!it.player->crashed()) it.player->peer().SetFocus(true);
  }
}

bool SwarmPlay::IsWell(std::size_t index) const {
  const It& it = players_[index];
  if (!it.joined || it.player->crashed()) return true;
  const Peer& peer = std::as_const(*it.player).peer();
  if (peer.state() == PeerState::kEnded) return true;
  const WatchedRoom* const room = Open(Draw(index).room);
  return peer.state() == PeerState::kPlaying && !peer.shows_recovery() &&
         peer.epoch() > 0 && room != nullptr &&
         room->room().tick() - peer.tick() <=
             static_cast<std::uint32_t>(RoomOf(index).tick_hz);
}

bool SwarmPlay::IsWell(std::string* who) const {
  bool all = true;
  for (std::size_t i = 0; i < players_.size(); ++i) {
    if (IsWell(i)) continue;
    all = false;
    if (who != nullptr) *who += "\n  " + State(i);
  }
  return all;
}

std::string SwarmPlay::State(std::size_t index) const {
  const It& it = players_[index];
  std::string text = PlayName(index) + " of " + RoomOf(index).key;
  if (it.player->crashed()) return text + ": crashed";
  const Peer& peer = std::as_const(*it.player).peer();
  return text + " in seat " + std::to_string(peer.seat()) + ": state " +
         std::to_string(static_cast<int>(peer.state())) + ", tick " +
         std::to_string(peer.tick()) +
         (peer.shows_recovery() ? " of a recovery" : "") + ", end " +
         std::to_string(static_cast<int>(peer.end())) + " " +
         std::to_string(peer.end_code()) + " " +
         std::to_string(peer.end_refusal()) + " " +
         std::string(peer.end_error() ? authority::Word(*peer.end_error())
                                      : "") +
         ": " + std::string(peer.end_text());
}

std::string SwarmPlay::Stale() const {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    const It& it = players_[i];
    if (!it.joined || it.player->crashed()) continue;
    const Peer& peer = std::as_const(*it.player).peer();
    if (peer.state() != PeerState::kPlaying) continue;
    const std::string stale = Stale(i);
    if (!stale.empty()) return State(i) + ": " + stale;
  }
  return "";
}

std::string SwarmPlay::Stale(std::size_t index) const {
  const Peer& peer = std::as_const(*players_[index].player).peer();
  const WatchedRoom* const open = Open(Draw(index).room);
  const auto seated = records_.book.seated.find(PlayName(index));
  if (open == nullptr || seated == records_.book.seated.end() ||
      seated->second.room->room != open) {
    return "plays in a room that is gone";
  }
  const auto& [book, number] = seated->second;
  const authority::Room& room = open->room();
  const std::uint32_t behind = room.tick() - peer.tick();
  const auto hz = static_cast<std::uint32_t>(RoomOf(index).tick_hz);
  const auto apart = hz / static_cast<std::uint32_t>(RoomOf(index).snapshot_hz);
  // A recovery may be among them: who takes what came no oftener than it is
  // sent has a baseline waiting when the next snapshot is due.
  if (behind > apart + 2 + hz / 5) {
    return "is behind by " + std::to_string(behind) + " ticks";
  }
  const PlayState* const state = book->StateAt(peer.tick());
  if (state == nullptr) return "shows what was not sent";
  const std::string wrong = book->Compare(*state, number, peer.rows());
  if (!wrong.empty()) return "shows a state in which " + wrong;
  const auto own =
      std::ranges::find(room.players(), peer.seat(), &authority::Player::seat);
  if (own == room.players().end() || own->entity != peer.entity()) {
    return "has another body";
  }
  const auto same = [](const auto& a, const auto& b) {
    return a.seat == b.seat && a.id == b.id && a.name == b.name &&
           a.connected == b.connected && a.host == b.host;
  };
  if (!std::ranges::equal(peer.players(), room.players(), same)) {
    return "has another roster";
  }
  const auto hud = book->huds.find(number);
  if (hud != book->huds.end() && peer.hud() != hud->second) {
    return "has the HUD " + std::string(peer.hud()) + " and not " + hud->second;
  }
  const auto body = book->bodies.find(number);
  if (!Draw(index).predicts || body == book->bodies.end()) return "";
  const authority::OwnBody* const predicted = peer.body();
  const auto is_far = [](float a, float b) {
    return std::fabs(a - b) > 0.025F;
  };
  if (predicted == nullptr ||
      is_far(predicted->position.x, body->second.position.x) ||
      is_far(predicted->position.z, body->second.position.z)) {
    return "predicts its body in another place";
  }
  return "";
}

// ---- Ends

bool SwarmPlay::HasHostiles(std::size_t room) const {
  return std::ranges::any_of(
      scenario_.hostiles,
      [&](const PlayHostileDraw& hostile) { return hostile.room == room; });
}

std::size_t SwarmPlay::Wanted(std::size_t room) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      scenario_.players,
      [&](const PlayPlayer& player) { return player.room == room; }));
}

void SwarmPlay::CheckEnds() {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    const It& it = players_[i];
    if (!it.joined || it.player->crashed()) continue;
    if (std::as_const(*it.player).peer().state() == PeerState::kEnded &&
        !MayEnd(i)) {
      Fail(i, "ended without a reason: " + State(i));
    }
  }
}

// Whether what happened to a player is a reason for the end it came to.
bool SwarmPlay::MayEnd(std::size_t index) const {
  const It& it = players_[index];
  const Peer& peer = std::as_const(*it.player).peer();
  const PlayRoomDraw& room = RoomOf(index);
  const auto seated = records_.book.seated.find(PlayName(index));
  const bool had_seat = seated != records_.book.seated.end();
  const bool failed = had_seat && seated->second.room->failed;
  const bool fell = host_fell_[room.host];
  const bool robbed = records_.book.robbed.contains(PlayName(index));
  const bool trouble = it.troubled || fell;
  switch (peer.end()) {
    case PeerEnd::kLeft:
      return it.left;
    case PeerEnd::kRefused:
      if (peer.end_refusal() != 0) return peer.end_refusal() == 503 && fell;
      if (peer.end_error() == ErrorCode::kResumeRefused) {
        return trouble || robbed || failed;
      }
      if (peer.end_error() == ErrorCode::kFull) {
        return HasHostiles(Draw(index).room) || it.troubled ||
               Wanted(Draw(index).room) > static_cast<std::size_t>(room.seats);
      }
      // AddPlayer threw, or the room ended as it came.
      return (peer.end_error() == ErrorCode::kRefused && room.throws) ||
             (peer.end_error() == ErrorCode::kEnded &&
              (fell || room.fails_at > 0 || room.end_when_empty));
    case PeerEnd::kConnectFailed:
    case PeerEnd::kRetriesSpent:
      return trouble;
    case PeerEnd::kClosed:
      break;
    default:
      return false;
  }
  switch (peer.end_code()) {
    case close_code::kResumed:
      return robbed;
    case close_code::kRoomEnded:
      return fell || failed;
    case close_code::kNormal:  // a thief left
      return robbed;
    case close_code::kPolicy:  // a join that took too long, or a thief flooded
      return trouble || robbed;
    default:
      return false;
  }
}

void SwarmPlay::LeaveAll() {
  for (It& it : players_) {
    if (!it.joined || it.player->crashed()) continue;
    it.left = true;
    it.player->Leave();
  }
}

std::size_t SwarmPlay::RoomsAsleep(std::size_t host) const {
  std::size_t asleep = 0;
  for (std::size_t room = 0; room < scenario_.rooms.size(); ++room) {
    if (scenario_.rooms[room].host != host) continue;
    const WatchedRoom* const open = Open(room);
    if (open != nullptr && open->next_alarm() == kNever) ++asleep;
  }
  return asleep;
}

}  // namespace parlor::test
