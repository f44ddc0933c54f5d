#include "cycles/bots.h"

#include <algorithm>
#include <array>
#include <limits>

#include "cycles/grid.h"
#include "cycles/territory.h"

namespace parlor::cycles {
namespace {

// A bot shuns a ring that closes within this time.
constexpr int kClosingFearFrames = 90;
constexpr int kFar = 1000;  // farther than any two cells

// What every bot sees at one moment, looked at once.
struct Sight {
  explicit Sight(const State& of);

  const State& state;
  CellSet open;  // may be entered now
  CellSet safe;  // and does not close soon
  std::array<Place, 16> pickups{};
  int pickup_count = 0;
};

Sight::Sight(const State& of) : state(of), open(OpenCells(of)), safe(open) {
  const int closing = FramesToClosing(state);
  if (closing > 0 && closing <= kClosingFearFrames) {
    for (int y = 0; y < state.height; ++y) {
      for (int x = 0; x < state.width; ++x) {
        if (RingOf(state, {x, y}) <= state.closed) safe.Remove({x, y});
      }
    }
  }
  if (state.pickups == 0) return;
  const auto cells = static_cast<std::size_t>(state.width) * state.height;
  for (std::size_t i = 0; i < cells; ++i) {
    if (!IsPickup(state.cells[i]) || pickup_count == 16) continue;
    pickups[static_cast<std::size_t>(pickup_count++)] = {
        static_cast<int>(i % state.width), static_cast<int>(i / state.width)};
  }
}

// One way on: straight, right or left.
struct Way {
  Heading heading = Heading::kUp;
  Place to;
  int value = 0;   // cells, more is better
  int rating = 0;  // of the style, less is better
  bool straight = false;
};

struct Ways {
  std::array<Way, 3> way{};
  int count = 0;
  std::span<Way> all() { return {way.data(), static_cast<std::size_t>(count)}; }
};

struct Decision {
  Heading heading = Heading::kUp;
  std::uint16_t plan = 0;
  bool boost = false;
};

bool Has(const State& state, const CellSet& set, Place at) {
  return IsInside(state, at) && set.Has(at);
}

// Open cells ahead, at most `most`.
int RunLength(const State& state, const CellSet& set, Place from,
              Heading heading, int most) {
  int run = 0;
  while (run < most && Has(state, set, Neighbour(from, heading, run + 1))) {
    ++run;
  }
  return run;
}

int ClosedNeighbours(const Sight& sight, Place at) {
  int closed = 0;
  for (int i = 0; i < 4; ++i) {
    const Place next = Neighbour(at, static_cast<Heading>(i));
    if (!Has(sight.state, sight.safe, next)) ++closed;
  }
  return closed;
}

// A thought of one bot about its next cell.
class Mind {
 public:
  Mind(const Sight& sight, int seat, std::uint32_t draw)
      : sight_(sight),
        state_(sight.state),
        seat_(seat),
        me_(state_.cycles[static_cast<std::size_t>(seat)]),
        dice_(draw) {
    ForEachAlive(state_, [&](int other, const Cycle& cycle) {
      if (other == seat_) return;
      race_.rivals[static_cast<std::size_t>(race_.rival_count++)] =
          HeadOf(cycle);
      const int distance = Distance(HeadOf(cycle), HeadOf(me_));
      if (distance >= rival_distance_) return;
      rival_distance_ = distance;
      rival_ = &cycle;
    });
  }

  Decision Decide() {
    FindWays();
    decision_ = {.heading = me_.heading, .plan = me_.plan};
    if (ways_.count == 0) return decision_;
    switch (me_.level) {
      case Level::kEasy:
        DecideEasy();
        break;
      case Level::kNormal:
        DecideNormal();
        break;
      case Level::kHard:
        DecideHard();
        break;
    }
    return decision_;
  }

 private:
  void FindWays() {
    for (const int quarters : {0, 1, 3}) {
      const Heading heading = Turned(me_.heading, quarters);
      const Place to = Neighbour(HeadOf(me_), heading);
      if (!Has(state_, sight_.open, to)) continue;
      ways_.way[static_cast<std::size_t>(ways_.count++)] = {
          .heading = heading, .to = to, .straight = quarters == 0};
    }
  }

  int Run(Heading heading, int most) const {
    return RunLength(state_, sight_.safe, HeadOf(me_), heading, most);
  }

  // A beginner: looks at what is straight ahead and beside, sees walls late,
  // sometimes picks the wrong side, sometimes freezes.
  void DecideEasy() {
    const int ahead = Run(me_.heading, 6);
    const int notice = dice_.Between(1, 3);
    const bool stray = dice_.Chance(1, 12);
    if (ahead == 0 && dice_.Chance(1, 32)) return;
    if (ahead >= notice && !stray) return;
    Race glance;
    glance.steps = kEasySteps;
    for (Way& way : ways_.all()) {
      glance.me = way.to;
      way.value = Measure(state_, sight_.safe, glance).mine;
    }
    if (ahead >= notice) {
      RateByStyle();
      TakeBest(kFar);
    } else {
      if (dice_.Chance(1, 6)) Misjudge();
      TakeBest(0);
    }
    if (Run(decision_.heading, 6) >= 5) decision_.boost = dice_.Chance(1, 20);
  }

  // The worse side looks like the better one.
  void Misjudge() {
    for (Way& way : ways_.all()) way.value = -way.value;
  }

  // Nobody near, nothing ahead, nothing beside: a thought every third cell is
  // enough, and makes calm lines. On the largest grid this is most of what
  // eight experts would cost.
  bool IsCalm() const {
    return rival_distance_ > 12 && me_.length % 3 != 0 && ways_.count == 3 &&
           ClosedNeighbours(sight_, ways_.way[0].to) == 1 &&
           Run(me_.heading, 6) == 6;
  }

  // A regular: weighs the room each way leads to, within sight, and does not
  // think of where the others go. Now and then plays like a beginner.
  void DecideNormal() {
    if (dice_.Chance(1, 40)) {
      DecideEasy();
      return;
    }
    if (IsCalm()) return;
    Race alone;
    alone.steps = kNormalSteps;
    int best = 0;
    for (Way& way : ways_.all()) {
      alone.me = way.to;
      const int room = Room(way, Measure(state_, sight_.safe, alone).mine);
      const int noise = dice_.Between(-8, 8);
      best = std::max(best, room);
      way.value = room + room * noise / 100;
      if (IsContested(way) && dice_.Chance(3, 4)) way.value /= 2;
    }
    if (best < kNormalCramped) {
      RateByWalls();
    } else {
      RateByStyle();
    }
    TakeBest(best / 8);
    const bool near = rival_distance_ <= 10;
    if (near && Run(decision_.heading, 10) == 10) {
      decision_.boost = dice_.Chance(1, 20);
    }
  }

  // An expert: weighs what he reaches before the others do, wants theirs small,
  // avoids cells that somebody else may enter at the same time, fills his own
  // room along its walls once he is shut off.
  void DecideHard() {
    if (IsCalm()) return;
    race_.steps = kHardSteps;
    const int appetite = me_.style == Style::kHunter ? 3 : 2;
    bool contact = false;
    int most = 0;
    for (Way& way : ways_.all()) {
      race_.me = way.to;
      const Territory territory = Measure(state_, sight_.safe, race_);
      const int mine = Room(way, territory.mine);
      contact = contact || territory.contact;
      most = std::max(most, mine);
      way.value = 4 * mine;
      if (territory.contact)
        way.value -= appetite * territory.theirs / race_.rival_count;
      // Two experts in mirrored places must not play mirrored moves for ever.
      way.value += mine * dice_.Between(-kHardNoise, kHardNoise) / 25;
      if (IsContested(way)) way.value -= 2 * mine + 40;
    }
    if (contact) {
      RateByStyle();
    } else {
      RateByWalls();
    }
    TakeBest(contact ? most / 10 : 4);
    if (contact && rival_distance_ <= 16) ConsiderBoost();
  }

  // Worth a charge when twice the speed wins clearly more room.
  void ConsiderBoost() {
    if (me_.charges == 0 || me_.boost > 0) return;
    if (Run(decision_.heading, 6) < 6) return;
    race_.me = Neighbour(HeadOf(me_), decision_.heading);
    race_.double_steps = 0;
    const int now = Measure(state_, sight_.safe, race_).mine;
    race_.double_steps = kBoostBeats;
    const int then = Measure(state_, sight_.safe, race_).mine;
    decision_.boost = 5 * (then - now) > now && dice_.Chance(1, 3);
  }

  // Room behind a ring that is about to close is worth half.
  int Room(const Way& way, int cells) const {
    return sight_.safe.Has(way.to) ? cells : cells / 2;
  }

  // A rival may enter it in the same beat.
  bool IsContested(const Way& way) const {
    for (int i = 0; i < race_.rival_count; ++i) {
      const Place at = race_.rivals[static_cast<std::size_t>(i)];
      if (Distance(at, way.to) == 1) return true;
    }
    return false;
  }

  void RateByWalls() {
    for (Way& way : ways_.all()) {
      way.rating = -2 * ClosedNeighbours(sight_, way.to);
    }
    PreferStraight();
  }

  void RateByStyle() {
    switch (me_.style) {
      case Style::kHunter:
        if (rival_ != nullptr) {
          RateByDistance(Neighbour(HeadOf(*rival_), rival_->heading, 4));
        }
        break;
      case Style::kHugger:
        RateByWalls();
        return;
      case Style::kWanderer:
        Wander();
        break;
      case Style::kCollector:
        if (sight_.pickup_count > 0) RateByDistance(NearestPickup());
        break;
    }
    PreferStraight();
  }

  void PreferStraight() {
    for (Way& way : ways_.all()) way.rating -= way.straight ? 1 : 0;
  }

  void RateByDistance(Place target) {
    for (Way& way : ways_.all()) way.rating = 2 * Distance(way.to, target);
  }

  // Straight on for a while, then any way.
  void Wander() {
    if (me_.plan > 0) {
      decision_.plan = static_cast<std::uint16_t>(me_.plan - 1);
      return;
    }
    decision_.plan = static_cast<std::uint16_t>(dice_.Between(3, 14));
    for (Way& way : ways_.all()) way.rating = dice_.Between(0, 8);
  }

  Place NearestPickup() const {
    Place nearest;
    int least = kFar;
    for (int i = 0; i < sight_.pickup_count; ++i) {
      const Place at = sight_.pickups[static_cast<std::size_t>(i)];
      const int distance = Distance(at, HeadOf(me_));
      if (distance >= least) continue;
      least = distance;
      nearest = at;
    }
    return nearest;
  }

  // The best rated of the ways whose value is within `tolerance` of the best.
  void TakeBest(int tolerance) {
    int most = std::numeric_limits<int>::min();
    for (const Way& way : ways_.all()) most = std::max(most, way.value);
    int least = std::numeric_limits<int>::max();
    for (const Way& way : ways_.all()) {
      if (way.value < most - tolerance || way.rating >= least) continue;
      least = way.rating;
      decision_.heading = way.heading;
    }
  }

  static constexpr int kEasySteps = 5;
  static constexpr int kNormalSteps = 20;
  static constexpr int kNormalCramped = 200;  // cells of room
  static constexpr int kHardNoise = 3;        // percent
  static constexpr int kHardSteps = 36;

  const Sight& sight_;
  const State& state_;
  const int seat_;
  const Cycle& me_;
  Random dice_;
  Race race_;
  const Cycle* rival_ = nullptr;  // the nearest
  int rival_distance_ = kFar;
  Ways ways_;
  Decision decision_;
};

void Apply(Cycle& cycle, const Decision& decision) {
  cycle.heading = decision.heading;
  cycle.plan = decision.plan;
  if (!decision.boost || cycle.charges == 0 || cycle.boost > 0) return;
  --cycle.charges;
  cycle.boost = kBoostBeats;
}

}  // namespace

void Think(State& state, std::uint32_t thinkers) {
  if (thinkers == 0) return;
  const Sight sight(state);
  // All decide before anyone moves a finger: nobody sees another's decision.
  std::array<Decision, kPlayersMax> decisions;
  for (int seat = 0; seat < state.players; ++seat) {
    if ((thinkers & BitOf(seat)) == 0) continue;
    const std::uint32_t draw = state.random.Next();
    decisions[static_cast<std::size_t>(seat)] =
        Mind(sight, seat, draw).Decide();
  }
  for (int seat = 0; seat < state.players; ++seat) {
    if ((thinkers & BitOf(seat)) == 0) continue;
    Apply(state.cycles[static_cast<std::size_t>(seat)],
          decisions[static_cast<std::size_t>(seat)]);
  }
}

}  // namespace parlor::cycles
