// ServerOpening: a stream whose client has not been let in yet. It reads the
// request, asks its owner, and answers; it has StreamOptions::handshake_ms for
// all of it. Knows neither sockets nor which transport it is.
#ifndef PARLOR_TRANSPORTS_STREAM_SERVER_OPENING_H_
#define PARLOR_TRANSPORTS_STREAM_SERVER_OPENING_H_

#include <memory>

#include "parlor/connection.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/codec.h"
#include "stream/handshake.h"
#include "stream/stream_loop.h"

namespace parlor::stream {

class ServerOpening final : private LoopMember, private ByteStream::Events {
 public:
  class Owner {
   public:
    virtual Verdict OnKnock(const ServerOpening& opening,
                            const Request& request) = 0;
    // Follows at once when the verdict was to accept.
    virtual void OnConnection(const ServerOpening& opening,
                              const Request& request,
                              std::unique_ptr<Connection> connection) = 0;
    // Last: accepted, refused, failed or too late. Destroys the opening, here
    // or later.
    virtual void OnDone(ServerOpening& opening) = 0;

   protected:
    ~Owner() = default;
  };

  struct Parts {
    std::unique_ptr<ByteStream> stream;
    std::unique_ptr<ServerHandshake> handshake;
    std::unique_ptr<Codec> codec;
  };

  // `owner` outlives the opening.
  ServerOpening(StreamLoop& loop, const StreamOptions& options, Parts parts,
                Owner& owner);
  // Cuts the client off, if it was neither accepted nor refused.
  ~ServerOpening();

 private:
  void OnReadable() override;
  void OnWritable() override;
  void OnTurnEnd() override;
  void OnAlarm() override;

  StreamOptions options_;
  Parts parts_;
  Owner& owner_;
};

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_SERVER_OPENING_H_
