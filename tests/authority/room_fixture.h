// An authority room in virtual time, and what its connections are told, a line
// a message. Connections are named by a letter and decode what they are sent,
// so that their rows can be compared with the room's.
#ifndef PARLOR_TESTS_AUTHORITY_ROOM_FIXTURE_H_
#define PARLOR_TESTS_AUTHORITY_ROOM_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parlor/authority/message.h"
#include "parlor/authority/room.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/state_edits.h"
#include "parlor/byte_io.h"
#include "parlor/status.h"
#include "support/recording_connection.h"

namespace parlor::authority {

inline constexpr int kPlayerKind = 0;  // "player": a transform and hp
inline constexpr int kHp = kTransformFields;
inline constexpr int kThingKind = 1;  // "thing": size, float
inline constexpr int kSize = 0;

// Notes its calls, does what a test hangs into them, throws where it is told.
class TestGame final : public RoomAuthority {
 public:
  TestGame() {
    EXPECT_TRUE(messages_.Define({.name = "vote", .bytes_max = 16}).ok());
    EXPECT_TRUE(messages_
                    .Define({.name = "picky",
                             .check =
                                 [](std::string_view payload) {
                                   if (payload == "13") throw 13;
                                   return payload == "1";
                                 }})
                    .ok());
  }

  const Schema& schema() const noexcept override { return schema_; }
  const Messages& messages() const noexcept override { return messages_; }
  bool has_views() const noexcept override { return views; }

  absl::Status ValidateJoin(const JoinRequest& request) override {
    Call("validate_join", "validate " + std::string(request.name) + " " +
                              std::string(request.fields) + " [" +
                              std::string(request.identity) + "]");
    return refusal.empty() ? absl::OkStatus() : InvalidArgument(refusal);
  }
  void AddPlayer(Context& context, const Player& player) override {
    Call("add_player", "add " + player.id + " " + std::to_string(player.seat));
    if (on_add) on_add(context, player);
  }
  void RemovePlayer(Context& context, const Player& player) override {
    EXPECT_EQ(context.player(player.seat), nullptr);
    Call("remove_player", "remove " + player.id);
    if (on_remove) on_remove(context, player);
  }
  void OnMessage(Context& context, int seat, std::string_view name,
                 std::string_view payload) override {
    Call("on_message", "message " + std::to_string(seat) + " " +
                           std::string(name) + " " + std::string(payload));
    if (on_message) on_message(context);
  }
  void Step(Context& context, std::span<const SeatInput> inputs) override {
    ++steps;
    Call("step", "");
    if (on_step) on_step(context, inputs);
  }
  void WriteState(Context& context, RowTable& rows) override {
    EXPECT_EQ(&context.rows(), &rows);
    Call("write_state", "");
    if (on_write) on_write(rows);
  }
  bool InView(int seat, RowId row) override {
    Call("in_view", "");
    return !in_view || in_view(seat, row);
  }
  std::optional<OwnBody> Own(int seat) override {
    Call("own", "");
    return own ? own(seat) : std::nullopt;
  }

  bool views = false;
  std::string refusal;
  std::string throws_in;  // a call's name
  std::function<void(Context&, const Player&)> on_add;
  std::function<void(Context&, const Player&)> on_remove;
  std::function<void(Context&)> on_message;
  std::function<void(Context&, std::span<const SeatInput>)> on_step;
  std::function<void(RowTable&)> on_write;
  std::function<bool(int, RowId)> in_view;
  std::function<std::optional<OwnBody>(int)> own;

  int steps = 0;
  std::vector<std::string> TakeCalls() { return std::exchange(calls_, {}); }

 private:
  void Call(std::string_view name, std::string text) {
    if (!text.empty()) calls_.push_back(std::move(text));
    if (name == throws_in) throw std::runtime_error("a secret of a client's");
  }

  Schema schema_ =
      *Schema::Create({{.name = "player",
                        .fields = {{.name = "hp", .type = FieldType::kInt}},
                        .transform = true,
                        .rows_max = 16},
                       {.name = "thing",
                        .fields = {{.name = "size", .type = FieldType::kFloat}},
                        .rows_max = 64}});
  Messages messages_;
  std::vector<std::string> calls_;
};

struct NotedSink final : RoomSink {
  void OnNote(TimePoint, RoomNote note, std::string_view what) override {
    notes.push_back(std::string(NameOf(note)) + " " + std::string(what));
  }
  void OnPhase(TimePoint, std::string_view phase) override {
    notes.push_back("phase " + std::string(phase));
  }
  std::vector<std::string> Take() { return std::exchange(notes, {}); }
  std::vector<std::string> notes;
};

// A client's end, as far as a room's tests need one.
class TestClient {
 public:
  explicit TestClient(const Schema& schema) : rows(schema), shown(schema) {}

  test::RecordingConnection connection;
  RowTable rows;           // by baselines and deltas
  RowTable shown;          // by recoveries
  std::uint32_t tick = 0;  // the newest snapshot's
  bool acks = true;        // each snapshot, as it comes
  std::string token;       // of the last welcome
  std::optional<OwnWords> own;
  std::vector<std::string> log;

  void Read(const test::RecordingConnection::Entry& entry) {
    if (entry.is_close) {
      log.push_back("closed " + std::to_string(entry.code));
    } else if (entry.kind == MessageKind::kText) {
      ReadText(entry);
    } else {
      ReadState(BinaryStateCodec(), entry.lane, entry.bytes);
    }
  }

 private:
  void ReadState(const WireStateCodec& codec, Lane lane,
                 std::span<const std::byte> bytes) {
    EXPECT_EQ(codec.name(), welcome.codec);
    StateEdits edits;
    const DecodeResult result = codec.Decode(bytes, rows, edits);
    const StateHeader& header = edits.header();
    EXPECT_NE(result, DecodeResult::kMalformed);
    // Baselines alone have to arrive.
    EXPECT_EQ(lane == Lane::kReliable, header.kind == StateKind::kBaseline);
    tick = header.tick;
    static constexpr const char* kNames[] = {"", "baseline", "delta",
                                             "recovery"};
    log.push_back(
        std::string(result == DecodeResult::kOther ? "foreign " : "") +
        kNames[static_cast<int>(header.kind)] + " " +
        std::to_string(header.base) + " at " + std::to_string(header.tick));
    if (result != DecodeResult::kDecoded) return;
    own = edits.own();
    (header.kind == StateKind::kRecovery ? shown : rows).Apply(edits);
  }

  void ReadText(const test::RecordingConnection::Entry& entry) {
    const ServerFrame frame = ParseServerFrame(AsText(entry.bytes));
    if (std::holds_alternative<StateTextFrame>(frame)) {
      return ReadState(JsonStateCodec(), entry.lane, entry.bytes);
    }
    std::visit([this](const auto& of_kind) { Log(of_kind); }, frame);
  }
  void Log(const FrameRefusal& refusal) { ADD_FAILURE() << Describe(refusal); }
  void Log(const WelcomeFrame& frame) {
    token = TokenText(frame.token);
    welcome = frame;
    log.push_back("welcome " + frame.player + " " + std::to_string(frame.seat));
  }
  void Log(const RosterFrame& frame) {
    std::string line = "roster";
    for (const RosterPlayer& player : frame.players) {
      line += " " + player.id + (player.host ? "*" : "") +
              (player.connected ? "" : "-");
    }
    log.push_back(line + (frame.locked ? " locked" : ""));
  }
  void Log(const TickFrame& frame) {
    std::string line = "tick " + std::to_string(frame.tick) + " ack " +
                       std::to_string(frame.ack) + " entity " +
                       std::to_string(frame.entity);
    for (const TickEvent& event : frame.events) {
      line += (event.kind == TickEvent::Kind::kCamera ? " camera " : " hud ") +
              event.value;
    }
    log.push_back(std::move(line));
  }
  void Log(const RoomMsgFrame& frame) {
    log.push_back("msg " + std::to_string(frame.from) + " " + frame.name + " " +
                  frame.payload);
  }
  void Log(const RoomRttFrame& frame) {
    log.push_back("rtt " + std::to_string(static_cast<int>(frame.at)) + " " +
                  std::to_string(frame.server));
  }
  void Log(const ErrorFrame& frame) {
    log.push_back("error " + std::string(Word(frame.code)));
    error = frame.message;
  }
  template <typename Frame>
  void Log(const Frame&) {
    ADD_FAILURE() << "a frame that no room sends yet";
  }

 public:
  WelcomeFrame welcome;
  std::string error;  // the last one's words
};

class RoomTest : public testing::Test {
 protected:
  RoomTest() { options_.protocol = "duel 1"; }

  // The room; before it, a test sets options_ and what game_ does.
  Room& room() {
    if (room_ == nullptr) {
      room_ = std::make_unique<Room>(now_, options_, std::move(owned_game_),
                                     entropy_);
      room_->SetSink(&sink_);
    }
    return *room_;
  }

  TestClient& client(const std::string& name) {
    std::unique_ptr<TestClient>& found = clients_[name];
    if (found == nullptr) {
      found = std::make_unique<TestClient>(game_.schema());
    }
    return *found;
  }

  void Admit(const std::string& name, std::string_view identity = "") {
    room().Admit(now_, client(name).connection, identity);
    Pump();
  }
  void Say(const std::string& name, std::string_view text) {
    SayBytes(name, MessageKind::kText, AsBytes(text));
  }
  void SayBytes(const std::string& name, MessageKind kind,
                std::span<const std::byte> bytes) {
    room().OnMessage(now_, client(name).connection, kind, bytes);
    Pump();
  }
  void Input(const std::string& name, const InputFrame& input) {
    SayBytes(name, MessageKind::kBinary, EncodeInput(input));
  }
  void Ack(const std::string& name, std::uint32_t tick) {
    SayBytes(name, MessageKind::kBinary, EncodeAck(tick));
  }
  // The link ended with this code, whoever ended it.
  void Lose(const std::string& name, CloseCode code) {
    client(name).connection.Lose();
    room().OnClose(now_, client(name).connection, code);
    Pump();
  }

  static std::string JoinText(std::string_view token = "") {
    JoinFrame join{.protocol = "duel 1", .name = "Ann", .codecs = {"binary"}};
    if (!token.empty()) join.resume = ParseToken(token);
    return Write(join);
  }
  // A new connection that joins, without the answer: that is a tick's.
  void Ask(const std::string& name, std::string_view identity = "") {
    Admit(name, identity);
    Say(name, JoinText());
  }
  // The same, up to its answer, which is not kept.
  void Join(const std::string& name, std::string_view identity = "") {
    Ask(name, identity);
    RunTick();
    Forget();
  }
  void Resume(const std::string& name, std::string_view token,
              std::string_view identity = "") {
    Admit(name, identity);
    Say(name, JoinText(token));
  }

  // Time passes, alarm by alarm.
  void Wait(Duration time) {
    const TimePoint end = now_ + time;
    while (room().next_alarm() <= end) {
      now_ = std::max(now_, room().next_alarm());
      room().OnAlarm(now_);
      ASSERT_GT(room().next_alarm(), now_);
      Pump();
    }
    now_ = end;
  }
  // Up to the end of the next tick, or of so many.
  void RunTick(std::uint32_t ticks = 1) {
    const std::uint32_t end = room().tick() + ticks;
    while (room().tick() < end && !room().ended()) {
      ASSERT_NE(room().next_alarm(), kNever);
      Wait(std::max(room().next_alarm() - now_, Duration(0)));
    }
  }

  // What this connection was told since the last call.
  std::vector<std::string> Told(const std::string& name) {
    return std::exchange(client(name).log, {});
  }
  // Of that, what is no snapshot.
  std::vector<std::string> News(const std::string& name) {
    std::vector<std::string> news = Told(name);
    std::erase_if(news, [](const std::string& line) {
      return line.starts_with("baseline") || line.starts_with("delta");
    });
    return news;
  }
  void Forget() {
    for (auto& [name, client] : clients_) client->log.clear();
    game_.TakeCalls();
    sink_.notes.clear();
  }

  // Rows, by id, that both tables have and that are the same.
  static bool SameRows(const RowTable& a, const RowTable& b) {
    bool same = a.size() == b.size();
    a.ForEach([&](const RowView& row) {
      same = same && b.Get(row.id()).exists() && b.Get(row.id()) == row;
    });
    return same;
  }

  // What connections were told is read, and snapshots acked where a client
  // does so.
  void Pump() {
    for (auto& [name, client] : clients_) {
      const std::uint32_t before = client->tick;
      for (const auto& entry : client->connection.Take()) client->Read(entry);
      if (!client->acks || client->tick == before) continue;
      room().OnMessage(now_, client->connection, MessageKind::kBinary,
                       EncodeAck(client->tick));
    }
  }

  TimePoint now_{std::chrono::seconds(1'000)};
  RoomOptions options_;
  SeededEntropy entropy_{7};
  NotedSink sink_;
  std::unique_ptr<TestGame> owned_game_ = std::make_unique<TestGame>();
  TestGame& game_ = *owned_game_;
  std::map<std::string, std::unique_ptr<TestClient>> clients_;
  std::unique_ptr<Room> room_;
};

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_ROOM_FIXTURE_H_
