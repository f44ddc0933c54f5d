// Client: one seat's WebSocket, from the connect on. It never blocks.
//
// What goes wrong is an absl::Status that says which seat it was: Unavailable
// when the server refuses, closes or is lost, DataLoss when what it says is
// not the protocol.
#ifndef PARLOR_BENCH_LOAD_CLIENT_H_
#define PARLOR_BENCH_LOAD_CLIENT_H_

#include <netinet/in.h>
#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/entropy.h"
#include "parlor/lane.h"
#include "stream/codec.h"
#include "stream/handshake.h"
#include "stream/websocket_codec.h"

namespace parlor::load {

class Client;

class ClientEvents {
 public:
  // `bytes` die with the call.
  virtual absl::Status OnMessage(Client& client, MessageKind kind,
                                 std::span<const std::byte> bytes,
                                 std::int64_t now_ns) = 0;
  // All that was written is on its way.
  virtual absl::Status OnWritable(Client& client) = 0;

 protected:
  ~ClientEvents() = default;
};

struct ClientPlace {
  sockaddr_in server{};
  in_addr from{};  // 0.0.0.0: the system chooses
  std::uint32_t room = 0;
  int players = 0;
};

class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { Close(); }

  // Begins to connect and adds itself to `epoll`, edge triggered, with its
  // address as the event's pointer. `keys` outlives it.
  absl::Status Connect(const ClientPlace& place, int epoll, Entropy& entropy,
                       stream::MaskKeys& keys);

  // For an event of its socket. `buffer` is what is read into. What is not OK
  // has closed it.
  absl::Status OnEvent(std::uint32_t epoll_events, std::span<std::byte> buffer,
                       ClientEvents& events);

  // Whether `epoll`, the same as in Connect, tells that there is something to
  // read, as it does from the start. It tells in any case that the server ended
  // the connection.
  void WakeForInput(int epoll, bool wake);
  // Reads what is there, told of it or not. As OnEvent.
  absl::Status OnTurn(std::span<std::byte> buffer, ClientEvents& events);

  // Adds a frame with `payload` to `out`, for Write.
  void AppendFrame(stream::FrameType type, std::span<const std::byte> payload,
                   std::vector<std::byte>& out);
  // Writes frames; what the system does not take yet goes out later.
  absl::Status Write(std::span<const std::byte> frames);
  // Whether something waits to go out: OnWritable tells when it is gone.
  bool blocked() const { return !unsent_.empty(); }

  // Says goodbye: close 1000, so that the server frees the seat. From here on
  // nothing is an error, and nothing that arrives is looked at; the socket
  // closes when the server has answered.
  void Leave();
  // At once.
  void Close();

  bool closed() const { return socket_ < 0; }
  bool open() const { return codec_ != nullptr; }  // past the handshake
  std::uint32_t room() const { return place_.room; }
  int players() const { return place_.players; }

  // For its owner: the seat that it got, -1 until then, how many of its INPUTs
  // were due until now, and whether its latencies are measured.
  int seat = -1;
  std::uint32_t due = 0;
  bool timed = true;

 private:
  epoll_event Interest(bool input);
  absl::Status Handle(std::uint32_t epoll_events, std::span<std::byte> buffer,
                      ClientEvents& events);
  absl::Status EndUnlessOk(absl::Status status);
  absl::Status OnConnected();
  absl::Status Read(bool to_the_end, std::span<std::byte> buffer,
                    ClientEvents& events);
  absl::Status Feed(std::span<std::byte> input, ClientEvents& events);
  absl::Status FeedHandshake(std::span<std::byte>& input);
  absl::Status Pong(std::span<const std::byte> payload);
  absl::Status Flush(ClientEvents& events);

  absl::Status Lost(std::string_view what) const;
  absl::Status Refused(std::uint16_t status) const;
  absl::Status ClosedBy(const stream::Incoming& close) const;
  std::string Name() const;

  ClientPlace place_;
  int socket_ = -1;
  bool connected_ = false;
  bool leaving_ = false;
  stream::MaskKeys* keys_ = nullptr;
  std::unique_ptr<stream::ClientHandshake> handshake_;  // until it is open
  std::unique_ptr<stream::Codec> codec_;                // from then on
  std::vector<std::byte> unsent_;
};

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_CLIENT_H_
