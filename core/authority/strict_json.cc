#include "authority/strict_json.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <vector>

#include "parlor/check.h"

namespace parlor::authority {
namespace {

using nlohmann::json;

// Told of each token by the parser; false stops it.
class Checker {
 public:
  explicit Checker(int depth_max)
      : depth_max_(static_cast<std::size_t>(depth_max)) {}

  JsonError error() const { return error_; }

  bool null() { return true; }
  bool boolean(bool /*value*/) { return true; }
  bool number_integer(json::number_integer_t /*value*/) { return true; }
  bool number_unsigned(json::number_unsigned_t /*value*/) { return true; }
  bool number_float(json::number_float_t /*value*/,
                    const std::string& /*text*/) {
    return true;
  }
  bool string(const std::string& /*value*/) { return true; }
  bool binary(const json::binary_t& /*value*/) { return true; }

  bool start_object(std::size_t /*size*/) { return Open(); }
  bool key(const std::string& name) {
    return keys_.back().insert(name).second || Fail(JsonError::kDuplicateKey);
  }
  bool end_object() { return Close(); }
  bool start_array(std::size_t /*size*/) { return Open(); }
  bool end_array() { return Close(); }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const json::exception& error) {
    constexpr int kNumberOverflow = 406;
    return Fail(error.id == kNumberOverflow ? JsonError::kNumber
                                            : JsonError::kSyntax);
  }

 private:
  bool Fail(JsonError error) {
    error_ = error;
    return false;
  }
  bool Open() {
    if (keys_.size() == depth_max_) return Fail(JsonError::kDepth);
    keys_.emplace_back();
    return true;
  }
  bool Close() {
    keys_.pop_back();
    return true;
  }

  std::size_t depth_max_;
  JsonError error_ = JsonError::kNone;
  // Of each object or array that is open; ordered, so that no choice of keys
  // makes looking them up slow.
  std::vector<std::set<std::string>> keys_;
};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// How many bytes the text that `from` begins with has, quotes included.
std::size_t QuotedLength(std::string_view from) {
  std::size_t at = 1;
  while (at < from.size() && from[at] != '"') at += from[at] == '\\' ? 2 : 1;
  PARLOR_CHECK(at < from.size());
  return at + 1;
}

// The same of an array or object, its ends included.
std::size_t NestedLength(std::string_view from) {
  int depth = 0;
  std::size_t at = 0;
  do {
    PARLOR_CHECK(at < from.size());
    const char c = from[at];
    if (c == '"') {
      at += QuotedLength(from.substr(at));
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  } while (depth > 0);
  return at;
}

std::size_t ValueLength(std::string_view from) {
  PARLOR_CHECK(!from.empty());
  if (from[0] == '"') return QuotedLength(from);
  if (from[0] == '{' || from[0] == '[') return NestedLength(from);
  const std::size_t end = from.find_first_of(",]} \t\n\r");
  return end == std::string_view::npos ? from.size() : end;
}

}  // namespace

JsonError CheckJson(std::string_view text, int depth_max) {
  // nlohmann skips a byte order mark, and takes a NUL for the end of all.
  if (text.starts_with("\xef\xbb\xbf") ||
      text.find('\0') != std::string_view::npos) {
    return JsonError::kSyntax;
  }
  Checker checker(depth_max);
  const bool valid = json::sax_parse(text.begin(), text.end(), &checker);
  PARLOR_CHECK(valid == (checker.error() == JsonError::kNone));
  return checker.error();
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

JsonItems::JsonItems(std::string_view container) {
  container = Trimmed(container);
  if (container.empty()) return;
  is_object_ = container[0] == '{';
  if (is_object_ || container[0] == '[') rest_ = container.substr(1);
}

bool JsonItems::Next() {
  if (rest_.empty()) return false;
  const char next = SkipTo();
  if (next == '}' || next == ']') {
    rest_ = {};
    return false;
  }
  if (is_object_) key_ = Take();
  value_ = Take();
  return true;
}

// The next character that is part of an item or ends the container.
char JsonItems::SkipTo() {
  const std::size_t at = rest_.find_first_not_of(" \t\n\r,:");
  PARLOR_CHECK(at != std::string_view::npos);
  rest_.remove_prefix(at);
  return rest_[0];
}

std::string_view JsonItems::Take() {
  SkipTo();
  const std::size_t length = ValueLength(rest_);
  const std::string_view taken = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return taken;
}

std::optional<std::string> TextOf(std::string_view value) {
  if (!value.starts_with('"')) return std::nullopt;
  if (value.find('\\') == std::string_view::npos) {
    return std::string(value.substr(1, value.size() - 2));
  }
  json parsed = json::parse(value, nullptr, /*allow_exceptions=*/false);
  PARLOR_CHECK(parsed.is_string());
  return std::move(parsed.get_ref<std::string&>());
}

std::optional<std::int64_t> WholeOf(std::string_view value, std::int64_t low,
                                    std::int64_t high) {
  std::int64_t whole = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, whole);
  if (error != std::errc() || at != end || whole < low || whole > high) {
    return std::nullopt;
  }
  return whole;
}

std::optional<double> NumberOf(std::string_view value) {
  if (value.empty() || std::string_view("-0123456789").find(value[0]) ==
                           std::string_view::npos) {
    return std::nullopt;
  }
  const json parsed = json::parse(value, nullptr, /*allow_exceptions=*/false);
  PARLOR_CHECK(parsed.is_number());
  return parsed.get<double>();
}

std::string Quoted(std::string_view text) {
  return json(text).dump(-1, ' ', /*ensure_ascii=*/false,
                         json::error_handler_t::replace);
}

}  // namespace parlor::authority
