// Collecting: while it lives, callgrind counts instructions.
#ifndef PARLOR_BENCH_RELAY_COUNT_COLLECTING_H_
#define PARLOR_BENCH_RELAY_COUNT_COLLECTING_H_

#include <valgrind/callgrind.h>

namespace parlor::bench {

// For callgrind that was started with --collect-atstart=no; without callgrind
// it is a few instructions. One at a time.
class Collecting {
 public:
  // `wanted`: false has it do nothing.
  explicit Collecting(bool wanted) : wanted_(wanted) { Toggle(); }
  ~Collecting() { Toggle(); }
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;

 private:
  void Toggle() const {
    if (wanted_) CALLGRIND_TOGGLE_COLLECT;
  }

  const bool wanted_;
};

}  // namespace parlor::bench

#endif  // PARLOR_BENCH_RELAY_COUNT_COLLECTING_H_
