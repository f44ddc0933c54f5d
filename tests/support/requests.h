// Requests of clients that write their HTTP themselves.
#ifndef PARLOR_TESTS_SUPPORT_REQUESTS_H_
#define PARLOR_TESTS_SUPPORT_REQUESTS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace parlor::test {

// To join a room or, with a token, to resume; `more_protocols` as in
// ", invite.ABCDEFGHJK".
inline std::string UpgradeRequest(std::uint32_t room, int players,
                                  std::string_view more_protocols = {}) {
  std::string text = "GET /room/" + std::to_string(room) +
                     "?players=" + std::to_string(players);
  text.append(
      " HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
      "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Sec-WebSocket-Protocol: fizlet-rooms");
  return text.append(more_protocols).append("\r\n\r\n");
}

// To know whether a code, or a pass and a device, would be let in. `headers`
// are whole lines.
inline std::string InviteRequest(std::string_view body,
                                 std::string_view headers = {}) {
  std::string text = "POST /invite HTTP/1.1\r\nHost: a\r\nContent-Length: ";
  text.append(std::to_string(body.size())).append("\r\n").append(headers);
  return text.append("\r\n").append(body);
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_REQUESTS_H_
