// Front: the door of a host. Reads what each client asks for, strictly and
// within its time, answers what it can (GET /healthz, POST /invite, refusals),
// asks the gate about the rest and hands whom it lets in to the room's shard.
//
// One thread, that of its loop; knows neither sockets nor a clock, so that the
// simulator runs the same one.
#ifndef PARLOR_HOST_LOGIC_FRONT_H_
#define PARLOR_HOST_LOGIC_FRONT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "logic/gate.h"
#include "logic/handover.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"

namespace parlor::host {

struct FrontOptions {
  StreamOptions stream;  // handshake_ms: a head has that long to arrive
  std::size_t unseated_max = 1'024;
  std::size_t unseated_per_address = 64;
  std::string base_path;
  // Between two requests of a client, and for the whole of a body.
  std::int64_t idle_ms = 60'000;
  std::int64_t body_ms = 10'000;
};

// What GET /healthz tells.
struct HostFigures {
  std::uint64_t rooms = 0;
  std::uint64_t players = 0;  // connected seats
  std::uint64_t uptime_s = 0;
};

class Front {
 public:
  class Ports {
   public:
    // To the shard of its room, on whatever thread that lives.
    virtual void HandOver(Handover handover) = 0;
    virtual HostFigures Figures(TimePoint now) = 0;

   protected:
    ~Ports() = default;
  };

  // All outlive the front.
  Front(stream::StreamLoop& loop, const FrontOptions& options, Gate& gate,
        Ports& ports);
  // Cuts off whoever has not been handed over.
  ~Front();
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  // A client has connected; in a turn of the loop. `address` is numeric and
  // dies with the call. When there are too many that have no seat yet, in all
  // or of this address, the oldest (of this address) is cut off.
  void OnAccept(std::unique_ptr<stream::ByteStream> stream,
                std::string_view address, NetTransport transport);

  std::size_t unseated() const;
  // Cuts off the client that has waited longest; false: there is none.
  bool DropOldest();
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_FRONT_H_
