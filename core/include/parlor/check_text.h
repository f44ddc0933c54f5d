// PARLOR_CHECK (check.h) for what an embedder may get wrong in many ways: the
// line of a failed one says in words what is wrong, and where.
#ifndef PARLOR_CHECK_TEXT_H_
#define PARLOR_CHECK_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/status.h"

// `text` is anything that a std::string is made of; evaluated when it fails.
#define PARLOR_CHECK_TEXT(condition, text)         \
  (static_cast<bool>(condition)                    \
       ? static_cast<void>(0)                      \
       : ::parlor::CheckFailed(__FILE__, __LINE__, \
                               ::std::string(text).c_str()))

// Of a status that is not OK, its text.
#define PARLOR_CHECK_OK(status) \
  (::parlor::CheckOk(__FILE__, __LINE__, (status)))

namespace parlor {

inline void CheckOk(const char* file, int line, const absl::Status& status) {
  if (status.ok()) return;
  CheckFailed(file, line, std::string(StatusText(status)).c_str());
}

}  // namespace parlor

#endif  // PARLOR_CHECK_TEXT_H_
