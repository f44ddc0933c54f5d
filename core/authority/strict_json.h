// JSON from strangers. CheckJson decides what is valid; what it passed can be
// taken apart in place, so that a value is handed on by its own bytes and
// nothing is built of members that nobody asked for.
#ifndef PARLOR_CORE_AUTHORITY_STRICT_JSON_H_
#define PARLOR_CORE_AUTHORITY_STRICT_JSON_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parlor::authority {

enum class JsonError : std::uint8_t {
  kNone,
  kSyntax,        // not one JSON value, or not UTF-8
  kDepth,         // arrays and objects nested deeper than allowed
  kDuplicateKey,  // an object has a key twice, however it is escaped
  kNumber,        // no double is as large (1e999)
};

// All of `text` is one JSON value by RFC 8259, spaces around it allowed, a byte
// order mark not. `depth_max`: a number or text is 0 deep, [] and {} are 1.
// Takes memory in proportion to the text (its keys) and throws nothing.
JsonError CheckJson(std::string_view text, int depth_max);

// The functions below take what CheckJson passed, or a piece of it; anything
// else fails a check or gives nonsense.

// Without the spaces around it.
std::string_view Trimmed(std::string_view text);

// Goes through the items of an array or object, in their order:
//   for (JsonItems items(text); items.Next();) ... items.value() ...
class JsonItems {
 public:
  // A value that is no array or object has no items.
  explicit JsonItems(std::string_view container);

  bool Next();
  // Of this item, quotes and escapes as they are; empty in an array.
  std::string_view key() const { return key_; }
  // Without spaces around it.
  std::string_view value() const { return value_; }

 private:
  char SkipTo();
  std::string_view Take();

  std::string_view rest_;
  bool is_object_ = false;
  std::string_view key_;
  std::string_view value_;
};

// The value of a JSON text such as "a\n", or nothing for another kind of value.
std::optional<std::string> TextOf(std::string_view value);

// The value of a number without fraction or exponent, in low..high, or nothing.
std::optional<std::int64_t> WholeOf(std::string_view value, std::int64_t low,
                                    std::int64_t high);
// Of any number.
std::optional<double> NumberOf(std::string_view value);

// `text` as JSON, with its quotes; U+FFFD for what is not UTF-8.
std::string Quoted(std::string_view text);

}  // namespace parlor::authority

#endif  // PARLOR_CORE_AUTHORITY_STRICT_JSON_H_
