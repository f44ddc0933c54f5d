// core/authority/wire.json, and what it says is valid. Written from the
// description alone: it knows the parsers' rules for a plain line and nothing
// else of theirs.
#ifndef PARLOR_TESTS_AUTHORITY_WIRE_DESCRIPTION_H_
#define PARLOR_TESTS_AUTHORITY_WIRE_DESCRIPTION_H_

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "parlor/check.h"
#include "parlor/name_rule.h"

namespace parlor::test {

class WireDescription {
 public:
  using Json = nlohmann::json;

  WireDescription() {
    std::ifstream file(PARLOR_WIRE_JSON);
    PARLOR_CHECK(file.is_open());
    wire_ = Json::parse(file);
  }

  const Json& wire() const { return wire_; }
  // The frames of "client" or "server".
  const Json& text(const char* side) const { return wire_["text"][side]; }

  // How a description names a member that a frame has: with a question mark or
  // without. Empty for one that is not described.
  static std::string KeyOf(const Json& members, const std::string& member) {
    if (members.contains(member)) return member;
    const std::string optional = member + "?";
    return members.contains(optional) ? optional : "";
  }
  static std::string NameOf(const std::string& key) {
    return key.ends_with('?') ? key.substr(0, key.size() - 1) : key;
  }
  // Whether a member may say anything in this frame: its `when` does not hold.
  static bool MeansNothing(const Json& type, const Json& object) {
    if (!type.is_object()) return false;
    for (const auto& [member, words] : type["when"].items()) {
      if (Has(words, object.value(member, Json()))) return false;
    }
    return true;
  }

  // `object` has every member that it must have, each of its type.
  bool IsValid(const Json& members, const Json& object) const {
    if (!object.is_object()) return false;
    for (const auto& [key, type] : members.items()) {
      if (MeansNothing(type, object)) continue;
      const std::string name = NameOf(key);
      if (!object.contains(name) && key.ends_with('?')) continue;
      if (!object.contains(name) || !IsOfType(type, object[name])) return false;
    }
    return true;
  }

 private:
  static bool Has(const Json& words, const Json& word) {
    for (const Json& each : words) {
      if (each == word) return true;
    }
    return false;
  }

  static std::int64_t Number(const Json& type, const char* name,
                             std::int64_t fallback) {
    return type.value(name, fallback);
  }
  static bool IsWithin(const Json& type, const char* low, const char* high,
                       std::size_t size) {
    const auto count = static_cast<std::int64_t>(size);
    return count >= Number(type, low, 0) &&
           count <=
               Number(type, high, std::numeric_limits<std::int64_t>::max());
  }

  bool IsOfType(const Json& name, const Json& value) const {
    const Json& type =
        wire_["types"].at(name.is_object() ? name["type"] : name);
    const std::string is = type["is"];
    if (is == "whole") return IsWhole(type, value);
    if (is == "number") return value.is_number();
    if (is == "flag") return value.is_boolean();
    if (is == "json") return true;
    if (is == "object") {
      return value.is_object() &&
             IsWithin(type, "bytesMin", "bytesMax", value.dump().size());
    }
    if (is == "objectOrNull") return value.is_object() || value.is_null();
    if (is == "text") return IsText(type, value);
    if (is == "word") {
      return value.is_string() &&
             (type.value("open", false) || Has(type["words"], value));
    }
    if (is == "members") return IsValid(type["members"], value);
    PARLOR_CHECK(is == "list");
    if (!value.is_array() || !IsWithin(type, "min", "max", value.size())) {
      return false;
    }
    for (const Json& item : value) {
      if (!IsOfType(type["of"], item)) return false;
    }
    return true;
  }

  static bool IsWhole(const Json& type, const Json& value) {
    if (!value.is_number_integer()) return false;
    if (value.is_number_unsigned() && value > Json(std::uint64_t{1} << 62)) {
      return false;
    }
    const auto whole = value.get<std::int64_t>();
    return whole >= type["min"].get<std::int64_t>() &&
           whole <= type["max"].get<std::int64_t>();
  }

  static bool IsText(const Json& type, const Json& value) {
    if (!value.is_string()) return false;
    const std::string text = value;
    if (!IsWithin(type, "bytesMin", "bytesMax", text.size())) return false;
    if (type.value("plainLine", false) &&
        !IsPlainLine(text, type["codePointsMax"])) {
      return false;
    }
    return !type.contains("pattern") ||
           std::regex_match(text, std::regex(std::string(type["pattern"])));
  }

  Json wire_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_AUTHORITY_WIRE_DESCRIPTION_H_
