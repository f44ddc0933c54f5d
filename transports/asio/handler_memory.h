// What Asio needs for each pending operation, without an allocation: the memory
// of the operation, and a tether that tells a handler whether the object it is
// for still lives. Asio runs the handlers of a socket that was closed too, and
// destroys those that are left when its context dies: both come after the
// object is gone.
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

// Held by its owner and by every handler that is for the owner.
template <class Owner>
class Tether {
 public:
  explicit Tether(Owner* owner) : block_(new Block{.owner = owner}) {}
  Tether(const Tether& other) : block_(other.block_) { ++block_->holders; }
  Tether& operator=(const Tether&) = delete;
  // NOLINTBEGIN(clang-analyzer-cplusplus.NewDelete)
  ~Tether() { Release(block_); }

  // Null once it was cut.
  Owner* owner() const { return block_->owner; }
  // The owner dies.
  void Cut() { block_->owner = nullptr; }

  // For the two operations that may be pending at the same time.
  HandlerMemory& reading() const { return block_->reading; }
  HandlerMemory& writing() const { return block_->writing; }
  // NOLINTEND(clang-analyzer-cplusplus.NewDelete)

 private:
  struct Block {
    Owner* owner;
    std::uint32_t holders = 1;
    HandlerMemory reading{};
    HandlerMemory writing{};
  };

  // Not inline: neither gcc nor the analyzer can follow the count through
  // Asio's copies of a handler, and both see uses of what was deleted.
  [[gnu::noinline]] static void Release(Block* block) {
    if (--block->holders == 0) delete block;
  }

  Block* block_;
};

// A handler that calls `kEvent` of an owner that still lives.
template <class Owner, void (Owner::*kEvent)()>
class TetheredHandler {
 public:
  using allocator_type = HandlerAllocator<std::byte>;

  TetheredHandler(const Tether<Owner>& tether, HandlerMemory& memory)
      : tether_(tether), memory_(&memory) {}

  allocator_type get_allocator() const { return allocator_type(*memory_); }

  // Whatever Asio has to say besides (an error) shows when the owner tries.
  template <class... Said>
  void operator()(const Said&...) {
    if (Owner* owner = tether_.owner()) (owner->*kEvent)();
  }

 private:
  Tether<Owner> tether_;
  HandlerMemory* memory_;
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_ASIO_HANDLER_MEMORY_H_
