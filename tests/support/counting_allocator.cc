#include "support/counting_allocator.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> bytes_now{0};

[[maybe_unused]] void* Count(void* memory) {
  if (memory == nullptr) std::abort();
  allocations.fetch_add(1, std::memory_order_relaxed);
  bytes_now.fetch_add(malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}

[[maybe_unused]] void Discount(void* memory) {
  bytes_now.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}

[[maybe_unused]] std::size_t RoundUp(std::size_t size, std::align_val_t align) {
  const auto step = static_cast<std::size_t>(align);
  return (size + step - 1) / step * step;
}

}  // namespace

std::uint64_t parlor_allocation_count() {
  return allocations.load(std::memory_order_relaxed);
}

std::uint64_t parlor_allocated_bytes() {
  return bytes_now.load(std::memory_order_relaxed);
}

#if PARLOR_COUNTS_ALLOCATIONS

// The array forms of the library call these. The nothrow form would too, but
// that of the address sanitizer is its own, and std::stable_sort's.
void* operator new(std::size_t size) {
  return Count(std::malloc(size == 0 ? 1 : size));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return Count(std::malloc(size == 0 ? 1 : size));
}
void* operator new(std::size_t size, std::align_val_t align) {
  return Count(std::aligned_alloc(static_cast<std::size_t>(align),
                                  RoundUp(size, align)));
}
void operator delete(void* memory) noexcept { Discount(memory); }
void operator delete(void* memory, std::size_t) noexcept { Discount(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  Discount(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  Discount(memory);
}

#endif  // PARLOR_COUNTS_ALLOCATIONS
