// How many texts a seat may send: msg, chat, ping and mod frames draw on one
// budget. It belongs to the seat and not to a connection, so that a resume
// does not fill it.
#ifndef PARLOR_AUTHORITY_TEXT_BUDGET_H_
#define PARLOR_AUTHORITY_TEXT_BUDGET_H_

#include <cstdint>

#include "parlor/time.h"

namespace parlor::authority {

class TextBudget {
 public:
  // The contract's, "Messages".
  static constexpr int kTextsMax = 40;
  static constexpr int kTextsRefilled = 20;
  static constexpr Duration kRefill = 5 * kSecond;
  static constexpr int kRefusalsMax = 100;  // in a row

  enum class Verdict : std::uint8_t {
    kOk,
    kFirstRefusal,  // of a run: answered with error{budget}
    kRefused,       // another one: dropped without a word
    kDrop,          // the kRefusalsMax-th in a row, and those behind it: the
                    // seat goes, unheld
  };

  // Full. Refills are due every kRefill from `now` on.
  explicit TextBudget(TimePoint now) : refill_at_(now + kRefill) {}

  // One text came. A refusal costs nothing; one that is let through ends the
  // run of refusals.
  Verdict Take(TimePoint now);

 private:
  int left_ = kTextsMax;
  int refused_ = 0;  // in a row
  TimePoint refill_at_;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_TEXT_BUDGET_H_
