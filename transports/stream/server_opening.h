// ServerOpening: a stream whose client has not been let in yet. It reads the
// request, asks its owner, and answers; it has StreamOptions::handshake_ms for
// all of it. Knows neither sockets nor which transport it is.
#ifndef PARLOR_TRANSPORTS_STREAM_SERVER_OPENING_H_
#define PARLOR_TRANSPORTS_STREAM_SERVER_OPENING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "parlor/connection.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/server_answer.h"
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

  using Parts = ServerParts;

  // Made in a turn of `loop`, which is when its time begins. `owner` outlives
  // the opening, and destroys it in OnDone or outside its own callbacks.
  ServerOpening(StreamLoop& loop, const StreamOptions& options, Parts parts,
                Owner& owner);
  // Cuts the client off, if it was neither accepted nor refused.
  ~ServerOpening() override;

 private:
  enum class Step : std::uint8_t {
    kNothing,  // there is nothing to read now
    kTaken,    // some, and it is not the whole request
    kDecided,  // this object may be gone
  };

  void OnReadable() override { Receive(); }
  void OnWritable() override {}  // never asked for
  void OnTurnEnd() override {}   // nor this
  void OnAlarm() override;

  Step Receive();
  // Each ends with OnDone: nothing of this object may be touched behind it.
  void Decide(std::span<const std::byte> unread);
  void Accept(std::string_view protocol, std::span<const std::byte> unread);
  void Refuse(const Refusal& refusal);
  void CutOff();
  void Done();

  const StreamOptions options_;
  Parts parts_;  // without the stream once it is done
  Owner& owner_;
};

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_SERVER_OPENING_H_
