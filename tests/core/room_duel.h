// A room and its model (room_model.h) side by side: chosen actions are done to
// both, and after each everything that can be seen of them is compared. The
// choices come from a seed (room_model_test.cc) or from a fuzzer's bytes
// (tests/fuzz/room_fuzz.cc).
#ifndef PARLOR_TESTS_CORE_ROOM_DUEL_H_
#define PARLOR_TESTS_CORE_ROOM_DUEL_H_

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/entropy.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/random.h"
#include "room_model.h"
#include "support/lockstep_text.h"
#include "support/recording_connection.h"

namespace parlor::test {

class Choices {
 public:
  // 0 .. bound-1.
  virtual std::uint32_t Below(std::uint32_t bound) = 0;

  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return values.begin()[Below(static_cast<std::uint32_t>(values.size()))];
  }
  bool Chance(std::uint32_t percent) { return Below(100) < percent; }

 protected:
  ~Choices() = default;
};

// Few values, so that a token of 0, one drawn twice and a lucky guess are
// common.
class NarrowEntropy final : public Entropy {
 public:
  NarrowEntropy(std::uint64_t seed, std::uint32_t range)
      : random_(seed), range_(range) {}
  std::uint32_t Next() {
    return range_ == 0 ? random_.Next() : random_.Below(range_);
  }
  void Fill(std::span<std::byte> out) override {
    PARLOR_CHECK(out.size() == 4);
    StoreU32(out.data(), Next());
  }

 private:
  Random random_;
  std::uint32_t range_;
};

class RoomDuel {
 public:
  explicit RoomDuel(Choices& choices)
      : choices_(choices),
        setup_(ChooseSetup()),
        entropy_(setup_.entropy_seed, setup_.entropy_range),
        model_entropy_(setup_.entropy_seed, setup_.entropy_range),
        room_(std::in_place, now_, setup_.players, setup_.options, entropy_),
        model_(now_.time_since_epoch().count(), setup_.players, setup_.options,
               [this] { return model_entropy_.Next(); }) {
    Compare(false);
  }

  // Does one action, or a few that belong together. False when room and model
  // no longer agree: error() and history() tell.
  bool Step() {
    Choose();
    return error_.empty();
  }

  // Once ended, a room only refuses.
  bool ended() const { return room_->phase() == lockstep::Room::Phase::kEnded; }

  const std::string& error() const { return error_; }
  const std::vector<std::string>& history() const { return history_; }
  // Every kind of message and close that was told: what the actions reached.
  const std::set<std::string>& reached() const { return reached_; }

 private:
  struct Setup {
    int players = 0;
    lockstep::RoomOptions options{};
    std::uint64_t entropy_seed = 0;
    std::uint32_t entropy_range = 0;
  };

  Setup ChooseSetup() {
    Setup setup;
    const std::uint32_t most = choices_.OneOf({2u, 4u, 8u, 32u});
    setup.players = static_cast<int>(1 + choices_.Below(most));
    lockstep::RoomOptions& options = setup.options;
    options.hold_ms =
        choices_.OneOf<std::int64_t>({0, 1, 20, 200, 200, 200, 20'000, 20'000});
    // Some rooms that end soon, by any of their deadlines or two at once.
    if (choices_.Chance(25)) {
      options.lobby_ms = choices_.OneOf<std::int64_t>({20, 200, 2'000});
      options.idle_ms = choices_.OneOf<std::int64_t>({20, 200, 2'000});
      options.lifetime_ms = choices_.OneOf<std::int64_t>({200, 2'000, 20'000});
    }
    if (choices_.Chance(25)) {
      options.message_rate_per_s = choices_.OneOf<std::int64_t>({1, 7, 10'000});
      options.message_burst = choices_.OneOf<std::int64_t>({1, 3, 20, 20'000});
    }
    if (choices_.Chance(30)) options.seed = choices_.Below(1'000);
    if (choices_.Chance(40)) {
      options.gather_ms = choices_.OneOf<std::int64_t>({1, 4, 17, 17, 50, 100});
    }
    setup.entropy_seed = choices_.Below(1u << 16);
    setup.entropy_range = choices_.OneOf({0u, 40u, 100u});
    history_.push_back(
        "players " + std::to_string(setup.players) + " hold " +
        std::to_string(options.hold_ms) + " lobby " +
        std::to_string(options.lobby_ms) + " idle " +
        std::to_string(options.idle_ms) + " lifetime " +
        std::to_string(options.lifetime_ms) + " rate " +
        std::to_string(options.message_rate_per_s) + "/" +
        std::to_string(options.message_burst) + " gather " +
        std::to_string(options.gather_ms) + " entropy " +
        std::to_string(setup.entropy_seed) + " of " +
        std::to_string(setup.entropy_range) +
        (options.seed ? " seed " + std::to_string(*options.seed) : ""));
    return setup;
  }

  // --- Choosing

  void Choose() {
    if (model_.stage() == RoomModel::Stage::kLobby) return ChooseInLobby();
    const std::uint32_t dice = choices_.Below(100);
    if (dice < 2) return Join();
    if (dice < 55) return Talk(choices_.OneOf({1, 1, 1, 2, 5, 20, 90}));
    if (dice < 64) return Wait();
    if (dice < 66) return Alarm();
    if (dice < 74) return Lose();
    if (dice < 85) return Resume();
    if (dice < 88) return ResumeAll();
    ChooseRare();
  }

  void ChooseInLobby() {
    const std::uint32_t dice = choices_.Below(100);
    if (dice < 40) return Join();
    if (dice < 65) return Talk(choices_.OneOf({1, 1, 2, 5}));
    if (dice < 80) return Lose();
    if (dice < 84) return Wait();
    if (dice < 86) return Resume();
    ChooseRare();
  }

  void ChooseRare() {
    switch (choices_.Below(9)) {
      case 0:
        return LateEvent();
      case 7:
        return Save();
      case 8:
        return Restart();
      case 1:
        return FillUp();
      case 2:
        return Kick();
      case 3:
        return LoseSilently();
      case 4:
        return choices_.Chance(50) ? WrongMessage() : Control();
      case 5:
        return Control();
      default:
        if (choices_.Chance(5)) End();
    }
  }

  // A connection that has a seat, or -1.
  int Seated() {
    const std::vector<int> seated = SeatedConnections();
    if (seated.empty()) return -1;
    return seated[choices_.Below(static_cast<std::uint32_t>(seated.size()))];
  }
  // Any that ever was, seated or not; -1 before the first.
  int Any() {
    if (connections_.empty()) return -1;
    return static_cast<int>(
        choices_.Below(static_cast<std::uint32_t>(connections_.size())));
  }

  std::vector<int> SeatedConnections() const {
    std::vector<int> seated;
    for (int conn : live_) {
      if (model_.SeatOf(conn)) seated.push_back(conn);
    }
    return seated;
  }

  void Talk(int count) {
    const int conn = Seated();
    if (conn < 0) return;
    const bool lobby = model_.stage() == RoomModel::Stage::kLobby;
    if (choices_.Chance(lobby ? 50 : 5)) return SayStart(conn);
    if (choices_.Chance(5)) return SayAnything(conn);
    const int kind = choices_.Chance(75) ? 1 : 2;
    for (int i = 0; i < count && error_.empty(); ++i) {
      Say(conn, kind, Byte(), Byte(), Byte(),
          count > 1 ? model_.LastFrame(conn, kind) + 1 : Frame(conn, kind),
          choices_.Below(1u << 16));
    }
  }

  int Byte() { return static_cast<int>(choices_.Below(256)); }

  std::uint32_t Frame(int conn, int kind) {
    const std::uint32_t last = model_.LastFrame(conn, kind);
    switch (choices_.Below(16)) {
      case 0:
        return last;
      case 1:
        return last - 1;
      case 2:
        return last + 2 + choices_.Below(1'000);
      case 3:
        return choices_.OneOf({0u, 1u, 0x7fffffffu, 0x80000000u});
      case 4:
        return choices_.Chance(20) ? 0xffffffffu : last / 2;
      default:
        return last + 1;
    }
  }

  void SayStart(int conn) {
    const int count = choices_.Chance(90)
                          ? static_cast<int>(choices_.Below(
                                static_cast<std::uint32_t>(setup_.players + 3)))
                          : Byte();
    Say(conn, 7, Byte(), count, Byte(), 0, 0);
  }

  void SayAnything(int conn) {
    Say(conn, Byte(), Byte(), Byte(), Byte(), choices_.Below(1u << 16), 1);
  }

  void WrongMessage() {
    const int conn = Seated();
    if (conn < 0) return;
    const bool binary = choices_.Chance(70);
    Message(conn, binary, std::string(binary ? choices_.Below(40) : 12, '\1'));
  }

  void Control() {
    const int conn = choices_.Chance(80) ? Seated() : Any();
    if (conn < 0) return;
    const std::uint32_t count = 1 + choices_.Below(3);
    for (std::uint32_t i = 0; i < count; ++i) {
      Note("control " + std::to_string(conn));
      room_->OnControl(now_, *connections_[At(conn)]);
      model_.Control(Ns(), conn);
      Compare(true);
    }
  }

  // What still comes of connections that the room has put out.
  void LateEvent() {
    const int conn = Any();
    if (conn < 0) return;
    if (model_.SeatOf(conn)) return;
    if (choices_.Chance(50)) return Close(conn, Code());
    if (choices_.Chance(30)) return Message(conn, true, "short");
    Say(conn, choices_.OneOf({1, 2, 7}), 0, 0, 0, 0xffffff, 1);
  }

  CloseCode Code() {
    switch (choices_.Below(8)) {
      case 0:
        return choices_.OneOf<CloseCode>({1000, 1001, 1005, 4999, 1013, 1015});
      case 1:
        return static_cast<CloseCode>(choices_.Below(1u << 16));
      default:
        return choices_.OneOf<CloseCode>({1006, 1011, 1012, 1014});
    }
  }

  void Lose() {
    const int conn = Seated();
    if (conn >= 0) Close(conn, Code());
  }

  void Resume() { ResumeWith(TokenText()); }

  // Everyone comes back at once, some twice.
  void ResumeAll() {
    const std::vector<std::uint32_t> tokens = tokens_;
    for (std::uint32_t token : tokens) {
      if (!error_.empty()) return;
      if (choices_.Chance(20)) continue;
      ResumeWith(lockstep::TokenText(token));
      if (choices_.Chance(20)) ResumeWith(lockstep::TokenText(token));
    }
  }

  std::string TokenText() {
    if (tokens_.empty() || choices_.Chance(20)) {
      return choices_.OneOf<std::string>(
          {"", "0", "00000000", "g", "0x1", "-1", " 1", "1 ", "123456789",
           std::string(1, '\0'), lockstep::TokenText(choices_.Below(200)),
           "ffffffff"});
    }
    std::uint32_t token =
        tokens_[choices_.Below(static_cast<std::uint32_t>(tokens_.size()))];
    if (choices_.Chance(15)) token ^= 1u << choices_.Below(32);
    std::string text = lockstep::TokenText(token);
    if (choices_.Chance(20)) text.insert(0, 8 - text.size(), '0');
    if (choices_.Chance(5)) text.insert(0, "0");
    if (choices_.Chance(20)) {
      for (char& c : text) c = static_cast<char>(std::toupper(c));
    }
    return text;
  }

  void Wait() {
    const RoomModel::Ns next = model_.next_deadline();
    const RoomModel::Ns rest = std::max<RoomModel::Ns>(next - Ns(), 1);
    // Mostly short: a deadline of the room ends everything.
    if (next == RoomModel::kNeverNs || choices_.Chance(60)) {
      return WaitNs(choices_.OneOf<RoomModel::Ns>(
          {1, 1'000'000, 4'166'667, 16'666'667, 50'000'000}));
    }
    if (rest > 1'000'000'000 && choices_.Chance(80)) return;
    WaitNs(choices_.OneOf<RoomModel::Ns>({rest - 1, rest, rest + 1, 2 * rest}));
  }

  // --- Doing

  RoomModel::Ns Ns() const { return now_.time_since_epoch().count(); }
  static std::size_t At(int conn) { return static_cast<std::size_t>(conn); }
  void Note(std::string action) { history_.push_back(std::move(action)); }

  int Open() {
    const int conn = static_cast<int>(connections_.size());
    connections_.push_back(std::make_unique<RecordingConnection>());
    model_.Open(conn);
    live_.push_back(conn);
    return conn;
  }

  void Join() {
    const int conn = Open();
    Note("join " + std::to_string(conn));
    room_->Join(now_, *connections_[At(conn)]);
    model_.Join(Ns(), conn);
    Compare(true);
  }

  void ResumeWith(const std::string& text) {
    const int conn = Open();
    Note("resume " + std::to_string(conn) + " '" + text + "'");
    room_->Resume(now_, *connections_[At(conn)], text);
    model_.Resume(Ns(), conn, text);
    Compare(true);
  }

  void Say(int conn, int kind, int slot, int players, int mode,
           std::uint32_t frame, std::uint32_t value) {
    std::string bytes;
    for (int byte : {kind, slot, players, mode}) {
      bytes += static_cast<char>(byte);
    }
    for (std::uint32_t number : {frame, value}) {
      for (int shift = 0; shift < 32; shift += 8) {
        bytes += static_cast<char>((number >> shift) & 255);
      }
    }
    Message(conn, true, bytes);
  }

  void Message(int conn, bool binary, const std::string& bytes) {
    Note((binary ? "say " : "text ") + std::to_string(conn) + " " +
         MessageText(AsBytes(bytes)));
    room_->OnMessage(now_, *connections_[At(conn)],
                     binary ? MessageKind::kBinary : MessageKind::kText,
                     AsBytes(bytes));
    model_.Message(Ns(), conn, binary, bytes);
    Compare(true);
  }

  void Close(int conn, CloseCode code) {
    Note("close " + std::to_string(conn) + " " + std::to_string(code));
    connections_[At(conn)]->Lose();
    model_.Lose(conn);
    room_->OnClose(now_, *connections_[At(conn)], code);
    model_.Closed(Ns(), conn, code);
    Compare(true);
  }

  // The link died, and nobody here knows yet.
  void LoseSilently() {
    const int conn = Seated();
    if (conn < 0) return;
    Note("lose " + std::to_string(conn));
    connections_[At(conn)]->Lose();
    model_.Lose(conn);
  }

  void FillUp() {
    const int conn = Seated();
    if (conn < 0) return;
    const int messages = static_cast<int>(choices_.Below(8));
    Note("full " + std::to_string(conn) + " " + std::to_string(messages));
    connections_[At(conn)]->FillUpAfter(static_cast<std::size_t>(messages));
    model_.FillUpAfter(conn, messages);
  }

  void Kick() {
    const int seat = static_cast<int>(choices_.Below(34)) - 1;
    Note("kick " + std::to_string(seat));
    room_->Kick(now_, seat, CloseReason::kKicked);
    model_.Kick(Ns(), seat);
    Compare(true);
  }

  void WaitNs(RoomModel::Ns ns) {
    Note("wait " + std::to_string(ns));
    now_ += Duration(ns);
    if (choices_.Chance(60)) Alarm();
  }

  void Alarm() {
    Note("alarm");
    room_->OnAlarm(now_);
    model_.Alarm(Ns());
    Compare(true);
  }

  void End() {
    Note("end");
    room_->End(now_, CloseReason::kRestart);
    model_.End(1012, "restart");
    Compare(false);
  }

  void Save() {
    if (model_.stage() != RoomModel::Stage::kPlaying) return;
    Note("save");
    room_->Save(now_, kept_);
    model_kept_ = model_.Keep(Ns());
  }

  // All the same as it was, or as it was when it was last saved.
  void Restart() {
    if (choices_.Chance(50)) Save();
    if (kept_.empty()) return;
    Note("restart");
    reached_.insert("restart");
    const auto state = lockstep::ParseRoomState(kept_);
    PARLOR_CHECK(state.ok());
    PARLOR_CHECK(kept_.size() <= lockstep::StateBytesMax(room_->players()));
    for (const int conn : live_) connections_[At(conn)]->Lose();
    room_.emplace(now_, *state, setup_.options, entropy_);
    model_.Restart(Ns(), model_kept_);
    std::vector<std::byte> again;
    room_->Save(now_, again);
    if (again != kept_ && error_.empty()) error_ = "what is saved has changed";
    Compare(false);
  }

  // --- Comparing

  static std::string Raw(const RecordingConnection::Entry& entry) {
    if (entry.is_close) {
      return "closed " + std::to_string(entry.code) + " " + entry.text;
    }
    if (entry.lane != Lane::kReliable) return "a message of the state lane";
    if (entry.kind != MessageKind::kBinary) return "a text";
    return std::string(AsText(entry.bytes));
  }

  static std::string Readable(const std::string& raw) {
    return raw.starts_with("closed ") ? raw : MessageText(AsBytes(raw));
  }

  static std::string Readable(const std::vector<std::string>& told) {
    std::string text;
    for (const std::string& raw : told) text += "\n    " + Readable(raw);
    return text;
  }

  template <typename T>
  void Same(const char* what, T room, T model) {
    if (room == model || !error_.empty()) return;
    error_ = std::string(what) + ": the room has " + std::to_string(room) +
             ", the model " + std::to_string(model);
  }

  void CompareConnection(int conn) {
    std::vector<std::string> told;
    for (const auto& entry : connections_[At(conn)]->Take()) {
      told.push_back(Raw(entry));
      reached_.insert(entry.is_close ? told.back()
                                     : KindName(entry.bytes.front()));
    }
    const std::vector<std::string> expected = model_.Take(conn);
    if (told != expected && error_.empty()) {
      error_ = "connection " + std::to_string(conn) +
               " was told, by the room:" + Readable(told) +
               "\n  by the model:" + Readable(expected);
    }
    Same("seat", room_->SeatOf(*connections_[At(conn)]),
         model_.SeatOf(conn).value_or(-1));
  }

  static std::string KindName(std::byte kind) {
    const auto index = std::to_integer<std::size_t>(kind);
    return index < kKindNames.size() ? kKindNames[index] : "KIND";
  }

  // `acted`: the room was told the time, so no deadline can be left behind.
  void Compare(bool acted) {
    for (int conn : live_) CompareConnection(conn);
    // A closed connection is told nothing more; one without a seat can only
    // get one by being given.
    std::erase_if(live_, [this](int conn) {
      return !connections_[At(conn)]->is_open() && !model_.SeatOf(conn);
    });
    Same("phase", static_cast<int>(room_->phase()),
         static_cast<int>(model_.stage()));
    Same("players", room_->players(), model_.players());
    Same("seated", room_->seated(), model_.seated());
    Same("held", room_->held(), model_.held());
    const lockstep::RoomCounters& counters = room_->counters();
    const RoomModel::Counts& counts = model_.counts();
    Same("relayed", counters.relayed, counts.relayed);
    Same("delivered", counters.delivered, counts.delivered);
    Same("stale", counters.stale, counts.stale);
    Same("ignored", counters.ignored, counts.ignored);
    Same("kicked_rate", counters.kicked_rate, counts.kicked_rate);
    Same("kicked_size", counters.kicked_size, counts.kicked_size);
    CompareAlarm(acted);
    if (tokens_.empty()) KeepTokens();
  }

  void CompareAlarm(bool acted) {
    const RoomModel::Ns alarm = room_->next_alarm().time_since_epoch().count();
    const RoomModel::Ns deadline = model_.next_deadline();
    const bool late = alarm > deadline;
    const bool left_behind = acted && alarm <= Ns();
    const bool ended = deadline == RoomModel::kNeverNs;
    if (late || left_behind || (ended && alarm != deadline)) {
      Same("alarm", alarm, deadline);
      if (error_.empty()) error_ = "the alarm is not after now";
    }
  }

  void KeepTokens() {
    for (int seat = 0; seat < model_.players(); ++seat) {
      const auto token = model_.TokenOf(seat);
      if (token) tokens_.push_back(*token);
    }
  }

  Choices& choices_;
  std::vector<std::string> history_;
  std::string error_;
  std::set<std::string> reached_;
  TimePoint now_{Duration(5'000)};
  Setup setup_;
  NarrowEntropy entropy_;
  NarrowEntropy model_entropy_;
  std::optional<lockstep::Room> room_;
  RoomModel model_;
  std::vector<std::unique_ptr<RecordingConnection>> connections_;
  std::vector<int> live_;              // open, or in a seat
  std::vector<std::uint32_t> tokens_;  // all that were drawn, dead ones too
  std::vector<std::byte> kept_;        // what Save wrote last; empty: nothing
  RoomModel::Kept model_kept_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_CORE_ROOM_DUEL_H_
