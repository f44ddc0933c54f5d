// Session: one match as one player sees it. It joins a room over a Link, asks
// it to start, and steps the peer and the game at 60 Hz. The loop around it
// (terminal, headless) decides what time it is.
#ifndef PARLOR_SOLO_SESSION_H_
#define PARLOR_SOLO_SESSION_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

#include "cycles/described.h"
#include "cycles/state.h"
#include "link.h"
#include "parlor/fixed_step.h"
#include "parlor/lockstep/desync.h"
#include "parlor/lockstep/peer.h"
#include "parlor/time.h"
#include "recorder.h"

namespace parlor::solo {

// Presses of keys on their way into input words. The game acts on a bit that
// was not set in the frame before, so two presses of one key need a frame
// between them.
class PressQueue {
 public:
  // One bit of cycles::word. Presses beyond kMax are dropped: what a player
  // typed a second ago is not what he wants now.
  void Press(std::uint32_t bit);
  std::uint32_t NextWord();
  void Clear() { presses_.clear(); }

 private:
  static constexpr std::size_t kMax = 4;

  std::deque<std::uint32_t> presses_;
  std::uint32_t last_ = 0;
};

// Who says that the match begins.
enum class StartBy : std::uint8_t {
  kSession,  // this one, as soon as it is seated
  // Whoever has seat 0: here by Start(), or when the room is full.
  kPlayer,
};

struct SessionOptions {
  cycles::Options game;  // of a match that is started here
  // What is said to join; `players` is the room's size, 0 that of `game`.
  Hello hello{};
  StartBy start_by = StartBy::kSession;
  // The same for everyone in a match: 1 where the room is in this process and
  // nobody else is in it, kNetworkDelay where others are.
  int delay = 1;
  // A bot plays the own seat. Where others are in the match it says its moves
  // as a player would, with the delay of one.
  bool own_seat_is_bot = false;
  std::string record;  // a file to write, or empty
  // A file to write when another seat sees another match, or empty.
  std::string desync{};
  // The time of day, for the recording; null: it is not to be known.
  std::int64_t (*unix_ms)() = nullptr;
};

// 2 frames, 33 ms: what the way to a room and back takes between cities.
inline constexpr int kNetworkDelay = 2;

class Session final : private lockstep::Game {
 public:
  // Joins with the first Turn. `link` outlives the session.
  Session(const SessionOptions& options, Link& link);
  // Ends it: finishes the recording and leaves.
  ~Session() override;

  // One turn of the loop: moves bytes, acts on deadlines, runs the frames that
  // are due. `frame_limit`: no frame from this one on is run; what the others
  // need of this seat to get there is sent.
  void Turn(TimePoint now, std::uint32_t frame_limit = UINT32_MAX);
  // Turn has something to do then.
  TimePoint next_turn() const;

  void Press(std::uint32_t bit) { presses_.Press(bit); }
  void ClearPresses() { presses_.Clear(); }

  // Begins the match with who is seated, if this is seat 0 in a lobby; bots
  // take the places that are empty.
  void Start();

  // Finishes the recording and leaves the room. Turn does nothing more; turn
  // the link until left(), or the room takes it for a lost one.
  void End();
  // The room has been told, or there is no one to tell.
  bool left() const;

  // Null until the match starts.
  const cycles::State* state() const { return state_ ? &*state_ : nullptr; }
  const std::optional<lockstep::Match>& match() const { return peer_.match(); }
  std::uint32_t frame() const { return peer_.frame(); }
  // The lobby, who is away, whether it is reconnecting: what the peer knows.
  const lockstep::Peer& peer() const { return peer_; }
  // The first frame in which a bot played a seat that was left, or -1.
  std::int64_t taken_over(int seat) const {
    return taken_over_.at(static_cast<std::size_t>(seat));
  }
  // The match cannot go on, or never began: error() says why, in words.
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  // Ok without a recording.
  absl::Status record_status() const {
    return recorder_ ? recorder_->status() : absl::OkStatus();
  }
  // How writing options.desync went; absent: nothing differed.
  const std::optional<absl::Status>& desync_status() const {
    return desync_status_;
  }

 private:
  void OnStart(const lockstep::Match& match) override;
  std::uint32_t Input(std::uint32_t frame) override;
  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override;
  std::uint32_t Hash() override;
  lockstep::DescribedState* described() override {
    return view_ ? &*view_ : nullptr;
  }

  lockstep::Game& Recorded();
  bool Ask(int players);
  void Advance(TimePoint now);
  void RunFrames(TimePoint now, std::uint32_t frame_limit);
  void CheckEnd();
  void CheckDesync();

  SessionOptions options_;
  TimePoint now_{};  // of the last turn
  Link& link_;
  std::optional<lockstep::DesyncRecorder> desync_;  // the peer's game, then
  std::optional<absl::Status> desync_status_;
  lockstep::Peer peer_;
  bool asked_to_start_ = false;
  bool own_bot_speaks_ = false;  // says its moves, because others are there
  bool ended_ = false;
  std::string error_;
  std::optional<FixedStep> steps_;  // from the match's start
  std::optional<cycles::State> state_;
  std::optional<lockstep::StateView<cycles::State>> view_;
  std::optional<Recorder> recorder_;
  PressQueue presses_;
  std::array<std::int64_t, cycles::kPlayersMax> taken_over_;
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_SESSION_H_
