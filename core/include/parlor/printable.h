// Text for a terminal or a log, wherever it comes from: a file's name or an
// argument in an error may hold anything.
#ifndef PARLOR_PRINTABLE_H_
#define PARLOR_PRINTABLE_H_

#include <string>
#include <string_view>

namespace parlor {

// One line: control characters and all bytes outside ASCII as \xNN.
std::string Printable(std::string_view text);

}  // namespace parlor

#endif  // PARLOR_PRINTABLE_H_
