// RoomCheck: whether a room relays what its seats say, every byte of it: each
// INPUT to each other seat, in order, once, with the sender's seat in it. And
// which frames are complete at which seat, which is when a game could run them.
//
// Pure and without memory of single messages: what a seat says in a frame
// follows from room, seat and frame. One thread.
#ifndef PARLOR_BENCH_LOAD_ROOM_CHECK_H_
#define PARLOR_BENCH_LOAD_ROOM_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "load/findings.h"
#include "parlor/lockstep/wire.h"

namespace parlor::load {

// What a seat says in a frame, as the others are to receive it. The word and
// bytes 2 and 3 are mixed from all three numbers, so that a message that went
// astray or was patched together is seen.
inline lockstep::Message InputOf(std::uint32_t room, int seat,
                                 std::uint32_t frame) {
  // The finalizer of splitmix64.
  std::uint64_t x = (std::uint64_t{room} << 40) ^
                    (static_cast<std::uint64_t>(seat) << 32) ^ frame;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return {.kind = lockstep::Kind::kInput,
          .slot = static_cast<std::uint8_t>(seat),
          .players = static_cast<std::uint8_t>(x >> 32),
          .mode = static_cast<std::uint8_t>(x >> 40),
          .frame = frame,
          .value = static_cast<std::uint32_t>(x)};
}

class RoomCheck {
 public:
  // `seats`: 2..32.
  RoomCheck(std::uint32_t room, int seats);

  // Seat `seat` sends its next frame: 0, 1, 2, ... Returns which. Before the
  // message can come back.
  std::uint32_t Send(int seat) { return sent_[Index(seat)]++; }
  std::uint32_t sent(int seat) const { return sent_[Index(seat)]; }

  struct Taken {
    bool delivered = false;       // it is what the sender said, for the first
                                  // time; else there is a finding
    std::uint32_t completed = 0;  // so many frames more are complete
  };
  // `seat` received `message`.
  Taken Take(int seat, const lockstep::Message& message, Findings& findings);

  // The first frame for which `seat` lacks an INPUT.
  std::uint32_t waiting(int seat) const { return waiting_[Index(seat)]; }

  // How many messages `seat` is still to receive of those that were sent.
  std::uint64_t Missing(int seat) const;
  // Nothing more will come: a finding for each seat and sender of whom
  // something is missing.
  void Finish(Findings& findings) const;

 private:
  // Of one receiver and sender.
  struct Lane {
    std::uint32_t next = 0;       // the frame that is due
    std::uint32_t gap_begin = 0;  // the last frames that were left out, if the
    std::uint32_t gap_end = 0;    // two differ; one of them may come yet
    std::uint32_t left_out = 0;   // of all that are below `next`
  };

  static std::size_t Index(int seat) { return static_cast<std::size_t>(seat); }
  Lane& At(int seat, int sender) {
    return lanes_[Index(seat) * sent_.size() + Index(sender)];
  }
  const Lane& At(int seat, int sender) const {
    return lanes_[Index(seat) * sent_.size() + Index(sender)];
  }
  // False, with a finding, where it is none that the sender could have sent.
  bool IsGenuine(int seat, const lockstep::Message& message,
                 Findings& findings) const;
  // The same, for one that is not the next of its sender.
  bool TakeOutOfTurn(int seat, const lockstep::Message& message,
                     Findings& findings);
  std::uint32_t Complete(int seat);

  const std::uint32_t room_;
  std::vector<std::uint32_t> sent_;     // by seat
  std::vector<std::uint32_t> waiting_;  // by seat
  std::vector<int> lacking_;  // by seat: senders whose `waiting_` is not in
  std::vector<Lane> lanes_;   // by receiver, then by sender
};

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_ROOM_CHECK_H_
