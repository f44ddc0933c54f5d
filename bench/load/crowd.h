// Crowd: the clients of all rooms on one epoll set: how they join, what they
// wait for, and how they leave. One thread.
#ifndef PARLOR_BENCH_LOAD_CROWD_H_
#define PARLOR_BENCH_LOAD_CROWD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "load/client.h"
#include "load/clock.h"
#include "load/load_options.h"
#include "parlor/entropy.h"
#include "parlor/lane.h"
#include "stream/websocket_codec.h"

namespace parlor::load {

class CrowdEvents {
 public:
  // From a seat that has had its WELCOME. `bytes` die with the call.
  virtual absl::Status OnMessage(Client& client, MessageKind kind,
                                 std::span<const std::byte> bytes,
                                 std::int64_t now_ns) = 0;
  // What could not be written at once is on its way now.
  virtual absl::Status OnWritable(Client& client) = 0;

 protected:
  ~CrowdEvents() = default;
};

class Crowd final : private ClientEvents {
 public:
  // Raises this process's limit of open files as far as it may. For `options`'
  // rooms or, with `idle`, for as many as hold so many connections; the last of
  // those may be smaller. ResourceExhausted: they are more than this process
  // may open. `events` outlives it.
  static absl::StatusOr<std::unique_ptr<Crowd>> Create(
      const LoadOptions& options, CrowdEvents& events);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // Until every client has its seat. DataLoss: a WELCOME is wrong;
  // DeadlineExceeded: nothing happened for `join_seconds`.
  absl::Status Join();

  // Waits until something has happened, a client's turn or `wake_ns` is there,
  // and handles it: at most 256 sockets, so that a busy server does not keep
  // the caller from what is due.
  absl::Status Poll(std::int64_t wake_ns);

  // From here on Poll reads the clients that are not `timed` in turn, each once
  // in kTurnNs, and is not woken by what comes for them. One that the server
  // closes is told at once all the same.
  void ReadInTurn();
  // From here on it reads all of them as soon as something is there, as at
  // first.
  void ReadAtOnce();

  // Some 10 messages a recv in rooms of 8 seats at 60 frames a second, and to
  // read each by itself is what takes a core. Far too short to fill a socket's
  // buffer or to leave a ping unanswered.
  static constexpr std::int64_t kTurnNs = kSecondNs / 40;

  // Closes all connections in order and waits until the server knows, 5 s at
  // most. Also after an error.
  void Leave();

  // All of them, by room; within a room as they joined.
  std::span<Client> clients() { return clients_; }

 private:
  Crowd(const LoadOptions& options, CrowdEvents& events, std::size_t count);

  absl::Status OnMessage(Client& client, MessageKind kind,
                         std::span<const std::byte> bytes,
                         std::int64_t now_ns) override;
  absl::Status OnWritable(Client& client) override;
  absl::Status Begin(std::size_t index);
  absl::Status ReadThoseInTurn();
  absl::Status Welcome(Client& client, MessageKind kind,
                       std::span<const std::byte> bytes);

  const LoadOptions& options_;
  CrowdEvents& events_;
  int epoll_ = -1;
  SeededEntropy entropy_;
  stream::MaskKeys keys_;
  std::vector<std::byte> buffer_;  // what all of them read into
  std::vector<Client> clients_;
  std::size_t seated_ = 0;
  std::vector<Client*> in_turn_;
  std::size_t turn_ = 0;             // whose it is, in `in_turn_`
  std::int64_t turn_ns_ = kNeverNs;  // when
};

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_CROWD_H_
