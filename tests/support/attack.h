// Attack: many sockets that make trouble for a host on the loopback, each from
// an address of its own of 127/8. It never blocks: whoever runs a match turns
// it in between, or a thread of its own does.
#ifndef PARLOR_TESTS_SUPPORT_ATTACK_H_
#define PARLOR_TESTS_SUPPORT_ATTACK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/time.h"

namespace parlor::test {

// What each of its sockets does, once it is connected: says `first`, then
// `again` over and over.
struct AttackPlan {
  std::uint16_t port = 0;
  std::size_t sockets = 0;            // open at once
  std::size_t per_second = 0;         // opened
  std::size_t opened_max = SIZE_MAX;  // in all
  std::size_t addresses = 1;          // they come from, in turn
  // Every `#` is a hexadecimal digit, another one each time. All `@` together
  // are a decimal number: 0 in the first `per_number` sockets that are opened,
  // 1 in as many after them, and so on.
  std::string first;
  std::size_t per_number = 1;
  Duration drip{};    // between two bytes of `first`; 0: all at once
  std::string again;  // empty: nothing
  std::size_t again_bytes_max = SIZE_MAX;  // of a socket, in a turn
  bool reads = true;                       // else it never reads
  bool leaves = false;        // ends with a reset, once `first` is said
  std::string farewell;       // said once, at WELCOME; empty: nothing
  int receive_bytes = 0;      // what the system keeps for it; 0: as it likes
  std::size_t per_turn = 64;  // sockets that are looked at in one turn
};

struct AttackFigures {
  std::uint64_t opened = 0;
  std::uint64_t ended = 0;   // by the host
  std::uint64_t seated = 0;  // heard WELCOME, as the match began
  std::uint64_t bytes_said = 0;
  // What it was told: an HTTP status, or behind a 101 the code of a close
  // frame; 0 what ended without either.
  std::map<int, std::uint64_t> answers;
};

class Attack {
 public:
  // Raises how many files this process may have open.
  explicit Attack(AttackPlan plan);
  // Ends every socket with a reset.
  ~Attack();
  Attack(const Attack&) = delete;
  Attack& operator=(const Attack&) = delete;

  // Takes nothing from the heap.
  void Turn(TimePoint now);

  // Of sockets that have ended, and of those that were told.
  const AttackFigures& figures() const { return figures_; }
  std::size_t open() const { return open_; }

 private:
  struct One {
    int descriptor = -1;
    bool connected = false;
    bool upgraded = false;  // heard a 101
    bool seated = false;    // heard a WELCOME
    bool told = false;      // is in answers
    std::size_t said = 0;   // of `first`
    std::size_t again = 0;  // of `again`, where it stands in it
    TimePoint next{};       // byte of `first`
    std::size_t heard_size = 0;
    std::array<char, 512> heard;
    std::string first;
  };

  void Open(One& one, TimePoint now);
  void Close(One& one);
  void Ended(One& one);
  void WriteFirst(One& one);
  void Hear(One& one);
  void Understand(One& one);
  void UnderstandFrame(One& one, std::string_view frame);
  void Tell(One& one, int answer);
  bool Say(One& one, TimePoint now);
  std::size_t Write(One& one, std::string_view text);

  const AttackPlan plan_;
  int epoll_;
  std::vector<One> all_;
  std::size_t open_ = 0;
  std::size_t next_open_ = 0;    // where a free one is looked for
  std::size_t next_speech_ = 0;  // whose turn it is to speak
  std::uint32_t addresses_used_ = 0;
  std::uint64_t random_ = 1;
  TimePoint begin_ = TimePoint::min();
  AttackFigures figures_;
};

// A masked frame of a client's; opcode 1, 2, 8, 9 or 10.
std::string ClientFrame(int opcode, std::string_view payload);

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_ATTACK_H_
