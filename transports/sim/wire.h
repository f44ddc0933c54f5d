// A wire: one connection at the level of messages, with its two ends and what
// is on its way between them. It lives as long as either end, or the opening
// that asks for the second.
#ifndef PARLOR_TRANSPORTS_SIM_WIRE_H_
#define PARLOR_TRANSPORTS_SIM_WIRE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/lane.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/endpoint.h"
#include "sim/link_path.h"
#include "sim/message_queue.h"

namespace parlor::sim {

// One direction of a wire.
struct Channel {
  RecordQueue records;
  StateQueue state;
  TimePoint floor{};        // nothing of the reliable lane arrives before
  TimePoint state_floor{};  // nor of the state lane, but what overtakes
  // When its receiver hears that the connection is lost, and when that was
  // sent.
  TimePoint reset_at = kNever;
  TimePoint reset_sent = kNever;
  std::size_t reliable_bytes = 0;  // that the receiver has not taken
  bool above_half = false;         // OnWritable is due below
  bool unopened = false;           // all but the question waits for the answer
  bool held = false;               // records wait for a later try
  bool abandoned = false;          // and will not be tried again
  bool unconfirmed = false;        // something is for a receiver that is gone
  TimePoint held_since{};
  bool retrying = false;  // `retry` is due
  Executor::Event retry;
  // The state lane's newest, while it waits to leave.
  std::uint64_t newest = 0;  // its order
  std::size_t newest_size = 0;
  bool newest_lost = false;  // it will leave, and not arrive
  TimePoint newest_leaves{};
};

class Wire final : private LinkUser {
 public:
  // The client's end.
  static std::unique_ptr<Connection> Connect(Link& link, Endpoint& from,
                                             Endpoint& to, const Hello& hello,
                                             ConnectionHandler* handler);

  std::uint64_t number() const { return number_; }
  const Hello& hello() const { return hello_; }
  const Link& link() const { return link_; }
  TimePoint now() const { return network_.now(); }

  // ---- For endpoints, in a turn.

  void Look(Side& side);
  void Run(Side& side, TimePoint now, std::uint64_t mark);

  // One of the machines is off, or on again.
  void OnPower(bool on);

  // ---- For ends and openings. A side sends on Out and receives on In.

  Channel& Out(const Side& side) {
    return channels_[static_cast<std::size_t>(side.out)];
  }
  Channel& In(const Side& side) {
    return channels_[1 - static_cast<std::size_t>(side.out)];
  }

  struct Outgoing {
    Record::Type type = Record::Type::kMessage;
    MessageKind kind = MessageKind::kBinary;
    std::uint16_t number = 0;
    std::size_t size = 0;
    std::span<const std::byte> bytes{};  // all, or none where too large
  };
  void Send(Side& from, const Outgoing& outgoing);
  SendResult SendState(Side& from, const Outgoing& outgoing);
  // Of `from`'s newest message of the state lane, while it has not left.
  std::size_t WaitingState(const Side& from);
  // The answer has come: what waited for it is sent.
  void Opened(Side& side);
  // `side` is no more, or will hear nothing more, without a close.
  void Go(Side& side);
  // Its receiver has taken a message.
  void Taken(Side& receiver, const Record& record);
  // Nobody will take what is there.
  void DropIncoming(Side& side);
  // What was delivered is a part of the run.
  void NoteDelivery(const Side& to, std::uint64_t what) {
    network_.Note((number_ << 8) ^ static_cast<std::uint64_t>(to.out) ^
                  (what << 40));
    network_.Note(static_cast<std::uint64_t>(now().time_since_epoch().count()));
  }
  // What the other side takes at most.
  std::size_t message_bytes_max(const Side& from) const;

  std::unique_ptr<Connection> Accept();
  void Refuse(const Refusal& refusal);

  void Hold() { ++holders_; }
  void Drop() {
    if (--holders_ == 0) delete this;
  }

 private:
  Wire(Link& link, EndpointState& client, EndpointState& host,
       const Hello& hello);
  ~Wire();

  void OnCut(Direction direction) override;
  void OnHeal(Direction direction) override;
  void OnReset() override;

  Side& Receiver(Direction direction) {
    return sides_[1 - static_cast<std::size_t>(direction)];
  }
  Channel& channel(Direction direction) {
    return channels_[static_cast<std::size_t>(direction)];
  }
  LinkPath& path(Direction direction) { return state_.path(direction); }
  bool Blocked(Direction direction) const {
    return state_.cut[static_cast<std::size_t>(direction)] ||
           sides_[0].endpoint->off || sides_[1].endpoint->off;
  }

  static NetworkEvent::What WhatIs(Record::Type type);
  static Outgoing AsSent(const Record& record) {
    return {record.type, record.kind, record.number, record.size,
            RecordQueue::BytesOf(record)};
  }
  static Outgoing AsSent(const StateMessage& message) {
    return {.kind = message.kind, .size = message.size, .bytes = message.bytes};
  }
  void RunOpening(Side& side, TimePoint now, std::uint64_t mark);
  void HoldUp(Channel& channel);
  void Arrives(Direction direction, TimePoint at);
  void AnswerForGone(Direction direction, TimePoint at);
  void Release(Direction direction);
  void TryLater(Direction direction);
  void Retry(Direction direction);
  void StopRetry(Channel& channel);
  void SendNotice(Direction direction);
  StateMessage MakeState(Channel& channel, const Outgoing& outgoing,
                         TimePoint arrives);
  void Insert(Direction direction, const Outgoing& outgoing, TimePoint arrives);
  bool NewestWaits(Channel& channel) const;
  void Replace(Direction direction, const Outgoing& outgoing);
  void Report(NetworkEvent::What what, Direction direction, Lane lane,
              const Outgoing& outgoing, TimePoint sent, TimePoint arrives,
              bool again = false);

  Network& network_;
  Link& link_;
  LinkState& state_;
  const std::uint64_t number_;
  const Hello hello_;
  std::array<Side, 2> sides_;        // the client's, the host's
  std::array<Channel, 2> channels_;  // by Direction
  bool asked_ = false;               // the host was
  int holders_ = 0;
};

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_WIRE_H_
