#include "parlor/host/gate_options.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "logic/access_codes.h"
#include "logic/forwarded.h"
#include "logic/origin.h"
#include "parlor/limits.h"
#include "parlor/status.h"

namespace parlor::host {
namespace {

// "gate.codes[2]".
std::string Place(std::string_view path, std::string_view field,
                  std::size_t index) {
  std::string place(path);
  place.append(".").append(field).append("[");
  return place.append(std::to_string(index)).append("]");
}

absl::Status CheckCount(std::string_view path, std::string_view field,
                        std::size_t count, std::size_t max) {
  if (count <= max) return absl::OkStatus();
  std::string text(path);
  text.append(".").append(field).append(": ").append(std::to_string(count));
  return InvalidArgument(
      text.append(" are more than ").append(std::to_string(max)));
}

absl::Status CheckCodes(const GateOptions& options, std::string_view path) {
  if (options.open && !options.codes.empty()) {
    return InvalidArgument(std::string(path) +
                           ".open: who is open to everyone has no codes");
  }
  for (std::size_t i = 0; i < options.codes.size(); ++i) {
    const std::string_view wrong = WhatIsWrongWithCode(options.codes[i]);
    if (wrong.empty()) continue;
    return InvalidArgument(Place(path, "codes", i).append(": ").append(wrong));
  }
  return CheckCount(path, "codes", options.codes.size(), kCodesMax);
}

absl::Status CheckPasses(const GateOptions& options, std::string_view path) {
  const auto wrong = [&](const char* text) {
    return InvalidArgument(std::string(path).append(".").append(text));
  };
  if (options.open && options.passes) {
    return wrong("open: who is open to everyone has no passes");
  }
  if (options.passes && options.pass_secret.empty()) {
    return wrong("pass_secret: passes are signed with one, and none is set");
  }
  static_assert(kPassSecretMin == 32);
  if (!options.pass_secret.empty() &&
      options.pass_secret.size() < kPassSecretMin) {
    return wrong("pass_secret: it has less than 32 bytes");
  }
  const auto below = [&](const Limit& limit) {
    return std::string(path).append(".").append(limit.name);
  };
  absl::Status status = CheckLimit(limits::kPassDays, below(limits::kPassDays),
                                   options.pass_days);
  status.Update(CheckLimit(limits::kPassDevices, below(limits::kPassDevices),
                           options.pass_devices));
  return status;
}

absl::Status CheckOrigins(const GateOptions& options, std::string_view path) {
  for (std::size_t i = 0; i < options.origins.size(); ++i) {
    const std::string& text = options.origins[i];
    const absl::StatusOr<std::string> origin = NormalOrigin(text);
    if (origin.ok()) continue;
    return InvalidArgument(Place(path, "origins", i)
                               .append(": \"")
                               .append(text)
                               .append("\": ")
                               .append(StatusText(origin.status())));
  }
  return CheckCount(path, "origins", options.origins.size(), kOriginsMax);
}

absl::Status CheckProxies(const GateOptions& options, std::string_view path) {
  for (std::size_t i = 0; i < options.trusted_proxies.size(); ++i) {
    const std::string& text = options.trusted_proxies[i];
    const absl::StatusOr<Network> network = ParseNetwork(text);
    if (network.ok()) continue;
    return InvalidArgument(Place(path, "trusted_proxies", i)
                               .append(": \"")
                               .append(text)
                               .append("\": ")
                               .append(StatusText(network.status())));
  }
  return CheckCount(path, "trusted_proxies", options.trusted_proxies.size(),
                    kTrustedProxiesMax);
}

}  // namespace

absl::Status ValidateOptions(const GateOptions& options,
                             std::string_view path) {
  absl::Status status = CheckCodes(options, path);
  status.Update(CheckPasses(options, path));
  status.Update(CheckOrigins(options, path));
  status.Update(CheckProxies(options, path));
  std::string rate(path);
  rate.append(".").append(limits::kAddressRate.name);
  status.Update(
      CheckLimit(limits::kAddressRate, rate, options.joins_per_minute));
  return status;
}

}  // namespace parlor::host
