#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "parlor/limits.h"
#include "parlor/sim/network.h"

namespace parlor::sim {
namespace {

constexpr Limit kTimeNs{"_ns", 0, 0, (60 * kSecond).count()};
constexpr Limit kShare{"_ppm", 0, 0, 1'000'000};
constexpr Limit kRate{"bytes_per_s", 0, 1'000, INT64_MAX};
constexpr Limit kQueue{"queue_bytes", 0, 0, std::int64_t{1} << 30};

absl::Status ValidatePath(const PathConditions& path, const std::string& name) {
  absl::Status status;
  const auto check = [&](const Limit& limit, std::string_view field,
                         std::int64_t value) {
    status.Update(CheckLimit(limit, name + "." + std::string(field), value));
  };
  check(kTimeNs, "latency", path.latency.count());
  check(kTimeNs, "jitter", path.jitter.count());
  check(kShare, "loss_ppm", path.loss_ppm);
  check(kShare, "burst_ppm", path.burst_ppm);
  check(kTimeNs, "burst", path.burst.count());
  check(kShare, "duplicate_ppm", path.duplicate_ppm);
  check(kShare, "overtake_ppm", path.overtake_ppm);
  check(kTimeNs, "overtake", path.overtake.count());
  if (path.bytes_per_s != 0) check(kRate, "bytes_per_s", path.bytes_per_s);
  check(kQueue, "queue_bytes", static_cast<std::int64_t>(path.queue_bytes));
  return status;
}

}  // namespace

absl::Status ValidateConditions(const Conditions& conditions,
                                std::string_view path) {
  absl::Status status = ValidatePath(conditions.up, std::string(path) + ".up");
  status.Update(ValidatePath(conditions.down, std::string(path) + ".down"));
  return status;
}

const Conditions* FindPreset(std::string_view name) {
  constexpr std::pair<std::string_view, const Conditions*> kPresets[] = {
      {"perfect", &kPerfect}, {"lan", &kLan},     {"wifi", &kWifi},
      {"mobile", &kMobile},   {"awful", &kAwful},
  };
  for (const auto& [preset, conditions] : kPresets) {
    if (preset == name) return conditions;
  }
  return nullptr;
}

}  // namespace parlor::sim
