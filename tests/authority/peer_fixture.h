// A peer against an authority room that the test plays by hand: small verbs for
// both.
#ifndef PARLOR_TESTS_AUTHORITY_PEER_FIXTURE_H_
#define PARLOR_TESTS_AUTHORITY_PEER_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "authority/state_frames.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/peer.h"
#include "parlor/byte_io.h"
#include "support/scripted_connector.h"

namespace parlor::authority {

inline constexpr Duration kMs = kMillisecond;
inline constexpr Duration kStep{16'666'667};
inline constexpr int kPlayerKind = 0;  // "player": a transform and hp
inline constexpr int kHp = kTransformFields;

inline Schema PeerTestSchema() {
  return *Schema::Create({{.name = "player",
                           .fields = {{.name = "hp", .type = FieldType::kInt}},
                           .transform = true,
                           .rows_max = 8}});
}

inline ResumeToken TokenOf(int number) {
  ResumeToken token{};
  token.fill(static_cast<std::byte>(number));
  return token;
}

class PeerTest : public testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  PeerTest() {
    EXPECT_TRUE(messages_.Define({.name = "vote", .bytes_max = 16}).ok());
    rows_.TakeBaseline();
  }

  void Make(PeerOptions options = {}) {
    options.protocol = "toy/1";
    peer_ = std::make_unique<Peer>(connector_, schema_, messages_, options);
  }
  void Join() {
    ASSERT_TRUE(peer_
                    ->Join(now_, Hello{.access = "invite.CODE"},
                           {.name = "Ann", .fields = R"({"hat":3})"})
                    .ok());
  }
  // In play, before any state.
  void Play(PeerOptions options = {}) {
    Make(std::move(options));
    Join();
    link().Open(now_);
    Say(Welcome(1));
    TakeSent();
  }
  // With a row that this player controls, at 0, and shown.
  void PlayWithRow(PeerOptions options = {}) {
    row_ = rows_.Add(kPlayerKind);
    Play(std::move(options));
    SayBaseline();
    Step();
    TakeSent();
  }

  WelcomeFrame Welcome(int token) {
    return {.player = "p3",
            .seat = 2,
            .token = TokenOf(token),
            .protocol = "toy/1",
            .codec = "binary",
            .schema = schema_.ToJson(),
            .tick_hz = 60,
            .snapshot_hz = 20,
            .epoch = rows_.epoch(),
            .tick = tick_,
            .entity = row_,
            .grace_ms = 15'000};
  }

  test::ScriptedLink& link() { return connector_.last(); }
  template <typename Frame>
  void Say(const Frame& frame) {
    SayText(Write(frame));
  }
  void SayText(std::string_view text) {
    link().Say(now_, AsBytes(text), MessageKind::kText);
  }
  void SayBytes(std::span<const std::byte> bytes) { link().Say(now_, bytes); }

  // Each of a tick three later than the last one.
  void SayBaseline() {
    rows_.TakeBaseline();
    SayBytes(WriteBaseline(BinaryStateCodec(), rows_, tick_ += 3));
  }
  void SayDelta() { SayBytes(Delta()); }
  void SayDelta(const OwnBody& own) {
    const OwnWords words = *QuantiseOwn(own);
    SayBytes(WriteDelta(BinaryStateCodec(), rows_, tick_ += 3, &words));
  }
  void SayRecovery() {
    SayBytes(WriteRecovery(BinaryStateCodec(), rows_, tick_ += 3));
  }
  std::vector<std::byte> Delta() {
    return WriteDelta(BinaryStateCodec(), rows_, tick_ += 3);
  }
  void SetHp(int hp) { ASSERT_TRUE(rows_.Set(row_, kHp, hp)); }
  // As the peer shows it; -1 where there is no such row.
  std::int64_t Hp() const {
    const RowView row = peer_->rows().Get(row_);
    return row.exists() ? row.GetInt(kHp) : -1;
  }

  bool Step(const Controls& controls = {}) {
    now_ += kStep;
    return peer_->Step(now_, controls);
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
  void DropLink(CloseCode code = close_code::kDropped) {
    link().Close(now_, code);
  }
  // The next try opens, and has said join.
  void Reconnect() {
    const std::size_t calls = connector_.calls().size();
    while (connector_.calls().size() == calls) {
      ASSERT_NE(peer_->next_alarm(), kNever);
      now_ = peer_->next_alarm();
      peer_->OnAlarm(now_);
    }
    link().Open(now_);
  }

  // "input 5 held 1", "ack 9", "resync", "join ... resume 0101..": a line each.
  Texts TakeSent() {
    Texts texts;
    for (const auto& bytes : link().TakeSent()) texts.push_back(Line(bytes));
    return texts;
  }
  // The same without inputs and rtt.
  Texts TakeOthers() {
    Texts texts = TakeSent();
    std::erase_if(texts, [](const std::string& text) {
      return text.starts_with("input") || text.starts_with("rtt");
    });
    return texts;
  }

  static std::string Line(std::span<const std::byte> bytes) {
    if (const auto input = DecodeInput(bytes)) return InputLine(*input);
    if (const auto tick = DecodeAck(bytes)) {
      return "ack " + std::to_string(*tick);
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                bytes.size());
    const ClientFrame frame = ParseClientFrame(text);
    EXPECT_FALSE(std::holds_alternative<FrameRefusal>(frame)) << text;
    if (std::holds_alternative<RttFrame>(frame)) return "rtt";
    if (std::holds_alternative<ResyncFrame>(frame)) return "resync";
    if (std::holds_alternative<LeaveFrame>(frame)) return "leave";
    if (const auto* join = std::get_if<JoinFrame>(&frame)) {
      return "join " + join->name +
             (join->resume ? " resume " + TokenText(*join->resume) : "");
    }
    return std::string(text);
  }
  static std::string InputLine(const InputFrame& input) {
    std::string line = "input " + std::to_string(input.seq);
    const auto add = [&](const char* name, std::uint64_t value) {
      if (value != 0) line += std::string(name) + std::to_string(value);
    };
    add(" held ", input.held);
    add(" pressed ", input.pressed);
    if (input.axes[0] != 0) line += " x " + std::to_string(input.axes[0]);
    if (input.summed[0] != 0) {
      line += " shifted " + std::to_string(input.summed[0]);
    }
    return line;
  }

  TimePoint now_{Duration(5'000'000'000)};
  Schema schema_ = PeerTestSchema();
  Messages messages_;
  test::ScriptedConnector connector_;
  std::unique_ptr<Peer> peer_;
  // The room's.
  RowTable rows_{schema_};
  std::uint32_t tick_ = 30;
  RowId row_ = 0;
};

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_PEER_FIXTURE_H_
