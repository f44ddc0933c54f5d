// SwarmObserver: listens to all that hosts and clients say at the level of
// messages, and knows what no room may ever do. It shares nothing with the room
// but the wire's layout: what it checks, it checks from outside.
//
//  - In a match a seat is one connection's; who takes it over has its token,
//    and the one before was closed 4001 first. A token is one seat's for good.
//  - Nothing is relayed before WELCOME, nothing of a seat to itself, nothing of
//    a seat in another's name, no frame twice or backwards, and an honest
//    seat's frames without a gap, behind a replay of as many as there are, up
//    to 64.
//  - A seat leaves for a reason: its player went, was put out, or its hold
//    ended; it is told once, and a hold lasts as long as it must and no longer.
//  - A token is turned away only when its seat has left.
//  - Nobody honest is put out.
#ifndef PARLOR_TESTS_SIM_SWARM_OBSERVER_H_
#define PARLOR_TESTS_SIM_SWARM_OBSERVER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/lockstep/wire.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"

namespace parlor::test {

// A player's tag is in the upper byte of every word it says; honest ones are
// below this, hostile ones from here on.
inline constexpr std::uint32_t kFirstHostile = 128;

// What an honest player says for a frame.
inline std::uint32_t SwarmWord(std::uint32_t tag, std::uint32_t frame) {
  const std::uint32_t mixed = (frame + 1) * 0x9e3779b1u ^ tag * 0x85ebca77u;
  return (tag << 24) | (mixed >> 8);
}

class SwarmObserver final : public sim::NetworkSink {
 public:
  // What `next` hears of everything too; null: nobody.
  explicit SwarmObserver(sim::NetworkSink* next) : next_(next) {}

  struct HostRules {
    Duration hold{};
    Duration idle{};
    bool keeps_matches = true;
  };
  void AddHost(const HostRules& rules) { hosts_.push_back(rules); }

  // Connections of `link` are this player's, in this room; it plays with
  // `delay`.
  void AddClient(const sim::Link& link, std::uint32_t tag, std::size_t host,
                 std::uint32_t room, int delay);
  // So is the next one that opens on another link. A player without an honest
  // tag may use many.
  void ExpectStranger(std::uint32_t tag, std::size_t host, std::uint32_t room,
                      std::optional<std::uint32_t> token);

  // What is said on this link, and by the next connection that opens on one
  // that nobody told of, is no lockstep room's.
  void Ignore(const sim::Link& link) { ignored_.push_back(&link); }
  void IgnoreNext() { ignores_next_ = true; }

  // The process of a host is gone; and there is another.
  void OnHostDown(TimePoint now, std::size_t host);
  void OnHostUp(TimePoint now, std::size_t host);

  void OnNetworkEvent(const sim::NetworkEvent& event) override;

  // What was broken first; empty: nothing.
  const std::string& error() const { return error_; }

  // Tokens of a room's seats, in the order they were given: of those that are
  // still there, or of those that have left.
  std::vector<std::uint32_t> Tokens(std::size_t host, std::uint32_t room,
                                    bool left) const;

  struct Figures {
    std::uint64_t messages = 0;
    std::uint64_t matches = 0;
    std::uint64_t resumes = 0;    // of held seats
    std::uint64_t takeovers = 0;  // of seats whose old link looked alive
    std::uint64_t refused_tokens = 0;
    std::uint64_t holds_ended = 0;
    std::uint64_t put_out = 0;
  };
  const Figures& figures() const { return figures_; }

 private:
  static constexpr std::size_t kSeatsMax = 32;

  struct Seat {
    std::uint32_t token = 0;
    std::uint64_t holder = 0;  // the newest connection that was seated here
    // Until when it is held; kNever: it is not, or nobody heard that it is.
    TimePoint held_until = kNever;
    bool left = false;
    bool unheard = false;  // it dropped when nobody was there to be told
    std::vector<std::uint32_t> tags;  // of those who sat here
  };
  struct Match {
    std::size_t host = 0;
    std::uint32_t room = 0;
    std::uint32_t seed = 0;
    int players = 0;
    TimePoint begun{};
    TimePoint relayed{};     // at last, as far as it was heard
    bool over = false;       // it ended in order, or with its host
    bool restarted = false;  // it went on from what was kept
    bool hostile = false;    // has a player that is not honest
    std::vector<Seat> seats;
  };
  struct Line {
    bool used = false;
    bool ignored = false;
    bool stream = false;
    std::uint32_t tag = 0;
    std::size_t host = SIZE_MAX;
    std::uint32_t room = 0;
    int delay = 0;                       // 0: not an honest player
    bool resume = false;                 // it offers a token
    std::optional<std::uint32_t> token;  // where that is known
    int lobby_slot = -1;                 // as it was told last
    int lobby_size = 0;
    bool said_start = false;
    std::size_t match = kNoMatch;
    int slot = -1;
    bool own_resume = false;  // was told
    TimePoint welcomed{};
    CloseCode said = 0;  // the client's close
    CloseCode told = 0;  // the host's
    bool lost = false;   // at either end
    // By its host's restart; it was there until then.
    bool ended_with_host = false;
    std::uint32_t left = 0;
    std::uint32_t away = 0;
    std::array<std::int64_t, kSeatsMax> inputs{};  // the last frame; -1: none
    std::array<std::int64_t, kSeatsMax> hashes{};
    // While it is behind its WELCOME: the first of each seat, and how many.
    std::array<std::int64_t, kSeatsMax> first{};
    std::array<std::uint32_t, kSeatsMax> replayed{};

    bool ended() const {
      return !ended_with_host && (said != 0 || told != 0 || lost);
    }
  };
  struct Player {
    const sim::Link* link;
    std::uint32_t tag;
    std::size_t host;
    std::uint32_t room;
    int delay;
  };
  struct Stranger {
    std::uint32_t tag;
    std::size_t host;
    std::uint32_t room;
    std::optional<std::uint32_t> token;
  };
  static constexpr std::size_t kNoMatch = SIZE_MAX;

  Line& LineOf(const sim::NetworkEvent& event);
  void Begin(Line& line, const sim::NetworkEvent& event);
  void OnUp(Line& line, std::span<const std::byte> bytes);
  void OnDown(std::uint64_t number, Line& line,
              const lockstep::Message& message);
  void OnWelcome(std::uint64_t number, Line& line,
                 const lockstep::Message& message);
  bool MayBegin(const Line& line, int players) const;
  std::size_t FindMatch(const Line& line, const lockstep::Message& message);
  void TakeSeat(std::uint64_t number, Line& line, Match& match, int slot);
  void OnInput(Line& line, const lockstep::Message& message);
  void CheckFrame(Line& line, const Match& match,
                  const lockstep::Message& message);
  void OnHash(Line& line, const lockstep::Message& message);
  void OnAway(Line& line, int slot);
  void OnLeave(Line& line, int slot);
  void OnResume(Line& line, int slot);
  void OnClosedByHost(Line& line, CloseCode code);
  void CheckTurnedAway(const Line& line);
  void CheckHolds(const Match& match);
  // Its player went, or was put out; whether or not the host knows by now.
  bool WentForGood(const Seat& seat) const;
  bool MayLeave(const Match& match, const Seat& seat);
  // Somebody else of the match heard what became of `seat`.
  bool IsWatched(const Match& match, const Seat& seat) const;
  // Whether it is known to have been held, or to have been connected until its
  // host went.
  bool IsKnown(const Match& match, const Seat& seat) const;
  void EndReplay(Line& line);
  // One player says everything, and no room forgot any of it: one that went on
  // from what was kept lacks what its peers have run by then. Nor did anybody
  // run ahead of a peer that was away, and goes on where the others are.
  static bool IsWhole(const Match& match, const Seat& seat) {
    return !match.restarted && !match.hostile && seat.tags.size() == 1;
  }

  Duration HoldOf(const Match& match) const { return hosts_[match.host].hold; }
  bool InResume(const Line& line) const {
    return line.resume && line.welcomed == now_;
  }
  void Fail(const Line& line, std::string_view what);

  sim::NetworkSink* next_;
  std::vector<HostRules> hosts_;
  std::vector<Player> players_;
  std::optional<Stranger> expected_;
  std::vector<const sim::Link*> ignored_;
  bool ignores_next_ = false;
  std::vector<Line> lines_;  // by the connection's number
  std::vector<Match> matches_;
  TimePoint now_{};
  Figures figures_;
  std::string error_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_OBSERVER_H_
