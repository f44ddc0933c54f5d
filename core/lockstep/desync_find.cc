#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "lockstep/desync_rerun.h"
#include "parlor/lockstep/desync.h"
#include "parlor/status.h"

namespace parlor::lockstep {
namespace {

// Dumps that agree about something, by index.
using Group = std::vector<const DesyncDump*>;

constexpr std::uint64_t kNoFrame = UINT64_MAX;

std::uint64_t EndOf(const DesyncDump& dump) {
  return dump.frames.empty()
             ? 0
             : std::uint64_t{dump.frames[0].frame} + dump.frames.size();
}

// Groups of those that `same` holds for, the largest first; of one size, that
// with the lowest seat.
template <class Same>
std::vector<Group> Split(const Group& members, const Same& same) {
  std::vector<Group> groups;
  for (const DesyncDump* dump : members) {
    const auto group = std::find_if(
        groups.begin(), groups.end(),
        [&](const Group& others) { return same(*others.front(), *dump); });
    if (group == groups.end()) {
      groups.push_back({dump});
    } else {
      group->push_back(dump);
    }
  }
  std::stable_sort(
      groups.begin(), groups.end(),
      [](const Group& a, const Group& b) { return a.size() > b.size(); });
  return groups;
}

// What both kept of a frame is the same.
bool SameFrame(const DesyncFrame& a, const DesyncFrame& b, bool with_states) {
  if (a.hash != b.hash) return false;
  return !with_states || !a.state || !b.state || *a.state == *b.state;
}

DesyncSide Side(std::vector<int> seats) {
  DesyncSide side;
  side.seats = std::move(seats);
  return side;
}

class Finder {
 public:
  Finder(std::span<const DesyncDump> dumps, const FreshGame& fresh)
      : fresh_(fresh) {
    for (const DesyncDump& dump : dumps) members_.push_back(&dump);
    std::sort(members_.begin(), members_.end(),
              [](const DesyncDump* a, const DesyncDump* b) {
                return a->match.seat < b->match.seat;
              });
  }

  absl::StatusOr<DesyncReport> Find();

 private:
  absl::Status Check() const;
  void FindSchema();
  std::uint64_t NextKept(std::uint64_t at) const;
  void FindFrame();
  Group Having(std::uint32_t frame) const;
  bool StatesDiffer(std::uint32_t frame);
  void LeaveOutPlayedByBots(std::uint32_t frame);
  bool InputsDiffer(std::uint32_t frame);
  void SetSides(const std::vector<Group>& groups);
  void Run();
  void Judge();
  void ShowInputs();
  void ShowStates();
  const std::vector<std::byte>* StateOf(const Group& group,
                                        std::uint32_t frame);
  absl::Status FindAlone();
  std::optional<std::uint32_t> BaseOf(const DesyncDump& dump) const;
  void SetAlone(const DesyncDump& dump, std::uint32_t frame);

  const FreshGame& fresh_;
  Group members_;  // whose further frames are common
  bool same_schema_ = true;
  bool compared_ = false;      // there is a frame that two have
  std::vector<Group> groups_;  // of the first difference: report_.sides
  std::optional<Rerun> rerun_;
  const DesyncDump* rerun_with_ = nullptr;  // whose inputs it takes
  DesyncReport report_;
};

absl::Status Finder::Check() const {
  if (members_.empty()) return InvalidArgument("no dumps");
  const Match& match = members_[0]->match;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const DesyncDump& dump = *members_[i];
    const std::string who = "seat " + std::to_string(dump.match.seat);
    if (dump.frames.empty()) return InvalidArgument(who + ": no frames");
    if (i > 0 && members_[i - 1]->match.seat == dump.match.seat) {
      return InvalidArgument(who + ": two dumps");
    }
    if (dump.match.seed != match.seed || dump.match.mode != match.mode ||
        dump.match.players != match.players || dump.match.size != match.size) {
      return InvalidArgument(who + ": a dump of another match than seat " +
                             std::to_string(match.seat) + "'s");
    }
  }
  return absl::OkStatus();
}

void Finder::SetSides(const std::vector<Group>& groups) {
  groups_ = groups;
  std::size_t members = 0;
  for (const Group& group : groups) {
    DesyncSide& side = report_.sides.emplace_back();
    for (const DesyncDump* dump : group) side.seats.push_back(dump->match.seat);
    members += group.size();
  }
  if (2 * groups[0].size() > members && members > 2) {
    report_.judge = DesyncJudge::kMajority;
  }
}

// Builds that describe their states otherwise.
void Finder::FindSchema() {
  const auto groups =
      Split(members_, [](const DesyncDump& a, const DesyncDump& b) {
        return a.schema == b.schema;
      });
  same_schema_ = groups.size() == 1;
  if (same_schema_) return;
  const auto& first = groups[0].front()->schema;
  const auto& second = groups[1].front()->schema;
  report_.detail =
      first && second ? CompareSchemas(*first, *second).value_or("") : "";
}

Group Finder::Having(std::uint32_t frame) const {
  Group having;
  for (const DesyncDump* dump : members_) {
    if (FrameOf(*dump, frame) != nullptr) having.push_back(dump);
  }
  return having;
}

// The first frame from `at` on that anybody has, or kNoFrame: between two dumps
// there may be a whole match.
std::uint64_t Finder::NextKept(std::uint64_t at) const {
  std::uint64_t next = kNoFrame;
  for (const DesyncDump* dump : members_) {
    if (EndOf(*dump) <= at) continue;
    next = std::min(next, std::max<std::uint64_t>(at, dump->frames[0].frame));
  }
  return next;
}

void Finder::FindFrame() {
  for (std::uint64_t at = NextKept(0); at != kNoFrame; at = NextKept(at + 1)) {
    const auto frame = static_cast<std::uint32_t>(at);
    if (StatesDiffer(frame)) return;
    LeaveOutPlayedByBots(frame);
    if (InputsDiffer(frame)) return;
  }
}

bool Finder::StatesDiffer(std::uint32_t frame) {
  const Group having = Having(frame);
  if (having.size() < 2) return false;
  compared_ = true;
  const auto groups =
      Split(having, [&](const DesyncDump& a, const DesyncDump& b) {
        return SameFrame(*FrameOf(a, frame), *FrameOf(b, frame), same_schema_);
      });
  if (groups.size() < 2) return false;
  report_.kind = !same_schema_ ? DesyncKind::kBuild
                 : frame == 0  ? DesyncKind::kMatch
                               : DesyncKind::kState;
  report_.frame = report_.shown = frame;
  report_.exact =
      frame == 0 ||
      std::all_of(having.begin(), having.end(), [&](const DesyncDump* dump) {
        return FrameOf(*dump, frame - 1) != nullptr;
      });
  SetSides(groups);
  return true;
}

// A seat that lost its link for good has run some frames with its own last
// inputs, in which a bot played it for the others: nothing is wrong with that,
// and nothing of it is common from there on.
void Finder::LeaveOutPlayedByBots(std::uint32_t frame) {
  std::uint32_t bots = 0;
  for (const DesyncDump* dump : members_) {
    const DesyncFrame* const of = FrameOf(*dump, frame);
    if (of != nullptr && of->ran) bots |= of->bots;
  }
  std::erase_if(members_, [&](const DesyncDump* dump) {
    const DesyncFrame* const of = FrameOf(*dump, frame);
    return of != nullptr && of->ran &&
           ((bots & ~of->bots) >> dump->match.seat & 1) != 0;
  });
}

bool Finder::InputsDiffer(std::uint32_t frame) {
  Group ran = Having(frame);
  std::erase_if(
      ran, [&](const DesyncDump* dump) { return !FrameOf(*dump, frame)->ran; });
  if (ran.size() < 2) return false;
  const auto groups = Split(ran, [&](const DesyncDump& a, const DesyncDump& b) {
    const DesyncFrame& in_a = *FrameOf(a, frame);
    const DesyncFrame& in_b = *FrameOf(b, frame);
    return in_a.bots == in_b.bots && in_a.inputs == in_b.inputs;
  });
  if (groups.size() < 2) return false;
  report_.kind = DesyncKind::kInputs;
  report_.frame = report_.shown = frame;
  report_.exact = true;
  SetSides(groups);
  return true;
}

// From the last state before the difference that anybody kept: all agree on it.
void Finder::Run() {
  if (fresh_ == nullptr) return;
  for (std::uint32_t from = report_.frame; from-- > 0;) {
    bool any = false;
    for (const Group& group : groups_) {
      for (const DesyncDump* dump : group) {
        const DesyncFrame* const base = FrameOf(*dump, from);
        any = any || base != nullptr;
        if (base == nullptr || (!base->state && from > 0)) continue;
        rerun_ = Rerun::From(fresh_, *dump, from);
        rerun_with_ = dump;
        // Another build of the game, or fields that are not described.
        if (rerun_ && rerun_->hash() != base->hash) rerun_.reset();
        if (rerun_ && !rerun_->RunTo(*dump, report_.frame)) rerun_.reset();
        return;
      }
    }
    if (!any) return;
  }
}

void Finder::Judge() {
  if (report_.judge == DesyncJudge::kNobody && rerun_) {
    const auto right =
        std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) {
          return FrameOf(*group.front(), report_.frame)->hash == rerun_->hash();
        });
    if (right != groups_.end()) {
      const auto at = right - groups_.begin();
      std::rotate(groups_.begin(), right, right + 1);
      std::rotate(report_.sides.begin(), report_.sides.begin() + at,
                  report_.sides.begin() + at + 1);
      report_.judge = DesyncJudge::kResimulation;
    }
  }
  if (report_.judge == DesyncJudge::kNobody) return;
  for (std::size_t i = 1; i < report_.sides.size(); ++i) {
    const auto& seats = report_.sides[i].seats;
    report_.odd.insert(report_.odd.end(), seats.begin(), seats.end());
  }
  std::sort(report_.odd.begin(), report_.odd.end());
}

// The state of a side, kept or, where it is that, as it came out here.
const std::vector<std::byte>* Finder::StateOf(const Group& group,
                                              std::uint32_t frame) {
  for (const DesyncDump* dump : group) {
    const DesyncFrame* const of = FrameOf(*dump, frame);
    if (of != nullptr && of->state) return &*of->state;
  }
  if (!rerun_ || !rerun_->RunTo(*rerun_with_, frame)) return nullptr;
  const bool is_it =
      group.empty() ||
      std::any_of(group.begin(), group.end(), [&](const DesyncDump* dump) {
        const DesyncFrame* const of = FrameOf(*dump, frame);
        return of != nullptr && of->hash == rerun_->hash();
      });
  if (!is_it || rerun_->state().empty()) return nullptr;
  return &rerun_->state();
}

// At the first frame from the difference on in which they can be compared.
void Finder::ShowStates() {
  if (!same_schema_ || !groups_.back().front()->schema) return;
  const StateSchema& schema = *groups_.back().front()->schema;
  std::uint64_t end = 0;
  for (const Group& group : groups_) {
    for (const DesyncDump* dump : group) end = std::max(end, EndOf(*dump));
  }
  for (std::uint64_t at = report_.frame; at < end; ++at) {
    const auto frame = static_cast<std::uint32_t>(at);
    const auto* const right = StateOf(groups_[0], frame);
    if (right == nullptr) continue;
    bool shown = false;
    for (std::size_t i = 1; i < groups_.size(); ++i) {
      const auto* const other = StateOf(groups_[i], frame);
      if (other == nullptr) continue;
      StateComparison found = CompareStates(schema, *other, *right);
      shown = shown || found.total > 0;
      report_.sides[i].differences = std::move(found.differences);
      report_.sides[i].differences_total = found.total;
    }
    if (!shown) continue;
    report_.shown = frame;
    return;
  }
}

void Finder::ShowInputs() {
  const DesyncFrame& right = *FrameOf(*groups_[0].front(), report_.frame);
  for (std::size_t i = 1; i < groups_.size(); ++i) {
    const DesyncFrame& other = *FrameOf(*groups_[i].front(), report_.frame);
    DesyncSide& side = report_.sides[i];
    if (other.bots != right.bots) {
      side.differences.push_back(
          {"bots", std::to_string(other.bots), std::to_string(right.bots)});
    }
    for (std::size_t s = 0; s < other.inputs.size(); ++s) {
      if (other.inputs[s] == right.inputs[s]) continue;
      side.differences.push_back({"inputs[" + std::to_string(s) + "]",
                                  std::to_string(other.inputs[s]),
                                  std::to_string(right.inputs[s])});
    }
    side.differences_total = side.differences.size();
  }
}

// The frame to begin with: the last that the other seat agreed with, or the
// first there is.
std::optional<std::uint32_t> Finder::BaseOf(const DesyncDump& dump) const {
  std::optional<std::uint32_t> base;
  for (const DesyncFrame& frame : dump.frames) {
    if (base && frame.frame > dump.agreed) break;
    if (frame.state || frame.frame == 0) base = frame.frame;
  }
  return base;
}

void Finder::SetAlone(const DesyncDump& dump, std::uint32_t frame) {
  report_.frame = report_.shown = frame;
  report_.judge = DesyncJudge::kResimulation;
  report_.sides = {Side({}), Side({dump.match.seat})};
  report_.odd = {dump.match.seat};
  groups_ = {{}, {&dump}};
}

absl::Status Finder::FindAlone() {
  const DesyncDump& dump = *members_[0];
  if (fresh_ == nullptr) {
    return InvalidArgument("one dump, and no game to compare it with");
  }
  const auto base = BaseOf(dump);
  if (base) rerun_ = Rerun::From(fresh_, dump, *base);
  if (!rerun_)
    return InvalidArgument("one dump, without a state to begin with");
  rerun_with_ = &dump;
  report_.exact = *base <= std::max<std::int64_t>(dump.agreed, 0);
  if (rerun_->hash() != FrameOf(dump, *base)->hash) {
    SetAlone(dump, *base);
    report_.kind = *base == 0 ? DesyncKind::kMatch : DesyncKind::kBuild;
    ShowStates();
    return absl::OkStatus();
  }
  for (std::uint64_t at = *base + 1; at < EndOf(dump); ++at) {
    const auto frame = static_cast<std::uint32_t>(at);
    if (!rerun_->RunTo(dump, frame)) break;
    const DesyncFrame& of = *FrameOf(dump, frame);
    if (of.hash == rerun_->hash() &&
        (!of.state || *of.state == rerun_->state())) {
      continue;
    }
    report_.kind = DesyncKind::kState;
    SetAlone(dump, frame);
    ShowStates();
    return absl::OkStatus();
  }
  if (dump.desync < 0 || dump.desync_seat < 0) return absl::OkStatus();
  // What this seat had is what the game makes: the other one had not.
  report_ = {.kind = DesyncKind::kState,
             .frame = static_cast<std::uint32_t>(dump.desync),
             .exact = false,
             .shown = static_cast<std::uint32_t>(dump.desync),
             .judge = DesyncJudge::kResimulation,
             .sides = {Side({dump.match.seat}), Side({dump.desync_seat})},
             .odd = {dump.desync_seat},
             .detail = {}};
  return absl::OkStatus();
}

absl::StatusOr<DesyncReport> Finder::Find() {
  absl::Status status = Check();
  if (!status.ok()) return status;
  if (members_.size() == 1) {
    status = FindAlone();
    if (!status.ok()) return status;
    return std::move(report_);
  }
  FindSchema();
  FindFrame();
  if (!compared_) return InvalidArgument("no frame is in two of the dumps");
  if (report_.kind == DesyncKind::kNone) return std::move(report_);
  if (report_.kind == DesyncKind::kInputs) {
    ShowInputs();
  } else {
    Run();
  }
  Judge();
  if (report_.kind != DesyncKind::kInputs) ShowStates();
  return std::move(report_);
}

}  // namespace

absl::StatusOr<DesyncReport> FindDesync(std::span<const DesyncDump> dumps,
                                        const FreshGame& fresh) {
  return Finder(dumps, fresh).Find();
}

}  // namespace parlor::lockstep
