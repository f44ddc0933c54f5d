// SocketStream: a ByteStream over a TCP socket. Waits with Asio and reads and
// writes without blocking, so that a stream needs no buffer of its own: it
// reads into its reader's, and what the system does not take stays with the
// writer.
#ifndef PARLOR_TRANSPORTS_ASIO_SOCKET_STREAM_H_
#define PARLOR_TRANSPORTS_ASIO_SOCKET_STREAM_H_

#include <asio/basic_stream_socket.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "asio/asio_loop.h"
#include "asio/handler_memory.h"
#include "stream/byte_stream.h"

namespace parlor::net_internal {

// Not asio::ip::tcp::socket, whose executor is type-erased.
using Socket =
    asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

class SocketStream final : public stream::ByteStream {
 public:
  // One that was accepted. `companion` is let go of once the socket is closed,
  // on whichever loop that is.
  SocketStream(AsioLoop& loop, Socket socket, std::shared_ptr<void> companion);

  // Connects: looks `host` up, unless it is a numeric address, and tries its
  // addresses in turn. Blocks both ways until one answers; kLost when none
  // does.
  SocketStream(AsioLoop& loop, const std::string& host, std::uint16_t port);
  // The same with the addresses that a look-up found.
  SocketStream(AsioLoop& loop, std::vector<asio::ip::tcp::endpoint> addresses);

  ~SocketStream() override;

  void SetEvents(Events* events) override;
  stream::IoResult Read(std::span<std::byte> into) override;
  stream::IoResult Write(std::span<const stream::Bytes> pieces) override;
  void WantRead(bool wanted) override;
  void WantWrite() override;
  void EndWrite() override;
  void Reset() override;
  // What is parked is the descriptor. Where another loop cannot watch it (the
  // system has no memory for that), the stream on there is kLost.
  std::unique_ptr<stream::ParkedStream> Park() override;

 private:
  class Dial;
  class Parked;

  enum class State : std::uint8_t {
    kConnecting,
    kConnected,
    kLost,  // before it was connected; a later loss the socket knows itself
  };

  void Configure();
  void Settle(State state);
  void AwaitRead();
  void AwaitWrite();
  void OnReadReady();
  void OnWriteReady();

  AsioLoop& loop_;
  Events* events_ = nullptr;
  State state_;
  bool read_wanted_ = false;
  bool write_wanted_ = false;
  // Whether Asio holds a handler for it. It may be more than is wanted.
  bool read_awaited_ = false;
  bool write_awaited_ = false;
  Tether<SocketStream> tether_{this};
  std::shared_ptr<void> companion_;
  Socket socket_;
  std::unique_ptr<Dial> dial_;  // while connecting
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_ASIO_SOCKET_STREAM_H_
