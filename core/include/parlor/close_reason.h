// Every reason for which this code closes a connection, with the code and the
// text that the peer is told. The one table is in close_reason.cc.
//
// Codes are WebSocket's (RFC 6455 section 7.4 and the IANA registry) on every
// transport; 4000 and up are parlor's own.
#ifndef PARLOR_CLOSE_REASON_H_
#define PARLOR_CLOSE_REASON_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parlor {

// As it travels. A plain integer, because a peer may send any of 1000..4999.
using CloseCode = std::uint16_t;

namespace close_code {
inline constexpr CloseCode kNormal = 1000;
inline constexpr CloseCode kGoingAway = 1001;
inline constexpr CloseCode kProtocolError = 1002;
inline constexpr CloseCode kUnsupported = 1003;
inline constexpr CloseCode kNoCode = 1005;   // never sent: a close without one
inline constexpr CloseCode kDropped = 1006;  // never sent: the link was lost
inline constexpr CloseCode kInvalidText = 1007;
inline constexpr CloseCode kPolicy = 1008;
inline constexpr CloseCode kTooBig = 1009;
inline constexpr CloseCode kInternal = 1011;
inline constexpr CloseCode kRestart = 1012;
inline constexpr CloseCode kTryLater = 1013;
inline constexpr CloseCode kBadGateway = 1014;
inline constexpr CloseCode kRoomFull = 4000;
inline constexpr CloseCode kResumed = 4001;
inline constexpr CloseCode kSeatGone = 4002;
inline constexpr CloseCode kPutOut = 4003;
inline constexpr CloseCode kRoomEnded = 4004;
}  // namespace close_code

enum class CloseReason : std::uint8_t {
  kNormal,         // we are done
  kHostLeft,       // the process that hosted the room ends
  kRoomNotFilled,  // the lobby's time ran out
  kRoomIdle,       // nothing was relayed for the room's idle time
  kRoomTimeUp,     // the room's lifetime ran out
  kProtocolError,  // a frame the transport cannot read
  kUnsupported,    // a kind of message this room does not take
  kInvalidText,    // text that is not UTF-8
  kMessageRate,    // more messages than a seat may send
  kMessageSize,    // larger than the endpoint takes, or not the room's size
  kTooSlow,        // the reliable lane went over its limit
  kRestart,        // the host restarts; come back and resume
  kRoomFull,       // no seat free, or already playing
  kResumed,        // the seat went on, on another connection
  kSeatGone,       // a resume token that opens no seat
  kKicked,         // the room's owner put this seat out
  kRefused,        // what it asked for is not to be had here
  kRoomEnded,      // the room is over, and no seat in it comes back
  kPutOut,         // kicked or banned by an authority room's leader
};

struct CloseReasonRow {
  CloseReason reason;
  CloseCode code;
  std::string_view text;  // told to the peer, at most kCloseTextMax bytes
  std::string_view name;  // for logs and metrics: one word, never changes
};

const CloseReasonRow& Describe(CloseReason reason);

// RFC 6455 section 5.5: a control frame holds 125 bytes, two of them the code.
inline constexpr std::size_t kCloseTextMax = 123;

// True for the codes a close message may carry (RFC 6455 section 7.4 and the
// registry's 1012 to 1014): 1000..1003, 1007..1014, 3000..4999.
bool IsSendableCloseCode(CloseCode code);

// True for what a connection's Close takes (connection.h): a code that a close
// message may carry, and at most kCloseTextMax bytes of UTF-8.
bool IsSendableClose(CloseCode code, std::string_view text);

}  // namespace parlor

#endif  // PARLOR_CLOSE_REASON_H_
