// What a server did that it must not do, in words: all of it is counted, and
// the first few are told.
#ifndef PARLOR_BENCH_LOAD_FINDINGS_H_
#define PARLOR_BENCH_LOAD_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace parlor::load {

class Findings {
 public:
  static constexpr std::size_t kTold = 8;

  // "room 3, seat 1: <what>". A server that is wrong about every message must
  // not cost a text each: `what` is a function that makes it, and is called for
  // the first ones only.
  template <typename What>
  void Add(std::uint32_t room, int seat, What&& what) {
    ++count_;
    if (told_.size() == kTold) return;
    told_.push_back("room " + std::to_string(room) + ", seat " +
                    std::to_string(seat) + ": " + std::forward<What>(what)());
  }

  std::uint64_t count() const { return count_; }
  const std::vector<std::string>& told() const { return told_; }

 private:
  std::uint64_t count_ = 0;
  std::vector<std::string> told_;
};

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_FINDINGS_H_
