// DesyncParty: recorded EntityGames that run the same frames, without a
// network.
#ifndef PARLOR_TESTS_SUPPORT_DESYNC_PARTY_H_
#define PARLOR_TESTS_SUPPORT_DESYNC_PARTY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "parlor/lockstep/desync.h"
#include "support/entity_game.h"

namespace parlor::test {

struct DesyncParty {
  struct Seat {
    std::unique_ptr<EntityGame> game;
    std::unique_ptr<lockstep::DesyncRecorder> recorder;
  };

  explicit DesyncParty(int players, std::size_t entities,
                       const lockstep::DesyncOptions& options = {}) {
    for (int seat = 0; seat < players; ++seat) {
      auto game = std::make_unique<EntityGame>(entities);
      auto recorder =
          std::make_unique<lockstep::DesyncRecorder>(*game, options);
      seats.push_back({std::move(game), std::move(recorder)});
    }
  }

  lockstep::Match MatchOf(std::size_t seat) const {
    return {.seat = static_cast<int>(seat),
            .players = static_cast<int>(seats.size()),
            .size = static_cast<int>(seats.size()),
            .seed = 7,
            .mode = 3,
            .delay = 2};
  }
  void Start() {
    for (std::size_t s = 0; s < seats.size(); ++s) {
      seats[s].recorder->OnStart(MatchOf(s));
    }
  }
  static std::vector<std::uint32_t> Inputs(std::size_t players,
                                           std::uint32_t frame) {
    std::vector<std::uint32_t> inputs;
    for (std::uint32_t s = 0; s < players; ++s) {
      inputs.push_back(frame / 3 * 0x9e3779b1u ^ s);
    }
    return inputs;
  }
  void RunTo(std::uint32_t end) {
    for (; frame < end; ++frame) {
      for (const Seat& seat : seats) {
        seat.recorder->Step(frame, Inputs(seats.size(), frame), 0);
      }
    }
  }
  std::vector<lockstep::DesyncDump> Dumps() const {
    std::vector<lockstep::DesyncDump> dumps;
    for (const Seat& seat : seats) dumps.push_back(seat.recorder->Dump());
    return dumps;
  }

  std::vector<Seat> seats;
  std::uint32_t frame = 0;
};

// Of an Entity with that bit flipped: the path of the field.
inline std::string PathOfBit(std::size_t entity, std::size_t bit) {
  struct Row {
    std::size_t end;
    const char* name;
  };
  constexpr Row kRows[] = {{4, "x"},      {8, "y"},     {10, "dx"},
                           {12, "dy"},    {16, "heat"}, {24, "id"},
                           {30, "items"}, {31, "mood"}, {32, "awake"}};
  const std::size_t byte = bit / 8;
  std::string path = "entities[" + std::to_string(entity) + "].";
  for (const Row& row : kRows) {
    if (byte >= row.end) continue;
    path += row.name;
    if (row.end == 30) path += "[" + std::to_string(byte - 24) + "]";
    return path;
  }
  return path;
}

inline lockstep::FreshGame FreshEntities(std::size_t entities,
                                         std::uint32_t rules = 1) {
  return [=]() -> std::unique_ptr<lockstep::Game> {
    return std::make_unique<EntityGame>(entities, rules);
  };
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_DESYNC_PARTY_H_
