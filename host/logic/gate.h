// Gate: decides who may come in, before any room is looked up for a stranger.
// One thread, the front's; no sockets, no clock.
#ifndef PARLOR_HOST_LOGIC_GATE_H_
#define PARLOR_HOST_LOGIC_GATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parlor/connector.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/time.h"
#include "parlor/transports/request.h"

namespace parlor::host {

// What the rooms behind the gate take.
struct GateRooms {
  std::int64_t rooms = 0;  // numbers 0..rooms-1
  std::int64_t seats = 0;  // ?players= is 1..seats; what /invite answers
  std::string base_path;   // of all paths; "" or "/games"
};

class Gate {
 public:
  // `options` are valid.
  Gate(const GateOptions& options, GateRooms rooms);
  ~Gate();

  // Joins are refused with 503 from here on; resumes pass.
  void Drain();
  bool draining() const;

  // The decision about a request for a room falls in two steps, since a
  // WebSocket's upgrade is looked at between them (contract: draining, path and
  // number, upgrade, players, protocol, origin, rate, access):
  //
  // 503 when draining and no resume token is offered; 404 when the target names
  // no room that is run here. Status 0: go on.
  Refusal CheckPath(const Request& request) const;
  // 400, 403 (origin), 429 (counts the attempt), 403 (access). Status 0:
  // `*hello` says what is wanted. `address` is absent where it could not be
  // read, which all such clients share one rate for.
  Refusal CheckJoin(TimePoint now, const Request& request,
                    const Address& address, Hello* hello);

  // POST /invite.
  struct InviteAnswer {
    std::uint16_t status = 200;
    std::uint32_t retry_after_s = 0;  // with 429
    std::string body;                 // JSON; empty unless 200 or 403
    // For Access-Control-Allow-Origin, or empty.
    std::string allow_origin;
  };
  // Rate, then origin, then access; takes no seat. `body` is at most
  // kInviteBodyMax bytes.
  InviteAnswer CheckInvite(TimePoint now, std::string_view body,
                           std::optional<std::string_view> origin,
                           const Address& address);
};

inline constexpr std::size_t kInviteBodyMax = 1'024;

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_GATE_H_
