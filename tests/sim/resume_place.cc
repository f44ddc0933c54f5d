#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/shard.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "sim/resume_run.h"

namespace parlor::test {
namespace {

class LineConnection final : public Connection {
 public:
  explicit LineConnection(ResumeLine& line) : line_(line) {
    line_.connection = this;
  }
  ~LineConnection() override { line_.connection = nullptr; }

  void SetHandler(ConnectionHandler* handler) override {
    line_.handler = handler;
  }
  using Connection::Send;
  SendResult Send(Lane lane, MessageKind kind,
                  std::span<const std::byte> bytes) override {
    if (!line_.open()) return SendResult::kClosed;
    PARLOR_CHECK(lane == Lane::kReliable && kind == MessageKind::kBinary);
    PARLOR_CHECK(bytes.size() == lockstep::kMessageSize);
    line_.told.push_back(
        lockstep::Decode(bytes.first<lockstep::kMessageSize>()));
    return SendResult::kQueued;
  }
  using Connection::Close;
  void Close(CloseCode code, std::string_view /*text*/) override {
    if (!line_.closed) line_.closed = code;
  }
  void Abort() override { Close(close_code::kDropped, ""); }
  bool is_open() const override { return line_.open(); }
  std::size_t queued_bytes(Lane /*lane*/) const override { return 0; }

 private:
  ResumeLine& line_;
};

class RoomPlace final : public ResumePlace {
 public:
  RoomPlace(int players, const lockstep::RoomOptions& options, Entropy& entropy)
      : room_(TimePoint{}, players, options, entropy) {}

  void Join(TimePoint now, ResumeLine& line) override {
    room_.Join(now, Open(line));
  }
  void Resume(TimePoint now, ResumeLine& line,
              std::string_view token) override {
    room_.Resume(now, Open(line), token);
  }
  void Say(TimePoint now, ResumeLine& line,
           const lockstep::Message& message) override {
    room_.OnMessage(now, *line.connection, MessageKind::kBinary,
                    lockstep::Encode(message));
  }
  // As a session does: the connection dies with its close.
  void Close(TimePoint now, ResumeLine& line, CloseCode code) override {
    room_.OnClose(now, *line.connection, code);
    connections_.erase(line.connection);
  }
  void OnAlarm(TimePoint now) override { room_.OnAlarm(now); }
  TimePoint next_alarm() const override { return room_.next_alarm(); }
  const lockstep::Room* room() const override {
    return room_.phase() == lockstep::Room::Phase::kEnded ? nullptr : &room_;
  }
  bool empty() const override {
    return room_.seated() + room_.held() == 0 && connections_.empty();
  }

 private:
  Connection& Open(ResumeLine& line) {
    auto connection = std::make_unique<LineConnection>(line);
    Connection* const key = connection.get();
    return *(connections_[key] = std::move(connection));
  }

  lockstep::Room room_;
  std::map<const Connection*, std::unique_ptr<Connection>> connections_;
};

class ShardPlace final : public ResumePlace {
 public:
  ShardPlace(int players, const lockstep::RoomOptions& options,
             Entropy& entropy)
      : shard_(Options(options), entropy) {
    hello_.room = kNumber;
    hello_.players = players;
  }

  void Join(TimePoint now, ResumeLine& line) override {
    hello_.resume.reset();
    Attach(now, line);
  }
  void Resume(TimePoint now, ResumeLine& line,
              std::string_view token) override {
    hello_.resume = std::string(token);
    Attach(now, line);
  }
  void Say(TimePoint now, ResumeLine& line,
           const lockstep::Message& message) override {
    line.handler->OnMessage(now, *line.connection, Lane::kReliable,
                            MessageKind::kBinary, lockstep::Encode(message));
  }
  void Close(TimePoint now, ResumeLine& line, CloseCode code) override {
    line.handler->OnClose(now, *line.connection, {.code = code});
  }
  void OnAlarm(TimePoint now) override { shard_.OnAlarm(now); }
  TimePoint next_alarm() const override { return shard_.next_alarm(); }
  const lockstep::Room* room() const override {
    return shard_.FindRoom(kNumber);
  }
  bool empty() const override {
    return shard_.rooms() + shard_.players() + shard_.connections() == 0;
  }

 private:
  static constexpr std::uint32_t kNumber = 3;

  static host::ShardOptions Options(const lockstep::RoomOptions& room) {
    host::ShardOptions options;
    options.room = room;
    return options;
  }
  void Attach(TimePoint now, ResumeLine& line) {
    PARLOR_CHECK(shard_.Admit(now, hello_).status == 0);
    shard_.Attach(now, std::make_unique<LineConnection>(line), hello_);
  }

  host::Shard shard_;
  Hello hello_;
};

}  // namespace

std::unique_ptr<ResumePlace> MakeResumePlace(
    ResumeAt at, int players, const lockstep::RoomOptions& options,
    Entropy& entropy) {
  if (at == ResumeAt::kRoom) {
    return std::make_unique<RoomPlace>(players, options, entropy);
  }
  return std::make_unique<ShardPlace>(players, options, entropy);
}

}  // namespace parlor::test
