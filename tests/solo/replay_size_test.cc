// What a recording of a match of Cycles costs: a room of 4 bots at 60 Hz, every
// INPUT and HASH with its time, is at most 1 KB a second.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cycles/state.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/room_log.h"
#include "parlor/random.h"
#include "support/replay_bytes.h"

namespace parlor::solo {
namespace {

constexpr int kPlayers = 4;
constexpr int kDelay = 2;
constexpr Duration kFrameTime = kSecond / cycles::kFramesPerSecond;

class DeafConnection final : public Connection {
 public:
  void SetHandler(ConnectionHandler*) override {}
  using Connection::Send;
  SendResult Send(Lane, MessageKind, std::span<const std::byte>) override {
    return SendResult::kQueued;
  }
  using Connection::Close;
  void Close(CloseCode, std::string_view) override {}
  void Abort() override {}
  bool is_open() const override { return true; }
  std::size_t queued_bytes(Lane) const override { return 0; }
};

// Plays `seconds` of bots that speak as players do, each at its own phase and
// with a few milliseconds of jitter, and records both as the room and as a
// peer. Without `thinking` they press nothing.
class Played {
 public:
  Played(int seconds, bool thinking) : thinking_(thinking) {
    lockstep::RoomOptions options;
    options.seed = 5;
    SeededEntropy entropy(1);
    lockstep::Room room(now_, kPlayers, options, entropy);
    lockstep::RoomLog log(room_bytes, now_, room, {});
    room.SetRecorder(&log);
    std::array<DeafConnection, kPlayers> seats;
    for (DeafConnection& seat : seats) room.Join(now_, seat);
    Begin();
    const int frames = seconds * cycles::kFramesPerSecond;
    for (int f = 0; f < frames; ++f) {
      for (int s = 0; s < kPlayers; ++s) Say(room, seats, f, s);
      Run(f);
    }
    room.End(now_, CloseReason::kNormal);
    peer_->Finish();
  }

  test::MemoryReplaySink room_bytes;
  test::MemoryReplaySink peer_bytes;
  std::size_t pressed = 0;  // words that differ from the one before

 private:
  using Words = std::array<std::uint32_t, kPlayers>;

  void Begin() {
    peer_ = std::make_unique<lockstep::ReplayLogWriter>(
        peer_bytes,
        lockstep::ReplayHeader{
            .source = lockstep::ReplaySource::kPeer,
            .seed = 5,
            .size = kPlayers,
            .game = {.name = "cycles", .rules_version = 1, .delay = kDelay}},
        now_);
    peer_->Begin(now_, kPlayers, 0);
    state_ = cycles::Start({.players = kPlayers}, 5, kDelay);
  }

  void Say(lockstep::Room& room, std::array<DeafConnection, kPlayers>& seats,
           int f, int s) {
    const auto i = static_cast<std::size_t>(s);
    now_ = TimePoint{} + f * kFrameTime + s * 4 * kMillisecond +
           Duration{random_.Below(3'500'000)};
    const std::uint32_t word = thinking_ ? cycles::BotWord(state_, s) : 0;
    if (word != said_[1][i]) ++pressed;
    said_[2][i] = word;
    const auto say = [&](lockstep::Kind kind, int frame, std::uint32_t value) {
      room.OnMessage(
          now_, seats[i], MessageKind::kBinary,
          lockstep::Encode({.kind = kind,
                            .frame = static_cast<std::uint32_t>(frame),
                            .value = value}));
    };
    say(lockstep::Kind::kInput, f + kDelay, word);
    if (f % 30 == 0) say(lockstep::Kind::kHash, f, cycles::Hash32(state_));
  }

  void Run(int f) {
    if (f % 30 == 0) peer_->AddHash(now_, cycles::Hash32(state_));
    // Half a minute back is a second of a game's time to play again.
    if (f % 1'800 == 0) {
      peer_->AddKeyframe(now_, std::as_bytes(std::span(&state_, 1)));
    }
    peer_->AddFrame(now_, said_[0], 0);
    if (thinking_) cycles::Step(state_, said_[0], 0);
    said_[0] = said_[1];
    said_[1] = said_[2];
  }

  const bool thinking_;
  Random random_{7};
  TimePoint now_{};
  cycles::State state_{};
  std::array<Words, 3> said_{};  // of this frame and the next ones
  std::unique_ptr<lockstep::ReplayLogWriter> peer_;
};

TEST(ReplaySize, OfFourPlayersIsBelowAKilobyteASecond) {
  constexpr std::size_t kSeconds = 180;
  const Played played(kSeconds, true);
  const std::size_t room = played.room_bytes.bytes.size() / kSeconds;
  const std::size_t peer = played.peer_bytes.bytes.size() / kSeconds;
  std::printf("a room's: %zu bytes a second, a peer's with keyframes: %zu\n",
              room, peer);
  EXPECT_GT(played.pressed, kSeconds);  // they play
  EXPECT_LE(room, 1'000u);
  EXPECT_LE(peer, 500u);
}

double CpuMs() {
  return static_cast<double>(std::clock()) * 1e3 / CLOCKS_PER_SEC;
}

// From the bytes to the frame, without any index beside the file.
TEST(ReplaySize, AMomentWithinAnHourIsFoundIn200Ms) {
  const Played played(3'600, false);
  const double began = CpuMs();
  absl::StatusOr<lockstep::ReplayLogReader> log =
      lockstep::ReplayLogReader::Open(played.room_bytes.bytes);
  ASSERT_TRUE(log.ok()) << log.status();
  const double opened = CpuMs();
  log->SeekTime(2'700 * kSecond);
  lockstep::ReplayEvent event;
  ASSERT_TRUE(log->Next(event));
  EXPECT_LT(event.at, 2'701 * kSecond);
  const double sought = CpuMs();
  absl::StatusOr<lockstep::ReplayFrames> frames =
      lockstep::ReplayFrames::Of(*log);
  ASSERT_TRUE(frames.ok()) << frames.status();
  lockstep::ReplayFrame frame;
  ASSERT_TRUE(frames->Read(log->FrameAt(2'700 * kSecond), frame));
  const double made = CpuMs();
  std::printf("%.1f MB, %llu events: open %.1f ms, seek %.3f, frames %.1f\n",
              static_cast<double>(played.room_bytes.bytes.size()) * 1e-6,
              static_cast<unsigned long long>(log->events()), opened - began,
              sought - opened, made - sought);
  EXPECT_LT(sought - opened, 200);
  EXPECT_LT(frame.frame, 2'701u * 60);
  EXPECT_GE(frame.frame, 2'698u * 60);
  // Of the processor, of a release build; others are slower.
#ifdef NDEBUG
  EXPECT_LT(made - began, 200);
#endif
}

}  // namespace
}  // namespace parlor::solo
