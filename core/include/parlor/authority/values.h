// What rows hold, and the whole numbers it becomes. A room compares, sends and
// keeps numbers only: two values that become the same number are the same
// value, for the room and for each of its clients.
//
//   float     1e-4 of it, -1e13..1e13 (limits.h)
//   position  millimetres, clamped to 32 bits: 2,147 km either way
//   rotation  the quaternion's three smallest components, 10 bits each
//
// Pure functions, the same on every machine that has IEEE 754 floats.
#ifndef PARLOR_AUTHORITY_VALUES_H_
#define PARLOR_AUTHORITY_VALUES_H_

#include <array>
#include <cstdint>
#include <optional>

namespace parlor::authority {

struct Vec2 {
  float x = 0;
  float y = 0;
  friend bool operator==(const Vec2&, const Vec2&) = default;
};

struct Vec3 {
  float x = 0;
  float y = 0;
  float z = 0;
  friend bool operator==(const Vec3&, const Vec3&) = default;
};

// A rotation; q and -q are the same one.
struct Quat {
  float x = 0;
  float y = 0;
  float z = 0;
  float w = 1;
  friend bool operator==(const Quat&, const Quat&) = default;
};

struct Transform {
  Vec3 position;  // metres
  Quat rotation;
  friend bool operator==(const Transform&, const Transform&) = default;
};

// The body that a predicting player moves, as the authority has it once the
// player's input `seq` was applied.
struct OwnBody {
  std::uint32_t seq = 0;
  Vec3 position;  // metres
  Vec3 velocity;  // metres a second
  bool grounded = false;
  friend bool operator==(const OwnBody&, const OwnBody&) = default;
};

// round(value * 1e4), halves away from zero; nothing for NaN, infinities and
// what is above kFloatMax.
std::optional<std::int64_t> QuantiseFloat(float value);
// The float nearest to number / 1e4. Quantising it gives back `number` if that
// came from QuantiseFloat.
float FloatOf(std::int64_t number);

// Metres to millimetres, clamped to 32 bits; nothing for NaN and infinities.
std::optional<std::int32_t> QuantiseMetres(float metres);
float MetresOf(std::int64_t millimetres);

// An OwnBody as numbers: what a message has of it.
struct OwnWords {
  std::uint32_t seq = 0;
  std::array<std::int32_t, 3> position{};  // millimetres
  std::array<std::int64_t, 3> velocity{};  // 1e-4 metres a second
  bool grounded = false;
  friend bool operator==(const OwnWords&, const OwnWords&) = default;
};

// Nothing if a number of it is refused.
std::optional<OwnWords> QuantiseOwn(const OwnBody& own);
OwnBody OwnBodyOf(const OwnWords& words);

// A packed rotation: bits 31 and 30 say which component is left out (0 w, 1 x,
// 2 y, 3 z), the largest; the other three follow, in the order x y z w, as
// 10-bit two's complement numbers from bit 20, 10 and 0 on:
// round(component * sqrt(2) * 511). The sign is that which makes the component
// left out positive. 0 is the rotation by nothing.
//
// Nothing for NaN, infinities and a quaternion whose length is below 1e-6.
// Others are normalised first. Each component of UnpackQuat is within 1e-3 of
// it (1.04e-3 where all four are within a few thousandths of 0.5 and each
// lies worst between two numbers).
std::optional<std::uint32_t> PackQuat(const Quat& quat);
// A rotation of length 1, for any `packed`.
Quat UnpackQuat(std::uint32_t packed);
// False for what PackQuat never gives: a component of -512.
bool IsPackedQuat(std::uint32_t packed);

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_VALUES_H_
