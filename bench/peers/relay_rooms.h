// What the relays of bench/compare know of rooms, which is the least that a
// lockstep match needs: seats, WELCOME and the sender's seat in each INPUT
// (core/lockstep/WIRE.md). No lobby, no resume, no rates and no limits.
//
// C++17, for websocketpp's sake: Debian's does not compile as C++20 by gcc.
#ifndef PARLOR_BENCH_PEERS_RELAY_ROOMS_H_
#define PARLOR_BENCH_PEERS_RELAY_ROOMS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace parlor::bench {

// The subprotocol that a client of lockstep rooms offers, and is answered.
inline constexpr std::string_view kSubprotocol = "fizlet-rooms";

// A whole message, by parlor/lockstep/wire.h.
inline constexpr std::size_t kMessageBytes = 12;
using MessageBytes = std::array<unsigned char, kMessageBytes>;

// Where a client wants to sit.
struct Seating {
  std::uint32_t room = 0;
  std::size_t players = 0;
};

inline constexpr std::size_t kPlayersMax = 32;

// "/room/<n>?players=<1 to kPlayersMax>", and nothing else.
std::optional<Seating> ParseTarget(std::string_view target);

MessageBytes Welcome(std::uint32_t room, std::size_t seat, std::size_t players);

// Whether a client's message is an INPUT. `data` has kMessageBytes.
bool IsInput(const void* data);
// Its frame.
std::uint32_t InputFrame(const void* data);
// The same as the other seats are told it.
MessageBytes Relayed(const void* data, std::size_t seat);

// A room of as many `Member`s, which it does not own, as it has seats.
template <typename Member>
struct Room {
  std::uint32_t number = 0;
  std::size_t players = 0;
  std::vector<Member*> seats;  // in order of arrival; null: gone

  // Everyone has been seated. Until then nothing is relayed.
  bool started() const { return seats.size() == players; }
};

// Not thread safe. A room is there from its first member to its last.
template <typename Member>
class Rooms {
 public:
  // Takes the next seat, which is `seats.size() - 1` afterwards. Null when all
  // are taken, or the room was opened for another number of players. What it
  // answers stays where it is until the last member has left.
  Room<Member>* Join(const Seating& seating, Member& member) {
    Room<Member>& room = rooms_[seating.room];
    if (room.players == 0) {
      room.number = seating.room;
      room.players = seating.players;
    }
    if (room.players != seating.players || room.started()) return nullptr;
    room.seats.push_back(&member);
    return &room;
  }

  // The seat stays empty.
  void Leave(Room<Member>& room, std::size_t seat) {
    room.seats[seat] = nullptr;
    if (std::all_of(room.seats.begin(), room.seats.end(),
                    [](const Member* member) { return member == nullptr; })) {
      rooms_.erase(room.number);
    }
  }

 private:
  std::unordered_map<std::uint32_t, Room<Member>> rooms_;
};

}  // namespace parlor::bench

#endif  // PARLOR_BENCH_PEERS_RELAY_ROOMS_H_
