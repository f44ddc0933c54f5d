#include "logic/told_rooms.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/entropy.h"
#include "parlor/host/play_room.h"
#include "parlor/host/server.h"
#include "parlor/hosted_room.h"
#include "parlor/time.h"

namespace parlor::host {
namespace {

class ToldFactory {
 public:
  ToldFactory(const PlayRoom& room, LogSink log)
      : make_(room.make), key_(room.key), log_(std::move(log)) {}

  std::unique_ptr<HostedRoom> operator()(TimePoint now, Entropy& entropy) {
    std::unique_ptr<HostedRoom> room;
    std::string_view why = "its game gives none";
    try {
      room = make_(now, entropy);
    } catch (...) {
      why = "its game threw";
    }
    if (room == nullptr && !std::exchange(failed_, true)) {
      log_(LogLevel::kWarning,
           "room \"" + key_ + "\" cannot be opened: " + std::string(why));
    }
    if (room != nullptr) failed_ = false;
    return room;
  }

 private:
  HostedRoomFactory make_;
  std::string key_;
  LogSink log_;
  bool failed_ = false;
};

}  // namespace

std::vector<PlayRoom> ToldRooms(std::vector<PlayRoom> rooms,
                                const LogSink& log) {
  if (!log) return rooms;
  for (PlayRoom& room : rooms) room.make = ToldFactory(room, log);
  return rooms;
}

}  // namespace parlor::host
