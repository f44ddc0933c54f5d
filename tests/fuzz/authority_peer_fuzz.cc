// A fuzzer's bytes play the room, the network and the time against the client
// side of an authority room: frames a room says, the same damaged, and what is
// none. Whatever they are, nothing may assert, and:
//  - what it keeps is bounded, and its rows are such as the schema allows;
//  - it sends only frames of a client: inputs in order and only in play, acks
//    of what it shows, a resync a second, the token of its last welcome;
//  - once it has ended, with a reason, it says nothing more and has no alarm.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "authority/state_forms.h"
#include "authority/state_frames.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/peer.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/check_text.h"
#include "support/scripted_connector.h"

namespace parlor::authority {
namespace {

using std::chrono::milliseconds;

constexpr Duration kStep{16'666'667};

void MoveOn(OwnBody& body, const InputFrame& input, Duration step) {
  body.position.x += static_cast<float>(input.axes[0]) *
                     std::chrono::duration<float>(step).count();
}

class Run {
 public:
  explicit Run(ByteReader& bytes) : bytes_(bytes) {
    PARLOR_CHECK_OK(messages_.Define({.name = "vote", .bytes_max = 16}));
    PeerOptions options;
    options.protocol = "toy/1";
    const int how = bytes_.U8();
    if ((how & 1) != 0) options.move = MoveOn;
    options.retries = how >> 1 & 3;
    if ((how & 8) != 0) options.codecs = {"json"};
    peer_ = std::make_unique<Peer>(connector_, schema_, messages_, options);
    PARLOR_CHECK_OK(peer_->Join(now_, Hello{}, {.name = "Ann"}));
    rows_.Add(0);
    rows_.TakeBaseline();
    // Most runs come to play.
    if ((how & 0x70) != 0) {
      Open();
      Say(Write(Welcome()));
      CheckSent();
    }
  }

  void Go() {
    while (bytes_.ok() && bytes_.remaining() > 0) {
      Act();
      CheckSent();
      Check();
    }
    if (Below(2) == 0) peer_.reset();
    for (const auto& call : connector_.calls()) {
      if (!call.link->destroyed()) call.link->Close(now_, 1000);
    }
  }

 private:
  int Below(int bound) { return bytes_.U8() % bound; }

  void Act() {
    switch (Below(16)) {
      case 0:
        return Say(Changed(Write(Welcome())));
      case 1:
      case 2:
        return Say(Changed(Text()));
      case 3:
      case 4:
      case 5:
        return SayState();
      case 6:
        return Say(std::string(AsText(Taken())));
      case 7:
        return SayBytes(Taken());
      case 8:
      case 9:
      case 10:
        return Steps(1 + Below(16));
      case 11:
        return ChangeRows();
      case 12:
        return Lose();
      case 13:
        return Wait(milliseconds(16 * bytes_.U8()));
      case 14:
        Open();
        return Say(Write(Welcome()));
      default:
        return Play();
    }
  }

  // What the player does besides steps.
  void Play() {
    switch (Below(8)) {
      case 0:
        if (Below(8) == 0) peer_->Leave();
        return;
      case 1:
        return peer_->SetFocus(Below(2) == 0);
      case 2:
        return peer_->Press(bytes_.U8());
      case 3:
        return peer_->Shift(static_cast<std::size_t>(Below(kAxes)),
                            std::numeric_limits<std::int32_t>::max());
      case 4:
        peer_->Send("vote", Below(2) == 0 ? "1" : "[");
        return;
      default:
        // To the next alarm, or a while.
        return Wait(std::min<Duration>(peer_->next_alarm() - now_,
                                       milliseconds(100'000)));
    }
  }

  std::span<const std::byte> Taken() {
    return bytes_.Bytes(std::min<std::size_t>(bytes_.U8(), bytes_.remaining()));
  }

  WelcomeFrame Welcome() {
    WelcomeFrame welcome{.player = "p3",
                         .seat = 2,
                         .token = {},
                         .protocol = "toy/1",
                         .codec = "binary",
                         .schema = schema_.ToJson(),
                         .tick_hz = 60,
                         .snapshot_hz = 20,
                         .epoch = 1,
                         .tick = 1,
                         .entity = 1,
                         .grace_ms = 15'000};
    const int how = Below(32);
    if (how >= 16) welcome.codec = "json";
    if (how % 16 == 1) welcome.player = "p4";
    if (how % 16 == 2) welcome.protocol = "toy/2";
    if (how % 16 == 3) welcome.snapshot_hz = 1 + Below(120);
    welcome.token.fill(static_cast<std::byte>(++tokens_));
    return welcome;
  }

  std::string Text() {
    switch (Below(8)) {
      case 0: {
        RosterFrame roster;
        for (int seat = Below(8); seat >= 0; --seat) {
          roster.players.push_back({.id = "p" + std::to_string(seat + 1),
                                    .seat = seat,
                                    .name = "B"});
        }
        return Write(roster);
      }
      case 1:
        return Write(TickFrame{
            .tick = tick_,
            .ack = static_cast<std::uint32_t>(Below(200)),
            .entity = static_cast<std::uint32_t>(Below(5)),
            .events = {{.kind = TickEvent::Kind::kHud, .value = "{}"}}});
      case 2:
      case 3:
        for (int i = bytes_.U8(); i > 0; --i) {
          Say(Write(RoomMsgFrame{.name = "vote", .payload = "1"}));
        }
        return Write(RoomMsgFrame{.from = 1, .name = "vote", .payload = "2"});
      case 4:
        return Write(RoomRttFrame{
            .at =
                static_cast<double>(now_.time_since_epoch() / milliseconds(1)),
            .server = 1});
      case 5:
        return Write(ErrorFrame{.code = static_cast<ErrorCode>(Below(16)),
                                .message = std::string(AsText(Taken()))});
      case 6:
        return Write(RoomChatFrame{.from = "p1", .name = "B", .text = "hi"});
      default:
        return R"({"t":"baseline","x":[[[[[]]]]]})";
    }
  }

  template <typename Bytes>
  Bytes Changed(Bytes bytes) {
    using Unit = typename Bytes::value_type;
    const int changes = Below(4) == 0 ? Below(4) : 0;
    for (int i = 0; i < changes && !bytes.empty(); ++i) {
      const std::size_t at = bytes_.U16() % bytes.size();
      bytes[at] = static_cast<Unit>(bytes_.U8());
    }
    return bytes;
  }

  void ChangeRows() {
    const RowId row = 1 + bytes_.U8() % 8u;
    const auto real = static_cast<float>(bytes_.U8());
    switch (Below(8)) {
      case 0:
        rows_.Add(0);
        return;
      case 1:
        rows_.Remove(row);
        return;
      case 2:
        rows_.Teleport(row, {.position = {real, 0, 0}, .rotation = {}});
        return;
      case 3:
        rows_.NewEpoch();
        rows_.TakeBaseline();
        return;
      default:
        rows_.SetTransform(row, {.position = {0, real, 0}, .rotation = {}});
        return;
    }
  }

  void SayState() {
    const int how = bytes_.U8();
    const WireStateCodec& codec =
        (how & 1) != 0 ? JsonStateCodec() : BinaryStateCodec();
    tick_ += static_cast<std::uint32_t>((how & 2) != 0 ? 3 : Below(256) - 64);
    if ((how & 4) != 0) tick_ = bytes_.U32();
    const int kind = how >> 3 & 7;
    std::vector<std::byte> bytes;
    if (kind == 0) {
      rows_.TakeBaseline();
      bytes = WriteBaseline(codec, rows_, tick_);
    } else if (kind == 1) {
      bytes = WriteRecovery(codec, rows_, tick_);
    } else {
      const OwnWords own{static_cast<std::uint32_t>(Below(256)),
                         {Below(256), Below(256), 3},
                         {4, -5, std::numeric_limits<std::int32_t>::max()},
                         true};
      bytes = WriteDelta(codec, rows_, tick_, kind < 5 ? &own : nullptr);
    }
    bytes = Changed(std::move(bytes));
    if (codec.message_kind() == MessageKind::kText) {
      return Say(std::string(AsText(bytes)));
    }
    SayBytes(bytes);
  }

  test::ScriptedLink& link() { return connector_.last(); }
  bool IsOpen() {
    return !link().destroyed() && opened_ == connector_.calls().size();
  }
  void Open() {
    if (link().destroyed() || IsOpen() || link().close_code()) return;
    opened_ = connector_.calls().size();
    link().Open(now_);
    CheckSent();  // the join, which a welcome may follow at once
  }
  void Say(const std::string& text) {
    if (!IsOpen()) return;
    const bool was_playing = peer_->state() == PeerState::kPlaying;
    link().Say(now_, AsBytes(text), MessageKind::kText);
    if (was_playing || peer_->state() != PeerState::kPlaying) return;
    token_ = std::get<WelcomeFrame>(ParseServerFrame(text)).token;
    PARLOR_CHECK(peer_->welcome()->token == ResumeToken{});
    seq_ = 0;
  }
  void SayBytes(std::span<const std::byte> bytes) {
    if (IsOpen()) link().Say(now_, bytes);
  }

  void Steps(int count) {
    for (int i = 0; i < count; ++i) {
      now_ += kStep;
      peer_->OnAlarm(now_);
      Controls controls{.held = bytes_.U8()};
      controls.axes[0] = static_cast<std::int16_t>(controls.held * 128);
      const bool sent = peer_->Step(now_, controls);
      PARLOR_CHECK(sent == (peer_->state() == PeerState::kPlaying));
      peer_->SetDrawTime(now_);
      CheckSent();
    }
    if (peer_->welcome()) peer_->context().rows().Add(0);
  }

  void Lose() {
    if (link().destroyed()) return;
    constexpr std::array<CloseCode, 8> kCodes = {1006, 1006, 1012, 1011,
                                                 1000, 4001, 1014, 4999};
    constexpr std::array<std::uint16_t, 4> kRefusals = {0, 403, 429, 503};
    const CloseCode code = kCodes[bytes_.U8() % kCodes.size()];
    const std::uint16_t refusal =
        IsOpen() ? std::uint16_t{0} : kRefusals[bytes_.U8() % kRefusals.size()];
    link().Close(now_, refusal != 0 ? 1006 : code, "x", refusal);
  }

  void Wait(Duration time) {
    now_ += time;
    peer_->OnAlarm(now_);
    PARLOR_CHECK(peer_->next_alarm() > now_);
  }

  void CheckSent() {
    std::optional<std::uint32_t> acked;
    for (const auto& bytes : link().TakeSent()) {
      if (const auto input = DecodeInput(bytes)) {
        PARLOR_CHECK(input->seq == ++seq_ && token_.has_value());
      } else if (const auto tick = DecodeAck(bytes)) {
        acked = tick;
      } else {
        CheckText(AsText(bytes));
      }
    }
    PARLOR_CHECK(!acked || acked == peer_->tick());
  }

  void CheckText(std::string_view text) {
    const ClientFrame frame = ParseClientFrame(text);
    PARLOR_CHECK(!std::holds_alternative<FrameRefusal>(frame));
    if (const auto* join = std::get_if<JoinFrame>(&frame)) {
      PARLOR_CHECK(join->resume == token_);
    } else if (std::holds_alternative<ResyncFrame>(frame)) {
      PARLOR_CHECK(!resynced_ || now_ - *resynced_ >= Peer::kStall);
      resynced_ = now_;
    }
  }

  void Check() {
    const bool ended = peer_->state() == PeerState::kEnded;
    PARLOR_CHECK(ended == (peer_->end() != PeerEnd::kNone));
    PARLOR_CHECK(ended == !peer_->end_text().empty());
    PARLOR_CHECK(!ended || peer_->next_alarm() == kNever);
    PARLOR_CHECK(peer_->messages().size() <= Peer::kMessagesMax);
    PARLOR_CHECK(peer_->players().size() <= kSeatMax + 1u);
    PARLOR_CHECK(peer_->acked_seq() <= peer_->seq());
    PARLOR_CHECK(!peer_->rtt() || *peer_->rtt() >= Duration{});
    CheckRows(peer_->rows());
    for (RowId row = 1; row < 9; ++row) {
      const std::optional<Transform> drawn = peer_->Drawn(row);
      PARLOR_CHECK(!drawn || std::isfinite(drawn->position.x));
      PARLOR_CHECK(!drawn || std::isfinite(drawn->rotation.w));
    }
    PARLOR_CHECK(peer_->body() == nullptr ||
                 std::isfinite(peer_->body()->position.x));
  }

  ByteReader& bytes_;
  TimePoint now_{Duration(5'000'000'000)};
  Schema schema_ =
      *Schema::Create({{.name = "player",
                        .fields = {{.name = "hp", .type = FieldType::kInt}},
                        .transform = true,
                        .rows_max = 8}});
  Messages messages_;
  test::ScriptedConnector connector_;
  std::unique_ptr<Peer> peer_;
  std::size_t opened_ = 0;  // connections, the last of which is open
  // The room's.
  RowTable rows_{schema_};
  std::uint32_t tick_ = 30;
  int tokens_ = 0;
  // What the peer may say.
  std::optional<ResumeToken> token_;
  std::uint32_t seq_ = 0;
  std::optional<TimePoint> resynced_;
};

}  // namespace
}  // namespace parlor::authority

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  parlor::ByteReader bytes(std::as_bytes(std::span(data, size)));
  parlor::authority::Run(bytes).Go();
  return 0;
}
