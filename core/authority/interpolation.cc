#include "parlor/authority/interpolation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parlor/check.h"

namespace parlor::authority {
namespace {

// How the clock follows what it hears. A sixteenth of each error: jitter of
// 30 ms moves the moment drawn by 2 ms, and clocks that run apart by 1e-4 (a
// second in three hours) leave it 0.1 ms behind.
constexpr int kErrorShare = 16;
// Time runs at most a tenth faster or slower, which nobody sees.
constexpr int kSlewShare = 10;
// The first snapshots tell little of what is usual: the earliest counts. The
// very first may be the room's last baseline, most of a second old.
constexpr int kFirstHeard = 8;
// What no jitter explains is not slewed to. Early by so much is believed at
// once, since nothing arrives before it was sent; late, only after kLateHeard
// in a row: a single one was held up on the way.
constexpr Duration kLeap = 250 * kMillisecond;
constexpr int kLateHeard = 5;

float Mix(float from, float to, float share) {
  return from + (to - from) * share;
}

Vec3 Mix(const Vec3& from, const Vec3& to, float share) {
  return {Mix(from.x, to.x, share), Mix(from.y, to.y, share),
          Mix(from.z, to.z, share)};
}

}  // namespace

Quat Nlerp(const Quat& from, const Quat& to, float share) {
  const float dot =
      from.x * to.x + from.y * to.y + from.z * to.z + from.w * to.w;
  // q and -q are the same rotation: take the nearer.
  const float sign = dot < 0 ? -1.0F : 1.0F;
  const float s = std::min(share, 2.0F);
  const Quat mixed{Mix(from.x, sign * to.x, s), Mix(from.y, sign * to.y, s),
                   Mix(from.z, sign * to.z, s), Mix(from.w, sign * to.w, s)};
  // At least sqrt(1/2) for two of length 1, since they are no further than a
  // right angle apart.
  const float length = std::sqrt(mixed.x * mixed.x + mixed.y * mixed.y +
                                 mixed.z * mixed.z + mixed.w * mixed.w);
  return {mixed.x / length, mixed.y / length, mixed.z / length,
          mixed.w / length};
}

// ---- TickClock

TickClock::TickClock(int tick_hz, Duration interval)
    : tick_hz_(tick_hz), interval_(interval) {
  PARLOR_CHECK(tick_hz > 0 && interval > Duration{});
}

Duration TickClock::Of(std::uint32_t tick) const {
  // At most 2^32 * 1e9, which fits.
  const std::int64_t ticks = std::int64_t{tick} - first_tick_;
  return Duration(ticks * kSecond.count() / tick_hz_);
}

void TickClock::Hear(TimePoint now, std::uint32_t tick) {
  if (heard_ == 0) {
    first_tick_ = tick;
    zero_ = now;
  }
  // Above 0: later than usual.
  const Duration error = At(now) - Of(tick);
  const bool is_first = heard_ < kFirstHeard;
  if (is_first) ++heard_;
  if (error > kLeap) return Leap(error);
  late_ = 0;
  if (error < -kLeap || (is_first && error < Duration{})) {
    zero_ += error;
    return;
  }
  const Duration slew_max = interval_ / kSlewShare;
  zero_ += std::clamp(error / kErrorShare, -slew_max, slew_max);
}

void TickClock::Leap(Duration error) {
  late_least_ = late_ == 0 ? error : std::min(late_least_, error);
  if (++late_ < kLateHeard) return;
  zero_ += late_least_;
  late_ = 0;
}

// ---- Interpolator

Interpolator::Interpolator(int tick_hz, int snapshot_hz)
    : interval_(kSecond / snapshot_hz), clock_(tick_hz, interval_) {}

std::size_t Interpolator::Slot(std::size_t age) const {
  return (newest_ + kSnapshots - age) % kSnapshots;
}

void Interpolator::Add(TimePoint now, std::uint32_t tick,
                       std::span<const RowPlace> rows) {
  clock_.Hear(now, tick);
  const Duration time = clock_.Of(tick);
  PARLOR_CHECK(count_ == 0 || time > Time(0));
  newest_ = (newest_ + 1) % kSnapshots;
  count_ = std::min(count_ + 1, kSnapshots);
  times_[newest_] = time;

  spare_.clear();
  spare_.reserve(rows.size());
  auto old = tracks_.begin();
  for (const RowPlace& row : rows) {
    PARLOR_CHECK(spare_.empty() || row.id > spare_.back().id);
    while (old != tracks_.end() && old->id < row.id) ++old;
    const bool is_known = old != tracks_.end() && old->id == row.id;
    Track& track = spare_.emplace_back(is_known ? *old : Track{});
    track.id = row.id;
    track.count = std::min(track.count + 1, kSnapshots);
    track.transforms[newest_] = row.transform;
    track.teleports[newest_] = row.teleports;
  }
  std::swap(tracks_, spare_);
  // The same moment has other neighbours now.
  if (has_time_) moment_ = Find(drawn_);
}

void Interpolator::Clear() {
  tracks_.clear();
  spare_.clear();
}

void Interpolator::SetTime(TimePoint now) {
  if (count_ == 0) return;
  // Beyond that rows stand; not counting on means that a clock that was put
  // back is waited for no longer than this.
  const Duration end = Time(0) + kExtrapolationMax;
  const Duration wanted = std::min(clock_.At(now) - interval_, end);
  drawn_ = has_time_ ? std::max(drawn_, wanted) : wanted;
  has_time_ = true;
  moment_ = Find(drawn_);
}

Duration Interpolator::behind() const {
  return has_time_ ? Time(0) - drawn_ : Duration{};
}

Interpolator::Moment Interpolator::Find(Duration drawn) const {
  if (count_ == 1) return {};
  // The newest two serve for what comes after them as well.
  std::size_t age = 1;
  while (age + 1 < count_ && Time(age) > drawn) ++age;
  const Duration from = Time(age);
  const Duration span = Time(age - 1) - from;
  const double share = static_cast<double>((drawn - from).count()) /
                       static_cast<double>(span.count());
  return {.age = age, .share = static_cast<float>(std::max(share, 0.0))};
}

std::optional<Transform> Interpolator::Drawn(std::uint32_t id) const {
  const auto track = std::lower_bound(
      tracks_.begin(), tracks_.end(), id,
      [](const Track& row, std::uint32_t wanted) { return row.id < wanted; });
  if (!has_time_ || track == tracks_.end() || track->id != id) return {};
  const auto [age, share] = moment_;
  // It appeared since: at its first place.
  if (age >= track->count) return track->transforms[Slot(track->count - 1)];
  if (age == 0) return track->transforms[Slot(0)];
  const std::size_t from = Slot(age);
  const std::size_t to = Slot(age - 1);
  if (track->teleports[from] != track->teleports[to]) {
    return track->transforms[share < 1 ? from : to];
  }
  const Transform& a = track->transforms[from];
  const Transform& b = track->transforms[to];
  return Transform{.position = Mix(a.position, b.position, share),
                   .rotation = Nlerp(a.rotation, b.rotation, share)};
}

}  // namespace parlor::authority
