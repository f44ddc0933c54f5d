// A connection carries two lanes. The kinds of message are the WebSocket's two.
#ifndef PARLOR_LANE_H_
#define PARLOR_LANE_H_

#include <cstdint>

namespace parlor {

enum class Lane : std::uint8_t {
  kReliable,  // ordered, nothing dropped; over its byte limit: closed 1011
  kState,     // latest value: a newer one replaces the waiting one; may be
              // lost, repeated or overtaken
};

enum class MessageKind : std::uint8_t { kText, kBinary };

// What became of a message given to Connection::Send.
enum class SendResult : std::uint8_t {
  kQueued,    // on its way
  kReplaced,  // state lane: it took the place of one that had not left yet
  kOverflow,  // reliable lane: over its limit; the connection closes 1011
  kClosed,    // the connection is closing or closed; the message is dropped
};

}  // namespace parlor

#endif  // PARLOR_LANE_H_
