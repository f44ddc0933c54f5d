// SocketStream: a ByteStream over a TCP socket. The loop's SocketSet tells when
// it is ready; it reads and writes without blocking, so that a stream needs no
// buffer of its own: it reads into its reader's, and what the system does not
// take stays with the writer.
#ifndef PARLOR_TRANSPORTS_NET_SOCKET_STREAM_H_
#define PARLOR_TRANSPORTS_NET_SOCKET_STREAM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/epoll_loop.h"
#include "net/socket_address.h"
#include "net/socket_set.h"
#include "stream/byte_stream.h"

namespace parlor::net_internal {

// For a socket that was just connected: messages go out at once, and the system
// holds no more of them unsent than a stream of ours is to have there.
void Configure(int socket);
// Closes a socket so that the peer is told at once that the link was lost.
void CloseWithReset(int socket);

// A line of memory has all that moving bytes touches.
class alignas(64) SocketStream final : public stream::ByteStream,
                                       private SocketSet::Member {
 public:
  // Owns `socket`, which is connected, configured and does not block.
  // `companion` is let go of once the socket is closed, on whichever loop that
  // is.
  SocketStream(EpollLoop& loop, int socket, std::shared_ptr<void> companion);

  // Connects: looks `host` up, unless it is a numeric address, and tries its
  // addresses in turn. Blocks both ways until one answers; kLost when none
  // does.
  SocketStream(EpollLoop& loop, const std::string& host, std::uint16_t port);
  // The same with the addresses that a look-up found.
  SocketStream(EpollLoop& loop, std::vector<SocketAddress> addresses);

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
  class Loss;
  class Parked;

  void Connected(int socket);
  void Lost();
  void Await();
  stream::IoResult Unmoved() const;
  void OnReadReady() override;
  void OnWriteReady() override;

  EpollLoop& loop_;
  Events* events_ = nullptr;
  bool connected_ = false;
  bool read_wanted_ = false;
  bool write_wanted_ = false;
  std::unique_ptr<Dial> dial_;  // while connecting
  // Set once there is no socket that could tell: it was not connected, or the
  // system would not watch it.
  std::unique_ptr<Loss> loss_;
  std::shared_ptr<void> companion_;
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_NET_SOCKET_STREAM_H_
