#include "parlor/authority/state_receiver.h"

namespace parlor::authority {

StateReceiver::StateReceiver(const Schema& schema)
    : state_(schema), recovery_(schema) {}

StateOutcome StateReceiver::Apply(MessageKind kind,
                                  std::span<const std::byte> bytes) {
  const WireStateCodec& codec =
      kind == MessageKind::kText ? JsonStateCodec() : BinaryStateCodec();
  switch (codec.Decode(bytes, state_, edits_)) {
    case DecodeResult::kMalformed:
      ++counters_.malformed;
      return StateOutcome::kMalformed;
    case DecodeResult::kOther:
      break;
    case DecodeResult::kDecoded:
      if (IsNews(edits_.header())) return Show();
      break;
  }
  ++counters_.stale;
  return StateOutcome::kStale;
}

// A delta is for state_'s baseline: Decode saw to that.
bool StateReceiver::IsNews(const StateHeader& header) const {
  if (header.epoch != epoch()) return header.epoch > epoch();
  if (header.kind == StateKind::kBaseline) return header.base > base();
  if (header.kind == StateKind::kDelta && shows_baseline_) {
    return header.tick >= tick_;
  }
  return header.tick > tick_;
}

StateOutcome StateReceiver::Show() {
  const StateHeader& header = edits_.header();
  shows_recovery_ = header.kind == StateKind::kRecovery;
  shows_baseline_ = header.kind == StateKind::kBaseline;
  (shows_recovery_ ? recovery_ : state_).Apply(edits_);
  tick_ = header.tick;
  own_.reset();
  if (edits_.own()) own_ = OwnBodyOf(*edits_.own());
  switch (header.kind) {
    case StateKind::kBaseline:
      ++counters_.baselines;
      return StateOutcome::kBaseline;
    case StateKind::kDelta:
      ++counters_.deltas;
      return StateOutcome::kDelta;
    case StateKind::kRecovery:
      break;
  }
  ++counters_.recoveries;
  return StateOutcome::kRecovery;
}

}  // namespace parlor::authority
