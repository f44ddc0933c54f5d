// The replay log: what happened in one lockstep room, in a file. Whoever runs
// the room writes what it relayed (room_log.h), a client what its peer ran; one
// format holds both. Written as it happens, so that a crash leaves a readable
// prefix; read as if an enemy had written it. core/lockstep/REPLAY.md has every
// byte of version 2; version 1 was parlor-solo's own, and is not read.
//
// The frames that a game is played again with, whoever wrote the file, are in
// replay_frames.h.
//
// No resume token is ever in a replay. Codes, passes and addresses are not
// either: a room does not know them.
//
// One thread at a time. Nothing here touches a file: bytes go to a ReplaySink,
// and come from memory.
#ifndef PARLOR_LOCKSTEP_REPLAY_LOG_H_
#define PARLOR_LOCKSTEP_REPLAY_LOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/close_reason.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"

namespace parlor::lockstep {

namespace replay {
struct ChunkHead;
}

inline constexpr std::uint16_t kReplayVersion = 2;
inline constexpr int kReplaySeatsMax = static_cast<int>(limits::kSeats.ceiling);
// What times are told in, rounded down: below what any network's delay varies
// by, and most of the time between two messages fits into one byte.
inline constexpr Duration kReplayTick = 100 * kMicrosecond;
// No file is written or read beyond these. The longest lifetime of a room, 24
// hours, is 60 MB of 4 players at 60 Hz; 32 hostile seats at a room's default
// rate fill it in 40 minutes. A second has a chunk, and a keyframe, a drop or a
// Flush makes one more.
inline constexpr std::size_t kReplayBytesMax = std::size_t{1} << 27;
inline constexpr std::size_t kReplayChunksMax = std::size_t{1} << 20;
// Of a game's state at one frame.
inline constexpr std::size_t kReplayKeyframeBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kReplayGameNameMax = 64;

enum class ReplaySource : std::uint8_t {
  kRoom = 1,  // joins, INPUT and HASH as relayed, drops, resumes, leaves
  kPeer = 2,  // the frames that one peer ran, and its hashes of them
};

// What a game is known by. A recorder that does not know the game, as a host of
// any games, leaves it as it is here.
struct ReplayGame {
  std::string name;  // printable ASCII, up to kReplayGameNameMax
  std::uint32_t rules_version = 0;
  int delay = 0;  // the peers' input delay, 1..31; 0: not known

  friend bool operator==(const ReplayGame&, const ReplayGame&) = default;
};

struct ReplayHeader {
  ReplaySource source = ReplaySource::kRoom;
  std::uint32_t seed = 0;
  int size = 1;         // seats the room was opened for, 1..kReplaySeatsMax
  int recorded_by = 0;  // kPeer: whose seat it is; else 0
  ReplayGame game{};
  std::optional<std::uint32_t> room = std::nullopt;  // its number, where known
  std::int64_t started_unix_ms = 0;  // of the first moment; 0: not known
  // RoomOptions of a kRoom, in its order; 0 where a kPeer does not know them.
  std::int64_t hold_ms = 0;
  std::int64_t lobby_ms = 0;
  std::int64_t idle_ms = 0;
  std::int64_t lifetime_ms = 0;
  std::int64_t message_rate_per_s = 0;
  std::int64_t message_burst = 0;

  friend bool operator==(const ReplayHeader&, const ReplayHeader&) = default;
};

enum class ReplayKind : std::uint8_t {
  kInput,   // kRoom: a seat's INPUT was relayed: frame, value, byte2, byte3
  kHash,    // a seat said the hash of the state before `frame` runs: value
  kFrames,  // kPeer: `count` frames ran from `frame` on, each with these inputs
  kJoin,    // a seat of the lobby was taken
  kStart,   // seat 0 asked for it: `players` (0: now), mode
  kBegin,   // the match begins: `players`, mode. taken: the lobby's seats that
            // became 0..players-1, in this order
  kDrop,    // a seat's link was lost (code), and it is held
  kResume,  // a seat came back; where it did not drop before, on a new link
  kLeave,   // a seat is gone for good, in a lobby it is free: by `cause`
  kEnd,     // the room ended: code and text of what its connections were closed
            // with; 0 and empty: nobody was left
};

enum class ReplayCause : std::uint8_t {
  kClosed,    // its connection closed, with `code`
  kHoldOver,  // it did not come back in time
  kPutOut,    // the room closed it with `code` and `text`
};

// Fields that its kind does not name are as they are here.
struct ReplayEvent {
  ReplayKind kind{};
  Duration at{};  // since the recording began, a multiple of kReplayTick
  int seat = 0;
  std::uint32_t frame = 0;
  std::uint32_t value = 0;
  std::uint8_t byte2 = 0;  // of the message; zero from an honest peer
  std::uint8_t byte3 = 0;
  std::uint32_t count = 0;
  std::array<std::uint32_t, kReplaySeatsMax> inputs{};  // of each seat
  std::uint32_t bots = 0;  // mask of the seats that a bot played
  int players = 0;
  std::uint8_t mode = 0;
  std::uint32_t taken = 0;  // mask of seats
  ReplayCause cause{};
  CloseCode code = 0;
  std::string_view text;  // of close_reason.cc; never a client's

  friend bool operator==(const ReplayEvent&, const ReplayEvent&) = default;
};

// A seat of a match that another process had begun, as the kept state has it
// (room_state.h), without its token.
struct ReplaySeat {
  bool left = false;
  std::int64_t last_input = -1;  // frames; -1: none was relayed
  std::int64_t last_hash = -1;
  std::vector<MessageBytes> inputs;  // ascending, the last is last_input's

  friend bool operator==(const ReplaySeat&, const ReplaySeat&) = default;
};

// What a recording begins with where it does not begin with its match: the
// room was taken back after a restart. Who has not left is held from there on.
struct ReplayKept {
  std::uint8_t mode = 0;
  std::int64_t age_ms = 0;  // of the room, when it was taken back
  std::vector<ReplaySeat> seats;

  friend bool operator==(const ReplayKept&, const ReplayKept&) = default;
};

// Where the bytes of a recording go.
class ReplaySink {
 public:
  virtual ~ReplaySink() = default;
  // Some 1 KB once a second. Not OK ends the recording, and nothing else.
  virtual absl::Status Write(std::span<const std::byte> bytes) = 0;
  // The recording ends here, before what it is of: it is as large as one may
  // be. Once, and nothing follows.
  virtual void OnFull() {}
};

// Writes a recording, chunk by chunk: one is complete, and with the sink, once
// it is a second old at the next call, or full, or on Flush. What was written
// is at each moment a readable file that is torn at its end.
//
// Calls say what happened, in order; that it can have happened is the caller's
// to know (PARLOR_CHECK). `now` may not fall. Once the sink has failed, or the
// file is full (kReplayBytesMax or kReplayChunksMax, ResourceExhausted), calls
// do nothing.
//
// No allocation once its buffers are warm, but by AddKeyframe.
class ReplayLogWriter {
 public:
  // `start` is the recording's time 0. `header` is valid; see Check. `kept`:
  // the match goes on from there, and is in it from the start.
  ReplayLogWriter(ReplaySink& sink, const ReplayHeader& header, TimePoint start,
                  const std::optional<ReplayKept>& kept = std::nullopt);
  ReplayLogWriter(const ReplayLogWriter&) = delete;
  ReplayLogWriter& operator=(const ReplayLogWriter&) = delete;
  ~ReplayLogWriter();

  // InvalidArgument: what no recording can be of.
  static absl::Status Check(const ReplayHeader& header);

  // Anything but kFrames. event.at does not count, `now` does.
  void Add(TimePoint now, const ReplayEvent& event);
  // INPUT or HASH as a room relays it: the way of every message.
  void AddMessage(TimePoint now, const MessageBytes& message);

  // kPeer: the match begins, as Game::OnStart is told of it.
  void Begin(TimePoint now, int players, std::uint8_t mode);
  // kPeer: the next frame, from 0 on, as Game::Step is told of it. `inputs` has
  // one of each player.
  void AddFrame(TimePoint now, std::span<const std::uint32_t> inputs,
                std::uint32_t bots);
  // kPeer: the own hash of the state as it is now, before the frame after the
  // last AddFrame: what Game::Hash answers. Once a frame at most.
  void AddHash(TimePoint now, std::uint32_t hash);
  // kPeer: the game's state as it is now, so that playing may begin here. Once
  // a frame at most. False, and nothing written: it is larger than
  // kReplayKeyframeBytesMax.
  bool AddKeyframe(TimePoint now, std::span<const std::byte> state);

  // What was said so far goes to the sink.
  void Flush();
  // And that this is all. Nothing may follow.
  void Finish();

  // Not OK once the recording has ended early, and why.
  const absl::Status& status() const { return status_; }
  std::uint32_t frames() const;  // kPeer: added
  std::uint64_t bytes() const;   // that the sink has taken

 private:
  struct State;

  std::uint32_t MakeRoom(TimePoint now);
  void BeginChunk(std::uint32_t tick);
  void CloseIfDue(std::uint32_t tick);
  void TakeRun();
  void AddChunk(const replay::ChunkHead& head,
                std::span<const std::byte> payload);
  void Write();

  std::unique_ptr<State> state_;
  absl::Status status_;
};

struct ReplayKeyframe {
  std::uint32_t frame = 0;           // the state is the one before it runs
  std::span<const std::byte> state;  // in the bytes of the file
};

// Reads a recording from memory. Everything in it is checked before the first
// event is given out: an hour of 4 players takes some 20 ms. The bytes outlive
// the reader, its events and its keyframes.
class ReplayLogReader {
 public:
  // InvalidArgument: not a replay, another version, or damaged. DataLoss: the
  // file is torn, its recording was cut off. The text says what is wrong and at
  // which byte. With `partial`, the chunks before that place are taken in both
  // cases, and torn_at() and warning() tell of it; a header must be whole.
  static absl::StatusOr<ReplayLogReader> Open(std::span<const std::byte> bytes,
                                              bool partial = false);
  ReplayLogReader(ReplayLogReader&&) noexcept;
  ReplayLogReader& operator=(ReplayLogReader&&) noexcept;
  ~ReplayLogReader();

  const ReplayHeader& header() const;
  // What the match began with, if it did: of kBegin, or of what was kept.
  struct Match {
    int players = 0;
    std::uint8_t mode = 0;
  };
  const std::optional<Match>& match() const;
  const std::optional<ReplayKept>& kept() const;
  std::uint64_t events() const;
  Duration length() const;  // the time of the last event
  // The input delay: the header's. Where that does not say, the frame that most
  // seats began with, of several the lowest, which a hostile seat may have made
  // wrong. 0: not known, as nobody said anything, or not from the start.
  int delay() const;

  // Where the file stops to make sense; absent when it is whole. And why, as
  // Open would have said it.
  std::optional<std::size_t> torn_at() const;
  const std::string& warning() const;

  // The next event, or false after the last one.
  bool Next(ReplayEvent& event);
  void Rewind();
  // By the index of the file's chunks, some microseconds: the next event is the
  // first one at or after `at`.
  void SeekTime(Duration at);
  // The next event is at or before the first that any seat said of `frame` or a
  // later one; at most a chunk before it.
  void SeekFrame(std::uint32_t frame);
  // What frame the match was at then, exact to a chunk (a second): all seats'
  // inputs of the frames below were in.
  std::uint32_t FrameAt(Duration at) const;
  // When `frame` was reached, as exact.
  Duration TimeOf(std::uint32_t frame) const;

  // Ascending by frame.
  std::span<const ReplayKeyframe> keyframes() const;
  // The last at or before `frame`, or null.
  const ReplayKeyframe* KeyframeFor(std::uint32_t frame) const;

 private:
  struct State;
  explicit ReplayLogReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_REPLAY_LOG_H_
