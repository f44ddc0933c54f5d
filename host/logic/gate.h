// Gate: decides who may come in, before any room is looked up for a stranger.
// One thread, the front's; no sockets, no clock, no waiting: where a pass is
// right as far as the gate can tell, it says what is to be asked of the
// AccessStore, and is told the answer.
#ifndef PARLOR_HOST_LOGIC_GATE_H_
#define PARLOR_HOST_LOGIC_GATE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logic/access_codes.h"
#include "logic/forwarded.h"
#include "logic/minute_rates.h"
#include "logic/play_keys.h"
#include "parlor/connector.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/host/play_room.h"
#include "parlor/time.h"
#include "parlor/transports/request.h"

namespace parlor::host {

// What the rooms behind the gate take.
struct GateRooms {
  std::int64_t rooms = 0;  // numbers 0..rooms-1
  std::int64_t seats = 0;  // ?players= is 1..seats; what /invite answers
  std::string base_path;   // of all paths; "" or "/games"
  // The hosted ones, which are valid; what makes them is not looked at.
  std::vector<PlayRoom> play{};
};

// What POST /invite takes of a body (contract).
inline constexpr std::size_t kInviteBodyMax = 1'024;

class Gate {
 public:
  // Addresses whose attempts, and whose failed checks, are counted: 16 MiB
  // each at most, and comers from 4,369 addresses a second before the least
  // busy are forgotten.
  static constexpr std::size_t kAddressesMax = 262'144;

  // Seconds since 1970, by which passes expire.
  using WallClock = std::function<std::int64_t()>;

  // `options` are valid; of the codes, hashes are kept.
  Gate(const GateOptions& options, GateRooms rooms, WallClock wall_clock,
       std::size_t addresses_max = kAddressesMax);

  // For whoever asks from here on. What was counted stays counted.
  void SetOptions(const GateOptions& options);
  // Which of the hosted rooms are open from here on; they are the same.
  void SetPlayRooms(const std::vector<PlayRoom>& rooms);
  // Takes the place of the codes that the AccessStore has (access_codes.h).
  void SetStoreCodes(std::vector<Sha256> codes) {
    codes_.SetStored(std::move(codes));
  }

  // Joins are refused with 503 from here on; resumes pass. So does who wants
  // into a hosted room: only the room hears whether he resumes.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }

  // Of the addresses below, whoever asks says which client's they are.
  const TrustedProxies& proxies() const { return proxies_; }

  // The decision about a request for a room, of either kind, falls in two
  // steps, since a WebSocket's upgrade is looked at between them (contract:
  // draining, path and number, upgrade, players, protocol, origin, rate,
  // access):
  //
  // 503 when draining and no resume token is offered (nor a hosted room's path
  // is asked for); 404 when the target names no room that is run here. Status
  // 0: go on.
  Refusal CheckPath(const Request& request) const;
  // Of a request that CheckPath let go on, in this order: 400
  // (ParseRoomRequest, ParsePlayRequest, or more players than a room seats),
  // 403 (origin), 429 with the seconds to wait (counts the attempt), 403
  // (access; counts as failed). Status 0: `*hello` says what is wanted; it is
  // changed only then. A resume is asked for its access as a join is. Of a
  // hosted room, hello.room is its number among them, which chooses its shard.
  struct JoinAnswer {
    Refusal refusal{};
    // With status 0: it is let in if FinishJoin says so of the store's answer,
    // and hello.identity, which is the pass's id, is verified then.
    std::optional<PassUse> ask{};
  };
  JoinAnswer CheckJoin(TimePoint now, const Request& request,
                       const Address& address, Hello* hello);
  // 503 when a drain began meanwhile and no resume token was offered (to a
  // lockstep room), or when
  // the store cannot tell; 403 (counts as failed), or 429 when others of the
  // address used its failures up meanwhile. Status 0: it is let in.
  Refusal FinishJoin(TimePoint now, PassAnswer said, const Hello& hello,
                     const Address& address);

  // POST /invite.
  struct InviteAnswer {
    std::uint16_t status = 200;
    std::uint32_t retry_after_s = 0;  // with 429
    std::string body{};               // JSON; empty unless 200 or 403
    // For Access-Control-Allow-Origin, whatever the status, or empty.
    std::string allow_origin{};
    // When set, nothing else counts: FinishInvite says it of the store's
    // answer.
    std::optional<PassUse> ask{};
  };
  // Rate (429, counts the attempt), then origin (403), then access (403, counts
  // as failed); takes no seat, and is answered while draining too. `body` is at
  // most kInviteBodyMax bytes, with white space around it or not: a code, or,
  // where there are passes, a pass and a device key with an LF or a CRLF in
  // between. With a pass it is a use of that, which locks it to the device.
  InviteAnswer CheckInvite(TimePoint now, std::string_view body,
                           std::optional<std::string_view> origin,
                           const Address& address);
  // 200; 503 when the store cannot tell; else 403 or 429, as FinishJoin.
  // `origin` is the one that was checked.
  InviteAnswer FinishInvite(TimePoint now, PassAnswer said,
                            std::optional<std::string_view> origin,
                            const Address& address);

 private:
  // About an access that was shown.
  struct Verdict {
    bool let_in = false;
    std::string_view why{};        // not; for the page that asked
    std::optional<PassUse> ask{};  // it depends
  };

  std::uint32_t CountAttempt(TimePoint now, const Address& address);
  bool IsAllowed(std::string_view origin) const;
  // 0 and `*hello`, or 400 or 404.
  std::uint16_t Read(const Request& request, Hello* hello) const;
  // `open`: who shows nothing may come in.
  Verdict Judge(const Hello& hello, bool open) const;
  Verdict JudgeBody(std::string_view body) const;
  Verdict JudgeCode(std::string_view code, bool open) const;
  Verdict JudgePass(std::string_view text, std::string_view device_key,
                    bool open) const;
  Refusal CountFailure(TimePoint now, const Address& address);
  InviteAnswer AnswerTo(std::optional<std::string_view> origin) const;
  void Accept(InviteAnswer& answer) const;
  void Refuse(InviteAnswer& answer, std::string_view why) const;
  // The same, of one who failed.
  void Refuse(InviteAnswer& answer, TimePoint now, const Address& address,
              std::string_view why);

  GateRooms rooms_;
  PlayKeys play_keys_;
  WallClock wall_clock_;
  bool draining_ = false;
  bool open_ = false;
  bool passes_ = false;
  // Passes without the secret they are signed with: nobody comes in, not with a
  // code either (contract: never fall back to open).
  bool shut_ = false;
  std::string pass_secret_;
  std::int64_t pass_seconds_max_ = 0;
  std::int64_t pass_devices_max_ = 0;
  AccessCodes codes_;
  std::vector<std::string> origins_;  // as browsers write them
  TrustedProxies proxies_;
  MinuteRates attempts_;
  MinuteRates failures_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_GATE_H_
