// PlayKeys: which hosted room has which key. A host's hosted rooms are numbered
// from 0 in the order of its options.
#ifndef PARLOR_HOST_LOGIC_PLAY_KEYS_H_
#define PARLOR_HOST_LOGIC_PLAY_KEYS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/host/play_room.h"

namespace parlor::host {

class PlayKeys {
 public:
  PlayKeys() = default;
  // Of rooms that ValidatePlayRooms lets pass.
  explicit PlayKeys(const std::vector<PlayRoom>& rooms) {
    for (const PlayRoom& room : rooms) {
      numbers_.emplace(room.key, static_cast<std::uint32_t>(numbers_.size()));
    }
  }

  std::optional<std::uint32_t> Find(std::string_view key) const {
    const auto found = numbers_.find(key);
    if (found == numbers_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_PLAY_KEYS_H_
