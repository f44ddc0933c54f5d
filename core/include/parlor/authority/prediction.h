// Predictor: moves a player's own body at once, by the same function as the
// authority, and puts it right where the authority's own body, which comes a
// round trip later, tells otherwise.
//
// Step() once an input that is sent; Correct() with each own body that a
// snapshot brings. Both are of one connection, whose inputs count from 1:
// Restart() on another one.
//
// Pure and deterministic as far as the game's Move is. One thread.
#ifndef PARLOR_AUTHORITY_PREDICTION_H_
#define PARLOR_AUTHORITY_PREDICTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "parlor/authority/input.h"
#include "parlor/authority/values.h"
#include "parlor/time.h"

namespace parlor::authority {

// One step of a body under an input: the function that the authority runs for
// it too. It reads nothing that the two may see differently but the world that
// stands still. `step` is 1 / tick_hz. It leaves body.seq alone, and is called
// again for the same input when a correction replays it.
using Move =
    std::function<void(OwnBody& body, const InputFrame& input, Duration step)>;

struct PredictionCounters {
  std::uint64_t corrections = 0;  // the body was put elsewhere, and no teleport
  double last_m = 0;              // how far, at the corrected step
  double largest_m = 0;
  std::uint64_t teleports = 0;
  // Own bodies of an input that the record no longer has: the link's round trip
  // is longer than the record. Inputs are missing from what was replayed then.
  std::uint64_t behind = 0;
  std::uint64_t unsent = 0;  // own bodies of an input nobody sent: ignored
};

class Predictor {
 public:
  // Steps that the record holds: a second and a bit at 60 Hz (contract).
  static constexpr std::uint32_t kSteps = 64;
  // The authority's body is put in place where it is further off (contract).
  // What is quantised on the way, a millimetre and 1e-4 m/s, never is.
  static constexpr double kToleranceM = 0.02;

  // `tick_hz` is above 0.
  Predictor(Move move, int tick_hz);

  // Runs the input that is sent now: seq is one above that of the last one,
  // and 1 at first. Before the authority's first own body it is only kept, to
  // be replayed from there.
  void Step(const InputFrame& input);

  // The authority's body once it had applied input own.seq and nothing of ours
  // after it. With 0, nothing at all: then nothing was predicted for it, and it
  // is taken as it is, as the first one is. `teleported`: the player's row was
  // teleported since the own body before.
  void Correct(const OwnBody& own, bool teleported);

  // A new connection: seqs begin at 1 again. The body stays where it is until
  // the next own one, which is taken as it is.
  void Restart();

  // Where the body is after the last step; nothing before the authority's
  // first one. seq is that of the step.
  const std::optional<OwnBody>& body() const { return body_; }
  const PredictionCounters& counters() const { return counters_; }

 private:
  struct Record {
    InputFrame input;
    OwnBody body;  // after it; before the first own body: not known
  };

  Record& At(std::uint32_t seq) { return record_[seq % kSteps]; }
  bool Has(std::uint32_t seq) const;
  void Run(Record& record);
  void Replay(const OwnBody& from);

  const Move move_;
  const Duration step_;
  std::array<Record, kSteps> record_{};  // by seq % kSteps
  std::uint32_t newest_ = 0;             // seq of the last step, 0: none
  bool placed_ = false;  // an own body has come on this connection
  std::optional<OwnBody> body_;
  PredictionCounters counters_;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_PREDICTION_H_
