#include "parlor/authority/prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parlor/check.h"

namespace parlor::authority {
namespace {

double DistanceM(const Vec3& a, const Vec3& b) {
  const double x = double{a.x} - double{b.x};
  const double y = double{a.y} - double{b.y};
  const double z = double{a.z} - double{b.z};
  return std::sqrt(x * x + y * y + z * z);
}

}  // namespace

Predictor::Predictor(Move move, int tick_hz)
    : move_(std::move(move)), step_(kSecond / tick_hz) {
  PARLOR_CHECK(move_ != nullptr);
}

bool Predictor::Has(std::uint32_t seq) const {
  return seq != 0 && seq <= newest_ && newest_ - seq < kSteps;
}

void Predictor::Step(const InputFrame& input) {
  PARLOR_CHECK(input.seq == newest_ + 1);
  newest_ = input.seq;
  Record& record = At(newest_);
  record.input = input;
  if (placed_) Run(record);
}

void Predictor::Run(Record& record) {
  move_(*body_, record.input, step_);
  body_->seq = record.input.seq;
  record.body = *body_;
}

void Predictor::Correct(const OwnBody& own, bool teleported) {
  if (own.seq > newest_) {
    ++counters_.unsent;
    return;
  }
  if (own.seq != 0 && !Has(own.seq)) ++counters_.behind;
  if (teleported && placed_) ++counters_.teleports;
  if (placed_ && !teleported && Has(own.seq)) {
    const double off_m = DistanceM(At(own.seq).body.position, own.position);
    if (off_m <= kToleranceM) return;
    ++counters_.corrections;
    counters_.last_m = off_m;
    counters_.largest_m = std::max(counters_.largest_m, off_m);
  }
  placed_ = true;
  Replay(own);
}

void Predictor::Replay(const OwnBody& from) {
  body_ = from;
  if (Has(from.seq)) At(from.seq).body = from;
  const std::uint32_t oldest = newest_ >= kSteps ? newest_ - kSteps + 1 : 1;
  for (std::uint32_t seq = std::max(oldest, from.seq + 1); seq <= newest_;
       ++seq) {
    Run(At(seq));
  }
}

void Predictor::Restart() {
  newest_ = 0;
  placed_ = false;
  if (body_) body_->seq = 0;
}

}  // namespace parlor::authority
