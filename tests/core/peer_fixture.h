// A peer against a host that the test plays by hand: small verbs for both.
#ifndef PARLOR_TESTS_CORE_PEER_FIXTURE_H_
#define PARLOR_TESTS_CORE_PEER_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/wire.h"
#include "support/scripted_connector.h"
#include "support/toy_game.h"

namespace parlor::lockstep {

inline constexpr Duration kMs{1'000'000};
inline constexpr Duration kStep{16'666'667};
inline constexpr std::uint32_t kSeed = 0x5eed;
inline constexpr std::uint32_t kToken = 0xabc123;

class PeerTest : public testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  // The peer's seat is `seat`, in a match of `players`.
  void Play(int players, int seat, const PeerOptions& options = {}) {
    Make(options);
    Join(players);
    link().Open(now_);
    Say({.kind = Kind::kWelcome,
         .slot = static_cast<std::uint8_t>(seat),
         .players = static_cast<std::uint8_t>(players),
         .mode = 9,
         .frame = kSeed,
         .value = kToken});
    TakeSent();
  }
  void Make(const PeerOptions& options) {
    options_ = options;
    game_.word = [](std::uint32_t frame) { return 1000 + frame; };
    peer_ = std::make_unique<Peer>(connector_, game_, options);
  }
  void Join(int players) {
    peer_->Join(now_, Hello{.room = 4,
                            .players = players,
                            .access = "invite.CODE",
                            .device = {},
                            .resume = {}});
  }

  test::ScriptedLink& link() { return connector_.last(); }
  void Say(const Message& message) { link().Say(now_, Encode(message)); }
  void Say(Kind kind, int slot, std::uint32_t frame = 0,
           std::uint32_t value = 0) {
    Say({.kind = kind,
         .slot = static_cast<std::uint8_t>(slot),
         .players = 0,
         .mode = 0,
         .frame = frame,
         .value = value});
  }
  // INPUTs of `slot` for frames first..last, whose words are the frame's.
  void SayInputs(int slot, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t f = first; f <= last; ++f) Say(Kind::kInput, slot, f, f);
  }

  StepResult Step() {
    now_ += kStep;
    return peer_->Step(now_);
  }
  // Steps `count` times, giving the other seats' inputs just in time.
  void StepWith(const std::vector<int>& others, int count) {
    const auto delay = static_cast<std::uint32_t>(options_.delay);
    for (int i = 0; i < count; ++i) {
      for (const int slot : others) {
        if (peer_->frame() >= delay)
          SayInputs(slot, peer_->frame(), peer_->frame());
      }
      ASSERT_EQ(Step(), StepResult::kRan) << "frame " << peer_->frame();
    }
  }
  // Runs the alarms up to `until`.
  void Wait(Duration time) {
    const TimePoint until = now_ + time;
    while (peer_->next_alarm() <= until) {
      now_ = std::max(now_, peer_->next_alarm());
      peer_->OnAlarm(now_);
    }
    now_ = until;
  }

  // From a lost link to WELCOME, RESUME on a new one.
  void DropLink(CloseCode code = close_code::kDropped) {
    link().Close(now_, code);
  }
  void Reconnect() {
    const std::size_t calls = connector_.calls().size();
    while (connector_.calls().size() == calls) {
      ASSERT_NE(peer_->next_alarm(), kNever);
      now_ = peer_->next_alarm();
      peer_->OnAlarm(now_);
    }
    link().Open(now_);
  }
  void WelcomeBack() {
    const Match& match = *peer_->match();
    Say({.kind = Kind::kWelcome,
         .slot = static_cast<std::uint8_t>(match.seat),
         .players = static_cast<std::uint8_t>(match.players),
         .mode = match.mode,
         .frame = match.seed,
         .value = kToken});
    Say(Kind::kResume, match.seat);
  }
  void ComeBack() {
    Reconnect();
    WelcomeBack();
  }

  // "INPUT 5 1005", "HASH 0", "START 3 9": hashes without their value.
  Texts TakeSent() {
    Texts texts;
    for (const auto& bytes : link().TakeSent()) {
      EXPECT_EQ(bytes.size(), kMessageSize);
      if (bytes.size() != kMessageSize) continue;
      const Message m = Decode(std::span(bytes).template first<kMessageSize>());
      texts.push_back(Text(m));
    }
    return texts;
  }
  static std::string Text(const Message& m) {
    switch (m.kind) {
      case Kind::kInput:
        return "INPUT " + std::to_string(m.frame) + " " +
               std::to_string(m.value);
      case Kind::kHash:
        return "HASH " + std::to_string(m.frame);
      case Kind::kStart:
        return "START " + std::to_string(m.players) + " " +
               std::to_string(m.mode);
      default:
        return "KIND " + std::to_string(static_cast<int>(m.kind));
    }
  }
  // "INPUT f 1000+f" for frames first..last.
  static Texts OwnInputs(std::uint32_t first, std::uint32_t last) {
    Texts texts;
    for (std::uint32_t f = first; f <= last; ++f) {
      texts.push_back(
          Text({.kind = Kind::kInput, .frame = f, .value = 1000 + f}));
    }
    return texts;
  }

  TimePoint now_{Duration(5'000'000'000)};
  PeerOptions options_;
  test::ScriptedConnector connector_;
  test::ToyGame game_;
  std::unique_ptr<Peer> peer_;
};

}  // namespace parlor::lockstep

#endif  // PARLOR_TESTS_CORE_PEER_FIXTURE_H_
