// Ring: a queue in one piece of memory, which grows and is kept.
#ifndef PARLOR_TRANSPORTS_SIM_RING_H_
#define PARLOR_TRANSPORTS_SIM_RING_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "parlor/check.h"

namespace parlor::sim {

template <typename T>
class Ring {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const T& front() const { return all_[first_]; }

  void Push(const T& value) { Append(std::span(&value, 1)); }
  void Append(std::span<const T> values) {
    Reserve(size_ + values.size());
    const std::size_t at = Index(size_);
    const std::size_t whole = std::min(values.size(), all_.size() - at);
    std::copy_n(values.begin(), whole, all_.begin() + Offset(at));
    std::copy(values.begin() + Offset(whole), values.end(), all_.begin());
    size_ += values.size();
  }

  // `count` of them from the one at `index`, in the two pieces that they lie
  // in; until the next call.
  std::array<std::span<const T>, 2> View(std::size_t index,
                                         std::size_t count) const {
    PARLOR_CHECK(index + count <= size_);
    if (count == 0) return {};
    const std::size_t at = Index(index);
    const std::size_t whole = std::min(count, all_.size() - at);
    const std::span<const T> all(all_);
    return {all.subspan(at, whole), all.first(count - whole)};
  }

  void Pop(std::size_t count = 1) {
    PARLOR_CHECK(count <= size_);
    first_ = Index(count);
    size_ -= count;
  }
  // Keeps the first `count`.
  void Cut(std::size_t count) {
    PARLOR_CHECK(count <= size_);
    size_ = count;
  }
  void Clear() { size_ = 0; }

 private:
  using Difference = typename std::vector<T>::difference_type;

  static Difference Offset(std::size_t at) {
    return static_cast<Difference>(at);
  }
  // The size is a power of two.
  std::size_t Index(std::size_t at) const {
    return all_.empty() ? 0 : (first_ + at) & (all_.size() - 1);
  }

  void Reserve(std::size_t count) {
    if (count <= all_.size()) return;
    std::size_t room = std::max<std::size_t>(all_.size(), 16);
    while (room < count) room *= 2;
    std::vector<T> larger(room);
    auto to = larger.begin();
    for (const std::span<const T> part : View(0, size_)) {
      to = std::copy(part.begin(), part.end(), to);
    }
    all_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> all_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_RING_H_
