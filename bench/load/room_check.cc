#include "load/room_check.h"

#include <cstdint>
#include <string>

#include "parlor/check.h"
#include "parlor/lockstep/wire.h"

namespace parlor::load {
namespace {

using std::to_string;

// "frame 7 of seat 2"
std::string Name(const lockstep::Message& message) {
  return "frame " + to_string(message.frame) + " of seat " +
         to_string(message.slot);
}

std::string Hex(std::uint32_t word) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) {
    text += kDigits[(word >> shift) & 0xf];
  }
  return text;
}

std::string Body(const lockstep::Message& message) {
  return "word " + Hex(message.value) + " and bytes " +
         to_string(message.players) + ", " + to_string(message.mode);
}

}  // namespace

RoomCheck::RoomCheck(std::uint32_t room, int seats)
    : room_(room),
      sent_(Index(seats)),
      waiting_(Index(seats)),
      lacking_(Index(seats), seats - 1),
      lanes_(Index(seats) * Index(seats)) {
  PARLOR_CHECK(seats >= 2);
}

bool RoomCheck::IsGenuine(int seat, const lockstep::Message& message,
                          Findings& findings) const {
  if (message.slot >= sent_.size()) {
    findings.Add(room_, seat, [&] {
      return "slot " + to_string(message.slot) + " in " + "frame " +
             to_string(message.frame) + ": the room has seats 0 to " +
             to_string(sent_.size() - 1);
    });
    return false;
  }
  if (message.slot == seat) {
    findings.Add(room_, seat,
                 [&] { return Name(message) + " came back to its sender"; });
    return false;
  }
  if (message.frame >= sent(message.slot)) {
    findings.Add(room_, seat,
                 [&] { return Name(message) + " came before it was sent"; });
    return false;
  }
  const lockstep::Message said = InputOf(room_, message.slot, message.frame);
  if (message != said) {
    findings.Add(room_, seat, [&] {
      return Name(message) + " has " + Body(message) + ", and was sent with " +
             Body(said);
    });
    return false;
  }
  return true;
}

bool RoomCheck::TakeOutOfTurn(int seat, const lockstep::Message& message,
                              Findings& findings) {
  Lane& lane = At(seat, message.slot);
  if (message.frame > lane.next) {
    findings.Add(room_, seat, [&] {
      return Name(message) + " came where frame " + to_string(lane.next) +
             " was due";
    });
    lane.left_out += message.frame - lane.next;
    lane.gap_begin = lane.next;
    lane.gap_end = message.frame;
    lane.next = message.frame + 1;
    return true;
  }
  if (message.frame >= lane.gap_begin && message.frame < lane.gap_end) {
    findings.Add(room_, seat, [&] {
      return Name(message) + " came late, behind frame " +
             to_string(lane.next - 1);
    });
    // Those before it stay left out, so that none is taken twice.
    lane.gap_begin = message.frame + 1;
    --lane.left_out;
    return true;
  }
  findings.Add(room_, seat, [&] {
    return Name(message) + " came again, behind frame " +
           to_string(lane.next - 1);
  });
  return false;
}

RoomCheck::Taken RoomCheck::Take(int seat, const lockstep::Message& message,
                                 Findings& findings) {
  if (!IsGenuine(seat, message, findings)) return {};
  Lane& lane = At(seat, message.slot);
  const std::uint32_t before = lane.next;
  if (message.frame == lane.next) {
    ++lane.next;
  } else if (!TakeOutOfTurn(seat, message, findings)) {
    return {};
  }
  const std::uint32_t waiting = waiting_[Index(seat)];
  const bool was_lacking = before <= waiting && lane.next > waiting;
  if (was_lacking) --lacking_[Index(seat)];
  return {.delivered = true, .completed = was_lacking ? Complete(seat) : 0};
}

std::uint32_t RoomCheck::Complete(int seat) {
  std::uint32_t completed = 0;
  while (lacking_[Index(seat)] == 0) {
    ++completed;
    const std::uint32_t waiting = ++waiting_[Index(seat)];
    for (int sender = 0; sender < static_cast<int>(sent_.size()); ++sender) {
      if (sender != seat && At(seat, sender).next <= waiting) {
        ++lacking_[Index(seat)];
      }
    }
  }
  return completed;
}

std::uint64_t RoomCheck::Missing(int seat) const {
  std::uint64_t missing = 0;
  for (int sender = 0; sender < static_cast<int>(sent_.size()); ++sender) {
    if (sender == seat) continue;
    const Lane& lane = At(seat, sender);
    missing += sent(sender) - lane.next + lane.left_out;
  }
  return missing;
}

void RoomCheck::Finish(Findings& findings) const {
  for (int seat = 0; seat < static_cast<int>(sent_.size()); ++seat) {
    for (int sender = 0; sender < static_cast<int>(sent_.size()); ++sender) {
      const Lane& lane = At(seat, sender);
      if (sender == seat || (lane.left_out == 0 && lane.next == sent(sender))) {
        continue;
      }
      findings.Add(room_, seat, [&] {
        return "lost " + to_string(sent(sender) - lane.next + lane.left_out) +
               " of the " + to_string(sent(sender)) + " messages of seat " +
               to_string(sender) + ", the last that came is frame " +
               to_string(std::int64_t{lane.next} - 1);
      });
    }
  }
}

}  // namespace parlor::load
