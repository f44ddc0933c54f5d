// What play without a terminal says in the end.
#ifndef PARLOR_SOLO_REPORT_H_
#define PARLOR_SOLO_REPORT_H_

#include <cstdint>
#include <string_view>

namespace parlor::solo {

// One line on stderr. Returns `code`.
int Fail(int code, std::string_view text);

// The three lines of RunHeadless. Returns the exit code.
int Report(std::uint32_t frames, std::uint64_t hash, double seconds);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_REPORT_H_
