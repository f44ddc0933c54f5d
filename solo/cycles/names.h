// What Cycles calls its values, each list in the order of its enum: in options,
// in what tools print, and in desync reports.
#ifndef PARLOR_SOLO_CYCLES_NAMES_H_
#define PARLOR_SOLO_CYCLES_NAMES_H_

#include <array>
#include <string_view>

#include "cycles/state.h"

namespace parlor::cycles::names {

inline constexpr std::array<std::string_view, 3> kLevels = {"easy", "normal",
                                                            "hard"};
inline constexpr std::array<std::string_view, 4> kPhases = {
    "countdown", "running", "round over", "match over"};
inline constexpr std::array<std::string_view, 4> kHeadings = {"up", "right",
                                                              "down", "left"};
inline constexpr std::array<std::string_view, 7> kCauses = {
    "none", "wall", "obstacle", "own trail", "trail", "head-on", "closing"};
inline constexpr std::array<std::string_view, kStyles> kStylesOf = {
    "hunter", "hugger", "wanderer", "collector"};
inline constexpr std::array<std::string_view, 13> kCells = {
    "free",    "trail 0", "trail 1", "trail 2", "trail 3",
    "trail 4", "trail 5", "trail 6", "trail 7", "obstacle",
    "closed",  "charge",  "eraser"};

}  // namespace parlor::cycles::names

#endif  // PARLOR_SOLO_CYCLES_NAMES_H_
