// Request: what a client says before it is connected, the same whether it came
// as the head of a WebSocket's HTTP request or as the hello of a TCP
// connection; and how a Hello travels in it.
#ifndef PARLOR_TRANSPORTS_REQUEST_H_
#define PARLOR_TRANSPORTS_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/connector.h"

namespace parlor {

// Nothing in it is to be logged: it may hold secrets.
struct Request {
  std::string target;                    // path and query: "/room/3?players=2"
  std::vector<std::string> protocols{};  // subprotocols, in the order offered
  std::optional<std::string> origin{};   // of a page; native clients send none
};

// The subprotocols of lockstep rooms and of hosted ones.
inline constexpr std::string_view kLockstepProtocol = "fizlet-rooms";
inline constexpr std::string_view kPlayProtocol = "parlor-play";

// That of the room `hello` is about.
inline std::string_view RoomProtocol(const Hello& hello) {
  return hello.play.empty() ? kLockstepProtocol : kPlayProtocol;
}

// What a client sends to join: target "<base>/room/<n>?players=<p>", or, with
// hello.play, "<base>/play/<key>"; protocols RoomProtocol, then access, device
// and, of a lockstep room, "resume.<token>" where they are set. `base` is empty
// or begins with a slash and does not end in one.
//
// A key that is none (IsPlayKey) is left empty: the host says 404. Whatever is
// in `hello`, the protocols are tokens of RFC 9110 and each means what it was:
// access or device that has another character, or not its prefix, is left out
// (the host refuses the join, or needs no access), and a resume token that has
// one is left empty (the host closes it as it does any that is malformed).
Request RequestForRoom(const Hello& hello, std::string_view base = {});

// The number that a target asks for below `base`, for who has to know it before
// the rest is looked at: nothing where ParseRoomRequest says 404.
std::optional<std::uint32_t> ParseRoomNumber(std::string_view target,
                                             std::string_view base);
// The same of the key, and of ParsePlayRequest. A view into `target`.
std::optional<std::string_view> ParsePlayKey(std::string_view target,
                                             std::string_view base);

// The other way, of lockstep rooms, in the order in which a host must look: 0
// and `*hello`, or 404 (no room path, or no such number can be), or 400
// (`players` is missing, twice or not an integer from 1 on; kLockstepProtocol
// was not offered; access, device, resume or it was offered twice). Numbers are
// decimal, without leading zeros. Other parameters of the query and other
// protocols are ignored: an access token in the URL is not read. `*hello` is
// changed only with 0.
std::uint16_t ParseRoomRequest(const Request& request, std::string_view base,
                               Hello* hello);

// The other way, of hosted rooms: 0 and `*hello`, or 404 (no such path), or 400
// (kPlayProtocol was not offered; access, device or it was offered twice). The
// query and other protocols are ignored. `*hello` is changed only with 0.
std::uint16_t ParsePlayRequest(const Request& request, std::string_view base,
                               Hello* hello);

}  // namespace parlor

#endif  // PARLOR_TRANSPORTS_REQUEST_H_
