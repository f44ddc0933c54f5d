// Any bytes as a configuration file. A refusal is one printable line that names
// the file and has nothing out of a list of codes; what is accepted is printed
// and read again as the same.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "program/config_file.h"
#include "program/settings.h"

namespace parlor::host_program {
namespace {

constexpr std::string_view kSecret = "!SECRET!";

void CheckRefusal(const absl::Status& status) {
  const std::string_view text = StatusText(status);
  PARLOR_CHECK(text.starts_with("file: ") && text.size() <= 600);
  PARLOR_CHECK(Printable(text) == text);
  PARLOR_CHECK(text.find(kSecret) == std::string_view::npos);
}

// What the rows say, or the first refusal.
absl::StatusOr<Settings> Applied(const GivenRows& rows) {
  Settings settings;
  for (const auto& [name, given] : rows) {
    const Settings before = settings;
    const absl::Status status = Apply(*FindRow(name), given, settings);
    if (status.ok()) continue;
    PARLOR_CHECK(settings == before);
    return status;
  }
  return settings;
}

void Try(std::string_view text) {
  const absl::StatusOr<GivenRows> rows = ParseConfig(text, "file");
  if (!rows.ok()) return CheckRefusal(rows.status());
  absl::StatusOr<Settings> settings = Applied(*rows);
  if (!settings.ok()) return CheckRefusal(settings.status());
  const absl::StatusOr<GivenRows> again =
      ParseConfig(ToJson(*settings), "printed");
  PARLOR_CHECK(again.ok());
  settings->codes.clear();
  const absl::StatusOr<Settings> same = Applied(*again);
  PARLOR_CHECK(same.ok() && *same == *settings);
}

}  // namespace
}  // namespace parlor::host_program

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text =
      parlor::AsText(std::as_bytes(std::span(data, size)));
  // Its own words may be names of members, which refusals do show.
  if (text.find(parlor::host_program::kSecret) != std::string_view::npos) {
    return 0;
  }
  parlor::host_program::Try(text);
  // With a code in front of whatever is wrong.
  std::string with_code = R"({"invite": [")";
  with_code.append(parlor::host_program::kSecret).append("\"");
  parlor::host_program::Try(with_code.append(text));
  return 0;
}
