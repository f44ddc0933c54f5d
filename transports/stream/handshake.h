// Handshakes: what both sides say before messages flow. Pure, like codecs; the
// deadline is the caller's. Each transport has the two sides:
// websocket_handshake.h (an HTTP upgrade) and tcp_handshake.h (a hello
// message).
#ifndef PARLOR_TRANSPORTS_STREAM_HANDSHAKE_H_
#define PARLOR_TRANSPORTS_STREAM_HANDSHAKE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "parlor/transports/request.h"
#include "stream/codec.h"

namespace parlor::stream {

// A status with which a request can be refused.
constexpr bool IsRefusal(std::uint16_t status) {
  return status >= 300 && status <= 599;
}

// Whether a server may choose `protocol` of those that were offered.
inline bool IsOffered(std::string_view protocol,
                      std::span<const std::string> offered) {
  return std::find(offered.begin(), offered.end(), protocol) != offered.end();
}

class ClientHandshake {
 public:
  enum class Progress : std::uint8_t {
    kMore,     // all of the input is taken
    kOpen,     // accepted; the rest of the input belongs to the codec
    kRefused,  // by the server: refusal() says how
    kFailed,   // it is not a server of this protocol
  };

  virtual ~ClientHandshake() = default;

  // What is sent first. Holds secrets.
  virtual std::string_view hello() const = 0;

  // Takes what it needs off the front of `input`, however it is cut.
  virtual Progress Feed(std::span<std::byte>& input) = 0;

  // After kRefused: an HTTP status, IsRefusal.
  virtual std::uint16_t refusal() const = 0;

  // After kOpen: for Codec::set_lanes_marked.
  virtual bool lanes_marked() const = 0;
};

class ServerHandshake {
 public:
  enum class Progress : std::uint8_t {
    kMore,     // all of the input is taken
    kRequest,  // request() is whole: Accept or Refuse it; the rest of the
               // input belongs to the codec
    kFailed,   // no request to decide on: send Refuse(failure()) and end
  };

  virtual ~ServerHandshake() = default;

  virtual Progress Feed(std::span<std::byte>& input) = 0;

  // After kRequest, and as long as this object.
  virtual const Request& request() const = 0;

  // After kFailed: the HTTP status.
  virtual std::uint16_t failure() const = 0;

  // What is sent to accept. `protocol` IsOffered, or is empty for none.
  virtual std::string Accept(std::string_view protocol) = 0;

  // What is sent to refuse, with a status that IsRefusal; nothing follows it
  // but the end of the stream.
  virtual std::string Refuse(const Refusal& refusal) = 0;

  // After Accept: for Codec::set_lanes_marked.
  virtual bool lanes_marked() const = 0;
};

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_HANDSHAKE_H_
