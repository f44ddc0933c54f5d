// A game without sense: each step adds, removes and sets rows at random, in a
// row table and in a model beside it, and tries what must be refused.
#ifndef PARLOR_TESTS_AUTHORITY_STATE_GAME_H_
#define PARLOR_TESTS_AUTHORITY_STATE_GAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "authority/state_model.h"
#include "parlor/authority/limits.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/values.h"
#include "parlor/check.h"
#include "parlor/random.h"

namespace parlor::authority {

// Values come from short lists, so that fields are often set to what they were
// at the baseline, and from all over their range.
class StateGame {
 public:
  StateGame(const Schema& schema, std::uint64_t seed)
      : schema_(schema), random_(seed), table_(schema) {}

  // Some of everything.
  void Step() {
    for (std::uint32_t n = random_.Below(8); n > 0; --n) Act();
  }
  void NewEpoch() {
    table_.NewEpoch();
    rows_.clear();
    locals_.clear();
  }

  RowTable& table() { return table_; }
  // What the table has, but for local rows.
  const ModelRows& rows() const { return rows_; }
  // What was tried and had to be refused, ever.
  std::uint64_t refusals() const { return refusals_; }

  OwnBody RandomOwn() {
    OwnBody own;
    own.seq = random_.Next();
    own.position = RandomVec3();
    own.velocity = RandomVec3();
    own.grounded = random_.Chance(1, 2);
    return own;
  }

 private:
  void Act() {
    const std::uint32_t dice = random_.Below(100);
    if (dice < 15 || rows_.empty()) return Add();
    if (dice < 18) return AddLocal();
    if (dice < 28) return Remove();
    if (dice < 36) return SetNull();
    if (dice < 46) return SetTransform(/*teleport=*/false);
    if (dice < 50) return SetTransform(/*teleport=*/true);
    if (dice < 55) return Misuse();
    Set();
  }

  void Add() {
    const auto kinds = static_cast<std::uint32_t>(schema_.kinds().size());
    const auto kind = static_cast<int>(random_.Below(kinds));
    const RowId row = table_.Add(kind);
    int there = 1;
    for (const auto& [id, other] : rows_) there += other.kind == kind ? 1 : 0;
    for (const auto& [id, local] : locals_) there += local == kind ? 1 : 0;
    const bool fits = there <= schema_.kind(kind).rows_max;
    PARLOR_CHECK((row != 0) == fits);
    if (!fits) {
      ++refusals_;
      return;
    }
    PARLOR_CHECK(!rows_.contains(row));
    rows_[row] = NewModelRow(schema_, kind);
  }

  void AddLocal() {
    const RowId row = table_.AddLocal(0);
    if (row == 0) {
      ++refusals_;
      return;
    }
    locals_[row] = 0;
    PARLOR_CHECK(table_.Set(row, kTransformFields, true));
  }

  void Remove() {
    const bool local = !locals_.empty() && random_.Chance(1, 3);
    const RowId row = local ? locals_.begin()->first : Any();
    PARLOR_CHECK(table_.Remove(row));
    rows_.erase(row);
    locals_.erase(row);
  }

  RowId Any() {
    const auto at = random_.Below(static_cast<std::uint32_t>(rows_.size()));
    return std::next(rows_.begin(), at)->first;
  }
  // A field of the row, or -1 for a row that has none.
  int AnyField(const ModelRow& row) {
    const auto count = static_cast<std::uint32_t>(row.fields.size());
    return count == 0 ? -1 : static_cast<int>(random_.Below(count));
  }

  void SetNull() {
    const RowId row = Any();
    const int field = AnyField(rows_[row]);
    if (field < 0) return;
    PARLOR_CHECK(table_.SetNull(row, field));
    rows_[row].fields[static_cast<std::size_t>(field)] = {true, {}, ""};
  }

  void SetTransform(bool teleport) {
    const RowId id = Any();
    ModelRow& row = rows_[id];
    if (!schema_.kind(row.kind).transform) {
      PARLOR_CHECK(!table_.SetTransform(id, {}));
      ++refusals_;
      return;
    }
    Transform transform;
    transform.position = RandomVec3();
    transform.rotation = RandomQuat();
    PARLOR_CHECK(teleport ? table_.Teleport(id, transform)
                          : table_.SetTransform(id, transform));
    Put(row, kPositionField, Millimetres(transform.position));
    Put(row, kRotationField, {*PackQuat(transform.rotation)});
    if (!teleport) return;
    ModelField& teleports = row.fields[kTeleportsField];
    const std::int64_t before = teleports.null ? 0 : teleports.words[0];
    Put(row, kTeleportsField, {before == kIntMax ? 0 : before + 1});
  }

  static void Put(ModelRow& row, int field, std::vector<std::int64_t> words) {
    row.fields[static_cast<std::size_t>(field)] = {false, words, ""};
  }

  static std::vector<std::int64_t> Millimetres(const Vec3& metres) {
    return {*QuantiseMetres(metres.x), *QuantiseMetres(metres.y),
            *QuantiseMetres(metres.z)};
  }

  void Set() {
    const RowId id = Any();
    ModelRow& row = rows_[id];
    const int field = AnyField(row);
    if (field < 0) return;
    const auto index = static_cast<std::size_t>(field);
    switch (schema_.kind(row.kind).fields[index].type) {
      case FieldType::kBool: {
        const bool value = random_.Chance(1, 2);
        PARLOR_CHECK(table_.Set(id, field, value));
        return Put(row, field, {value ? 1 : 0});
      }
      case FieldType::kInt: {
        const std::int64_t value = RandomInt();
        PARLOR_CHECK(table_.Set(id, field, value));
        return Put(row, field, {value});
      }
      case FieldType::kFloat: {
        const float value = RandomFloat();
        PARLOR_CHECK(table_.Set(id, field, value));
        return Put(row, field, {*QuantiseFloat(value)});
      }
      case FieldType::kVec2: {
        const Vec3 value = RandomVec3();
        PARLOR_CHECK(table_.Set(id, field, Vec2{value.x, value.y}));
        return Put(row, field,
                   {*QuantiseFloat(value.x), *QuantiseFloat(value.y)});
      }
      case FieldType::kVec3: {
        const Vec3 value = RandomVec3();
        PARLOR_CHECK(table_.Set(id, field, value));
        return Put(row, field,
                   {*QuantiseFloat(value.x), *QuantiseFloat(value.y),
                    *QuantiseFloat(value.z)});
      }
      case FieldType::kQuat: {
        const Quat value = RandomQuat();
        PARLOR_CHECK(table_.Set(id, field, value));
        return Put(row, field, {*PackQuat(value)});
      }
      case FieldType::kPosition: {
        const Vec3 value = RandomVec3();
        PARLOR_CHECK(table_.Set(id, field, value));
        return Put(row, field, Millimetres(value));
      }
      case FieldType::kString: {
        const std::string value = RandomText();
        PARLOR_CHECK(table_.Set(id, field, value));
        row.fields[index] = {false, {}, value};
        return;
      }
    }
  }

  // Numbers that are none: nothing changes, whatever the field's type is.
  void Misuse() {
    constexpr std::array kNone = {std::numeric_limits<float>::quiet_NaN(),
                                  std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity()};
    const RowId row = Any();
    const int field = AnyField(rows_[row]);
    if (field < 0) return;
    const float bad = kNone[random_.Below(kNone.size())];
    PARLOR_CHECK(!table_.Set(row, field, bad));
    PARLOR_CHECK(!table_.Set(row, field, static_cast<double>(bad)));
    PARLOR_CHECK(!table_.Set(row, field, Vec2{0, bad}));
    PARLOR_CHECK(!table_.Set(row, field, Vec3{1, bad, 2}));
    PARLOR_CHECK(!table_.Set(row, field, Quat{0, 0, bad, 1}));
    PARLOR_CHECK(!table_.SetTransform(row, {{bad, 1, 2}, {}}));
    PARLOR_CHECK(!table_.Teleport(row, {{3, 1, 2}, {0, bad, 0, 1}}));
    refusals_ += 7;
  }

  std::int64_t RandomInt() {
    constexpr std::array<std::int64_t, 6> kUsual = {0, 1,       -1,
                                                    7, kIntMax, -kIntMax};
    if (random_.Chance(2, 3)) return kUsual[random_.Below(kUsual.size())];
    const std::uint64_t bits = random_.Next64();
    const std::uint32_t shift = 11 + random_.Below(53);
    return static_cast<std::int64_t>(bits >> shift) *
           (random_.Chance(1, 2) ? 1 : -1);
  }
  float RandomFloat() {
    constexpr std::array<float, 9> kUsual = {
        0, -0.0F, 1, -1, 0.00004F, 0.00006F, 0.5F, kFloatMax, -kFloatMax};
    if (random_.Chance(2, 3)) return kUsual[random_.Below(kUsual.size())];
    const float small = static_cast<float>(random_.Between(-999'999, 999'999));
    return small / static_cast<float>(1 + random_.Below(20'000));
  }
  Vec3 RandomVec3() {
    Vec3 value;
    value.x = RandomFloat();
    value.y = RandomFloat();
    value.z = RandomFloat();
    return value;
  }
  Quat RandomQuat() {
    if (random_.Chance(1, 3)) return {};
    Quat value;
    value.x = static_cast<float>(random_.Between(-100, 100));
    value.y = static_cast<float>(random_.Between(-100, 100));
    value.z = static_cast<float>(random_.Between(-100, 100));
    value.w = static_cast<float>(random_.Between(1, 100));
    return value;
  }
  std::string RandomText() {
    constexpr std::array<const char*, 5> kUsual = {
        "", "a", "\"\\/\n\x1f\x7f", "\xe2\x80\xa8 \xf0\x9f\x8e\xb2", "b\tc"};
    switch (random_.Below(8)) {
      case 0:
        return std::string(kStringBytesMax, '\x01');
      case 1:
        return {'x', '\0', 'y'};
      default:
        return kUsual[random_.Below(kUsual.size())];
    }
  }

  const Schema& schema_;
  Random random_;
  RowTable table_;
  ModelRows rows_;
  std::map<RowId, int> locals_;  // their kinds
  std::uint64_t refusals_ = 0;
};

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_STATE_GAME_H_
