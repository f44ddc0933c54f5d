// What a link does with packets, whatever they carry: when a packet leaves,
// whether it is lost, when it arrives; and who is told of a cut. Messages and
// streams stand on it.
#ifndef PARLOR_TRANSPORTS_SIM_LINK_PATH_H_
#define PARLOR_TRANSPORTS_SIM_LINK_PATH_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"

namespace parlor::sim {

// What one packet holds of a message (an Ethernet frame's 1,500 bytes without
// kPacketOverhead): a larger message is lost when any of its packets is.
inline constexpr std::size_t kPacketBytes = 1'442;

// TCP's own limits for trying again: the longest wait (RFC 6298 and Linux'
// TCP_RTO_MAX), and after how many tries it gives up (Linux' tcp_retries2).
inline constexpr Duration kRetransmitMax = 120 * kSecond;
inline constexpr int kTriesMax = 16;

// One try of a message. Of one that is lost, `arrives` is when it would have.
struct Flight {
  TimePoint leaves;  // the queue in front of the limit
  TimePoint arrives;
  bool lost = false;
  bool dropped = false;  // lost, and it never had a place in the queue
};

// One direction.
class LinkPath {
 public:
  explicit LinkPath(Random& random) : random_(random) {}

  // `retransmit` is how long the first try after a loss waits.
  void Set(const PathConditions& conditions, Duration retransmit);

  // A message of `bytes` that is not sent again.
  Flight Send(TimePoint now, std::size_t bytes);

  // When a message of `bytes` arrives that is sent until it does, behind
  // `floor`. What does not fit the queue is late by a try and waits with its
  // sender for its turn. kNever: every try was lost.
  TimePoint SendReliable(TimePoint now, std::size_t bytes, TimePoint floor);

  // When a packet arrives that is small and not sent again; kNever: it is lost.
  TimePoint Try(TimePoint at) {
    if (Lost(at, 1)) return kNever;
    return at + conditions_.latency + DrawJitter();
  }

  // The first try at `now` or later of what was first lost at `since`.
  TimePoint NextTry(TimePoint since, TimePoint now) const;

  bool DrawDuplicate() { return Draw(duplicate_); }
  bool DrawOvertake() { return Draw(overtake_); }
  Duration DrawJitter();

  const PathConditions& conditions() const { return conditions_; }
  Duration retransmit() const { return retransmit_; }
  // How long the limit is busy with `bytes` and their overhead; 0 without one.
  Duration TimeOf(std::size_t bytes) const;
  // A message that waits in the queue gave its place to a larger one.
  void Prolong(Duration time) { busy_until_ += time; }

 private:
  // Of 2^32.
  using Share = std::uint64_t;
  static Share ShareOf(std::uint32_t ppm) {
    return (std::uint64_t{ppm} << 32) / 1'000'000;
  }
  bool Draw(Share share) { return share != 0 && random_.Next() < share; }
  bool Lost(TimePoint at, std::size_t packets);
  Flight Queue(TimePoint now, std::size_t bytes, bool waits);

  Random& random_;
  PathConditions conditions_;
  Duration retransmit_ = kRetransmitTime;
  Duration queue_time_{};  // of a full queue
  Share loss_ = 0;
  Share burst_ = 0;
  Share duplicate_ = 0;
  Share overtake_ = 0;
  TimePoint busy_until_{};
  TimePoint burst_until_{};
};

// Who uses a link. Called inside the link's own calls; must not run callbacks.
class LinkUser {
 public:
  virtual void OnCut(Direction direction) = 0;
  virtual void OnHeal(Direction direction) = 0;
  // May remove this user, and no other.
  virtual void OnReset() = 0;

 protected:
  ~LinkUser() = default;
};

// A link's insides.
struct LinkState {
  LinkState(Executor& executor, const Conditions& new_conditions)
      : random(executor.random().Next64()),
        paths{LinkPath(random), LinkPath(random)} {
    Set(new_conditions);
  }

  void Set(const Conditions& new_conditions);
  LinkPath& path(Direction direction) {
    return paths[static_cast<std::size_t>(direction)];
  }
  void Add(LinkUser& user) { users.push_back(&user); }
  void Remove(LinkUser& user) { std::erase(users, &user); }
  void Reset();

  Conditions conditions;
  Random random;
  std::array<LinkPath, 2> paths;
  std::array<bool, 2> cut{};
  std::vector<LinkUser*> users;  // in the order of Add
};

constexpr Direction Reverse(Direction direction) {
  return direction == Direction::kUp ? Direction::kDown : Direction::kUp;
}

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_LINK_PATH_H_
