#include "sim/swarm_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/close_reason.h"
#include "parlor/limits.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/room.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/swarm_play.h"
#include "sim/swarm_play_scenario.h"

namespace parlor::test {
namespace {

using FaultKind = SwarmFault::Kind;
using HostileKind = SwarmHostile::Kind;
using lockstep::PeerEnd;
using lockstep::PeerState;

constexpr Duration kLookEvery = 100 * kMillisecond;
constexpr Duration kHostileTurn{16'666'667};
// After the trouble: silence that is noticed, tries that are left, and the
// longest hold.
constexpr Duration kHealMax = 45 * kSecond;
constexpr std::uint32_t kFramesAfter = 40;  // that everyone gets further
// For so long, players of authority rooms see what is new.
constexpr Duration kStill = 2 * kSecond;

// Links that are dead are noticed soon, so that a run need not be long.
StreamOptions QuickLinks() {
  StreamOptions options;
  options.ping_ms = 1'000;
  options.silence_ms = 3'000;
  options.linger_ms = 1'000;
  options.handshake_ms = 3'000;
  return options;
}

sim::HostOptions ToOptions(const SwarmHost& host) {
  sim::HostOptions options;
  options.shards = host.shards;
  options.stream = QuickLinks();
  if (host.patient) options.stream.silence_ms = 15'000;
  options.drain_ms = host.drain_ms;
  options.keeps_matches = host.keeps_matches;
  options.shard.room.hold_ms = host.hold_ms;
  options.shard.room.idle_ms = host.idle_ms;
  options.shard.room.lobby_ms = host.lobby_ms;
  options.shard.room.gather_ms = host.gather_ms;
  // Strangers come from one address.
  options.shard.room_joins_per_minute = limits::kRoomJoinRate.ceiling;
  options.gate.joins_per_minute = limits::kAddressRate.ceiling;
  return options;
}

const sim::Conditions& ConditionsOf(std::size_t preset) {
  return SwarmPresets()[preset].conditions;
}

}  // namespace

SwarmRun::SwarmRun(const SwarmScenario& scenario, const PlayScenario& play,
                   bool record)
    : scenario_(scenario),
      play_scenario_(play),
      players_(scenario.clients.size()),
      world_({.seed = scenario.seed, .ties = scenario.ties}),
      host_faults_(scenario.hosts.size()),
      host_fell_(scenario.hosts.size()) {
  if (record) world_.Record();
  observer_ = std::make_unique<SwarmObserver>(world_.network().sink());
  world_.network().SetSink(observer_.get());
  AddHosts();
  AddClients();
  AddHostiles();
  AddPlay();
  for (const SwarmFault& fault : scenario_.faults) Schedule(fault);
}

SwarmRun::~SwarmRun() { world_.network().SetSink(nullptr); }

// --- What there is

void SwarmRun::AddHosts() {
  for (const SwarmHost& host : scenario_.hosts) {
    sim::HostOptions options = ToOptions(host);
    options.shard.play_rooms = SwarmPlay::RoomsOf(
        play_scenario_, hosts_.size(), scenario_.seed, play_records_);
    hosts_.push_back(&world_.AddHost(options));
    observer_->AddHost({.hold = host.hold_ms * kMillisecond,
                        .idle = host.idle_ms * kMillisecond,
                        .keeps_matches = host.keeps_matches});
  }
}

void SwarmRun::AddClients() {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    const SwarmClient& client = scenario_.clients[i];
    const SwarmRoom& room = RoomOf(i);
    const auto tag = static_cast<std::uint32_t>(i + 1);
    Player& player = players_[i];
    player.game =
        std::make_unique<SwarmGame>(book_, tag, room.host, room.number);
    sim::ClientOptions options;
    options.via = client.via;
    options.stream = QuickLinks();
    options.peer.delay = room.delay;
    options.clock_ppm = client.clock_ppm;
    player.client =
        &world_.AddClient(*player.game, ConditionsOf(client.preset), options);
    player.troubled = ConditionsOf(client.preset) == sim::kAwful;
    observer_->AddClient(player.client->link(), tag, room.host, room.number,
                         room.delay);
    world_.executor().After(client.joins, [this, i] {
      Player& it = players_[i];
      if (it.client->crashed() || it.left) return;
      it.joined = true;
      Hello hello;
      hello.room = RoomOf(i).number;
      hello.players = RoomOf(i).size;
      it.client->Join(*hosts_[RoomOf(i).host], hello);
    });
  }
}

void SwarmRun::AddHostiles() {
  std::uint32_t tag = kFirstHostile;
  for (const SwarmHostile& hostile : scenario_.hostiles) {
    const SwarmRoom& room = scenario_.rooms[hostile.room];
    hostiles_.push_back(std::make_unique<Hostile>(world_, *observer_, hostile,
                                                  room, *hosts_[room.host],
                                                  tag++, scenario_.seed));
    Hostile* const it = hostiles_.back().get();
    world_.executor().After(hostile.at, [this, it] { Turn(*it); });
  }
}

void SwarmRun::AddPlay() {
  if (play_scenario_.rooms.empty()) return;
  play_ = std::make_unique<SwarmPlay>(
      play_scenario_, scenario_.seed, play_records_, world_, hosts_,
      [this](const sim::Link& link) { observer_->Ignore(link); },
      [this] { observer_->IgnoreNext(); });
}

void SwarmRun::Turn(Hostile& hostile) {
  if (quiet_) return;
  hostile.Turn();
  world_.executor().After(kHostileTurn, [this, &hostile] { Turn(hostile); });
}

// --- Faults

void SwarmRun::Schedule(const SwarmFault& fault) {
  world_.executor().After(fault.at, [this, &fault] {
    if (quiet_) return;
    if (fault.kind >= FaultKind::kHostCrash) return OnHost(fault);
    OnClient(fault);
  });
}

void SwarmRun::OnClient(const SwarmFault& fault) {
  Player& player = players_[fault.target];
  sim::Client& client = *player.client;
  if (client.crashed()) return;
  player.troubled = true;
  switch (fault.kind) {
    case FaultKind::kCut:
      client.Cut();
      break;
    case FaultKind::kCutUp:
      client.Cut(sim::Direction::kUp);
      break;
    case FaultKind::kCutDown:
      client.Cut(sim::Direction::kDown);
      break;
    case FaultKind::kReset:
      return client.Reset();
    case FaultKind::kStall:
      return client.Stall(fault.time);
    case FaultKind::kConditions:
      return client.link().SetConditions(ConditionsOf(fault.preset));
    case FaultKind::kCrash:
      return client.Crash();
    default:
      player.left = true;
      return client.Leave();
  }
  world_.executor().After(fault.time, [&client] { client.Heal(); });
}

void SwarmRun::OnHost(const SwarmFault& fault) {
  const std::size_t host = fault.target;
  if (host_faults_[host] > 0) return;
  ++host_faults_[host];
  ++figures_.restarts;
  host_fell_[host] = true;
  if (play_ != nullptr) play_->OnHostFell(host);
  Duration down = fault.time;
  const bool drained = fault.kind == FaultKind::kHostDrain;
  if (drained) {
    hosts_[host]->Drain();
    down += 2 * kSecond + scenario_.hosts[host].drain_ms * kMillisecond;
  } else {
    observer_->OnHostDown(world_.now(), host);
    hosts_[host]->CrashNow(fault.kind == FaultKind::kHostCrash
                               ? sim::Host::Crash::kProcess
                               : sim::Host::Crash::kMachine);
  }
  world_.executor().After(down,
                          [this, host, drained] { BringBack(host, drained); });
}

// Once it has ended, which a drain takes its time for.
void SwarmRun::BringBack(std::size_t host, bool drained) {
  if (drained && !hosts_[host]->stopped()) {
    world_.executor().After(kLookEvery,
                            [this, host] { BringBack(host, true); });
    return;
  }
  if (drained) observer_->OnHostDown(world_.now(), host);
  hosts_[host]->Start();
  observer_->OnHostUp(world_.now(), host);
  --host_faults_[host];
}

// --- While it goes on

bool SwarmRun::broken() const {
  return !error_.empty() || !book_.error().empty() ||
         !observer_->error().empty() || !play_records_.book.error.empty();
}

void SwarmRun::Fail(const std::string& what) {
  if (error_.empty()) error_ = what;
}

// Whoever is in seat 0 says START, again and again: its seat may be another's
// by the time it arrives.
void SwarmRun::StartMatches() {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    const SwarmRoom& room = RoomOf(i);
    sim::Client& client = *players_[i].client;
    if (client.crashed() || client.peer().state() != PeerState::kLobby ||
        client.peer().seat() != 0) {
      continue;
    }
    if (quiet_) {
      client.Start(0, 1);
    } else if (room.start_at > 0 && world_.now() >= TimePoint(room.start)) {
      client.Start(room.start_at, 2);
    }
  }
}

void SwarmRun::Look() {
  StartMatches();
  std::size_t seats = 0;
  for (const SwarmRoom& room : scenario_.rooms) {
    const lockstep::Room* const open = hosts_[room.host]->FindRoom(room.number);
    seats += static_cast<std::size_t>(room.size) + 8;
    if (open == nullptr) continue;
    figures_.room_time += kLookEvery;
    const auto size = static_cast<std::size_t>(open->opened_for());
    if (open->memory_bytes() > 2'048 + size * 1'024) {
      Fail("a room takes more memory than it may");
    }
    if (open->seated() + open->held() > open->players()) {
      Fail("a room has more players than seats");
    }
  }
  // A peer that tries leaves links behind that the host takes for alive until
  // they have been silent for long enough; strangers have four at once, and
  // those that linger.
  std::size_t peers = players_.size();
  std::size_t strangers = hostiles_.size();
  if (play_ != nullptr) {
    play_->Look();
    seats += play_->seats();
    peers += play_->peers();
    strangers += play_->strangers();
  }
  const std::size_t connections_max = 8 + 8 * peers + 16 * strangers;
  for (const sim::Host* host : hosts_) {
    if (!host->running()) continue;
    if (host->connections() > connections_max) {
      Fail("a host has " + std::to_string(host->connections()) +
           " connections");
    }
    if (host->players() > seats || host->players() > host->connections()) {
      Fail("a host has " + std::to_string(host->players()) + " players");
    }
  }
  if (world_.executor().pending() > 1'000 + 50 * connections_max) {
    Fail("events pile up");
  }
}

void SwarmRun::RunFor(Duration time) {
  const TimePoint end = world_.now() + time;
  while (world_.now() < end && !broken()) {
    world_.RunFor(std::min(kLookEvery, end - world_.now()));
    Look();
  }
}

template <typename Done>
bool SwarmRun::RunUntil(Duration at_most, Done done) {
  const TimePoint end = world_.now() + at_most;
  while (!done() && !broken()) {
    if (world_.now() >= end) return false;
    RunFor(kLookEvery);
  }
  return true;
}

std::string SwarmRun::Run() {
  RunFor(scenario_.trouble);
  if (!broken()) EndTrouble();
  if (!broken() && !RunUntil(kHealMax, [this] { return AllInStep(); })) {
    std::string states;
    for (std::size_t i = 0; i < players_.size(); ++i) {
      if (!InStep(i)) states += "\n  " + State(i);
    }
    if (play_ != nullptr) play_->IsWell(&states);
    Fail("not in step, though all is well again:" + states);
  }
  if (play_ != nullptr && !broken()) {
    AwaitNewest();
    if (!broken()) play_->CheckEnds();
  }
  if (!broken()) CheckClients();
  if (!broken()) CheckStates();
  if (!broken()) EndAll();
  return error();
}

// For a while on end: what is on its way from before may come late.
void SwarmRun::AwaitNewest() {
  std::string stale;
  TimePoint since = world_.now();
  const bool all = RunUntil(kHealMax, [&] {
    const std::string now = play_->Stale();
    if (!now.empty()) {
      stale = now;
      since = world_.now();
    }
    return now.empty() && world_.now() - since >= kStill;
  });
  if (!all) Fail("does not see what is new, though all is well: " + stale);
}

std::string SwarmRun::RunShort(Duration time) {
  RunFor(time);
  return error();
}

SwarmFigures SwarmRun::figures() const {
  SwarmFigures figures = figures_;
  figures.seen = observer_->figures();
  figures.play = play_records_.figures;
  figures.time = world_.now() - TimePoint{};
  for (const Player& player : players_) {
    figures.frames += player.game->states().size();
  }
  return figures;
}

std::string SwarmRun::error() const {
  for (const std::string& error :
       {observer_->error(), book_.error(), play_records_.book.error, error_}) {
    if (!error.empty()) return error;
  }
  return "";
}

// --- After the trouble

void SwarmRun::EndTrouble() {
  quiet_ = true;
  for (const auto& hostile : hostiles_) hostile->GoAway();
  if (play_ != nullptr) play_->EndTrouble(sim::kLan);
  for (Player& player : players_) {
    player.client->Heal();
    player.client->link().SetConditions(sim::kLan);
    frames_then_.push_back(
        player.client->crashed() ? 0 : player.client->peer().frame());
  }
}

bool SwarmRun::AllInStep() const {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    if (!InStep(i)) return false;
  }
  if (play_ != nullptr && !play_->IsWell()) return false;
  return std::all_of(host_faults_.begin(), host_faults_.end(),
                     [](int faults) { return faults == 0; });
}

bool SwarmRun::InStep(std::size_t index) const {
  const Player& player = players_[index];
  if (!player.joined || player.client->crashed()) return true;
  const lockstep::Peer& peer = std::as_const(*player.client).peer();
  switch (peer.state()) {
    case PeerState::kEnded:
      return true;
    case PeerState::kLobby: {
      // Its room waits, as it does, for more, or for somebody in seat 0.
      const SwarmRoom& room = RoomOf(index);
      const lockstep::Room* const open =
          hosts_[room.host]->FindRoom(room.number);
      return peer.seat() > 0 && open != nullptr &&
             open->phase() == lockstep::Room::Phase::kLobby;
    }
    case PeerState::kPlaying:
      // A player who comes back behind a thief may have nothing to say that was
      // not said in its name, and the match waits for it.
      return peer.away() == 0 &&
             (peer.frame() >= frames_then_[index] + kFramesAfter ||
              WasRobbed(scenario_.clients[index].room));
    default:
      return false;
  }
}

std::string SwarmRun::State(std::size_t index) const {
  const Player& player = players_[index];
  if (player.client->crashed()) return "client " + std::to_string(index);
  const lockstep::Peer& peer = std::as_const(*player.client).peer();
  return "client " + std::to_string(index) + " in seat " +
         std::to_string(peer.seat()) + ": state " +
         std::to_string(static_cast<int>(peer.state())) + ", frame " +
         std::to_string(peer.frame()) + ", then " +
         std::to_string(frames_then_[index]) + ", away " +
         std::to_string(peer.away()) + ", left " + std::to_string(peer.lost()) +
         ", waits for " + std::to_string(peer.waiting_for()) + ", end " +
         std::to_string(static_cast<int>(peer.end())) + " " +
         std::to_string(peer.end_code()) + " " +
         std::to_string(peer.end_refusal()) + " " +
         std::string(peer.end_text());
}

bool SwarmRun::HasHostiles(std::size_t room) const {
  return std::any_of(
      scenario_.hostiles.begin(), scenario_.hostiles.end(),
      [&](const SwarmHostile& hostile) { return hostile.room == room; });
}

bool SwarmRun::HasThief(std::size_t room) const {
  return std::any_of(scenario_.hostiles.begin(), scenario_.hostiles.end(),
                     [&](const SwarmHostile& hostile) {
                       return hostile.room == room &&
                              hostile.kind == HostileKind::kThief;
                     });
}

bool SwarmRun::WasRobbed(std::size_t room) const {
  for (std::size_t i = 0; i < hostiles_.size(); ++i) {
    if (scenario_.hostiles[i].room == room &&
        hostiles_[i]->took_a_seat_over()) {
      return true;
    }
  }
  return false;
}

void SwarmRun::CheckClients() {
  for (std::size_t i = 0; i < players_.size(); ++i) {
    const Player& player = players_[i];
    if (!player.joined || player.client->crashed()) continue;
    if (std::as_const(*player.client).peer().state() == PeerState::kEnded &&
        !MayEnd(i)) {
      Fail("ended without a reason: " + State(i));
    }
  }
}

// Whether what happened to a client is a reason for the end it came to.
bool SwarmRun::MayEnd(std::size_t index) const {
  const Player& player = players_[index];
  const SwarmRoom& room = RoomOf(index);
  const SwarmHost& host = scenario_.hosts[room.host];
  const lockstep::Peer& peer = std::as_const(*player.client).peer();
  const bool hostiles = HasHostiles(scenario_.clients[index].room);
  const bool trouble = player.troubled || host_fell_[room.host];
  switch (peer.end()) {
    case PeerEnd::kLeft:
      return player.left;
    case PeerEnd::kRefused:
      return (peer.end_refusal() == 503 && host_fell_[room.host]) ||
             (peer.end_refusal() == 409 && hostiles);
    case PeerEnd::kConnectFailed:
    case PeerEnd::kRetriesSpent:
      return trouble;
    case PeerEnd::kHole:
      return hostiles || host_fell_[room.host];
    case PeerEnd::kClosed:
      break;
    default:
      return false;
  }
  switch (peer.end_code()) {
    case close_code::kRoomFull:
      return hostiles || trouble || room.start_at > 0 || Overfull(index);
    case close_code::kResumed:
      return hostiles;
    case close_code::kSeatGone:  // the observer knows whether it was
      return trouble || hostiles;
    case close_code::kGoingAway:
      return host.idle_ms < limits::kIdleMs.fallback ||
             host.lobby_ms < limits::kLobbyMs.fallback;
    case close_code::kDropped:
    case close_code::kInternal:
    case close_code::kRestart:
      return trouble;
    default:
      return false;
  }
}

// More want to play than there are seats.
bool SwarmRun::Overfull(std::size_t index) const {
  const std::size_t room = scenario_.clients[index].room;
  const auto clients = std::count_if(
      scenario_.clients.begin(), scenario_.clients.end(),
      [&](const SwarmClient& client) { return client.room == room; });
  return clients > scenario_.rooms[room].size;
}

// Where a host went on from what it had kept, and somebody did not come back,
// some may have heard its last inputs and some not (lockstep/room.h).
void SwarmRun::CheckStates() {
  std::map<SwarmBook::Key, std::vector<std::size_t>> matches;
  for (std::size_t i = 0; i < players_.size(); ++i) {
    if (players_[i].game->match()) {
      matches[players_[i].game->key()].push_back(i);
    }
  }
  // The world's own check knows nothing of thieves.
  bool all = true;
  for (std::size_t i = 0; i < scenario_.rooms.size(); ++i) {
    all = all && !HasThief(i);
  }
  for (const auto& [key, members] : matches) {
    std::vector<const SwarmGame*> games;
    bool whole = !HasHostiles(scenario_.clients[members.front()].room);
    for (const std::size_t i : members) {
      games.push_back(players_[i].game.get());
      const sim::Client& client = *players_[i].client;
      whole = whole && !client.crashed() &&
              client.peer().state() == PeerState::kPlaying;
    }
    if (host_fell_[std::get<0>(key)] && !whole) {
      all = false;
      continue;
    }
    // Whose seat was taken runs on for a while, and says hashes of it.
    const bool stolen = HasThief(scenario_.clients[members.front()].room);
    const std::string difference = CompareStates(games);
    if (!difference.empty()) Fail(difference);
    for (const std::size_t i : members) {
      const sim::Client& client = *players_[i].client;
      if (!stolen && !client.crashed() && client.peer().desync() >= 0) {
        Fail("a false alarm: desync of " + State(i));
      }
    }
  }
  if (!all) return;
  const absl::Status status = world_.CheckInSync();
  if (!status.ok()) Fail(std::string(status.message()));
}

// Nothing is left of anybody: no seat, no room, no connection.
void SwarmRun::EndAll() {
  for (Player& player : players_) {
    if (!player.joined || player.client->crashed()) continue;
    player.left = true;
    player.client->Leave();
  }
  if (play_ != nullptr) play_->LeaveAll();
  if (RunUntil(kHealMax, [this] { return AllGone(); })) return;
  for (const sim::Host* host : hosts_) {
    Fail("all have left, and there are " + std::to_string(host->rooms()) +
         " rooms, " + std::to_string(host->players()) + " players, " +
         std::to_string(host->connections()) + " connections");
  }
}

bool SwarmRun::AllGone() const {
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const sim::Host& host = *hosts_[i];
    const std::size_t asleep = play_ == nullptr ? 0 : play_->RoomsAsleep(i);
    if (host.rooms() != asleep || host.players() + host.connections() != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace parlor::test
