#include "parlor/authority/hosted_game.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/limits.h"
#include "parlor/authority/room.h"
#include "parlor/authority/room_authority.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/hosted_game.h"
#include "parlor/hosted_room.h"
#include "parlor/limits.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "parlor/time.h"

namespace parlor::authority {
namespace {

struct Setting {
  std::string_view name;
  const Limit& limit;
  std::int64_t RoomOptions::*member;
};

const std::array kSettings = {
    Setting{"maxPlayers", limits::kSeats, &RoomOptions::seats},
    Setting{"tickHz", limits::kTickHz, &RoomOptions::tick_hz},
    Setting{"snapshotHz", limits::kSnapshotHz, &RoomOptions::snapshot_hz},
    Setting{"graceMs", limits::kGraceMs, &RoomOptions::grace_ms},
    Setting{"inputRate", limits::kInputRate, &RoomOptions::input_rate_per_s},
};

absl::Status Take(const std::string& name, const nlohmann::json& value,
                  RoomOptions& options) {
  const std::string path = "/" + Printable(name);
  for (const Setting& setting : kSettings) {
    if (setting.name != name) continue;
    if (!value.is_number_integer()) {
      return InvalidArgument(path + ": is not a whole number");
    }
    // What no 64 bits with a sign hold is above every ceiling.
    const auto number =
        value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX
            ? INT64_MAX
            : value.get<std::int64_t>();
    absl::Status status = CheckLimit(setting.limit, path, number);
    if (status.ok()) options.*setting.member = number;
    return status;
  }
  return InvalidArgument(path + ": there is no such setting");
}

// What the options of a room say of themselves, by the setting's path where
// there is one.
absl::Status OfSetting(const absl::Status& status) {
  const std::string_view text = StatusText(status);
  for (const Setting& setting : kSettings) {
    const std::string option = std::string(setting.limit.name) + ":";
    if (!text.starts_with(option)) continue;
    return InvalidArgument(std::string("/")
                               .append(setting.name)
                               .append(":")
                               .append(text.substr(option.size())));
  }
  return InvalidArgument(": " + std::string(text));
}

// A room whose notes go to a log that lives as long as it.
class LoggedRoom final : public HostedRoom, private RoomSink {
 public:
  LoggedRoom(TimePoint now, const RoomOptions& options,
             std::unique_ptr<RoomAuthority> game, Entropy& entropy, RoomLog log)
      : log_(std::move(log)), room_(now, options, std::move(game), entropy) {
    if (log_) room_.SetSink(this);
  }

  void Admit(TimePoint now, Connection& connection,
             std::string_view identity) override {
    room_.Admit(now, connection, identity);
  }
  void OnMessage(TimePoint now, Connection& connection, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    room_.OnMessage(now, connection, kind, bytes);
  }
  void OnControl(TimePoint now, Connection& connection) override {
    room_.OnControl(now, connection);
  }
  void OnClose(TimePoint now, Connection& connection, CloseCode code) override {
    room_.OnClose(now, connection, code);
  }
  void OnAlarm(TimePoint now) override { room_.OnAlarm(now); }
  TimePoint next_alarm() const override { return room_.next_alarm(); }
  void Drain(TimePoint now) override { room_.Drain(now); }
  // The host knows why it ends a room.
  void End(TimePoint now, CloseReason reason) override {
    room_.SetSink(nullptr);
    room_.End(now, reason);
  }
  bool ended() const override { return room_.ended(); }
  int seated() const override { return room_.seated(); }
  std::uint64_t resumes() const override { return room_.resumes(); }

 private:
  void OnNote(TimePoint now, RoomNote note, std::string_view what) override {
    if (note == RoomNote::kEnded && IsHosts(what)) return;
    if (note == RoomNote::kFailedTick) {
      if (now < next_failure_) return;
      next_failure_ = now + kSecond;
    }
    log_(std::string(NameOf(note)) + " " + Printable(what));
  }

  // The end of a room that the host drains.
  static bool IsHosts(std::string_view end) {
    return end == Describe(CloseReason::kRestart).name;
  }

  const RoomLog log_;
  TimePoint next_failure_{};  // that is told
  Room room_;
};

}  // namespace

HostedRoomFactory MakeRoomFactory(RoomOptions options, GameFactory make,
                                  RoomLog log) {
  return [options = std::move(options), make = std::move(make),
          log = std::move(log)](TimePoint now, Entropy& entropy) {
    return std::make_unique<LoggedRoom>(now, options, make(), entropy, log);
  };
}

absl::StatusOr<RoomOptions> ReadRoomOptions(std::string_view settings,
                                            RoomOptions options) {
  const nlohmann::json object =
      nlohmann::json::parse(settings, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return InvalidArgument(": is not an object");
  for (const auto& [name, value] : object.items()) {
    absl::Status status = Take(name, value, options);
    if (!status.ok()) return status;
  }
  return options;
}

HostedGame MakeHostedGame(std::string name, RoomOptions options,
                          GameFactory make) {
  return {.name = std::move(name),
          .configure = [options = std::move(options), make = std::move(make)](
                           std::string_view settings, const RoomLog& log)
              -> absl::StatusOr<HostedRoomFactory> {
            absl::StatusOr<RoomOptions> read =
                ReadRoomOptions(settings, options);
            if (!read.ok()) return read.status();
            absl::Status status = ValidateOptions(*read, make()->schema());
            if (!status.ok()) return OfSetting(status);
            return MakeRoomFactory(*std::move(read), make, log);
          },
          .message_bytes_max = kClientFrameBytesMax};
}

}  // namespace parlor::authority
