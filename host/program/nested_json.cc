#include "program/nested_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace parlor::host_program {
namespace {

using nlohmann::ordered_json;

// RFC 6901 section 4.
std::string Escaped(const std::string& key) {
  std::string text;
  for (const char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string NestedJson::Path() const {
  std::string path;
  for (const Level& level : levels_) {
    path += '/';
    path += level.value.is_array() ? std::to_string(level.value.size())
                                   : Escaped(level.key);
  }
  return path;
}

bool NestedJson::Begin(bool is_list) {
  if (levels_.size() > kDepthMax) return false;
  levels_.push_back(
      {is_list ? ordered_json::array() : ordered_json::object(), {}});
  return true;
}

bool NestedJson::Key(const std::string& name) {
  Level& level = levels_.back();
  level.key = name;
  return !level.value.contains(name);
}

void NestedJson::Value(ordered_json value) {
  Level& level = levels_.back();
  if (level.value.is_array()) {
    level.value.push_back(std::move(value));
  } else {
    level.value[level.key] = std::move(value);
  }
}

void NestedJson::End() {
  ordered_json value = std::move(levels_.back().value);
  levels_.pop_back();
  if (levels_.empty()) {
    text_ = value.dump();
  } else {
    Value(std::move(value));
  }
}

}  // namespace parlor::host_program
