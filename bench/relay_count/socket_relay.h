// SocketRelay: a host::Server without threads and its players, who are
// WebSockets of the loopback and nothing more. One thread turns all, so what
// the server finds at a look into the system does not depend on luck.
#ifndef PARLOR_BENCH_RELAY_COUNT_SOCKET_RELAY_H_
#define PARLOR_BENCH_RELAY_COUNT_SOCKET_RELAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/entropy.h"
#include "parlor/host/server.h"
#include "parlor/time.h"
#include "relay_count/counted_relay.h"
#include "support/raw_socket.h"

namespace parlor::bench {

// Callgrind counts the server's turns alone.
class SocketRelay final : public CountedRelay {
 public:
  // All seats are taken. Unavailable: the system has no port or no socket, or
  // the server did not let everybody in.
  static absl::StatusOr<std::unique_ptr<SocketRelay>> Create(
      const CountedRelayOptions& options);

  absl::Status Step(Phases phases) override;
  void Collect() override { collecting_ = true; }
  std::uint64_t delivered() const override { return delivered_; }

 private:
  struct Player {
    test::RawSocket socket;
    std::string heard;       // and not understood yet
    bool open = false;       // past the handshake
    int seat = -1;           // of the WELCOME with which the match begins
    std::uint32_t from = 0;  // who was heard in this step, a bit a seat
  };

  explicit SocketRelay(const CountedRelayOptions& options);

  absl::Status Join();
  // Of one seat in each room.
  absl::Status Say(std::size_t seat);
  // One turn of the server; how many events there were.
  std::size_t Turn();
  // Turns until `done`, which is given the events of the last turn after the
  // players have heard what there was; `what` it waits for.
  template <typename Done>
  absl::Status TurnUntil(std::string_view what, const Done& done);
  bool AllHeard() const;
  absl::Status Hear(std::size_t index);
  absl::Status Understand(std::size_t index, std::string_view frame);
  absl::Status Wrong(std::size_t index, std::string_view what) const;

  const std::size_t seats_;
  SeededEntropy entropy_{1};
  std::unique_ptr<host::Server> server_;
  std::vector<Player> players_;   // by room
  std::vector<std::byte> input_;  // this step's, as all players send it
  TimePoint now_;
  std::uint32_t frame_ = 0;
  std::uint64_t delivered_ = 0;
  bool collecting_ = false;
};

}  // namespace parlor::bench

#endif  // PARLOR_BENCH_RELAY_COUNT_SOCKET_RELAY_H_
