// Server: a host of rooms inside any process. A dedicated host is a main()
// around one (host/main.cc); a game that hosts friends has one beside its own
// window; a test may have many. It installs no signal handler, prints nothing
// and never ends the process.
//
// A front takes connections on its ports, reads each request, asks the gate and
// hands whom it lets in to the shard of the room: room n lives on shard n
// modulo their number, and so does hosted room n of shard.play_rooms. With
// `shards` of 1 or more, the front and each shard have a thread of their own,
// from Create to the destruction; with 0 there is no thread, and all of it is
// turned by Poll.
//
// Threads: everything may be called from any, except Poll and next_alarm, which
// belong to one, and the destruction, which is nobody else's time.
#ifndef PARLOR_HOST_SERVER_H_
#define PARLOR_HOST_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/access_store.h"
#include "parlor/host/gate_options.h"
#include "parlor/host/shard.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/stream_options.h"
#include "parlor/transports/tls.h"
#include "parlor/transports/turn_work.h"

namespace parlor::host {

struct ServerOptions {
  // Numeric. "0.0.0.0" is every address of IPv4, "::" every one.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // HTTP and WebSocket; 0: picked
  std::optional<std::uint16_t>
      tcp_port{};                  // parlor over TCP as well; 0: picked
  std::optional<TlsServer> tls{};  // both ports speak TLS
  std::string base_path{};         // "" or "/games": in front of all paths
  int shards = 1;                  // 0..kShardsMax; 0: no threads
  ShardOptions shard{};  // rooms and seats are the server's, over all shards
  GateOptions gate{};
  StreamOptions stream{};
  std::int64_t connections = limits::kConnections.fallback;
  std::int64_t unseated = limits::kUnseated.fallback;
  std::int64_t unseated_per_address = limits::kUnseatedPerAddress.fallback;
  std::int64_t drain_ms = limits::kDrainMs.fallback;
  // Nobody comes in over the network before Open(): his connection is closed
  // unheard. For a host who wants the first seat himself.
  bool closed = false;
  // Codes beside gate.codes, and what passes need; nobody's when null. One
  // server's at a time, whose destruction ends what it watches.
  std::shared_ptr<AccessStore> access_store{};
  // Matches are kept in this file (mode 0600: it holds resume tokens), so that
  // the next server with it takes them back and their players resume into their
  // seats: after Drain in full, after the process was killed with what the last
  // second relayed missing, which the players send again. Who does not come
  // back is held as one who dropped. Stop with any reason but kRestart ends
  // matches for good. A damaged file is logged, renamed to
  // "<state_path>.refused-<n>" and not read; rooms beyond the caps are left
  // out. Empty: matches end with the server.
  std::string state_path{};
  // Matches are recorded in this folder (lockstep/replay_log.h), each in a file
  // of its own (0600), "room-<number>-<time>.replay"; some 2 MB an hour of 4
  // players, 128 MiB at most. What becomes of the files is the operator's: none
  // is ever deleted. A folder that is full or gone ends recordings, which is
  // logged, and no match. A match that was taken back goes on in another file.
  // Empty: nothing is recorded.
  std::string record_path{};
};

// More threads than any machine that this was measured on has cores.
inline constexpr int kShardsMax = 256;

// OK, or InvalidArgument: the field's path ("server.shard.rooms"), the value
// and what is allowed.
absl::Status ValidateOptions(const ServerOptions& options);

struct ServerFigures {
  std::uint64_t rooms = 0;        // open
  std::uint64_t players = 0;      // connected seats
  std::uint64_t connections = 0;  // sockets, without a seat too
  std::uint64_t unseated = 0;     // of them
};

enum class LogLevel : std::uint8_t { kInfo, kWarning };
// For what the operator should know: one line, without a newline, and without
// anything a client sent. Called inside Create, and from then on from any of
// the server's threads, two of them at once too. It may call the server, but
// neither wait for it nor destroy it.
using LogSink = std::function<void(LogLevel level, std::string_view line)>;

class Server {
 public:
  // Listens, and with threads runs, from here on. InvalidArgument: the options;
  // the folder of record_path cannot be written to; Unavailable: a port, a
  // thread or the file of state_path cannot be had, which another server may
  // have open. `entropy` may be asked from all of the server's threads at once
  // (OsEntropy can) and outlives it.
  static absl::StatusOr<std::unique_ptr<Server>> Create(
      const ServerOptions& options, Entropy& entropy, LogSink log = {});

  // Ends at once: who is connected sees a lost link (1006). Stop first to say
  // goodbye. Connections of MakeConnector outlive it.
  virtual ~Server() = default;

  // Lets the network in, where `closed` kept it out. Who was given to a
  // connector or to Attach before this is seated first.
  virtual void Open() = 0;

  virtual std::uint16_t port() const = 0;
  virtual std::uint16_t tcp_port() const = 0;  // 0: there is none

  // Opens connections to the rooms in memory, without the gate: the way of a
  // player in the host's own process. Its client ends live on `client`, which
  // outlives them; the connector may outlive the server, and refuses then
  // (503). A room that is not run here is refused 404, a size beyond the cap
  // 400, as over the network; what only the room can tell (another size, 409
  // there) closes CloseReason::kRefused.
  virtual std::unique_ptr<Connector> MakeConnector(PipePump& client) = 0;

  // Seats any Connection, past the gate. It must live on the loop of its room:
  // loop(hello.room), whose thread its callbacks come on from here on. The room
  // closes it as it closes any (4000, 4002), or CloseReason::kRefused.
  virtual void Attach(std::unique_ptr<Connection> connection,
                      const Hello& hello) = 0;
  virtual NetLoop& loop(std::uint32_t room) = 0;
  // That of a hosted room. Of a key that none has it is any: such a connection
  // is refused.
  virtual NetLoop& play_loop(std::string_view key) = 0;

  // Takes over what may change while a server runs, which is all but where it
  // listens (address, ports, base_path), shards, shard.rooms, shard.seats, the
  // keys of shard.play_rooms, stream, access_store, state_path and record_path:
  // rooms that are open keep what they were opened with, connections what they
  // have. InvalidArgument: a field that may not change, or is not valid;
  // nothing has changed then.
  //
  // Each of its threads does so in its next turn; what was counted in the
  // present minute counts on. `closed` is not looked at, and a drain that has
  // begun keeps its time.
  virtual absl::Status Reload(const ServerOptions& options) = 0;

  // Refuses joins (503; hosted rooms do so themselves) and lets matches go on
  // and resume for drain_ms; then closes everyone with CloseReason::kRestart,
  // or as a hosted room has it (HostedRoom::End). Again: the time is over now.
  virtual void Drain() = 0;
  // Refuses everything and closes everyone with `reason`. The first of these
  // calls that closes counts.
  virtual void Stop(CloseReason reason) = 0;
  // Everyone has been closed, and every close was delivered or given up
  // (linger_ms): the destruction takes nothing from anybody.
  virtual bool stopped() const = 0;
  // With threads: waits for that, at most `timeout`. Answers stopped().
  virtual bool WaitStopped(Duration timeout) = 0;

  virtual ServerFigures figures() const = 0;

  // The most that one turn of any of its loops did, of each: what an attack can
  // make a match wait for (NetLoop::busiest_turn).
  virtual TurnWork busiest_turn() const = 0;

  // Without threads only; both check that. As NetLoop's: Poll turns everything
  // once, without waiting, and is wanted again at next_alarm at the latest.
  virtual std::size_t Poll(TimePoint now, std::size_t events_max) = 0;
  std::size_t Poll(TimePoint now) { return Poll(now, SIZE_MAX); }
  virtual TimePoint next_alarm() const = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_SERVER_H_
