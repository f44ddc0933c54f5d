// Systems: the parts of a game that run every step, in the order they were
// added, each where it belongs. One list serves the authority and the clients,
// so that both sides are built from the same code:
//
//   | added as     | solo | authority | client |
//   | kAuthority   | yes  | yes       | no     |
//   | kClient      | yes  | no        | yes    |
//   | kBoth        | yes  | yes       | yes    |
//   | kBare        | yes  | yes       | no, but yes without multiplayer |
//
// A client's systems are for presentation (context.h says what they may do).
// What a system throws leaves Run: the room counts it as a failed tick.
#ifndef PARLOR_AUTHORITY_SYSTEMS_H_
#define PARLOR_AUTHORITY_SYSTEMS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/authority/context.h"

namespace parlor::authority {

enum class On : std::uint8_t { kBare, kAuthority, kClient, kBoth };

class Systems {
 public:
  // Whether the game declares multiplayer: what kBare means.
  explicit Systems(bool multiplayer = true) : multiplayer_(multiplayer) {}

  // `name` is one that no other system here has, for tools and tests.
  void Add(std::string_view name, On on, std::function<void(Context&)> run);

  // Runs those of context.role(). A system may not add one.
  void Run(Context& context) const;

  bool RunsIn(On on, Role role) const;
  // In the order they run.
  std::vector<std::string_view> Names(Role role) const;

 private:
  struct System {
    std::string name;
    On on;
    std::function<void(Context&)> run;
  };

  bool multiplayer_;
  std::vector<System> systems_;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_SYSTEMS_H_
