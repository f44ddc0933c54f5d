// A fuzzer's bytes choose what happens to an authority room: time, connections
// and how they read and end, tokens, frames and what is none, and what its game
// does. Whatever they are, nothing may assert, and beside what the game
// (fuzzed_game.h) and the connections (fuzzed_link.h) check:
//  - a seat has one connection, or is held; what is held and connected fits;
//  - a token opens its own seat and no other, as long as it is alive, and for
//    its identity alone (contract, "Join, resume, reap" 2 and 4);
//  - a seat gets no more messages through than its rate, however often it is
//    resumed;
//  - the room's next deadline lies ahead, and its memory is bounded.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "authority/fuzzed_game.h"
#include "authority/fuzzed_link.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/input.h"
#include "parlor/authority/room.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/entropy.h"

namespace parlor::authority {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kTicksMax = 3'000;
constexpr std::size_t kMemoryMax = 256 * 1'024;

// What is known of a player's tokens, by what was sent and acked.
struct KnownTokens {
  std::optional<ResumeToken> proven;
  std::optional<ResumeToken> issued;
  bool Opens(const ResumeToken& token) const {
    return token == proven || token == issued;
  }
};

class Run {
 public:
  explicit Run(ByteReader& bytes) : bytes_(bytes) {
    RoomOptions options;
    options.protocol = "duel 1";
    options.seats = 1 + Below(kFuzzedSeatsMax);
    options.tick_hz = 10 + Below(51);
    options.snapshot_hz = 1 + Below(static_cast<int>(options.tick_hz));
    options.grace_ms = std::array{0, 300, 15'000}[Index(3)];
    options.join_ms = 1 + 40 * Below(256);
    options.unjoined = 1 + Below(4);
    options.message_rate_per_s = 1 + Below(256);
    options.message_burst = 1 + Below(256);
    options.input_rate_per_s = 1 + Below(120);
    options.inputs_waiting = 1 + Below(2);
    options.end_when_empty = Below(8) == 0;
    auto game = std::make_unique<FuzzedGame>(Below(2) == 0);
    game_ = game.get();
    game_->clock = &now_;
    room_ = std::make_unique<Room>(now_, options, std::move(game), entropy_);
  }

  void Go() {
    while (bytes_.ok() && bytes_.remaining() > 0 && !room_->ended() &&
           room_->tick() < kTicksMax) {
      Act();
      Settle();
      Check();
    }
    if (Below(2) == 0 && !room_->ended()) {
      room_->End(now_, CloseReason::kRestart);
    }
    if (Below(2) == 0) room_.reset();
    for (auto& link : links_) {
      if (room_ != nullptr && link != nullptr) {
        room_->OnClose(now_, *link, link->code());
      }
    }
    PARLOR_CHECK(room_ == nullptr || !room_->ended() || room_->seated() == 0);
  }

 private:
  struct Identity {
    std::string id;
    std::string identity;
    std::int64_t messages = 0;  // that came through
    TimePoint since;
    KnownTokens tokens;
  };

  int Below(int bound) { return bytes_.U8() % bound; }
  std::size_t Index(std::size_t bound) { return bytes_.U8() % bound; }

  void Act() {
    const std::uint8_t op = bytes_.U8();
    std::unique_ptr<FuzzedLink>& link = links_[op >> 4 & 7];
    switch (op & 15) {
      case 0:
        return Wait(milliseconds(bytes_.U8()));
      case 1:
        return Wait(milliseconds(std::int64_t{100} * bytes_.U8()));
      case 2:
        return Stall(milliseconds(std::int64_t{20} * bytes_.U8()));
      case 3:
        game_->orders.push_back({bytes_.U8(), bytes_.U8(), bytes_.U8()});
        return;
      case 4:
        game_->throws = Below(4) == 0 ? bytes_.U8() : 0;
        return;
      case 5:
        return Own();
      default:
        break;
    }
    if (link == nullptr) {
      if ((op & 15) < 10) Admit(link);
    } else if (!link->is_open()) {
      CloseEventOf(link);
    } else {
      ActOn(*link, op & 15);
    }
  }

  // What the room's owner does.
  void Own() {
    switch (Below(16)) {
      case 0:
        return room_->Kick(now_, Below(8));
      case 1:
        return room_->SetLocked(now_, true);
      case 2:
      case 3:
        return room_->SetLocked(now_, false);
      case 4:
        if (Below(8) == 0) room_->Drain(now_);
        return;
      default:
        return;
    }
  }

  void ActOn(FuzzedLink& link, int what) {
    switch (what) {
      case 6:
        return SayJoin(link);
      case 7:
        return SaySome(link);
      case 8: {
        const std::size_t size =
            std::min<std::size_t>(bytes_.U8(), bytes_.remaining());
        const auto kind = static_cast<MessageKind>(Below(2));
        return Say(link, kind, bytes_.Bytes(size));
      }
      case 9:
      case 10:
        return SayInput(link);
      case 11:
        return Say(link, MessageKind::kBinary,
                   EncodeAck(Below(4) == 0 ? bytes_.U8() : link.shown_tick()));
      case 12:
        for (int i = Below(64); i > 0; --i) link.Read(Lane::kReliable);
        return;
      case 13:
        if (Below(4) == 0) return link.LoseState();
        return link.Read(Lane::kState);
      case 14:
        return ReadsAndAcks(link);
      default:
        return End(link);
    }
  }

  // As a client does that keeps up.
  void ReadsAndAcks(FuzzedLink& link) {
    const int ticks = Below(32);
    for (int i = 0; i < ticks && link.is_open() && !room_->ended(); ++i) {
      for (int m = 0; m < 64; ++m) link.Read(Lane::kReliable);
      link.Read(Lane::kState);
      if (link.welcome) {
        Say(link, MessageKind::kBinary, EncodeAck(link.shown_tick()));
      }
      Wait(milliseconds(50));
    }
  }

  void End(FuzzedLink& link) {
    constexpr std::array<CloseCode, 10> kCodes = {1000, 1001, 1005, 1006, 1006,
                                                  1011, 1012, 1014, 4001, 4999};
    link.Lose(kCodes[Index(kCodes.size())]);
  }

  void Admit(std::unique_ptr<FuzzedLink>& link) {
    static constexpr std::array kIdentities = {"", "", "ann", "bob"};
    link = std::make_unique<FuzzedLink>(*game_, kIdentities[Index(4)]);
    room_->Admit(now_, *link, link->identity());
  }

  // Its last event; the room may not touch it any more.
  void CloseEventOf(std::unique_ptr<FuzzedLink>& link) {
    room_->OnClose(now_, *link, link->code());
    PARLOR_CHECK(room_->SeatOf(*link) < 0);
    link.reset();
  }

  // Closes come when they come: most of them now.
  void Settle() {
    for (auto& link : links_) {
      if (link != nullptr && !link->is_open() && Below(4) != 0) {
        CloseEventOf(link);
      }
    }
  }

  void Wait(Duration time) {
    const TimePoint end = now_ + time;
    while (room_->next_alarm() <= end && room_->tick() < kTicksMax) {
      PARLOR_CHECK(room_->next_alarm() > now_ || room_->next_alarm() == end);
      now_ = std::max(now_, room_->next_alarm());
      room_->OnAlarm(now_);
      PARLOR_CHECK(room_->next_alarm() > now_);
    }
    now_ = end;
    room_->OnAlarm(now_);
  }
  void Stall(Duration time) {
    now_ += time;
    room_->OnAlarm(now_);
  }

  void SayInput(FuzzedLink& link) {
    InputFrame input{.seq = link.next_seq++};
    input.held = bytes_.U8();
    input.pressed = bytes_.U8();
    input.axes[0] = static_cast<std::int16_t>(256 * Below(256) - 32'768);
    if (input.held == 255) return SayText(link, Write(input));
    Say(link, MessageKind::kBinary, EncodeInput(input));
  }

  void SayJoin(FuzzedLink& link) {
    const int how = Below(32);
    JoinFrame join{.protocol = how == 31 ? "duel 2" : "duel 1",
                   .name = how == 30 ? " " : "Ann"};
    if (how == 29) join.fields = R"({"no":1})";
    if (how % 4 == 0) join.codecs = {"json"};
    if (how % 4 == 1) join.codecs = {"x", "binary"};
    if (how % 8 < 5 && !all_tokens_.empty()) {
      join.resume = all_tokens_[Index(all_tokens_.size())];
      if (how == 8) (*join.resume)[15] ^= std::byte{1};
    }
    SayText(link, Write(join));
  }

  void SaySome(FuzzedLink& link) {
    static constexpr std::array<std::string_view, 16> kTexts = {
        R"({"t":"leave"})",
        R"({"t":"resync"})",
        R"({"t":"resync"})",
        R"({"t":"rtt","at":1})",
        R"({"t":"msg","name":"vote","payload":1})",
        R"({"t":"msg","name":"vote","payload":2})",
        R"({"t":"msg","name":"picky","payload":1})",
        R"({"t":"msg","name":"picky","payload":13})",
        R"({"t":"msg","name":"aos:phase","payload":"x"})",
        R"({"t":"chat","text":"hi"})",
        R"({"t":"mod","action":"kick","target":"p1"})",
        R"({"t":"publish","key":"a","value":[[[[]]]]})",
        R"({"t":"input","seq":4294967295,"held":"x"})",
        R"({"t":"join"})",
        R"({"t":"ack","tick":7})",
        "[[[[[[[["};
    const std::string_view text = kTexts[Index(kTexts.size())];
    const int times = Below(8) == 0 ? 1 + bytes_.U8() : 1;
    for (int i = 0; i < times && link.is_open(); ++i) SayText(link, text);
  }

  void SayText(FuzzedLink& link, std::string_view text) {
    Say(link, MessageKind::kText, AsBytes(text));
  }

  void Say(FuzzedLink& link, MessageKind kind,
           std::span<const std::byte> bytes) {
    if (!link.is_open() || room_->ended()) return;
    TakeWelcomes();
    const int before = room_->SeatOf(link);
    std::optional<ResumeToken> resume;
    std::optional<std::uint32_t> ack = DecodeAck(bytes);
    if (kind == MessageKind::kText) {
      const ClientFrame frame = ParseClientFrame(AsText(bytes));
      const auto* said = std::get_if<AckFrame>(&frame);
      ack = said == nullptr ? std::nullopt : std::optional(said->tick);
      const auto* join = std::get_if<JoinFrame>(&frame);
      if (join != nullptr && join->protocol == "duel 1") resume = join->resume;
    }
    room_->OnMessage(now_, link, kind, bytes);
    const int after = room_->SeatOf(link);
    if (before < 0 && after >= 0) OnSeated(link, after, resume);
    if (before < 0 && after < 0 && resume && link.is_open()) {
      PARLOR_CHECK(!Opens(*resume, link));
    }
    if (before >= 0 && after >= 0) OnHeard(link, after, ack);
  }

  // A message that came through.
  void OnHeard(FuzzedLink& link, int number, std::optional<std::uint32_t> ack) {
    Identity& player = PlayerIn(number);
    const RoomOptions& options = room_->options();
    const std::int64_t ms = (now_ - player.since) / milliseconds(1);
    PARLOR_CHECK(++player.messages <=
                 options.message_burst + 1 +
                     (ms + 1) * options.message_rate_per_s / 1'000);
    if (!ack || !link.acked_tick || *ack <= *link.acked_tick ||
        *ack > link.sent_tick) {
      return;
    }
    link.acked_tick = *ack;
    player.tokens.proven.reset();
  }

  void OnSeated(FuzzedLink& link, int number,
                const std::optional<ResumeToken>& resume) {
    const Player& player = PlayerOf(number);
    if (!resume) {
      PARLOR_CHECK(!room_->locked());
      PARLOR_CHECK(known_
                       .insert({player.id, Identity{.id = player.id,
                                                    .identity = std::string(
                                                        link.identity()),
                                                    .since = now_}})
                       .second);
      return;
    }
    Identity& known = known_.at(player.id);
    PARLOR_CHECK(known.tokens.Opens(*resume));
    PARLOR_CHECK(known.identity.empty() || known.identity == link.identity());
    known.tokens.proven = resume;
  }

  // Whether this token should get this connection a seat now.
  bool Opens(const ResumeToken& token, const FuzzedLink& link) {
    return std::ranges::any_of(room_->players(), [&](const Player& player) {
      const Identity& known = known_.at(player.id);
      return known.tokens.Opens(token) &&
             (known.identity.empty() || known.identity == link.identity());
    });
  }

  const Player& PlayerOf(int number) {
    const auto at = std::ranges::find(room_->players(), number, &Player::seat);
    PARLOR_CHECK(at != room_->players().end());
    return *at;
  }
  Identity& PlayerIn(int number) { return known_.at(PlayerOf(number).id); }

  void TakeWelcomes() {
    for (const auto& link : links_) {
      if (link == nullptr || !std::exchange(link->news, false)) continue;
      const WelcomeFrame& welcome = *link->welcome;
      PARLOR_CHECK(std::ranges::find(all_tokens_, welcome.token) ==
                   all_tokens_.end());
      all_tokens_.push_back(welcome.token);
      known_.at(welcome.player).tokens.issued = welcome.token;
    }
  }

  void Check() {
    room_->OnAlarm(now_);
    if (room_->ended()) return;
    TakeWelcomes();
    PARLOR_CHECK(room_->next_alarm() > now_);
    PARLOR_CHECK(room_->memory_bytes() < kMemoryMax);
    PARLOR_CHECK(room_->players().size() == game_->present());
    PARLOR_CHECK(room_->seated() + room_->held() ==
                 static_cast<int>(room_->players().size()));
    std::map<int, int> connections;
    for (const auto& link : links_) {
      const int number = link == nullptr ? -1 : room_->SeatOf(*link);
      if (number >= 0) ++connections[number];
    }
    int hosts = 0;
    int last = -1;
    for (const Player& player : room_->players()) {
      PARLOR_CHECK(player.seat > std::exchange(last, player.seat));
      PARLOR_CHECK(connections[player.seat] == (player.connected ? 1 : 0));
      PARLOR_CHECK(player.connected || !player.host);
      hosts += player.host ? 1 : 0;
    }
    PARLOR_CHECK(last < room_->options().seats);
    PARLOR_CHECK(hosts == (room_->seated() > 0 ? 1 : 0));
  }

  ByteReader& bytes_;
  TimePoint now_{std::chrono::seconds(1'000)};
  SeededEntropy entropy_{7};
  FuzzedGame* game_ = nullptr;
  std::array<std::unique_ptr<FuzzedLink>, 8> links_;
  std::unique_ptr<Room> room_;
  std::map<std::string, Identity> known_;
  std::vector<ResumeToken> all_tokens_;
};

}  // namespace
}  // namespace parlor::authority

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  parlor::ByteReader bytes(std::as_bytes(std::span(data, size)));
  parlor::authority::Run(bytes).Go();
  return 0;
}
