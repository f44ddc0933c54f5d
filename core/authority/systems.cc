#include "parlor/authority/systems.h"

#include <utility>

#include "parlor/check.h"

namespace parlor::authority {

void Systems::Add(std::string_view name, On on,
                  std::function<void(Context&)> run) {
  PARLOR_CHECK(run != nullptr);
  for (const System& system : systems_) PARLOR_CHECK(system.name != name);
  systems_.push_back({std::string(name), on, std::move(run)});
}

void Systems::Run(Context& context) const {
  for (const System& system : systems_) {
    if (RunsIn(system.on, context.role())) system.run(context);
  }
}

bool Systems::RunsIn(On on, Role role) const {
  if (role == Role::kSolo || on == On::kBoth) return true;
  if (on == On::kBare && !multiplayer_) return true;
  return (on == On::kClient) == (role == Role::kClient);
}

std::vector<std::string_view> Systems::Names(Role role) const {
  std::vector<std::string_view> names;
  for (const System& system : systems_) {
    if (RunsIn(system.on, role)) names.push_back(system.name);
  }
  return names;
}

}  // namespace parlor::authority
