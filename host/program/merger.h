// What several sources say, one after the other, and who had the last word.
#ifndef PARLOR_HOST_PROGRAM_MERGER_H_
#define PARLOR_HOST_PROGRAM_MERGER_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "program/settings.h"

namespace parlor::host_program {

// "--hold"
std::string Flag(std::string_view name);

// Where each setting was said.
class Places {
 public:
  // `name`: a row's, as of Rows().
  void Set(std::string_view name, const std::string& where);
  // Who said so; of a default its flag.
  std::string Where(std::string_view name) const;
  // A refusal of the library's, which names a field, in the user's words.
  absl::Status Translated(const absl::Status& status) const;

 private:
  std::map<std::string_view, std::string> where_;
};

class Merger {
 public:
  explicit Merger(const Settings& defaults) : settings_(defaults) {}

  // InvalidArgument: as of Apply.
  absl::Status Take(const GivenRows& rows);
  // Those of a configuration file. InvalidArgument: as of ReadConfig and Apply.
  absl::Status TakeFile(const std::string& path);

  const Settings& settings() const { return settings_; }
  const Places& places() const { return places_; }

 private:
  Settings settings_;
  Places places_;
};

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_MERGER_H_
