// One run of the swarm: a scenario played, and everything that must hold
// checked.
//
// Safety, all the time: what SwarmObserver and SwarmGame check, and that memory
// stays within its bounds. Then liveness: faults and hostiles end, every link
// is healed, and every honest player is in step or has been told why not;
// everyone leaves, and nothing is left of anybody. Of authority rooms, which
// may be in the same world or in one of their own, SwarmPlay and WatchedRoom
// check the same.
#ifndef PARLOR_TESTS_SIM_SWARM_RUN_H_
#define PARLOR_TESTS_SIM_SWARM_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/swarm_game.h"
#include "sim/swarm_hostile.h"
#include "sim/swarm_observer.h"
#include "sim/swarm_play.h"
#include "sim/swarm_play_room.h"
#include "sim/swarm_play_scenario.h"
#include "sim/swarm_scenario.h"

namespace parlor::test {

struct SwarmFigures {
  SwarmObserver::Figures seen;
  PlayFigures play;
  Duration time{};           // that passed in the world
  Duration room_time{};      // the same, of each room that was open
  std::uint64_t frames = 0;  // that clients ran
  std::uint64_t restarts = 0;
};

class SwarmRun {
 public:
  // With `record`, trace() and chart() have something to say.
  SwarmRun(const SwarmScenario& scenario, const PlayScenario& play,
           bool record);
  ~SwarmRun();

  // What broke first; empty: nothing.
  std::string Run();
  // Only so long, and nothing more: its end comes in the midst of all.
  std::string RunShort(Duration time);

  SwarmFigures figures() const;
  std::uint64_t digest() const { return world_.digest(); }
  std::string trace() const { return world_.TraceText(); }
  std::string chart() const { return world_.TraceSvg(); }

 private:
  struct Player {
    std::unique_ptr<SwarmGame> game;
    sim::Client* client = nullptr;
    bool joined = false;
    bool left = false;      // was told to
    bool troubled = false;  // something was done to its link
  };

  void AddHosts();
  void AddClients();
  void AddHostiles();
  void AddPlay();
  void Turn(Hostile& hostile);
  void Schedule(const SwarmFault& fault);
  void OnClient(const SwarmFault& fault);
  void OnHost(const SwarmFault& fault);
  void BringBack(std::size_t host, bool drained);
  void StartMatches();
  void Look();
  void RunFor(Duration time);
  // False: not within that time.
  template <typename Done>
  bool RunUntil(Duration at_most, Done done);

  void EndTrouble();
  void AwaitNewest();
  bool AllInStep() const;
  bool InStep(std::size_t index) const;
  void CheckClients();
  bool Overfull(std::size_t index) const;
  bool MayEnd(std::size_t index) const;
  void CheckStates();
  void EndAll();
  bool AllGone() const;

  const SwarmRoom& RoomOf(std::size_t client) const {
    return scenario_.rooms[scenario_.clients[client].room];
  }
  bool HasHostiles(std::size_t room) const;
  bool HasThief(std::size_t room) const;
  bool WasRobbed(std::size_t room) const;
  void Fail(const std::string& what);
  // Of a client, for a failure.
  std::string State(std::size_t index) const;
  bool broken() const;
  std::string error() const;

  const SwarmScenario scenario_;
  const PlayScenario play_scenario_;
  SwarmBook book_;
  PlayRecords play_records_;
  std::vector<Player> players_;
  sim::World world_;
  std::unique_ptr<SwarmObserver> observer_;
  std::vector<sim::Host*> hosts_;
  std::vector<int> host_faults_;  // that are going on
  std::vector<bool> host_fell_;   // at some time
  std::vector<std::unique_ptr<Hostile>> hostiles_;
  std::unique_ptr<SwarmPlay> play_;
  std::vector<std::uint32_t> frames_then_;  // when the trouble ended
  bool quiet_ = false;                      // it has ended
  SwarmFigures figures_;                    // as far as they are counted here
  std::string error_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_RUN_H_
