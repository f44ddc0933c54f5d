// RoomLog: records a room into a replay log.
//
//   MySink sink;                                 // a file, memory
//   RoomLog log(sink, now, room, {});            // before anybody has joined
//   room.SetRecorder(&log);                      // log outlives room
//
// What it cannot write, it does not: the room notices nothing of a sink that
// fails.
#ifndef PARLOR_LOCKSTEP_ROOM_LOG_H_
#define PARLOR_LOCKSTEP_ROOM_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/time.h"

namespace parlor::lockstep {

// What a recording says of its room that the room does not know.
struct RoomLabel {
  std::optional<std::uint32_t> number = std::nullopt;
  ReplayGame game{};
  std::int64_t started_unix_ms = 0;
};

class RoomLog final : public RoomRecorder, private ReplaySink {
 public:
  // The sink gets nothing before the match begins: a lobby that comes to
  // nothing leaves no file, unless more happens in it than this. Then it has
  // all of it.
  static constexpr std::size_t kLobbyBytesMax = 16 * 1024;

  // `now` is the recording's time 0. `sink` outlives this. `kept`: what `room`
  // was made of, where another process had begun its match; no token in it is
  // written down.
  RoomLog(ReplaySink& sink, TimePoint now, const Room& room,
          const RoomLabel& label, const RoomState* kept = nullptr);
  ~RoomLog() final { Flush(); }
  RoomLog(const RoomLog&) = delete;
  RoomLog& operator=(const RoomLog&) = delete;

  // What was recorded is with the sink: of a match, once its seats change, and
  // every second while messages are relayed.
  void Flush() { writer_.Flush(); }
  // Not OK: it ended before the room did, and why.
  const absl::Status& status() const { return writer_.status(); }

  void OnRelay(TimePoint now, const MessageBytes& message) override {
    writer_.AddMessage(now, message);
  }
  void OnEvent(TimePoint now, const ReplayEvent& event) override;

 private:
  absl::Status Write(std::span<const std::byte> bytes) override;
  void OnFull() override { sink_.OnFull(); }

  ReplaySink& sink_;
  bool match_;         // has begun
  bool open_ = false;  // the sink has its begin, and gets all else
  std::vector<std::byte> lobby_;
  ReplayLogWriter writer_;
};

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_ROOM_LOG_H_
