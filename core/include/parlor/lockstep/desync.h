// Desync: which frame, which field, whose. Peers of one match run the same
// frames, and say hashes of their states (peer.h). Where two hashes differ,
// this names the first frame after which the states did, the fields with their
// values, and the seat that was wrong:
//
//   frame 1184: seat 2 differs from seats 0, 1, 3
//     cycles[1].heading is down (2), elsewhere left (3)
//
// Three steps. A DesyncRecorder stands between a peer and its game and keeps
// the last states. When the peer sees a desync, its dump is taken: a value,
// whose bytes can be sent to whoever looks for the fault. FindDesync looks into
// the dumps of as many seats as there are; with the game at hand it runs the
// frames again, and then one dump is enough.
//
//   DesyncRecorder recorder(game, {.game = "cycles"});
//   Peer peer(connector, recorder, options);
//   recorder.Follow(peer);
//   ...
//   if (recorder.frozen()) Send(EncodeDesyncDump(recorder.Dump()));
//
// The game describes its state (state_description.h, Game::described). Without
// that, a dump has hashes and inputs: the frame can be named, and who.
//
// One thread at a time; no I/O.
#ifndef PARLOR_LOCKSTEP_DESYNC_H_
#define PARLOR_LOCKSTEP_DESYNC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/state_schema.h"

namespace parlor::lockstep {

// ---- What a seat knows

// Of one frame. State and hash are those before it runs, as a HASH's.
struct DesyncFrame {
  std::uint32_t frame = 0;
  std::uint32_t hash = 0;
  // Saved bytes; absent: not kept of this frame.
  std::optional<std::vector<std::byte>> state = std::nullopt;
  // What it ran with; absent: it has not run.
  bool ran = false;
  std::uint32_t bots = 0;
  std::vector<std::uint32_t> inputs{};  // match.players of them

  friend bool operator==(const DesyncFrame&, const DesyncFrame&) = default;
};

struct DesyncDump {
  std::string game{};  // printable ASCII, up to 64
  Match match{};       // match.seat: whose dump it is
  // As the peer says: the first frame whose hashes differed, whose differed,
  // and the last frame before at which that seat's hash was the same. -1: not
  // known. Of a peer that ended with kOtherBuild, desync is 0.
  std::int64_t desync = -1;
  int desync_seat = -1;
  std::int64_t agreed = -1;
  // Absent: the game does not describe its state.
  std::optional<StateSchema> schema = std::nullopt;
  std::vector<DesyncFrame> frames{};  // one after the other, without a hole
};

// A dump as bytes, and back; core/lockstep/DESYNC.md has every byte of version
// 1. Reading is as if an enemy had written them: InvalidArgument says what is
// wrong and at which byte. States are checked against the schema.
inline constexpr std::uint16_t kDesyncVersion = 1;
// No dump is larger, has more frames, or more bytes of states in all.
inline constexpr std::size_t kDesyncBytesMax = std::size_t{1} << 28;
inline constexpr std::size_t kDesyncFramesMax = 65'536;
inline constexpr std::size_t kDesyncUnpackedMax = std::size_t{1} << 27;
// `dump` is valid: a recorder's, or one that was read.
std::vector<std::byte> EncodeDesyncDump(const DesyncDump& dump);
absl::StatusOr<DesyncDump> ParseDesyncDump(std::span<const std::byte> bytes);

// ---- Keeping it

struct DesyncOptions {
  std::string game{};  // its name: printable ASCII, up to 64
  // Of all that the recorder keeps, 64 KiB to 1 GiB, taken when the match
  // begins. Half of it are states: a whole one now and then, and what changed
  // from frame to frame in between. The rest is the index, and three states to
  // work with. Of a state above a sixteenth of it only hashes are kept. A
  // desync is seen some hash_every + 3 * delay frames late; in 16 MiB there is
  // a minute of a small game, and about a second of 10,000 entities of 32 bytes
  // that all move.
  std::size_t bytes_max = std::size_t{1} << 24;
  // Frames between two states that are kept. Above 1 a fault that does not
  // repeat itself is told with the fields of the next state that was kept, some
  // frames later.
  int state_every = 1;
};

// InvalidArgument names the option, its value and the range.
absl::Status ValidateOptions(const DesyncOptions& options);

// A peer's game, recorded. It asks the game for its hash once a frame.
class DesyncRecorder final : public Game {
 public:
  // Both outlive it; `options` are valid.
  explicit DesyncRecorder(Game& game, const DesyncOptions& options = {});
  ~DesyncRecorder() override;
  DesyncRecorder(const DesyncRecorder&) = delete;
  DesyncRecorder& operator=(const DesyncRecorder&) = delete;

  // Whose game this is. From the step on in which `peer` has seen a desync, the
  // recorder stands still. `peer` outlives it, or it is told null.
  void Follow(const Peer* peer);
  // Stands still from now on, where something else has found a difference.
  void Freeze();

  void OnStart(const Match& match) override;
  std::uint32_t Input(std::uint32_t frame) override;
  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override;
  std::uint32_t Hash() override;
  DescribedState* described() override { return game_.described(); }

  // What is kept is of the time of a desync, and stays.
  bool frozen() const;
  // At any time; without frames before the match.
  DesyncDump Dump() const;

  // That are kept: the last ones.
  std::size_t frames() const;
  // Of memory, at most options.bytes_max.
  std::size_t bytes() const;

 private:
  struct Ring;
  // What the peer says of its desync.
  struct Seen {
    std::int64_t desync = -1;
    int seat = -1;
    std::int64_t agreed = -1;
  };

  Seen Look() const;
  void Keep();

  Game& game_;
  const DesyncOptions options_;
  const Peer* peer_ = nullptr;
  Seen seen_;  // before it was told null
  std::optional<Match> match_;
  std::unique_ptr<Ring> ring_;
  std::uint32_t next_ = 0;  // frame
  std::uint32_t hash_ = 0;  // of the state before it
  bool frozen_ = false;
};

// ---- Finding it

// A game of the build that is asked, before OnStart, or null. It describes its
// state.
using FreshGame = std::function<std::unique_ptr<Game>()>;

// How it was decided who was wrong.
enum class DesyncJudge : std::uint8_t {
  kMajority,      // more than half of the dumps agree
  kResimulation,  // the frames were run again from the last common state, and
                  // somebody's states came out
  kNobody,        // two sides, and no game to run; or neither came out
};

enum class DesyncKind : std::uint8_t {
  kNone,    // of the frames that all have, nobody's differ
  kState,   // the same inputs made different states
  kInputs,  // a frame ran with different inputs or bots
  kBuild,   // the states are described otherwise
  kMatch,   // frame 0 differs: other rules, options or delay
};

struct DesyncSide {
  std::vector<int> seats{};  // of the dumps that agree, ascending
  // Against the first side. Empty: it is that, or their states of that frame
  // were not kept.
  std::vector<StateDifference> differences{};  // a: here, b: elsewhere
  std::size_t differences_total = 0;
};

struct DesyncReport {
  DesyncKind kind = DesyncKind::kNone;
  // The first frame before which the states differ; the one before made it.
  // kInputs: that ran with different inputs.
  std::uint32_t frame = 0;
  // The hashes of all frames before it are the same. False: the frames before
  // were not kept by everyone, and it may have begun earlier.
  bool exact = false;
  // The frame of the differences below, `frame` or a later one.
  std::uint32_t shown = 0;
  DesyncJudge judge = DesyncJudge::kNobody;
  // The right one first, where that was decided; else those with most seats.
  // With one dump, the side without seats is what the game makes here.
  std::vector<DesyncSide> sides{};
  // Seats that were wrong, ascending; empty with kNobody.
  std::vector<int> odd{};
  std::string detail{};  // kBuild: the first field that is described otherwise
};

// `dumps` are of one match, at most one of a seat. `fresh` runs frames again:
// needed with one dump, and to decide between two sides of one size. Whoever
// does not trust where the dumps come from should know that the game's Load
// has to refuse what its Step cannot run.
//
// InvalidArgument: they are not of one match, or there is nothing to compare;
// says why.
absl::StatusOr<DesyncReport> FindDesync(std::span<const DesyncDump> dumps,
                                        const FreshGame& fresh = nullptr);

// For people: a line, and one a field.
std::string DesyncText(const DesyncReport& report);

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_DESYNC_H_
