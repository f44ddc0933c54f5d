// PARLOR_CHECK states what must hold because our own code or the embedder's
// keeps it so. It is never used on what a peer sent: hostile bytes are
// refused, counted or answered with a close, and do not stop the process.
//
// A failed check writes one line to stderr (file, line, condition) and aborts.
#ifndef PARLOR_CHECK_H_
#define PARLOR_CHECK_H_

namespace parlor {

[[noreturn]] void CheckFailed(const char* file, int line,
                              const char* condition) noexcept;

}  // namespace parlor

#define PARLOR_CHECK(condition) \
  (static_cast<bool>(condition) \
       ? static_cast<void>(0)   \
       : ::parlor::CheckFailed(__FILE__, __LINE__, #condition))

// As PARLOR_CHECK in builds without NDEBUG, nothing in the others: for loops
// where a message's cost counts in nanoseconds.
#ifdef NDEBUG
#define PARLOR_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#else
#define PARLOR_DCHECK(condition) PARLOR_CHECK(condition)
#endif

#endif  // PARLOR_CHECK_H_
