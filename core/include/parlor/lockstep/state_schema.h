// StateSchema: what a game's state consists of, as data: names, types and
// nesting, in the order of the saved bytes. It goes with the bytes, so that two
// states can be compared and shown by a program that has never seen the game.
//
// Saved bytes: every field in order, little-endian, without padding. A bool is
// one byte, an enum its integer, a float its bits; a list is its length as
// u32, then its elements.
//
// A game does not write a schema: state_description.h makes it.
#ifndef PARLOR_LOCKSTEP_STATE_SCHEMA_H_
#define PARLOR_LOCKSTEP_STATE_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace parlor::lockstep {

// No schema is larger. The deepest nesting, all fields (one of an array counts
// once) and names of values, and a name.
inline constexpr int kStateDepthMax = 16;
inline constexpr std::size_t kStateFieldsMax = 4'096;
inline constexpr std::size_t kStateNameMax = 64;
// Of a saved state.
inline constexpr std::size_t kStateBytesMax = std::size_t{1} << 24;

enum class StateType : std::uint8_t {
  kBool = 1,
  kUnsigned = 2,  // `size` bytes, 1, 2, 4 or 8
  kSigned = 3,
  kFloat = 4,   // 4 or 8
  kBytes = 5,   // `size` of them, that mean nothing to anyone else
  kStruct = 6,  // `fields`
  kArray = 7,   // `size` elements, each as the one in `fields`
  kList = 8,    // as many as it says
};

struct StateField {
  std::string name{};  // empty of the state as a whole, and of elements
  StateType type{};
  std::uint32_t size = 0;
  std::vector<std::string> values{};  // of an enum: the names of 0, 1, ...
  std::vector<StateField> fields{};

  friend bool operator==(const StateField&, const StateField&) = default;
};

using StateSchema = StateField;

// InvalidArgument: what no description makes; names the field.
absl::Status CheckSchema(const StateSchema& schema);

// Whether `bytes` are a whole state. InvalidArgument says at which byte they
// are not.
absl::Status CheckState(const StateSchema& schema,
                        std::span<const std::byte> bytes);

// One field in which two states differ. Where two lists are of different
// lengths that is a field, "bombs.size", and the elements that both have are
// compared. Of a kBytes the first bytes that differ are shown.
struct StateDifference {
  std::string path;  // "cycles[3].x"
  std::string a;     // "17", "left (3)", "0.5 (0x3f000000)"
  std::string b;

  friend bool operator==(const StateDifference&,
                         const StateDifference&) = default;
};

struct StateComparison {
  std::vector<StateDifference> differences;  // the first of them, in order
  std::size_t total = 0;
};

// Both are whole states (CheckState). Of states that are mostly the same, some
// 10 us a 100 KB.
StateComparison CompareStates(const StateSchema& schema,
                              std::span<const std::byte> a,
                              std::span<const std::byte> b,
                              std::size_t differences_max = 16);

// Where two builds describe their state otherwise: the path of the first field
// that only one of them has, or has of another type. Absent: nowhere.
std::optional<std::string> CompareSchemas(const StateSchema& a,
                                          const StateSchema& b);

// A whole state in lines "path: value".
std::string StateText(const StateSchema& schema,
                      std::span<const std::byte> state);

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_STATE_SCHEMA_H_
