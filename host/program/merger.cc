#include "program/merger.h"

#include "absl/status/statusor.h"
#include "parlor/status.h"
#include "program/config_file.h"

namespace parlor::host_program {

std::string Flag(std::string_view name) { return "--" + std::string(name); }

void Places::Set(std::string_view name, const std::string& where) {
  where_[name] = where;
}

std::string Places::Where(std::string_view name) const {
  const auto found = where_.find(name);
  if (found != where_.end()) return found->second;
  // There is no flag that it could have been said by.
  if (FindRow(name)->kind == Kind::kObjects) return "/" + std::string(name);
  return Flag(name);
}

absl::Status Places::Translated(const absl::Status& status) const {
  const std::string_view text = StatusText(status);
  for (const Row& row : Rows()) {
    if (row.field.empty() || !text.starts_with(row.field)) continue;
    const std::string_view rest = text.substr(row.field.size());
    if (!rest.starts_with(':') && !rest.starts_with('[')) continue;
    return InvalidArgument(Where(row.name).append(rest));
  }
  return status;
}

absl::Status Merger::Take(const GivenRows& rows) {
  for (const Row& row : Rows()) {
    const auto found = rows.find(row.name);
    if (found == rows.end()) continue;
    absl::Status status = Apply(row, found->second, settings_);
    if (!status.ok()) return status;
    places_.Set(row.name, found->second.where);
  }
  return absl::OkStatus();
}

absl::Status Merger::TakeFile(const std::string& path) {
  if (path.empty()) return InvalidArgument("--config: the file has no name");
  const absl::StatusOr<GivenRows> rows = ReadConfig(path);
  return rows.ok() ? Take(*rows) : rows.status();
}

}  // namespace parlor::host_program
