// A number as people and JSON read it.
#ifndef PARLOR_BENCH_LOAD_DECIMAL_H_
#define PARLOR_BENCH_LOAD_DECIMAL_H_

#include <array>
#include <cstdio>
#include <string>

namespace parlor::load {

// With that many digits behind the point: Decimal(0.25, 1) is "0.2".
inline std::string Decimal(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_DECIMAL_H_
