// The game of a swarm's authority rooms, and the book of what it meant. Its
// rows are kept a second time, beside the room's row table, as plain numbers:
// what a client is to see of a tick is said by these, and by nothing of the
// engine's.
#ifndef PARLOR_TESTS_SIM_SWARM_PLAY_GAME_H_
#define PARLOR_TESTS_SIM_SWARM_PLAY_GAME_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/authority/input.h"
#include "parlor/authority/message.h"
#include "parlor/authority/room_authority.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/values.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "sim/swarm_play_scenario.h"

namespace parlor::test {

class WatchedRoom;

inline constexpr const char* kPlayProtocol = "swarm-1";
// Honest players are called P0, P1, ...; nobody else is.
std::string PlayName(std::size_t player);

const authority::Schema& PlaySchema();
const authority::Messages& PlayMessages();
// Of a player's own body, on both sides.
void PlayMove(authority::OwnBody& body, const authority::InputFrame& input,
              Duration step);

// A row as the game means it: the numbers that values.h makes of it.
struct PlayRow {
  authority::RowId id = 0;
  int kind = 0;
  std::uint32_t owner = 0;  // the number of a player's id; 0: nobody's
  std::vector<std::int64_t> words{};
  std::uint64_t nulls = 0;
  std::string text{};
};

// What there was to see of a tick.
struct PlayState {
  std::uint32_t epoch = 0;
  std::uint32_t tick = 0;
  bool throws = false;          // some of the calls that ask for a view do
  std::vector<PlayRow> rows{};  // by rising id
};

// A baseline that a player was given: which rows of its tick.
struct PlayBaseline {
  std::uint32_t tick = 0;
  std::vector<authority::RowId> rows{};
};

// One room, from its opening to its end, which it outlives.
struct PlayRoomBook {
  PlayRoomDraw draw{};
  std::string name{};                           // "room-0, the 2nd"
  bool first = true;                            // of its key
  std::map<std::uint32_t, PlayState> states{};  // of the last minute, by tick
  // The newest of each player, by number.
  std::map<std::uint32_t, std::deque<PlayBaseline>> baselines{};
  std::map<std::uint32_t, std::string> huds{};  // as they were set last
  std::map<std::uint32_t, authority::OwnBody> bodies{};
  const WatchedRoom* room = nullptr;  // null: it is gone
  bool failed = false;                // its game ended it

  const PlayState* StateAt(std::uint32_t tick) const;
  bool Sees(const PlayState& state, const PlayRow& row,
            std::uint32_t player) const;
  // What of `shown` is not as that player is to see that tick; empty: nothing.
  std::string Compare(const PlayState& state, std::uint32_t player,
                      const authority::RowTable& shown) const;
  // The same of a baseline, of which nothing is in view but `rows`.
  std::string CompareBaseline(const PlayBaseline& given,
                              const authority::RowTable& shown) const;
};

// All of a world's rooms. Outlives the world.
struct PlayBook {
  // Where an honest player got its seat: the only one that it ever has.
  struct Seated {
    PlayRoomBook* room = nullptr;
    std::uint32_t number = 0;
  };

  PlayRoomBook& Open(const PlayRoomDraw& draw);
  // Null: there is none of that key.
  PlayRoomBook* Newest(std::string_view key);
  void Fail(const std::string& what) {
    if (error.empty()) error = what;
  }

  std::vector<std::unique_ptr<PlayRoomBook>> rooms{};
  std::map<std::string, Seated, std::less<>> seated{};  // by name
  std::set<std::string, std::less<>> robbed{};  // names whose token was stolen
  bool quiet = false;   // games are still, and throw nothing
  std::string error{};  // what broke first
};

class PlayGame final : public authority::RoomAuthority {
 public:
  // Both outlive it.
  PlayGame(PlayBook& book, PlayRoomBook& room, std::uint64_t seed);

  const authority::Schema& schema() const noexcept override {
    return PlaySchema();
  }
  const authority::Messages& messages() const noexcept override {
    return PlayMessages();
  }
  bool has_views() const noexcept override { return room_.draw.views; }
  absl::Status ValidateJoin(const authority::JoinRequest& request) override;
  void AddPlayer(authority::Context& context,
                 const authority::Player& player) override;
  void RemovePlayer(authority::Context& context,
                    const authority::Player& player) override;
  void OnMessage(authority::Context& context, int seat, std::string_view name,
                 std::string_view payload) override;
  void Step(authority::Context& context,
            std::span<const authority::SeatInput> inputs) override;
  void WriteState(authority::Context& context,
                  authority::RowTable& rows) override;
  bool InView(int seat, std::uint32_t row) override;
  std::optional<authority::OwnBody> Own(int seat) override;

  // What the room's counters are to say. FinishTick: behind the last tick.
  void FinishTick();
  std::uint64_t failed_ticks() const { return failed_ticks_; }
  bool is_over() const { return failed_in_a_row_ >= 10; }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t unsent() const { return unsent_; }
  std::uint64_t received() const { return received_; }
  // Of the newest AddPlayer, which threw or not.
  bool add_threw() const { return add_threw_; }
  // Numbers by seat.
  std::map<int, std::uint32_t> members() const;
  // 0: nobody has the seat.
  authority::RowId BodyOf(int seat) const;
  // Whether the newest Own of this seat was one that can be told.
  bool OwnIsTold(int seat) const;

 private:
  struct Member {
    std::uint32_t number = 0;
    std::string name{};
    bool honest = false;
    authority::RowId body = 0;
    authority::RowId secret = 0;
    authority::OwnBody own{};
    std::int64_t teleports = 0;
    bool own_told = false;
    std::int64_t said = -1;  // the newest that it said
  };

  void GiveRows(authority::Context& context, int seat, Member& member);
  authority::RowId AddRow(authority::RowTable& rows, int kind,
                          std::uint32_t owner, std::size_t words);
  void RemoveRow(authority::RowTable& rows, authority::RowId row);
  void NewEpoch(authority::Context& context);
  void CheckInputs(const authority::Context& context,
                   std::span<const authority::SeatInput> inputs);
  void Place(authority::RowTable& rows, Member& member, bool teleport);
  void Act(authority::Context& context);
  void ActOnCoin(authority::RowTable& rows);
  void Misuse(authority::Context& context);
  void Say(authority::Context& context);
  PlayRow* AnyRow(int kind);
  Member* AnyMember(int* seat);
  // In a tick, or between two: then the next one fails.
  [[noreturn]] void Throw(bool between);
  bool Throws(std::uint32_t of);

  PlayBook& book_;
  PlayRoomBook& room_;
  Random random_;
  std::map<authority::RowId, PlayRow> rows_;
  std::map<int, Member> members_;
  std::uint32_t tick_ = 0;
  std::uint32_t told_ = 0;  // messages that all were told
  bool add_threw_ = false;

  bool in_tick_ = false;
  bool tick_failed_ = false;
  bool next_fails_ = false;
  bool snapshot_failed_ = false;
  int failed_in_a_row_ = 0;
  std::uint64_t failed_ticks_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t unsent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_PLAY_GAME_H_
