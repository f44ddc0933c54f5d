// A fuzzer's bytes play the host, and the time, against a peer. Whatever they
// are, nothing may assert, and:
//  - frames run in order, with words that were said for them, and with bots
//    only for seats of which LEAVE was said;
//  - one word is sent for a frame, ever, and nothing before the own RESUME of
//    a connection, nor after the end;
//  - the masks never hold seats that the match does not have.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/lockstep/peer.h"
#include "support/scripted_connector.h"

namespace parlor::lockstep {
namespace {

constexpr Duration kMs{1'000'000};
constexpr Duration kTick{16'666'667};
constexpr std::uint32_t kToken = 0x70ce2;
constexpr std::uint32_t kSeed = 5;

class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  std::uint8_t Next() {
    if (rest_.empty()) return 0;
    const std::uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    return byte;
  }
  int Below(int bound) { return Next() % bound; }
  std::uint32_t Word() {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word = word << 8 | Next();
    return word;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

// What the host said so far, against which each frame is held.
class CheckedGame final : public Game {
 public:
  void OnStart(const Match& match) override {
    PARLOR_CHECK(!match_.has_value());
    match_ = match;
  }
  std::uint32_t Input(std::uint32_t frame) override {
    PARLOR_CHECK(frame == next_input_++ + static_cast<unsigned>(match_->delay));
    return frame * 7;
  }
  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override {
    PARLOR_CHECK(frame == next_frame_++);
    PARLOR_CHECK(inputs.size() == static_cast<std::size_t>(match_->players));
    for (int s = 0; s < match_->players; ++s) {
      const auto at = static_cast<std::size_t>(s);
      if ((bots >> s & 1) != 0) {
        PARLOR_CHECK(s != match_->seat && (left >> s & 1) != 0);
        PARLOR_CHECK(inputs[at] == 0);
      } else if (frame < static_cast<std::uint32_t>(match_->delay)) {
        PARLOR_CHECK(inputs[at] == 0);
      } else if (s == match_->seat) {
        PARLOR_CHECK(inputs[at] == frame * 7);
      } else {
        PARLOR_CHECK(said.count({s, frame, inputs[at]}) == 1);
        PARLOR_CHECK((bots_before_ >> s & 1) == 0);  // a bot stays
      }
    }
    bots_before_ = bots;
  }
  std::uint32_t Hash() override { return next_frame_ * 3; }

  std::set<std::tuple<int, std::uint32_t, std::uint32_t>> said;
  std::uint32_t left = 0;

 private:
  std::optional<Match> match_;
  std::uint32_t next_input_ = 0;
  std::uint32_t next_frame_ = 0;
  std::uint32_t bots_before_ = 0;
};

class Run {
 public:
  explicit Run(Bytes bytes) : bytes_(bytes) {
    players_ = 1 + bytes_.Below(5);
    seat_ = bytes_.Below(players_);
    PeerOptions options;
    options.delay = 1 + bytes_.Below(31);
    options.hash_every = 1 + bytes_.Below(40);
    options.left_seat = static_cast<LeftSeat>(bytes_.Below(3));
    options.retries = bytes_.Below(4);
    peer_ = std::make_unique<Peer>(connector_, game_, options);
    peer_->Join(now_, Hello{.room = 0,
                            .players = players_,
                            .access = {},
                            .device = {},
                            .resume = {}});
  }

  void Go() {
    // Most runs begin a match as usual.
    if (bytes_.Below(8) != 0) Welcome(), Say(Kind::kHash, seat_ ^ 1, 0, 0);
    CheckSent();
    while (!bytes_.done()) {
      Act();
      CheckSent();
      const std::uint32_t seats = players_ == 32 ? ~0u : (1u << players_) - 1;
      PARLOR_CHECK(((peer_->lost() | peer_->away() | peer_->bots()) & ~seats) ==
                   0);
      PARLOR_CHECK((peer_->lost() & peer_->away()) == 0);
      PARLOR_CHECK((peer_->state() == PeerState::kEnded) ==
                   (peer_->end() != PeerEnd::kNone));
    }
    if (bytes_.Below(2) == 0) peer_.reset();
    for (const auto& call : connector_.calls()) {
      if (!call.link->destroyed()) call.link->Close(now_, 1000);
    }
  }

 private:
  void Act() {
    switch (bytes_.Below(16)) {
      case 0:
      case 1:
        return SayAny();
      case 2:
      case 3:
        return SayRun();
      case 4:
        return Say(static_cast<Kind>(4 + bytes_.Below(3)), Slot(), 0, 0);
      case 5:
        return SayBytes();
      case 6:
      case 7:
        return Steps(1 + bytes_.Below(8), false);
      case 8:
      case 9:
        return Steps(1 + bytes_.Below(64), true);
      case 10:
        return Lose();
      case 11:
        return Wait(kMs * (bytes_.Next() * 16));
      case 12:
        return Wait(std::min<Duration>(peer_->next_alarm() - now_,
                                       Duration(100'000'000'000)));
      case 13:
        return Open();
      case 14:
        return Open(), Welcome(), Say(Kind::kResume, seat_, 0, 0);
      default:
        if (bytes_.Next() == 7) peer_->Leave();
        return;
    }
  }

  bool Connected() { return !link().destroyed(); }
  test::ScriptedLink& link() { return connector_.last(); }
  int Slot() { return bytes_.Below(players_ + 1); }

  void Open() {
    if (!Connected() || opened_ == connector_.calls().size()) return;
    if (peer_->state() == PeerState::kEnded) return;
    opened_ = connector_.calls().size();
    link().Open(now_);
  }
  void Welcome() {
    Open();
    Say({.kind = Kind::kWelcome,
         .slot = static_cast<std::uint8_t>(seat_),
         .players = static_cast<std::uint8_t>(players_),
         .frame = kSeed,
         .value = kToken});
  }

  void Say(const Message& message) {
    if (!Connected() || opened_ != connector_.calls().size()) return;
    if (peer_->state() == PeerState::kPlaying) {
      if (message.kind == Kind::kInput) {
        game_.said.insert({message.slot, message.frame, message.value});
      }
      if (message.kind == Kind::kLeave && message.slot < players_) {
        game_.left |= 1u << message.slot;
      }
    }
    link().Say(now_, Encode(message));
  }
  void Say(Kind kind, int slot, std::uint32_t frame, std::uint32_t value) {
    Say({.kind = kind,
         .slot = static_cast<std::uint8_t>(slot),
         .frame = frame,
         .value = value});
  }
  void SayAny() {
    const auto kind = static_cast<Kind>(bytes_.Below(10));
    const int slot = Slot();
    const std::uint32_t frame =
        bytes_.Below(8) == 0 ? bytes_.Word() : peer_->frame() + bytes_.Next();
    Say(kind, slot, frame, bytes_.Next());
  }
  // Inputs of one seat, in a row.
  void SayRun() {
    const int slot = Slot();
    const std::uint32_t first =
        peer_->frame() + static_cast<std::uint32_t>(bytes_.Below(16));
    const int count = 1 + bytes_.Below(80);
    for (int i = 0; i < count; ++i) {
      Say(Kind::kInput, slot, first + static_cast<std::uint32_t>(i), 1);
    }
  }
  void SayBytes() {
    if (!Connected() || opened_ != connector_.calls().size()) return;
    std::array<std::byte, 20> bytes{};
    const auto size = static_cast<std::size_t>(bytes_.Below(20));
    if (size == kMessageSize) return;
    link().Say(
        now_, std::span(bytes).first(size),
        bytes_.Below(2) == 0 ? MessageKind::kText : MessageKind::kBinary);
  }

  void Steps(int count, bool with_inputs) {
    for (int i = 0; i < count; ++i) {
      now_ += kTick;
      for (int s = 0; with_inputs && s < players_; ++s) {
        if (s != seat_) Say(Kind::kInput, s, peer_->frame(), 2);
      }
      peer_->Step(now_);
      CheckSent();
    }
  }
  void Lose() {
    constexpr std::array<CloseCode, 8> kCodes = {1006, 1006, 1012, 1011,
                                                 1000, 4001, 4002, 4999};
    const std::uint16_t refusals[] = {0, 403, 429, 503};
    const CloseCode code = kCodes[static_cast<std::size_t>(bytes_.Below(8))];
    const std::uint16_t refusal =
        opened_ == connector_.calls().size() ? 0 : refusals[bytes_.Below(4)];
    if (Connected())
      link().Close(now_, refusal != 0 ? 1006 : code, "x", refusal);
  }
  void Wait(Duration time) {
    now_ += time;
    peer_->OnAlarm(now_);
    if (peer_->next_alarm() > now_) return;
    peer_->OnAlarm(now_);
  }

  void CheckSent() {
    for (const auto& bytes : link().TakeSent()) {
      PARLOR_CHECK(bytes.size() == kMessageSize);
      PARLOR_CHECK(peer_->state() != PeerState::kReconnecting);
      const Message m = Decode(std::span(bytes).first<kMessageSize>());
      PARLOR_CHECK(m.kind == Kind::kInput || m.kind == Kind::kHash);
      PARLOR_CHECK(m.slot == seat_);
      const auto [at, fresh] = sent_.insert({{m.kind, m.frame}, m.value});
      PARLOR_CHECK(fresh || at->second == m.value);
    }
  }

  Bytes bytes_;
  TimePoint now_{};
  int players_ = 0;
  int seat_ = 0;
  std::size_t opened_ = 0;  // connections, the last of which is open
  std::map<std::pair<Kind, std::uint32_t>, std::uint32_t> sent_;
  CheckedGame game_;
  test::ScriptedConnector connector_;
  std::unique_ptr<Peer> peer_;
};

}  // namespace
}  // namespace parlor::lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  parlor::lockstep::Run(parlor::lockstep::Bytes({data, size})).Go();
  return 0;
}
