#include "parlor/host/server.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "counted.h"
#include "logic/handover.h"
#include "logic/reception.h"
#include "logic/reload.h"
#include "logic/told_rooms.h"
#include "net/acceptor.h"
#include "net/door_thread.h"
#include "net/epoll_loop.h"
#include "net/open_sockets.h"
#include "net/room_connector.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/room_records.h"
#include "parlor/host/room_store.h"
#include "parlor/host/shard.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/tls.h"
#include "parlor/transports/turn_work.h"
#include "storage/record_folder.h"
#include "storage/state_file.h"
#include "stream/byte_stream.h"
#include "stream/tls_stream.h"
#include "wall_clock.h"

namespace parlor::host {
namespace {

using net_internal::Acceptor;

PipeOptions PipesLike(const StreamOptions& stream) {
  return {.reliable_bytes_max = stream.reliable_bytes_max,
          .message_bytes_max = stream.message_bytes_max,
          .linger_ms = stream.linger_ms};
}

// The gate keeps what it needs of them, and no code.
ServerOptions WithoutSecrets(ServerOptions options) {
  options.gate = {};
  return options;
}

ServerOptions WithToldRooms(ServerOptions options, const LogSink& log) {
  options.shard.play_rooms =
      ToldRooms(std::move(options.shard.play_rooms), log);
  return options;
}

// On one loop with the front when there are no threads.
std::size_t DoorsOf(const ServerOptions& options) {
  return options.shards > 0 ? static_cast<std::size_t>(options.shards) : 1;
}

class NetServer final : public Server, private Reception::Ports {
 public:
  NetServer(const ServerOptions& options, Entropy& entropy, LogSink log);
  ~NetServer() override;

  // Before KeepIn.
  void RecordIn(std::unique_ptr<RoomRecords> records);
  // Before Start. Matches are kept in opened.file, and those it has go on.
  void KeepIn(StateFile::Opened opened);
  absl::Status Listen();
  // Throws std::system_error when the system has no thread for it.
  void Start();

  void Open() override { open_.store(true, std::memory_order_release); }
  std::uint16_t port() const override { return web_.port; }
  std::uint16_t tcp_port() const override { return tcp_.port; }
  std::unique_ptr<Connector> MakeConnector(PipePump& client) override {
    return std::make_unique<RoomConnector>(entrance_, client);
  }
  void Attach(std::unique_ptr<Connection> connection,
              const Hello& hello) override {
    entrance_->InboxOf(hello).Put(std::move(connection), hello);
  }
  NetLoop& loop(std::uint32_t room) override { return DoorOf(room).loop(); }
  NetLoop& play_loop(std::string_view key) override {
    return DoorOf(entrance_->NumberOf(key)).loop();
  }

  void Drain() override;
  void Stop(CloseReason reason) override;
  bool stopped() const override;
  bool WaitStopped(Duration timeout) override;

  ServerFigures figures() const override;
  TurnWork busiest_turn() const override;

  absl::Status Reload(const ServerOptions& options) override;

  std::size_t Poll(TimePoint now, std::size_t events_max) override;
  TimePoint next_alarm() const override;

 private:
  // One port: whose clients speak what.
  struct Port final : Acceptor::Owner {
    Port(NetServer& its_server, NetTransport its_transport)
        : server(its_server), transport(its_transport) {}
    void OnAccept(std::unique_ptr<stream::ByteStream> stream,
                  std::string_view address) override {
      server.OnAccept(std::move(stream), address, transport);
    }
    void OnAcceptStatus(const absl::Status& status) override {
      server.OnAcceptStatus(status);
    }

    NetServer& server;
    const NetTransport transport;
    std::uint16_t port = 0;
    std::unique_ptr<Acceptor> acceptor;  // null once it ends
  };

  DoorThread& DoorOf(std::uint32_t room) const {
    return *doors_[room % doors_.size()];
  }
  absl::Status ListenOn(Port& port, std::uint16_t number);
  void LogPort(const Port& port, const char* what);
  bool threaded() const { return options_.shards > 0; }

  // On the front's thread, as all below.
  Acceptor::Companion Count();
  void OnAccept(std::unique_ptr<stream::ByteStream> stream,
                std::string_view address, NetTransport transport);
  void OnAcceptStatus(const absl::Status& status);
  void HandOver(Handover handover) override;
  void SetOptions(const ShardOptions& options) override;
  void DrainDoors() override;
  void End(CloseReason reason, const std::function<void()>& ended) override;
  void StopAccepting() override;

  // On any thread, as all below.
  ServerFigures DoorFigures() const override;
  void OnEnded() override;
  void Log(LogLevel level, std::string_view line) override {
    if (log_) log_(level, line);
  }

  const ServerOptions options_;  // what Reload may not change, of these
  const LogSink log_;
  NetLoop loop_;  // the front's
  const std::shared_ptr<OpenSockets> sockets_ = std::make_shared<OpenSockets>();
  const std::shared_ptr<Entrance> entrance_;
  // Of all doors; null: there is none.
  std::unique_ptr<RoomRecords> records_;
  std::unique_ptr<RoomStore> store_;
  std::vector<std::unique_ptr<DoorThread>> doors_;
  Reception reception_;
  std::optional<TlsServer> tls_;  // the front's; Reload may change it
  Port web_{*this, NetTransport::kWebSocket};
  Port tcp_{*this, NetTransport::kTcp};
  std::atomic<bool> open_;
  std::thread thread_;  // the front's

  mutable std::mutex ended_mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
};

NetServer::NetServer(const ServerOptions& options, Entropy& entropy,
                     LogSink log)
    : options_(WithoutSecrets(options)),
      log_(std::move(log)),
      entrance_(
          std::make_shared<Entrance>(options.shard, PipesLike(options.stream))),
      reception_(loop_.internal(), options,
                 {.doors = DoorsOf(options),
                  .wall_clock = WallClockSeconds,
                  .post = [this](auto task) { loop_.Post(std::move(task)); }},
                 *this),
      tls_(options.tls),
      open_(!options.closed) {
  for (std::size_t i = 0; i < DoorsOf(options); ++i) {
    doors_.push_back(std::make_unique<DoorThread>(
        threaded() ? nullptr : &loop_,
        DoorThread::Options{options.shard, options.stream}, entropy));
    entrance_->Add(doors_.back()->inbox());
  }
  loop_.Post([this] { reception_.Begin(); });
}

NetServer::~NetServer() {
  // Who has a connector left is refused, whichever thread it is on.
  entrance_->RaiseTo(Entrance::Phase::kEnding);
  if (thread_.joinable()) {
    loop_.Stop();
    thread_.join();
  }
  for (const std::unique_ptr<DoorThread>& door : doors_) door->Join();
}

void NetServer::RecordIn(std::unique_ptr<RoomRecords> records) {
  records_ = std::move(records);
  for (const std::unique_ptr<DoorThread>& door : doors_) {
    door->RecordIn(*records_);
  }
}

void NetServer::KeepIn(StateFile::Opened opened) {
  store_ = std::move(opened.file);
  std::int64_t seats = 0;
  std::vector<std::vector<KeptRoom>> by_door(doors_.size());
  for (KeptRoom& room : opened.rooms) {
    seats += std::ranges::count_if(
        room.state.seats,
        [](const lockstep::SeatState& seat) { return seat.token != 0; });
    by_door[room.number % doors_.size()].push_back(std::move(room));
  }
  if (!opened.rooms.empty()) {
    const auto matches = static_cast<std::int64_t>(opened.rooms.size());
    Log(LogLevel::kInfo, Counted(matches, "match", "matches") + " with " +
                             Counted(seats, "seat", "seats") + " taken back");
  }
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    doors_[i]->KeepIn(*store_, std::move(by_door[i]));
  }
}

absl::Status NetServer::Listen() {
  absl::Status status = ListenOn(web_, options_.port);
  if (status.ok() && options_.tcp_port) {
    status = ListenOn(tcp_, *options_.tcp_port);
  }
  return status;
}

absl::Status NetServer::ListenOn(Port& port, std::uint16_t number) {
  absl::StatusOr<std::unique_ptr<Acceptor>> acceptor =
      Acceptor::Listen(loop_.internal(),
                       {.address = options_.address,
                        .port = number,
                        .make_companion = [this] { return Count(); }},
                       port);
  if (!acceptor.ok()) return acceptor.status();
  port.acceptor = *std::move(acceptor);
  port.port = port.acceptor->port();
  return absl::OkStatus();
}

void NetServer::LogPort(const Port& port, const char* what) {
  Log(LogLevel::kInfo,
      std::string("listening for ") + what + (tls_ ? " over TLS" : "") +
          " on " + options_.address + " port " + std::to_string(port.port));
}

void NetServer::Start() {
  LogPort(web_, "HTTP and WebSocket");
  if (options_.tcp_port) LogPort(tcp_, "TCP");
  if (!threaded()) return;
  for (const std::unique_ptr<DoorThread>& door : doors_) door->Start();
  thread_ = std::thread([this] { loop_.Run(); });
}

// --- The front's thread

Acceptor::Companion NetServer::Count() {
  if (!open_.load(std::memory_order_acquire)) return nullptr;
  // Whoever was refused or put out has heard it, and may stay behind that as
  // long as he likes: a crowd of those must not keep others out. Those on other
  // threads make room a little ahead, since they need a moment.
  const std::uint64_t most = reception_.connections_max();
  const std::uint64_t open = sockets_->count();
  if (threaded() && open + DoorThread::kHandoversPerTurn > most) {
    for (const std::unique_ptr<DoorThread>& door : doors_) door->MakeRoom();
  }
  if (open >= most && !reception_.MakeRoom()) return nullptr;
  return std::make_shared<OpenSockets::Share>(sockets_);
}

void NetServer::OnAccept(std::unique_ptr<stream::ByteStream> stream,
                         std::string_view address, NetTransport transport) {
  if (tls_) {
    stream = stream::MakeTlsServerStream(loop_.internal(), std::move(stream),
                                         tls_->context());
  }
  reception_.OnAccept(std::move(stream), address, transport);
}

void NetServer::OnAcceptStatus(const absl::Status& status) {
  if (status.ok()) {
    Log(LogLevel::kInfo, "accepting again");
  } else {
    Log(LogLevel::kWarning, std::string(StatusText(status)));
  }
}

void NetServer::HandOver(Handover handover) {
  DoorThread& door = DoorOf(handover.hello.room);
  door.HandOver(std::move(handover));
}

void NetServer::SetOptions(const ShardOptions& options) {
  for (const std::unique_ptr<DoorThread>& door : doors_) {
    door->SetOptions(options);
  }
}

void NetServer::DrainDoors() {
  for (const std::unique_ptr<DoorThread>& door : doors_) door->Drain();
}

void NetServer::End(CloseReason reason, const std::function<void()>& ended) {
  for (const std::unique_ptr<DoorThread>& door : doors_) {
    door->End(reason, ended);
  }
}

void NetServer::StopAccepting() {
  entrance_->RaiseTo(Entrance::Phase::kEnding);
  web_.acceptor = nullptr;
  tcp_.acceptor = nullptr;
}

// --- Any thread

void NetServer::OnEnded() {
  const std::lock_guard lock(ended_mutex_);
  ended_ = true;
  ended_changed_.notify_all();
}

absl::Status NetServer::Reload(const ServerOptions& options) {
  absl::Status status = CheckReload(options_, options);
  if (!status.ok()) return status;
  loop_.Post([this, told = WithToldRooms(options, log_)] {
    tls_ = told.tls;
    reception_.SetOptions(told);
  });
  return status;
}

void NetServer::Drain() {
  entrance_->RaiseTo(Entrance::Phase::kDraining);
  loop_.Post([this] { reception_.Drain(); });
}

void NetServer::Stop(CloseReason reason) {
  entrance_->RaiseTo(Entrance::Phase::kEnding);
  loop_.Post([this, reason] { reception_.Stop(reason); });
}

bool NetServer::stopped() const {
  const std::lock_guard lock(ended_mutex_);
  return ended_;
}

bool NetServer::WaitStopped(Duration timeout) {
  std::unique_lock lock(ended_mutex_);
  if (threaded()) {
    ended_changed_.wait_for(lock, timeout, [this] { return ended_; });
  }
  return ended_;
}

ServerFigures NetServer::DoorFigures() const {
  ServerFigures figures;
  for (const std::unique_ptr<DoorThread>& door : doors_) {
    figures.rooms += door->shard().rooms();
    figures.players += door->shard().players();
  }
  return figures;
}

ServerFigures NetServer::figures() const {
  ServerFigures figures = DoorFigures();
  figures.connections = sockets_->count();
  figures.unseated = reception_.unseated();
  return figures;
}

TurnWork NetServer::busiest_turn() const {
  TurnWork most = loop_.busiest_turn();
  for (const std::unique_ptr<DoorThread>& door : doors_) {
    most.RaiseTo(door->loop().busiest_turn());
  }
  return most;
}

std::size_t NetServer::Poll(TimePoint now, std::size_t events_max) {
  PARLOR_CHECK(!threaded());
  return loop_.Poll(now, events_max);
}

TimePoint NetServer::next_alarm() const {
  PARLOR_CHECK(!threaded());
  return loop_.next_alarm();
}

absl::StatusOr<StateFile::Opened> OpenState(const ServerOptions& options,
                                            LogSink log) {
  absl::StatusOr<StateFile::Opened> opened =
      StateFile::Open(options.state_path, options.shard.rooms,
                      options.shard.seats, std::move(log));
  if (opened.ok()) return opened;
  // What another host has open is as a port that it has.
  return MakeStatus(
      absl::IsInvalidArgument(opened.status())
          ? absl::StatusCode::kInvalidArgument
          : absl::StatusCode::kUnavailable,
      "server.state_path: " + std::string(StatusText(opened.status())));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Create(
    const ServerOptions& options, Entropy& entropy, LogSink log) {
  if (absl::Status status = ValidateOptions(options); !status.ok()) {
    return status;
  }
  try {
    auto server =
        std::make_unique<NetServer>(WithToldRooms(options, log), entropy, log);
    if (absl::Status status = server->Listen(); !status.ok()) return status;
    // Of a host that has its ports: one that cannot start leaves the file to
    // the next that tries. Clients that connect meanwhile wait for the start.
    if (!options.record_path.empty()) {
      absl::StatusOr<std::unique_ptr<RecordFolder>> records =
          RecordFolder::Open(options.record_path, WallClockSeconds, log);
      if (!records.ok()) {
        return InvalidArgument("server.record_path: " +
                               std::string(StatusText(records.status())));
      }
      server->RecordIn(*std::move(records));
    }
    if (!options.state_path.empty()) {
      absl::StatusOr<StateFile::Opened> opened =
          OpenState(options, std::move(log));
      if (!opened.ok()) return opened.status();
      server->KeepIn(*std::move(opened));
    }
    server->Start();
    return server;
  } catch (const std::system_error& error) {
    return absl::UnavailableError(
        std::string("server: no descriptor or thread to be had: ") +
        error.what());
  }
}

}  // namespace parlor::host
