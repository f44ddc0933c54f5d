// Gate: decides who may come in, before any room is looked up for a stranger.
// One thread, the front's; no sockets, no clock.
#ifndef PARLOR_HOST_LOGIC_GATE_H_
#define PARLOR_HOST_LOGIC_GATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logic/access_codes.h"
#include "logic/forwarded.h"
#include "logic/minute_rates.h"
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

// What POST /invite takes of a body (contract).
inline constexpr std::size_t kInviteBodyMax = 1'024;

class Gate {
 public:
  // Addresses whose attempts, and whose failed checks, are counted: 16 MiB
  // each at most, and comers from 4,369 addresses a second before the least
  // busy are forgotten.
  static constexpr std::size_t kAddressesMax = 262'144;

  // `options` are valid; of the codes, hashes are kept.
  Gate(const GateOptions& options, GateRooms rooms,
       std::size_t addresses_max = kAddressesMax);

  // For whoever asks from here on. What was counted stays counted.
  void SetOptions(const GateOptions& options);

  // Joins are refused with 503 from here on; resumes pass.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }

  // Of the addresses below, whoever asks says which client's they are.
  const TrustedProxies& proxies() const { return proxies_; }

  // The decision about a request for a room falls in two steps, since a
  // WebSocket's upgrade is looked at between them (contract: draining, path and
  // number, upgrade, players, protocol, origin, rate, access):
  //
  // 503 when draining and no resume token is offered; 404 when the target names
  // no room that is run here. Status 0: go on.
  Refusal CheckPath(const Request& request) const;
  // Of a request that CheckPath let go on, in this order: 400
  // (ParseRoomRequest, or more players than a room seats), 403 (origin), 429
  // with the seconds to wait (counts the attempt), 403 (access; counts as
  // failed). Status 0: `*hello` says what is wanted; it is changed only then. A
  // resume is asked for its access as a join is.
  Refusal CheckJoin(TimePoint now, const Request& request,
                    const Address& address, Hello* hello);

  // POST /invite.
  struct InviteAnswer {
    std::uint16_t status = 200;
    std::uint32_t retry_after_s = 0;  // with 429
    std::string body{};               // JSON; empty unless 200 or 403
    // For Access-Control-Allow-Origin, whatever the status, or empty.
    std::string allow_origin{};
  };
  // Rate (429, counts the attempt), then origin (403), then access (403, counts
  // as failed); takes no seat, and is answered while draining too. `body` is at
  // most kInviteBodyMax bytes.
  InviteAnswer CheckInvite(TimePoint now, std::string_view body,
                           std::optional<std::string_view> origin,
                           const Address& address);

 private:
  std::uint32_t CountAttempt(TimePoint now, const Address& address);
  bool IsAllowed(std::string_view origin) const;
  bool HasAccess(const Hello& hello) const;

  GateRooms rooms_;
  bool draining_ = false;
  bool open_ = false;
  AccessCodes codes_;
  std::vector<std::string> origins_;  // as browsers write them
  TrustedProxies proxies_;
  MinuteRates attempts_;
  MinuteRates failures_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_GATE_H_
