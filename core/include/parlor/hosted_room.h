// HostedRoom: a room that a host runs by this interface alone, whatever it does
// with what is said in it: the authority room of a game, a test's. A host turns
// these beside its lockstep rooms (lockstep/room.h), whose calls are not
// virtual, and needs to know nothing of what such a room links.
//
// A connection has come past the gate when the room hears of it, and has no
// seat: the room reads what it says (a join, a resume token), and seats or
// closes it, in a time that the room sets. What such a room says and reads is
// its own affair; the kinds and codes are not the host's.
//
// The room does not own connections and is not their handler: whoever is (a
// session of the host) passes every event on, with the time it came at. A
// connection given to Admit lives until its OnClose was passed on, or the room
// is gone; a room may close it at any time, and knows nothing of it then: its
// late messages and its close do nothing. The room may Send to any that it
// knows inside every call that is not const; connections never call back.
//
// `now` never goes back. As in a lockstep room, every call that has one first
// acts on the deadlines at or before it, so that what a room does depends on
// when things happened and not on how late its alarm was called.
//
// One thread, that of the shard the room lives on. No clock, no timer. No call
// throws: what can (a game) is caught inside, and ends the room at most.
//
// Once ended() the room is silent: it has closed every connection it knew, and
// is destroyed soon; only OnMessage, OnControl and OnClose may still come
// before that, and do nothing.
#ifndef PARLOR_HOSTED_ROOM_H_
#define PARLOR_HOSTED_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/time.h"

namespace parlor {

class HostedRoom {
 public:
  HostedRoom() = default;
  HostedRoom(const HostedRoom&) = delete;
  HostedRoom& operator=(const HostedRoom&) = delete;
  virtual ~HostedRoom() = default;

  // Takes a connection that is open and that the room does not know yet; also
  // while it drains, since it may be about to resume. `identity` is verified,
  // by a pass at the gate or by who attached the connection; empty where nobody
  // verified any. The view dies with the call. A room that has no place for so
  // many without a seat may close it (or another) at once.
  virtual void Admit(TimePoint now, Connection& connection,
                     std::string_view identity) = 0;

  // Events of connections. Of one that the room does not know (any more) they
  // do nothing. The lane a message came by does not matter.
  virtual void OnMessage(TimePoint now, Connection& connection,
                         MessageKind kind,
                         std::span<const std::byte> bytes) = 0;
  virtual void OnControl(TimePoint now, Connection& connection) = 0;
  // The last of a connection: whether its seat is held or left goes by `code`.
  virtual void OnClose(TimePoint now, Connection& connection,
                       CloseCode code) = 0;

  // Acts on every deadline at or before `now`. Called when next_alarm() has
  // come; earlier, or late, is harmless.
  virtual void OnAlarm(TimePoint now) = 0;
  // No deadline is before this, and after OnAlarm(now) it is after `now`. It
  // may have moved after any call. kNever: nothing but an event changes this
  // room.
  virtual TimePoint next_alarm() const = 0;

  // From here on nobody gets a fresh seat; who has one, or a token for one,
  // plays on and comes back. The host is about to End(kRestart). A room that
  // nobody can come back to may end by itself, here or later.
  virtual void Drain(TimePoint now) = 0;

  // Closes every connection the room knows and ends it. `reason` is the host's;
  // with kRestart, which tells clients to come back and resume, a room whose
  // seats do not outlive the process closes with kRoomEnded instead.
  virtual void End(TimePoint now, CloseReason reason) = 0;

  // The room is over, by End or by itself: the host forgets it.
  virtual bool ended() const = 0;

  // Connected seats, for the host's figures.
  virtual int seated() const = 0;

  // Messages so far by which a seat was taken back. They come from connections
  // that the host had to take for joins, and does not count as such then.
  virtual std::uint64_t resumes() const = 0;
};

// Makes a room, when somebody first wants in and nobody is in there, at `now`.
// Null: it cannot be had at present (whoever asked is refused, 503). It is
// called on the threads of a host, on two at once too if a host runs it under
// two keys. `entropy` outlives the room, as what the factory holds must.
using HostedRoomFactory =
    std::function<std::unique_ptr<HostedRoom>(TimePoint now, Entropy& entropy)>;

}  // namespace parlor

#endif  // PARLOR_HOSTED_ROOM_H_
