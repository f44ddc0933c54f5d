#include "parlor/lockstep/state_schema.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "lockstep/state_walk.h"
#include "parlor/status.h"

namespace parlor::lockstep {
namespace {

using state::Cursor;
using state::Node;
using state::Path;
using state::Skip;
using state::TakeCount;
using state::ValueText;

bool IsName(std::string_view name) {
  return name.size() <= kStateNameMax &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

// Fields that were seen, and where.
struct Check {
  Path path;
  std::size_t fields = 0;

  absl::Status Wrong(std::string_view what) const {
    const std::string where = path.text().empty() ? "the state" : path.text();
    return InvalidArgument(where + ": " + std::string(what));
  }
  // Answers the least bytes of a value in `bytes`.
  absl::Status Of(const StateField& field, int depth, std::uint64_t& bytes);
  absl::Status OfScalar(const StateField& field);
  absl::Status OfStruct(const StateField& field, int depth,
                        std::uint64_t& bytes);
  absl::Status OfElements(const StateField& field, int depth,
                          std::uint64_t& bytes);
};

absl::Status Check::Of(const StateField& field, int depth,
                       std::uint64_t& bytes) {
  if (depth > kStateDepthMax) return Wrong("nested too deeply");
  if (++fields > kStateFieldsMax) return Wrong("too many fields");
  bytes = field.size;
  absl::Status status;
  switch (field.type) {
    case StateType::kStruct:
      status = OfStruct(field, depth, bytes);
      break;
    case StateType::kArray:
    case StateType::kList:
      status = OfElements(field, depth, bytes);
      break;
    default:
      status = OfScalar(field);
  }
  if (!status.ok()) return status;
  return bytes > kStateBytesMax ? Wrong("too large") : absl::OkStatus();
}

absl::Status Check::OfScalar(const StateField& field) {
  const bool number =
      field.type == StateType::kUnsigned || field.type == StateType::kSigned;
  bool sized =
      field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
  if (field.type == StateType::kBool) sized = field.size == 1;
  if (field.type == StateType::kFloat) sized = sized && field.size >= 4;
  if (field.type == StateType::kBytes) sized = field.size >= 1;
  if (field.type < StateType::kBool || field.type > StateType::kBytes) {
    return Wrong("of a type that does not exist");
  }
  if (!sized) return Wrong("of a size that its type does not have");
  if (!field.fields.empty()) return Wrong("has fields, and is no struct");
  if (!number && !field.values.empty()) return Wrong("has names of values");
  fields += field.values.size();
  if (fields > kStateFieldsMax) return Wrong("too many names of values");
  for (const std::string& value : field.values) {
    if (value.empty() || !IsName(value)) return Wrong("a bad name of a value");
  }
  return absl::OkStatus();
}

absl::Status Check::OfStruct(const StateField& field, int depth,
                             std::uint64_t& bytes) {
  if (field.fields.empty()) return Wrong("a struct without fields");
  if (field.size != 0 || !field.values.empty()) return Wrong("no such struct");
  bytes = 0;
  for (const StateField& of : field.fields) {
    if (of.name.empty() || !IsName(of.name)) return Wrong("a bad field name");
    const Path::Step step(path, of.name);
    std::uint64_t size = 0;
    absl::Status status = Of(of, depth + 1, size);
    if (!status.ok()) return status;
    bytes += size;
  }
  return absl::OkStatus();
}

absl::Status Check::OfElements(const StateField& field, int depth,
                               std::uint64_t& bytes) {
  const bool list = field.type == StateType::kList;
  if (field.fields.size() != 1 || !field.fields[0].name.empty() ||
      !field.values.empty() || (field.size == 0) != list) {
    return Wrong(list ? "no such list" : "no such array");
  }
  const Path::Step step(path, std::size_t{0});
  std::uint64_t element = 0;
  absl::Status status = Of(field.fields[0], depth + 1, element);
  bytes = list ? 4 : field.size * element;
  return status;
}

// Two states next to each other.
struct Comparing {
  const std::size_t differences_max;
  Path path;
  StateComparison found;

  void Differs(std::string a, std::string b) {
    if (++found.total > differences_max) return;
    found.differences.push_back({path.text(), std::move(a), std::move(b)});
  }
  void Fixed(const Node& node, std::span<const std::byte> a,
             std::span<const std::byte> b);
  void Scalar(const StateField& field, std::span<const std::byte> a,
              std::span<const std::byte> b);
  void Any(const Node& node, Cursor& a, Cursor& b);
  void List(const Node& node, Cursor& a, Cursor& b);
};

void Comparing::Scalar(const StateField& field, std::span<const std::byte> a,
                       std::span<const std::byte> b) {
  if (found.total >= differences_max) {
    ++found.total;
    return;
  }
  if (field.type != StateType::kBytes) {
    return Differs(ValueText(field, a), ValueText(field, b));
  }
  const auto at = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  const Path::Step step(path, at);
  Differs(ValueText(field, a.subspan(at)), ValueText(field, b.subspan(at)));
}

// Values of one size. Most are the same, and are not looked into.
void Comparing::Fixed(const Node& node, std::span<const std::byte> a,
                      std::span<const std::byte> b) {
  if (std::memcmp(a.data(), b.data(), node.size) == 0) return;
  if (node.fields.empty()) return Scalar(*node.field, a, b);
  std::size_t at = 0;
  if (node.field->type == StateType::kStruct) {
    for (const Node& field : node.fields) {
      const Path::Step step(path, field.field->name);
      Fixed(field, a.subspan(at, field.size), b.subspan(at, field.size));
      at += field.size;
    }
    return;
  }
  const Node& element = node.fields[0];
  for (std::uint32_t i = 0; i < node.field->size; ++i, at += element.size) {
    const auto in_a = a.subspan(at, element.size);
    const auto in_b = b.subspan(at, element.size);
    if (std::memcmp(in_a.data(), in_b.data(), element.size) == 0) continue;
    const Path::Step step(path, std::size_t{i});
    Fixed(element, in_a, in_b);
  }
}

void Comparing::Any(const Node& node, Cursor& a, Cursor& b) {
  if (node.fixed) return Fixed(node, a.Take(node.size), b.Take(node.size));
  if (node.field->type == StateType::kList) return List(node, a, b);
  if (node.field->type == StateType::kStruct) {
    for (const Node& field : node.fields) {
      const Path::Step step(path, field.field->name);
      Any(field, a, b);
    }
    return;
  }
  for (std::uint32_t i = 0; i < node.field->size; ++i) {
    const Path::Step step(path, std::size_t{i});
    Any(node.fields[0], a, b);
  }
}

void Comparing::List(const Node& node, Cursor& a, Cursor& b) {
  const std::uint32_t in_a = TakeCount(a);
  const std::uint32_t in_b = TakeCount(b);
  if (in_a != in_b) {
    const Path::Step step(path, std::string("size"));
    Differs(std::to_string(in_a), std::to_string(in_b));
  }
  const std::uint32_t in_both = std::min(in_a, in_b);
  for (std::uint32_t i = 0; i < in_both; ++i) {
    const Path::Step step(path, std::size_t{i});
    Any(node.fields[0], a, b);
  }
  for (std::uint32_t i = in_both; i < in_a; ++i) Skip(node.fields[0], a);
  for (std::uint32_t i = in_both; i < in_b; ++i) Skip(node.fields[0], b);
}

// Lines of a state.
struct Telling {
  Path path;
  std::string text;

  void Tell(const Node& node, Cursor& cursor) {
    const StateField& field = *node.field;
    if (field.fields.empty()) {
      text += path.text() + ": ";
      text += ValueText(field, cursor.Take(node.size)) + '\n';
      return;
    }
    if (field.type == StateType::kStruct) {
      for (const Node& of : node.fields) {
        const Path::Step step(path, of.field->name);
        Tell(of, cursor);
      }
      return;
    }
    const bool list = field.type == StateType::kList;
    const std::uint32_t count = list ? TakeCount(cursor) : field.size;
    if (list) text += path.text() + ".size: " + std::to_string(count) + '\n';
    for (std::uint32_t i = 0; i < count; ++i) {
      const Path::Step step(path, std::size_t{i});
      Tell(node.fields[0], cursor);
    }
  }
};

std::optional<std::string> FirstOther(const StateField& a, const StateField& b,
                                      Path& path) {
  if (a.type != b.type || a.size != b.size || a.values != b.values) {
    return path.text();
  }
  const std::size_t both = std::min(a.fields.size(), b.fields.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (a.fields[i].name != b.fields[i].name) {
      const Path::Step step(path, a.fields[i].name);
      return path.text();
    }
    const bool element = a.type != StateType::kStruct;
    const Path::Step step(path, element ? "[]" : a.fields[i].name);
    auto other = FirstOther(a.fields[i], b.fields[i], path);
    if (other) return other;
  }
  if (a.fields.size() == b.fields.size()) return std::nullopt;
  const Path::Step step(
      path, a.fields.size() > both ? a.fields[both].name : b.fields[both].name);
  return path.text();
}

}  // namespace

absl::Status CheckSchema(const StateSchema& schema) {
  if (!schema.name.empty()) return InvalidArgument("a state with a name");
  std::uint64_t bytes = 0;
  return Check{}.Of(schema, 0, bytes);
}

absl::Status CheckState(const StateSchema& schema,
                        std::span<const std::byte> bytes) {
  Cursor cursor{bytes};
  const bool whole = Skip(state::MakeNode(schema), cursor);
  if (whole && cursor.rest.empty()) return absl::OkStatus();
  const std::size_t at = bytes.size() - cursor.rest.size();
  return InvalidArgument(
      "byte " + std::to_string(at) +
      (whole ? ": more than a state" : ": the state is cut short here"));
}

StateComparison CompareStates(const StateSchema& schema,
                              std::span<const std::byte> a,
                              std::span<const std::byte> b,
                              std::size_t differences_max) {
  Comparing comparing{
      .differences_max = differences_max, .path = {}, .found = {}};
  Cursor in_a{a};
  Cursor in_b{b};
  comparing.Any(state::MakeNode(schema), in_a, in_b);
  return std::move(comparing.found);
}

std::optional<std::string> CompareSchemas(const StateSchema& a,
                                          const StateSchema& b) {
  Path path;
  return FirstOther(a, b, path);
}

std::string StateText(const StateSchema& schema,
                      std::span<const std::byte> state) {
  Telling telling;
  Cursor cursor{state};
  telling.Tell(state::MakeNode(schema), cursor);
  return std::move(telling.text);
}

}  // namespace parlor::lockstep
