// Connection: the port between a room and whatever carries its messages. Start
// here: rooms, peers and games see only this, over a memory pipe, a socket or
// the simulator alike.
//
// The rules, which hold on every transport (tests/support/
// connection_conformance.h proves them on each):
//
//  1. Send copies or drops. It never blocks and never calls back. A message
//     arrives whole or not at all, in the order of its lane.
//  2. No callback runs inside a call into a connection. Events come from the
//     pump (pipe, simulator) or the loop (sockets). A pump handles what was
//     there when it began; what its callbacks cause waits for the next one.
//  3. OnOpen comes first, once. OnClose comes exactly once and last, whoever
//     closed, and also when OnOpen never came. After Close() or Abort() no
//     OnMessage, OnControl or OnWritable follows; what still arrives is
//     discarded.
//  4. Close() is idempotent (the first call's code is the one that counts),
//     safe inside any callback, and flushes what was queued, up to the linger
//     limit. Our own OnClose comes when that is done: the peer has taken the
//     close or closed as well, or the linger ended. Abort() flushes nothing:
//     the peer sees 1006.
//  5. A clean close by the peer fires OnClose at its close message; what the
//     peer sent before it was delivered before it. What we still had queued
//     is dropped.
//  6. Two lanes. reliable: ordered, nothing dropped; a Send that would take it
//     over its byte limit answers kOverflow and closes the connection with
//     CloseReason::kTooSlow (1011). state: the newest message replaces the
//     waiting one; it may be lost, repeated or overtaken, also by messages of
//     the other lane.
//  7. Bytes are always encoded and decoded, in memory too: the same sizes,
//     codes and order everywhere. A message larger than the receiving end
//     takes closes the connection with CloseReason::kMessageSize (1009), and
//     a text message that is not UTF-8 with CloseReason::kInvalidText (1007);
//     on either lane, and both are the receiving end's close. Size comes
//     first.
//  8. A received view dies when the callback returns.
//  9. Identity: an adapter may attach a verified identity; nothing a peer says
//     can.
// 10. Control frames (ping, pong) are reported, so that rates can count them.
//     Liveness is the adapter's: over a network a ping after 10 s without
//     traffic, OnClose(1006) after 20 s of silence. Memory has no link to
//     lose, and no pings.
//
// Threads: a connection, its handler and its pump or loop belong to one
// thread. Only the two ends of a pipe may live on two.
//
// Lifetime: whoever made the connection owns it. It may be destroyed inside
// its own OnClose (the adapter touches nothing of it afterwards) and anywhere
// outside its own callbacks, but not inside another of its callbacks: Close()
// there, and let OnClose do it. Destroying a connection that is not closed is
// an Abort without an OnClose. The handler must outlive the connection or be
// replaced before it dies.
#ifndef PARLOR_CONNECTION_H_
#define PARLOR_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/lane.h"
#include "parlor/time.h"

namespace parlor {

class Connection;

// What a message counts in a lane beside its bytes, the same on every
// transport: at least what a transport adds to a message of this engine's.
inline constexpr std::size_t kMessageOverhead = 8;

// One message encoded once for many receivers. Immutable, so that transports
// may keep a reference instead of a copy; copying a Payload copies a pointer.
// For a handful of bytes a copy is cheaper: use Send with a span.
class Payload {
 public:
  Payload(MessageKind kind, std::vector<std::byte> bytes)
      : data_(std::make_shared<const Data>(Data{kind, std::move(bytes)})) {}

  MessageKind kind() const { return data_->kind; }
  std::span<const std::byte> bytes() const { return data_->bytes; }

 private:
  struct Data {
    MessageKind kind;
    std::vector<std::byte> bytes;
  };
  std::shared_ptr<const Data> data_;
};

// How a connection ended.
struct CloseEvent {
  CloseCode code = 0;  // what the peer or we said; 1005, 1006 as in RFC 6455
  // At most kCloseTextMax bytes; a peer's are not to be trusted, shown raw or
  // logged.
  std::string_view text{};
  bool by_us = false;  // we closed it: Close, Abort, or a limit of ours
  // Set when a connection that we opened was refused before it was one: the
  // HTTP status (403, 404, 409, 429, 503, ...). The code is 1006 then.
  std::uint16_t refusal = 0;
};

enum class ControlKind : std::uint8_t { kPing, kPong };

// What a connection tells its user. `now` is the time the pump or the loop
// turn was given. One handler may serve many connections.
class ConnectionHandler {
 public:
  virtual void OnOpen(TimePoint /*now*/, Connection& /*connection*/) {}
  virtual void OnMessage(TimePoint now, Connection& connection, Lane lane,
                         MessageKind kind,
                         std::span<const std::byte> bytes) = 0;
  virtual void OnControl(TimePoint /*now*/, Connection& /*connection*/,
                         ControlKind /*kind*/) {}
  // The queue of `lane` shrank to half its limit or below, after it had been
  // above: a hint to look at queued_bytes again.
  virtual void OnWritable(TimePoint /*now*/, Connection& /*connection*/,
                          Lane /*lane*/) {}
  virtual void OnClose(TimePoint now, Connection& connection,
                       const CloseEvent& event) = 0;

 protected:
  ~ConnectionHandler() = default;
};

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  // Events that come while no handler is set wait for one (reliable messages
  // and the close; the state lane keeps its newest). Null is allowed, outside
  // this connection's callbacks and inside.
  virtual void SetHandler(ConnectionHandler* handler) = 0;

  // `bytes` may die after the return. 0 bytes are a message too.
  virtual SendResult Send(Lane lane, MessageKind kind,
                          std::span<const std::byte> bytes) = 0;

  // The same, sharing one encoded message among many receivers.
  virtual SendResult Send(Lane lane, const Payload& payload) {
    return Send(lane, payload.kind(), payload.bytes());
  }

  // Bytes of payload given to `lane` that the peer's side (over a network: the
  // system) has not taken yet, and kMessageOverhead for each message. Exact on
  // the sending thread up to what the other side took meanwhile.
  virtual std::size_t queued_bytes(Lane lane) const = 0;

  // `code` is one that IsSendableCloseCode; `text` at most kCloseTextMax bytes
  // of UTF-8. Anything else (IsSendableClose) is a mistake of the caller's and
  // stops it.
  virtual void Close(CloseCode code, std::string_view text) = 0;
  void Close(CloseReason reason) {
    const CloseReasonRow& row = Describe(reason);
    Close(row.code, row.text);
  }

  virtual void Abort() = 0;

  // False from Close, Abort, or the end of the link on, even before OnClose.
  virtual bool is_open() const = 0;

  // A verified identity (rule 9), or empty.
  virtual std::string_view identity() const { return {}; }
};

}  // namespace parlor

#endif  // PARLOR_CONNECTION_H_
