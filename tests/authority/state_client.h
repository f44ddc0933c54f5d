// A client of the property tests: the same frames by both codecs, each into a
// receiver of its own, checked after every one against what the room says it
// showed, and against the rules of state_receiver.h written down once more.
#ifndef PARLOR_TESTS_AUTHORITY_STATE_CLIENT_H_
#define PARLOR_TESTS_AUTHORITY_STATE_CLIENT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "authority/state_model.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/state_receiver.h"
#include "parlor/authority/values.h"
#include "parlor/connection.h"

namespace parlor::authority {

// What a viewer may see at a tick: the truth.
struct Shown {
  ModelRows rows;
  std::optional<OwnBody> own;  // as quantised
};

// A frame as it left the room.
struct SentState {
  StateHeader header;
  Payload binary;
  Payload json;
  std::shared_ptr<const Shown> shown;
};

class StateClient {
 public:
  explicit StateClient(const Schema& schema) : binary_(schema), json_(schema) {}

  // Applies and checks; the outcome.
  StateOutcome Take(const SentState& sent) {
    const StateOutcome want = Expected(sent.header);
    const StateOutcome binary = Apply(binary_, sent.binary);
    const StateOutcome json = Apply(json_, sent.json);
    EXPECT_EQ(binary, want);
    EXPECT_EQ(json, want);
    if (want != StateOutcome::kStale) Note(sent);
    Check(binary_);
    Check(json_);
    return want;
  }

  // Of what is shown.
  std::uint32_t tick() const { return tick_; }
  std::uint32_t epoch() const { return epoch_; }
  std::uint64_t applied() const { return applied_; }
  std::uint64_t stale() const { return binary_.counters().stale; }
  const StateReceiver& binary() const { return binary_; }
  const StateReceiver& json() const { return json_; }

 private:
  static StateOutcome Apply(StateReceiver& receiver, const Payload& payload) {
    return receiver.Apply(payload.kind(), payload.bytes());
  }

  StateOutcome Expected(const StateHeader& header) const {
    const bool of_newer_epoch = header.epoch > epoch_;
    const bool of_this_epoch = header.epoch == epoch_;
    switch (header.kind) {
      case StateKind::kBaseline:
        return of_newer_epoch || (of_this_epoch && header.base > base_)
                   ? StateOutcome::kBaseline
                   : StateOutcome::kStale;
      case StateKind::kDelta:
        return of_this_epoch && header.epoch == base_epoch_ &&
                       header.base == base_ &&
                       (header.tick > tick_ ||
                        (header.tick == tick_ && last_was_baseline_))
                   ? StateOutcome::kDelta
                   : StateOutcome::kStale;
      case StateKind::kRecovery:
        return of_newer_epoch || (of_this_epoch && header.tick > tick_)
                   ? StateOutcome::kRecovery
                   : StateOutcome::kStale;
    }
    return StateOutcome::kMalformed;
  }

  void Note(const SentState& sent) {
    ++applied_;
    epoch_ = sent.header.epoch;
    tick_ = sent.header.tick;
    shown_ = sent.shown;
    last_was_baseline_ = sent.header.kind == StateKind::kBaseline;
    if (sent.header.kind != StateKind::kBaseline) return;
    base_ = sent.header.base;
    base_epoch_ = sent.header.epoch;
  }

  void Check(const StateReceiver& receiver) const {
    EXPECT_EQ(receiver.tick(), tick_);
    EXPECT_EQ(receiver.base(), base_);
    EXPECT_EQ(receiver.counters().malformed, 0u);
    if (shown_ == nullptr) {
      EXPECT_EQ(receiver.rows().size(), 0u);
      return;
    }
    EXPECT_EQ(receiver.epoch(), epoch_);
    EXPECT_EQ(Difference(shown_->rows, ModelOf(receiver.rows())), "");
    EXPECT_EQ(receiver.rows().size(), shown_->rows.size());
    EXPECT_EQ(receiver.own(), shown_->own);
  }

  StateReceiver binary_;
  StateReceiver json_;
  std::uint32_t epoch_ = 0;
  std::uint32_t tick_ = 0;
  bool last_was_baseline_ = false;
  std::uint32_t base_ = 0;
  std::uint32_t base_epoch_ = 0;
  std::uint64_t applied_ = 0;
  std::shared_ptr<const Shown> shown_;
};

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_STATE_CLIENT_H_
