#include "lockstep/state_walk.h"

#include <bit>
#include <charconv>
#include <cstdio>
#include <system_error>

#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::lockstep::state {
namespace {

constexpr std::size_t kCountBytes = 4;

std::uint64_t Unsigned(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
  }
  return value;
}

std::int64_t Signed(std::span<const std::byte> bytes) {
  const auto shift = static_cast<int>(64 - 8 * bytes.size());
  return static_cast<std::int64_t>(Unsigned(bytes) << shift) >> shift;
}

// The shortest text that reads back as the same number: the same everywhere.
std::string Decimal(auto value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  PARLOR_CHECK(error == std::errc());
  return {text, end};
}

std::string FloatText(std::span<const std::byte> bytes) {
  char bits[24];
  const std::uint64_t raw = Unsigned(bytes);
  std::snprintf(bits, sizeof bits, " (0x%0*llx)",
                static_cast<int>(2 * bytes.size()),
                static_cast<unsigned long long>(raw));
  return (bytes.size() == 4
              ? Decimal(std::bit_cast<float>(static_cast<std::uint32_t>(raw)))
              : Decimal(std::bit_cast<double>(raw))) +
         bits;
}

std::string HexText(std::span<const std::byte> bytes) {
  constexpr std::size_t kShown = 16;
  std::string text;
  for (std::size_t i = 0; i < bytes.size() && i < kShown; ++i) {
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x",
                  std::to_integer<unsigned>(bytes[i]));
    text += byte;
  }
  return bytes.size() > kShown ? text + "..." : text;
}

}  // namespace

Node MakeNode(const StateSchema& schema) {
  Node node{.field = &schema, .fixed = true, .size = schema.size, .fields = {}};
  for (const StateField& field : schema.fields) {
    node.fields.push_back(MakeNode(field));
    node.fixed = node.fixed && node.fields.back().fixed;
  }
  switch (schema.type) {
    case StateType::kStruct:
      node.size = 0;
      for (const Node& field : node.fields) node.size += field.size;
      break;
    case StateType::kArray:
      node.size = schema.size * node.fields[0].size;
      break;
    case StateType::kList:
      node.fixed = false;
      node.size = kCountBytes;
      break;
    default:
      break;
  }
  return node;
}

std::uint32_t TakeCount(Cursor& cursor) {
  return LoadU32(cursor.Take(kCountBytes).data());
}

bool Skip(const Node& node, Cursor& cursor) {
  // Also what keeps a count from making this loop longer than the bytes are.
  if (cursor.rest.size() < node.size) return false;
  if (node.fixed) {
    cursor.Take(node.size);
    return true;
  }
  if (node.field->type == StateType::kStruct) {
    for (const Node& field : node.fields) {
      if (!Skip(field, cursor)) return false;
    }
    return true;
  }
  const Node& element = node.fields[0];
  std::uint64_t count = node.field->size;
  if (node.field->type == StateType::kList) {
    count = TakeCount(cursor);
    if (count * element.size > cursor.rest.size()) return false;
    if (element.fixed) {
      cursor.Take(count * element.size);
      return true;
    }
  }
  for (; count > 0; --count) {
    if (!Skip(element, cursor)) return false;
  }
  return true;
}

std::string ValueText(const StateField& field,
                      std::span<const std::byte> bytes) {
  switch (field.type) {
    case StateType::kBool: {
      const std::uint64_t value = Unsigned(bytes);
      if (value > 1) return Decimal(value) + " (not a bool)";
      return value == 1 ? "true" : "false";
    }
    case StateType::kUnsigned:
    case StateType::kSigned: {
      std::string number = field.type == StateType::kSigned
                               ? Decimal(Signed(bytes))
                               : Decimal(Unsigned(bytes));
      if (field.values.empty()) return number;
      const std::uint64_t value = Unsigned(bytes);
      const bool named = value < field.values.size();
      return (named ? field.values[value] : "no name") + " (" + number + ")";
    }
    case StateType::kFloat:
      return FloatText(bytes);
    default:
      return HexText(bytes);
  }
}

Path::Step::Step(Path& path, const std::string& name)
    : path_(path), length_(path.text_.size()) {
  if (!path.text_.empty() && name[0] != '[') path.text_ += '.';
  path.text_ += name;
}

Path::Step::Step(Path& path, std::size_t index)
    : path_(path), length_(path.text_.size()) {
  path.text_ += '[';
  path.text_ += Decimal(index);
  path.text_ += ']';
}

}  // namespace parlor::lockstep::state
