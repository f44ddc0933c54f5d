// A schema of any shape: every type of field, transform kinds and plain ones.
#ifndef PARLOR_TESTS_AUTHORITY_RANDOM_SCHEMA_H_
#define PARLOR_TESTS_AUTHORITY_RANDOM_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parlor/authority/schema.h"
#include "parlor/check.h"
#include "parlor/random.h"

namespace parlor::authority {

// One to four kinds with up to `fields_max` fields of their own each; the first
// is a transform kind with one field of each type, so that no schema lacks one.
inline Schema RandomSchema(Random& random, std::uint32_t fields_max) {
  std::vector<Kind> kinds(1 + random.Below(4));
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    Kind& kind = kinds[k];
    kind.name = "kind" + std::to_string(k);
    kind.transform = k == 0 || random.Chance(1, 2);
    kind.rows_max = random.Between(1, 40);
    const std::uint32_t count =
        k == 0 ? kFieldTypes : random.Below(fields_max + 1);
    for (std::uint32_t f = 0; f < count; ++f) {
      const std::uint32_t type =
          k == 0 ? f : random.Below(static_cast<std::uint32_t>(kFieldTypes));
      kind.fields.push_back(
          {"f" + std::to_string(f), static_cast<FieldType>(type)});
    }
  }
  auto schema = Schema::Create(kinds);
  PARLOR_CHECK(schema.ok());
  return std::move(*schema);
}

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_RANDOM_SCHEMA_H_
