// What Asio needs for a pending operation, without an allocation.
//
// One thread.
#ifndef PARLOR_TRANSPORTS_ASIO_HANDLER_MEMORY_H_
#define PARLOR_TRANSPORTS_ASIO_HANDLER_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "parlor/check.h"

namespace parlor::net_internal {

// Room for one operation at a time. Asio gives it back before it runs the
// handler, so that a handler may start the next operation in it.
class HandlerMemory {
 public:
  void* Take(std::size_t bytes) {
    PARLOR_CHECK(!taken_ && bytes <= bytes_.size());
    taken_ = true;
    return bytes_.data();
  }
  void Give() { taken_ = false; }

 private:
  // Asio 1.22's wait and post operations with the handlers below take 120 at
  // most on a 64-bit machine.
  static constexpr std::size_t kBytes = 128;

  alignas(std::max_align_t) std::array<std::byte, kBytes> bytes_;
  bool taken_ = false;
};

template <class T>
class HandlerAllocator {
 public:
  using value_type = T;

  explicit HandlerAllocator(HandlerMemory& memory) : memory_(&memory) {}
  // Asio rebinds an allocator to the type it allocates by this conversion.
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor)
  HandlerAllocator(const HandlerAllocator<U>& other) : memory_(other.memory_) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(memory_->Take(count * sizeof(T)));
  }
  void deallocate(T* /*memory*/, std::size_t /*count*/) { memory_->Give(); }

  friend bool operator==(const HandlerAllocator&,
                         const HandlerAllocator&) = default;

 private:
  template <class U>
  friend class HandlerAllocator;

  HandlerMemory* memory_;
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_ASIO_HANDLER_MEMORY_H_
