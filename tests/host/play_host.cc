// A dedicated host with a game linked in, for play_process_test.
#include <memory>
#include <stdexcept>
#include <string_view>

#include "absl/status/statusor.h"
#include "parlor/entropy.h"
#include "parlor/host/program.h"
#include "parlor/hosted_game.h"
#include "parlor/hosted_room.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "support/echo_room.h"

namespace {

parlor::HostedGame Echo() {
  return {.name = "echo",
          .configure = [](std::string_view settings, const parlor::RoomLog& log)
              -> absl::StatusOr<parlor::HostedRoomFactory> {
            if (settings == R"({"level":9})")
              throw std::out_of_range("no level");
            if (settings != "{}") {
              return parlor::InvalidArgument("/seats: cannot be chosen");
            }
            return [log](parlor::TimePoint, parlor::Entropy&) {
              log("opened");
              return std::make_unique<parlor::test::EchoRoom>();
            };
          }};
}

}  // namespace

int main(int argc, char** argv) {
  return parlor::host::RunProgram(argc, argv, {Echo()});
}
