// Counts what goes through operator new and delete, in the whole process. Link
// counting_allocator.cc into the one binary that wants to know: it replaces the
// global operators. Any thread. Under the thread sanitizer nothing is counted.
#ifndef PARLOR_TESTS_SUPPORT_COUNTING_ALLOCATOR_H_
#define PARLOR_TESTS_SUPPORT_COUNTING_ALLOCATOR_H_

#include <cstdint>

// The thread sanitizer's operators cannot be replaced: there everything counts
// as 0, and what is asserted of the counts holds of nothing.
#define PARLOR_COUNTS_ALLOCATIONS 1
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef PARLOR_COUNTS_ALLOCATIONS
#define PARLOR_COUNTS_ALLOCATIONS 0
#endif
#endif

// Calls of operator new since the process began.
std::uint64_t parlor_allocation_count();

// Bytes the heap gives to what is allocated now, as malloc rounds them.
std::uint64_t parlor_allocated_bytes();

#endif  // PARLOR_TESTS_SUPPORT_COUNTING_ALLOCATOR_H_
