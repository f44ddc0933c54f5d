// Binary state messages, taken apart as core/authority/wire.json says and by
// no code of the engine but ByteReader.
#ifndef PARLOR_TESTS_AUTHORITY_DESCRIBED_STATE_H_
#define PARLOR_TESTS_AUTHORITY_DESCRIBED_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "authority/wire_description.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::test {

// One reader takes a connection's messages in turn: a delta's numbers are
// relative to the baseline that it took before.
class DescribedState {
 public:
  using Json = nlohmann::json;

  // `schema` as in welcome.
  explicit DescribedState(const Json& schema) {
    for (const Json& kind : schema["kinds"]) {
      Json fields = Json::array();
      if (kind.value("transform", false)) {
        fields = Json::parse(R"([{"name":"position","type":"position"},
                                 {"name":"rotation","type":"quat"},
                                 {"name":"teleports","type":"int"}])");
      }
      for (const Json& field : kind["fields"]) fields.push_back(field);
      kinds_.push_back({{"name", kind["name"]}, {"fields", fields}});
    }
  }

  // The message as the JSON codec would say it, but that floats are the whole
  // numbers that travel (1.25 is 12500). A check fails where the bytes are not
  // as described.
  Json Read(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    const int kind = in.U8();
    for (const auto& [name, frame] : binary_["server"].items()) {
      if (frame["kind"] != kind) continue;
      message_ = {{"t", name}};
      rows_ = Json::array();
      gone_ = Json::array();
      if (name == "baseline") base_.clear();
      Fields(frame["fields"], message_, in);
      message_.erase("pages");
      message_[name == "delta" ? "set" : "rows"] = rows_;
      if (name == "delta") message_["gone"] = gone_;
      if (message_.value("own", Json()).is_null()) message_.erase("own");
      PARLOR_CHECK(in.AtEnd());
      return message_;
    }
    PARLOR_CHECK(false);
    return {};
  }

 private:
  // Reads `fields` into `read`; false at a field that ends a repetition.
  bool Fields(const Json& fields, Json& read, ByteReader& in) {
    for (const Json& field : fields) {
      Json& value = read[field["name"].get<std::string>()];
      if (!field.contains("count")) {
        value = Value(field, read, in);
        if (field.contains("endsAt")) {
          if (value == field["endsAt"]) return false;
          page_ += value.get<std::int64_t>();
        }
        continue;
      }
      Json list = Json::array();
      const int count = Count(field["count"], read);
      for (int i = 0; i < count; ++i) list.push_back(Value(field, read, in));
      value = list;
    }
    return true;
  }

  static int Count(const Json& count, const Json& read) {
    if (count.is_number()) return count;
    return read.at(count["of"].get<std::string>()).get<int>() +
           count["plus"].get<int>();
  }

  Json Value(const Json& field, const Json& read, ByteReader& in) {
    const std::string name = field["type"];
    if (name == "u8") return in.U8();
    if (name == "u32") return in.U32();
    if (name == "i32") return static_cast<std::int32_t>(in.U32());
    if (name == "var") return in.VarUint(~std::uint64_t{0});
    if (name == "zigzag") return ZigZag(in);
    const Json& type = binary_["types"].at(name);
    const std::string is = type["is"];
    if (is == "bytes") return Text(in);
    if (is == "choice") return Piece(type, in);
    if (is == "values") return Values(field, type, read, in);
    Json inner = Json::object();
    if (is == "optional") {
      const int present = in.U8();
      PARLOR_CHECK(present <= 1);
      if (present == 0) return nullptr;
      Fields(type["fields"], inner, in);
      inner["grounded"] = inner["grounded"] == 1;
      return inner;
    }
    PARLOR_CHECK(is == "repeat");
    page_ = -1;
    while (Fields(type["fields"], inner, in)) inner.clear();
    return nullptr;
  }

  static std::int64_t ZigZag(ByteReader& in) {
    const std::uint64_t var = in.VarUint(~std::uint64_t{0});
    const auto half = static_cast<std::int64_t>(var / 2);
    return var % 2 == 0 ? half : -half - 1;
  }
  static std::string Text(ByteReader& in) {
    const auto size = static_cast<std::size_t>(in.VarUint(256));
    return std::string(AsText(in.Bytes(size)));
  }

  // Goes into rows_ or gone_.
  Json Piece(const Json& type, ByteReader& in) {
    const unsigned byte = in.U8();
    row_ = 64 * page_ + (byte & 63);
    const Json& op = type["ops"][byte >> 6];
    Json read = Json::object();
    Fields(op["fields"], read, in);
    PARLOR_CHECK(in.ok());
    if (op["name"] == "gone") {
      gone_.push_back(row_);
      return nullptr;
    }
    Json row = {{"id", row_}, {"f", read["values"]}};
    if (op["name"] == "whole") row["kind"] = Kind(read)["name"];
    rows_.push_back(row);
    return nullptr;
  }

  const Json& Kind(const Json& read) const {
    return kinds_[read.contains("kind")
                      ? read["kind"].get<std::size_t>()
                      : base_.at(row_)["kind"].get<std::size_t>()];
  }

  Json Values(const Json& field, const Json& type, const Json& read,
              ByteReader& in) {
    const Json& fields = Kind(read)["fields"];
    const auto mask = read["mask"].get<std::uint64_t>();
    const auto nulls = read.value("nulls", std::uint64_t{0});
    Json values = Json::object();
    for (std::size_t bit = 0; bit < fields.size(); ++bit) {
      if ((mask >> bit & 1) == 0) continue;
      const std::string name = fields[bit]["name"];
      const std::string of = fields[bit]["type"];
      values[name] = nullptr;
      if ((nulls >> bit & 1) != 0) continue;
      values[name] = Parts(type["types"][of], of, BaseOf(field, name), in);
    }
    if (!field["relative"].get<bool>() && message_["t"] == "baseline") {
      base_[row_] = {{"kind", read["kind"]}, {"f", values}};
    }
    return values;
  }

  // What a value is relative to; null for 0.
  Json BaseOf(const Json& field, const std::string& name) const {
    if (!field["relative"].get<bool>()) return nullptr;
    return base_.at(row_)["f"].value(name, Json());
  }

  Json Parts(const Json& parts, const std::string& of, const Json& base,
             ByteReader& in) {
    Json read = Json::array();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Json part = Value({{"type", parts[i]}}, {}, in);
      if (parts[i] == "zigzag" && !base.is_null()) {
        const Json& of_base = base.is_array() ? base[i] : base;
        part = part.get<std::int64_t>() + of_base.get<std::int64_t>();
      }
      read.push_back(part);
    }
    if (of == "bool") return read[0] == 1;
    return parts.size() == 1 ? read[0] : read;
  }

  const Json binary_ = WireDescription().wire()["binary"];
  Json kinds_ = Json::array();
  Json message_;
  Json rows_;
  Json gone_;
  std::map<std::int64_t, Json> base_;  // by row
  std::int64_t page_ = -1;
  std::int64_t row_ = 0;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_AUTHORITY_DESCRIBED_STATE_H_
