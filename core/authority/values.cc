#include "parlor/authority/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "parlor/authority/limits.h"

namespace parlor::authority {
namespace {

// In the order x y z w.
using Components = std::array<double, 4>;

constexpr double kFloatScale = 1e4;
constexpr double kMillimetres = 1e3;
constexpr double kQuatScale = 511 * std::numbers::sqrt2;
constexpr double kQuatError = 1e-3;
constexpr double kQuatLengthMin = 1e-6;
constexpr int kQuatMax = 511;

// The component that the two high bits of a packed quaternion leave out.
constexpr std::array<std::size_t, 4> kLeftOut = {3, 0, 1, 2};

std::uint32_t Pack(std::uint32_t code, const std::array<int, 3>& numbers) {
  std::uint32_t packed = code << 30;
  for (unsigned i = 0; i < 3; ++i) {
    packed |= (static_cast<std::uint32_t>(numbers[i]) & 0x3ff) << (20 - 10 * i);
  }
  return packed;
}

int NumberOf(std::uint32_t packed, unsigned i) {
  const auto bits = static_cast<int>((packed >> (20 - 10 * i)) & 0x3ff);
  return bits >= 512 ? bits - 1024 : bits;
}

Components Unpack(std::uint32_t packed) {
  const std::size_t left_out = kLeftOut[packed >> 30];
  Components out{};
  double squares = 0;
  unsigned i = 0;
  for (std::size_t at = 0; at < 4; ++at) {
    if (at == left_out) continue;
    out[at] = NumberOf(packed, i++) / kQuatScale;
    squares += out[at] * out[at];
  }
  out[left_out] = std::sqrt(std::max(0.0, 1 - squares));
  // Only what nobody packed is longer than 1.
  if (squares > 1) {
    for (double& component : out) component /= std::sqrt(squares);
  }
  return out;
}

// The largest error of a component; `unit` may have the other sign.
double ErrorOf(std::uint32_t packed, const Components& unit) {
  const Components got = Unpack(packed);
  const double sign = std::signbit(unit[kLeftOut[packed >> 30]]) ? -1 : 1;
  double error = 0;
  for (std::size_t at = 0; at < 4; ++at) {
    error = std::max(error, std::abs(got[at] - sign * unit[at]));
  }
  return error;
}

// What is left out is rebuilt from the three others, and adds up their errors:
// where that is too much, one of them rounded the other way takes it back.
std::uint32_t PackWithout(std::uint32_t code, const Components& unit,
                          bool every_rounding) {
  const std::size_t left_out = kLeftOut[code];
  const double sign = std::signbit(unit[left_out]) ? -1 : 1;
  std::array<int, 3> nearest{};
  std::array<int, 3> other{};
  std::size_t i = 0;
  for (std::size_t at = 0; at < 4; ++at) {
    if (at == left_out) continue;
    const double exact = sign * unit[at] * kQuatScale;
    const auto rounded = static_cast<int>(std::lround(exact));
    nearest[i] = std::clamp(rounded, -kQuatMax, kQuatMax);
    other[i] =
        std::clamp(rounded + (exact < rounded ? -1 : 1), -kQuatMax, kQuatMax);
    ++i;
  }
  std::uint32_t best = Pack(code, nearest);
  if (!every_rounding) return best;
  for (unsigned flips = 1; flips < 8; ++flips) {
    std::array<int, 3> numbers{};
    for (unsigned n = 0; n < 3; ++n) {
      numbers[n] = (flips >> n & 1) != 0 ? other[n] : nearest[n];
    }
    const std::uint32_t packed = Pack(code, numbers);
    if (ErrorOf(packed, unit) < ErrorOf(best, unit)) best = packed;
  }
  return best;
}

std::uint32_t LargestOf(const Components& unit) {
  std::uint32_t code = 0;
  for (std::uint32_t at = 1; at < 4; ++at) {
    if (std::abs(unit[kLeftOut[at]]) > std::abs(unit[kLeftOut[code]])) {
      code = at;
    }
  }
  return code;
}

}  // namespace

std::optional<std::int64_t> QuantiseFloat(float value) {
  // False for NaN too.
  if (!(std::abs(value) <= kFloatMax)) return std::nullopt;
  return std::llround(static_cast<double>(value) * kFloatScale);
}

float FloatOf(std::int64_t number) {
  return static_cast<float>(static_cast<double>(number) / kFloatScale);
}

std::optional<std::int32_t> QuantiseMetres(float metres) {
  if (!std::isfinite(metres)) return std::nullopt;
  using Range = std::numeric_limits<std::int32_t>;
  const double clamped = std::clamp(static_cast<double>(metres) * kMillimetres,
                                    static_cast<double>(Range::min()),
                                    static_cast<double>(Range::max()));
  return static_cast<std::int32_t>(std::llround(clamped));
}

float MetresOf(std::int64_t millimetres) {
  return static_cast<float>(static_cast<double>(millimetres) / kMillimetres);
}

std::optional<OwnWords> QuantiseOwn(const OwnBody& own) {
  const std::array<float, 3> position = {own.position.x, own.position.y,
                                         own.position.z};
  const std::array<float, 3> velocity = {own.velocity.x, own.velocity.y,
                                         own.velocity.z};
  OwnWords words{own.seq, {}, {}, own.grounded};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto metres = QuantiseMetres(position[i]);
    const auto speed = QuantiseFloat(velocity[i]);
    if (!metres || !speed) return std::nullopt;
    words.position[i] = *metres;
    words.velocity[i] = *speed;
  }
  return words;
}

OwnBody OwnBodyOf(const OwnWords& words) {
  const auto& [seq, position, velocity, grounded] = words;
  return {seq,
          {MetresOf(position[0]), MetresOf(position[1]), MetresOf(position[2])},
          {FloatOf(velocity[0]), FloatOf(velocity[1]), FloatOf(velocity[2])},
          grounded};
}

std::optional<std::uint32_t> PackQuat(const Quat& quat) {
  Components unit = {quat.x, quat.y, quat.z, quat.w};
  double squares = 0;
  for (const double component : unit) squares += component * component;
  const double length = std::sqrt(squares);
  if (!std::isfinite(length) || length < kQuatLengthMin) return std::nullopt;
  for (double& component : unit) component /= length;
  const std::uint32_t largest = LargestOf(unit);
  std::uint32_t best = PackWithout(largest, unit, false);
  if (ErrorOf(best, unit) <= kQuatError) return best;
  for (std::uint32_t code = 0; code < 4; ++code) {
    const std::uint32_t packed = PackWithout(code, unit, true);
    if (ErrorOf(packed, unit) < ErrorOf(best, unit)) best = packed;
  }
  return best;
}

Quat UnpackQuat(std::uint32_t packed) {
  const Components unit = Unpack(packed);
  return {static_cast<float>(unit[0]), static_cast<float>(unit[1]),
          static_cast<float>(unit[2]), static_cast<float>(unit[3])};
}

bool IsPackedQuat(std::uint32_t packed) {
  for (unsigned i = 0; i < 3; ++i) {
    if (NumberOf(packed, i) < -kQuatMax) return false;
  }
  return true;
}

}  // namespace parlor::authority
