// SwarmPlay: the authority rooms of a swarm's run (swarm_run.h), their players
// and who means them harm; and what must hold of them where it shows: at the
// players.
//
//  - What a player is shown is, row for row, what its game meant it to see of
//    that tick, and never goes back in time.
//  - Nobody is shown what is somebody else's alone.
//  - What the room's game says arrives once and in order.
//  - Once all is well again, everyone who plays has the newest state, roster,
//    body and HUD; and whoever ended, had a reason to.
#ifndef PARLOR_TESTS_SIM_SWARM_PLAY_H_
#define PARLOR_TESTS_SIM_SWARM_PLAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parlor/host/play_room.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/sim/player.h"
#include "parlor/sim/world.h"
#include "sim/swarm_play_game.h"
#include "sim/swarm_play_hostile.h"
#include "sim/swarm_play_room.h"
#include "sim/swarm_play_scenario.h"

namespace parlor::test {

// What outlives the world: its hosts' rooms write in it.
struct PlayRecords {
  PlayBook book;
  PlayFigures figures;
};

class SwarmPlay {
 public:
  // Of a scenario with rooms. `hosts` were given their RoomsOf. All outlive
  // this, which dies before the world. `on_link` is told of each player's link;
  // `connects` before each connection that has another one.
  SwarmPlay(const PlayScenario& scenario, std::uint64_t seed,
            PlayRecords& records, sim::World& world,
            const std::vector<sim::Host*>& hosts,
            const std::function<void(const sim::Link&)>& on_link,
            const std::function<void()>& connects);
  ~SwarmPlay();

  static std::vector<host::PlayRoom> RoomsOf(const PlayScenario& scenario,
                                             std::size_t host,
                                             std::uint64_t seed,
                                             PlayRecords& records);

  // Its process is gone, or drains.
  void OnHostFell(std::size_t host) { host_fell_[host] = true; }
  // While it goes on, now and then.
  void Look();
  void EndTrouble(const sim::Conditions& network);
  // Everyone plays on, or has ended; `who` is put there, who does not.
  bool IsWell(std::string* who = nullptr) const;
  // Everyone who plays is shown what there is now; else what is not.
  std::string Stale() const;
  void CheckEnds();
  void LeaveAll();
  // What is left of rooms: those that are asleep, of this host.
  std::size_t RoomsAsleep(std::size_t host) const;

  std::size_t seats() const;
  std::size_t peers() const { return players_.size(); }
  std::size_t strangers() const { return hostiles_.size(); }
  const std::string& error() const { return records_.book.error; }

 private:
  struct Shown {
    bool any = false;
    std::uint32_t epoch = 0;
    std::uint32_t tick = 0;
    bool recovery = false;
    std::uint64_t resumes = 0;
  };
  struct It {
    sim::Player* player = nullptr;
    bool joined = false;
    bool left = false;      // was told to
    bool troubled = false;  // something was done to its link
    Shown shown;
    std::int64_t said = 0;
    std::int64_t heard = 0;  // the newest that all were told; 0: none yet
    std::uint64_t heard_resumes = 0;
    Random random{0};
  };

  void AddPlayer(std::size_t index, std::uint64_t seed);
  void Join(std::size_t index);
  void Turn(PlayHostile& hostile);
  void OnFault(const SwarmFault& fault);
  // Before each of its steps.
  void OnStep(std::size_t index);
  void Act(It& it);
  void CheckShown(std::size_t index);
  void CheckMessages(std::size_t index);
  void CheckSecrets(std::size_t index);
  bool IsWell(std::size_t index) const;
  std::string Stale(std::size_t index) const;
  bool MayEnd(std::size_t index) const;
  bool HasHostiles(std::size_t room) const;
  std::size_t Wanted(std::size_t room) const;
  const WatchedRoom* Open(std::size_t room) const;
  std::string State(std::size_t index) const;
  void Fail(std::size_t index, const std::string& what);

  const PlayPlayer& Draw(std::size_t index) const {
    return scenario_.players[index];
  }
  const PlayRoomDraw& RoomOf(std::size_t index) const {
    return scenario_.rooms[Draw(index).room];
  }

  const PlayScenario scenario_;
  PlayRecords& records_;
  sim::World& world_;
  const std::vector<sim::Host*>& hosts_;
  std::vector<bool> host_fell_;
  std::vector<It> players_;
  std::vector<std::unique_ptr<PlayHostile>> hostiles_;
  bool quiet_ = false;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_PLAY_H_
