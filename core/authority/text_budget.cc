#include "parlor/authority/text_budget.h"

#include <algorithm>
#include <cstdint>

namespace parlor::authority {

TextBudget::Verdict TextBudget::Take(TimePoint now) {
  if (now >= refill_at_) {
    const std::int64_t refills = 1 + (now - refill_at_) / kRefill;
    refill_at_ += refills * kRefill;
    left_ = static_cast<int>(
        std::min<std::int64_t>(kTextsMax, left_ + refills * kTextsRefilled));
  }
  if (refused_ >= kRefusalsMax) return Verdict::kDrop;
  if (left_ > 0) {
    --left_;
    refused_ = 0;
    return Verdict::kOk;
  }
  ++refused_;
  if (refused_ == kRefusalsMax) return Verdict::kDrop;
  return refused_ == 1 ? Verdict::kFirstRefusal : Verdict::kRefused;
}

}  // namespace parlor::authority
