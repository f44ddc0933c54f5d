// Connector: how a client opens connections to one place, again and again if
// need be. A peer keeps it and asks for a new connection when it resumes.
#ifndef PARLOR_CONNECTOR_H_
#define PARLOR_CONNECTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parlor/connection.h"
#include "parlor/time.h"

namespace parlor {

// What the secrets of a Hello begin with: access with the first or the second,
// device with the third; a resume token only where it is offered as a
// subprotocol.
inline constexpr std::string_view kInvitePrefix = "invite.";
inline constexpr std::string_view kPassPrefix = "pass.";
inline constexpr std::string_view kDevicePrefix = "device.";
inline constexpr std::string_view kResumePrefix = "resume.";

// The name of a hosted room (hosted_room.h), which is in its URL: 1..64 of
// A-Z a-z 0-9 _ -.
bool IsPlayKey(std::string_view text);

// What a client says when it opens a connection: what the URL and the
// subprotocols carry over a WebSocket, and the hello message over TCP.
//
// It is about a hosted room when `play` is not empty: room, players and resume
// do not count then, and say nothing. (What resumes there is in what the room's
// own client says.)
struct Hello {
  std::uint32_t room = 0;    // the number in /room/<n>
  std::int32_t players = 0;  // the size the room is to be opened with
  std::string access{};      // "invite.<code>" or "pass.<pass>"; secret
  std::string device{};      // "device.<key>", with a pass; secret
  // A resume token as hexadecimal digits, as it was offered (the room decides
  // what is malformed); absent on a first join. Secret.
  std::optional<std::string> resume{};
  std::string play{};  // the key in /play/<key>
  // Verified, by a pass; set by a host's gate alone, never from what a client
  // said, and sent by nobody.
  std::string identity{};
};

// The answer that a request is not granted, or that it is: status 0.
struct Refusal {
  std::uint16_t status = 0;  // HTTP, 300 to 599: 403, 404, 409, 429, 503, ...
  std::uint32_t retry_after_s = 0;  // 0: not said
};

class Connector {
 public:
  virtual ~Connector() = default;

  // Starts opening. Never null and never a callback inside the call: OnOpen or
  // OnClose tells `handler` how it went, later, from the pump or the loop. The
  // caller owns the connection; destroying it gives up.
  virtual std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                              ConnectionHandler* handler) = 0;
};

}  // namespace parlor

#endif  // PARLOR_CONNECTOR_H_
