// EntityGame: a world of many entities as a lockstep game, with a described
// state, in which one bit can be made to flip.
#ifndef PARLOR_TESTS_SUPPORT_ENTITY_GAME_H_
#define PARLOR_TESTS_SUPPORT_ENTITY_GAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/state_description.h"
#include "parlor/lockstep/state_hash.h"
#include "parlor/random.h"

namespace parlor::test {

enum class Mood : std::uint8_t { kCalm, kAngry, kAsleep };
inline constexpr std::array<std::string_view, 3> kMoods = {"calm", "angry",
                                                           "asleep"};

struct Entity {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int16_t dx = 0;
  std::int16_t dy = 0;
  float heat = 0;
  std::uint64_t id = 0;
  std::array<std::uint8_t, 6> items{};
  Mood mood = Mood::kCalm;
  bool awake = false;
};

template <class Fields>
void DescribeState(Fields& fields, Entity& entity) {
  fields("x", entity.x)("y", entity.y)("dx", entity.dx)("dy", entity.dy);
  fields("heat", entity.heat)("id", entity.id)("items", entity.items);
  fields("mood", entity.mood, kMoods)("awake", entity.awake);
}

struct EntityWorld {
  std::uint32_t rules = 1;
  std::uint8_t mode = 0;
  std::uint8_t delay = 0;
  Random random{0};
  std::vector<Entity> entities{};
};

template <class Fields>
void DescribeState(Fields& fields, EntityWorld& world) {
  fields("rules", world.rules)("mode", world.mode)("delay", world.delay);
  fields.Block("random", world.random);
  fields("entities", world.entities);
}

// What Step runs with.
inline bool IsValidState(const EntityWorld& world) {
  return !world.entities.empty();
}

class EntityGame final : public lockstep::Game {
 public:
  explicit EntityGame(std::size_t entities, std::uint32_t rules = 1)
      : size_(entities), rules_(rules) {}

  void OnStart(const lockstep::Match& match) override {
    seat_ = static_cast<std::uint32_t>(match.seat);
    world_ = {.rules = 1,
              .mode = match.mode,
              .delay = static_cast<std::uint8_t>(match.delay),
              .random = Random(match.seed),
              .entities = std::vector<Entity>(size_)};
    for (Entity& entity : world_.entities) {
      entity.id = world_.random.Next64();
      entity.x = static_cast<std::int32_t>(world_.random.Below(10'000));
      entity.y = static_cast<std::int32_t>(world_.random.Below(10'000));
      entity.dx = static_cast<std::int16_t>(world_.random.Between(-9, 9));
      entity.dy = static_cast<std::int16_t>(world_.random.Between(-9, 9));
    }
  }
  std::uint32_t Input(std::uint32_t frame) override {
    return (frame + 1) * 0x9e3779b1u ^ seat_ * 0x85ebca77u;
  }
  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override {
    std::uint32_t said = bots;
    for (const std::uint32_t input : inputs) said = said * 31 + input;
    Entity& poked = world_.entities[said % world_.entities.size()];
    poked.mood = static_cast<Mood>((static_cast<int>(poked.mood) + 1) % 3);
    poked.items[frame % poked.items.size()] ^= static_cast<std::uint8_t>(said);
    poked.awake = !poked.awake;
    poked.heat += 0.25f;
    for (Entity& entity : world_.entities) {
      entity.x = Moved(entity.x, entity.dx);
      entity.y = Moved(entity.y, entity.dy);
    }
    // Another build of the rules.
    if (rules_ == 2 && frame % 64 == 63) ++world_.entities[7].dx;
    if (flip && flip->frame == frame) flip->Do(world_.entities);
  }
  std::uint32_t Hash() override { return lockstep::HashState(world_); }
  lockstep::DescribedState* described() override { return &view_; }

  struct Flip {
    std::uint32_t frame;  // that ends with it
    std::size_t entity;
    std::size_t bit;  // of its 32 bytes

    void Do(std::vector<Entity>& entities) const {
      auto* const bytes = reinterpret_cast<std::byte*>(&entities[entity]);
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
  };
  std::optional<Flip> flip;

  const EntityWorld& world() const { return world_; }

 private:
  // A flipped bit may bring it to any place.
  static std::int32_t Moved(std::int32_t at, std::int16_t by) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(at) +
                                     static_cast<std::uint32_t>(by));
  }

  const std::size_t size_;
  const std::uint32_t rules_;
  std::uint32_t seat_ = 0;
  EntityWorld world_;
  lockstep::StateView<EntityWorld> view_{world_};
};

static_assert(sizeof(Entity) == 32);

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_ENTITY_GAME_H_
