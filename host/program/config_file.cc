#include "program/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "program/nested_json.h"

namespace parlor::host_program {
namespace {

using nlohmann::json;

// What is wanted of a member, in words.
std::string_view Wanted(Kind kind) {
  switch (kind) {
    case Kind::kNumber:
      return "a number";
    case Kind::kDuration:
      return "a text such as \"2s\" or \"500ms\"";
    case Kind::kText:
      return "a text";
    case Kind::kTexts:
    case Kind::kSecrets:
      return "a list of texts";
    case Kind::kSwitch:
      return "true or false";
    case Kind::kObjects:
      return "a list of objects";
  }
  return "";
}

bool IsList(Kind kind) {
  return kind == Kind::kTexts || kind == Kind::kSecrets;
}

// A list of objects is named as the paths in it are.
std::string WhereOf(const std::string& file, const Row& row) {
  const std::string name(row.name);
  return file +
         (row.kind == Kind::kObjects ? ": /" + name : ": \"" + name + "\"");
}

// Told of each token by the parser; false stops it.
class Reader {
 public:
  Reader(std::string_view text, std::string_view file)
      : text_(text), file_(file) {}

  const absl::Status& status() const { return status_; }
  GivenRows TakeRows() { return std::move(rows_); }

  bool null() {
    if (nested_.is_open()) return Nest(nullptr);
    return Unwanted("null");
  }
  bool boolean(bool value) {
    if (nested_.is_open()) return Nest(value);
    if (!Takes(Kind::kSwitch)) return Unwanted(value ? "true" : "false");
    return Take(value ? "true" : "false");
  }
  bool number_integer(json::number_integer_t value) {
    if (nested_.is_open()) return Nest(value);
    return Number(std::to_string(value));
  }
  bool number_unsigned(json::number_unsigned_t value) {
    if (nested_.is_open()) return Nest(value);
    return Number(std::to_string(value));
  }
  bool number_float(json::number_float_t value, const std::string& text) {
    if (nested_.is_open()) return Nest(value);
    return Number(text);
  }
  bool string(const std::string& value) {
    if (nested_.is_open()) return Nest(value);
    if (!in_list_ && !Takes(Kind::kDuration) && !Takes(Kind::kText)) {
      return Unwanted("a text");
    }
    return Take(value);
  }
  bool binary(const json::binary_t& /*value*/) { return Unwanted("bytes"); }

  bool start_object(std::size_t /*size*/) {
    if (nested_.is_open()) return Begin(/*is_list=*/false);
    if (in_object_) return Unwanted("an object");
    in_object_ = true;
    return true;
  }
  bool key(const std::string& name) {
    if (nested_.is_open()) return Member(name);
    row_ = FindRow(name);
    if (row_ == nullptr) {
      return Refuse(file_ + ": \"" + Shown(name) +
                    "\": there is no such setting");
    }
    const std::string where = WhereOf(file_, *row_);
    given_ = &rows_[row_->name];
    if (!given_->where.empty()) return Refuse(where + ": is there twice");
    given_->where = where;
    return true;
  }
  bool end_object() {
    if (nested_.is_open()) nested_.End();
    return true;
  }

  bool start_array(std::size_t /*size*/) {
    if (nested_.is_open() || Takes(Kind::kObjects)) {
      return Begin(/*is_list=*/true);
    }
    if (!in_object_ || in_list_ || !IsList(row_->kind)) {
      return Unwanted("a list");
    }
    in_list_ = true;
    return true;
  }
  bool end_array() {
    in_list_ = false;
    if (!nested_.is_open()) return true;
    nested_.End();
    if (!nested_.is_open()) return Take(nested_.text());
    return true;
  }

  // `position`: bytes read so far. What they were is in the exception's text
  // and in `token`, which may be a piece of a secret.
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const json::exception& error) {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow && in_object_) {
      return Refuse(Where() + ": the number is too large");
    }
    return Refuse(file_ + ": " + Place(position));
  }

 private:
  bool Refuse(std::string_view text) {
    status_ = InvalidArgument(text);
    return false;
  }

  // Of the value that is being read.
  std::string Where() const {
    if (nested_.is_open()) return given_->where + Shown(nested_.Path());
    if (!in_list_) return given_->where;
    return given_->where + "[" + std::to_string(given_->values.size()) + "]";
  }

  bool Takes(Kind kind) const {
    return in_object_ && !in_list_ && row_->kind == kind;
  }

  bool Unwanted(std::string_view what) {
    if (!in_object_) return Refuse(file_ + ": is not a JSON object");
    return Refuse(Where()
                      .append(": ")
                      .append(what)
                      .append(" where ")
                      .append(in_list_ ? "a text" : Wanted(row_->kind))
                      .append(" belongs"));
  }

  bool Begin(bool is_list) {
    return nested_.Begin(is_list) || Refuse(given_->where + ": is too deep");
  }
  bool Member(const std::string& name) {
    return nested_.Key(name) || Refuse(Where() + ": is there twice");
  }
  bool Nest(nlohmann::ordered_json value) {
    nested_.Value(std::move(value));
    return true;
  }

  bool Number(std::string text) {
    // A bare number of seconds is a mistake that deserves its own words, and
    // gets them where durations are read.
    if (!Takes(Kind::kNumber) && !Takes(Kind::kDuration)) {
      return Unwanted("a number");
    }
    return Take(std::move(text));
  }

  bool Take(std::string value) {
    given_->values.push_back(std::move(value));
    return true;
  }

  std::string Place(std::size_t position) const {
    if (position > text_.size()) return "ends too early";
    const std::string_view read = text_.substr(0, position);
    const auto line = 1 + std::count(read.begin(), read.end(), '\n');
    const std::size_t column = position - (read.rfind('\n') + 1);
    return "line " + std::to_string(line) + ", column " +
           std::to_string(column) + ": is not JSON";
  }

  std::string_view text_;
  std::string file_;
  absl::Status status_;
  GivenRows rows_;
  NestedJson nested_;
  bool in_object_ = false;
  bool in_list_ = false;
  const Row* row_ = nullptr;  // of the member that is being read
  Given* given_ = nullptr;
};

std::string Why(int error) { return std::system_category().message(error); }

}  // namespace

absl::StatusOr<GivenRows> ParseConfig(std::string_view text,
                                      std::string_view file) {
  const std::string name = Printable(file);
  // The parser takes one for the end, and would not look at what is behind.
  if (text.find('\0') != std::string_view::npos) {
    return InvalidArgument(name + ": has a NUL in it");
  }
  Reader reader(text, name);
  if (!json::sax_parse(text, &reader)) return reader.status();
  return reader.TakeRows();
}

absl::StatusOr<GivenRows> ReadConfig(const std::string& path) {
  const auto failed = [&](std::string_view why) {
    return InvalidArgument(Printable(path).append(": ").append(why));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return failed("cannot read it: " + Why(errno));
  std::string text(kConfigBytesMax + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) {
    return failed("cannot read it: " + Why(errno));
  }
  if (text.size() > kConfigBytesMax) return failed("is larger than 1 MiB");
  return ParseConfig(text, path);
}

}  // namespace parlor::host_program
