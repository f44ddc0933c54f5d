// Acceptor: takes connections from a listening TCP socket, for a NetListener
// and for a host's front. Knows nothing of what is spoken on them.
#ifndef PARLOR_TRANSPORTS_NET_ACCEPTOR_H_
#define PARLOR_TRANSPORTS_NET_ACCEPTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "net/epoll_loop.h"
#include "stream/byte_stream.h"

namespace parlor::net_internal {

class Acceptor {
 public:
  class Owner {
   public:
    // `address`: the peer's, numeric, without port; dies when the call returns.
    // One that came by IPv4 to an IPv6 socket is an IPv4 address.
    virtual void OnAccept(std::unique_ptr<stream::ByteStream> stream,
                          std::string_view address) = 0;
    // As NetListenerHandler's.
    virtual void OnAcceptStatus(const absl::Status& status) = 0;

   protected:
    ~Owner() = default;
  };

  // What a stream carries with it, on whichever loop, until its socket is
  // closed: to count the sockets that are open.
  using Companion = std::shared_ptr<void>;
  // Asked for each connection; null: it is reset at once, unheard.
  using MakeCompanion = std::function<Companion()>;

  struct Options {
    std::string address;  // numeric
    std::uint16_t port = 0;
    MakeCompanion make_companion;  // empty: none is asked for
  };

  // Listens from here on. InvalidArgument: the address is not numeric, for the
  // caller to say whose it is; Unavailable: as NetListener::Create. `owner`
  // outlives the acceptor.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Listen(
      EpollLoop& loop, const Options& options, Owner& owner);

  // Stops listening. Not inside its owner's callbacks.
  virtual ~Acceptor() = default;

  virtual std::uint16_t port() const = 0;
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_NET_ACCEPTOR_H_
