// The limit that every server of bench/compare is held against: a relay of
// lockstep messages that does nothing but relay. One thread, epoll by level, no
// library in between. A turn of its loop is one epoll_wait, one recv for each
// socket that has something, and one send for each that is to be told
// something: fewer system calls than these nobody can do with.
//
// It is no server for the world: it believes its clients, who write whole
// frames of a few bytes, and closes on anything else. No timeouts, no lobby, no
// resume.
#ifndef PARLOR_BENCH_LIMIT_RELAY_RELAY_H_
#define PARLOR_BENCH_LIMIT_RELAY_RELAY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "limit_relay/web_socket.h"
#include "peers/relay_rooms.h"

namespace parlor::bench {

class Relay {
 public:
  // gather_ms: above 0, what is for a seat is held until the INPUTs that all
  // other seats of its room have sent make another frame complete, but no
  // longer than this, counted from the oldest message that is held.
  explicit Relay(int gather_ms) : gather_ns_(gather_ms * kNsInMs) {}
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // On the loopback; 0: a port that is free. What the system refused, or empty.
  std::string Listen(std::uint16_t port);
  // After Listen.
  std::uint16_t port() const { return port_; }
  // Comes back only when the system refuses the loop itself, and says why.
  std::string Run();

 private:
  static constexpr std::int64_t kNsInMs = 1'000'000;
  static constexpr std::size_t kReadBytes = 64 * 1024;

  struct Socket {
    int fd = -1;
    bool open = false;           // upgraded
    bool closing = false;        // closed as soon as `out` is written
    bool dirty = false;          // in dirty_
    bool blocked = false;        // the system takes no more; epoll tells
    bool held = false;           // there is an entry in holds_
    std::vector<std::byte> in;   // the beginning of something
    std::vector<std::byte> out;  // not written yet
    Room<Socket>* room = nullptr;
    std::size_t seat = 0;
    // For gathering; -1 is before frame 0.
    std::int64_t frame = -1;     // of its last INPUT
    std::int64_t complete = -1;  // the lowest `frame` of the other seats
    std::int64_t held_ns = 0;    // since when
  };

  struct Hold {
    std::int64_t since_ns = 0;
    Socket* socket = nullptr;
  };

  bool Watch(Socket& socket, unsigned events, int operation) const;
  void Accept();
  void Read(Socket& socket);
  // How much of `input` was understood; the rest is the beginning of something.
  std::size_t Take(Socket& socket, std::span<std::byte> input);
  std::size_t TakeUpgrade(Socket& socket, std::span<const std::byte> input);
  void TakeFrame(Socket& socket, const Frame& frame);
  void TakeInput(Socket& socket, std::span<const std::byte> payload);
  void Send(Socket& socket, Opcode opcode, std::span<const std::byte> payload);
  void MarkDirty(Socket& socket);
  void Write(Socket& socket);
  void WriteDirty();
  void Close(Socket& socket);

  // Starts the hold of what is in `out`.
  void Keep(Socket& socket);
  // Lets those go for whom another frame is complete.
  void ReleaseComplete(const Room<Socket>& room);
  // Lets those go whose time is up.
  void ReleaseOverdue();
  // Until the next of them; -1: there is none.
  int WaitMs();

  const std::int64_t gather_ns_;
  std::int64_t now_ns_ = 0;  // of this turn; kept only when gathering
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int epoll_ = -1;
  std::unordered_map<Socket*, std::unique_ptr<Socket>> sockets_;
  std::vector<std::unique_ptr<Socket>> closed_;  // until the turn is over
  std::vector<Socket*> dirty_;
  std::deque<Hold> holds_;  // by since_ns; those released meanwhile too
  Rooms<Socket> rooms_;
  std::array<std::byte, kReadBytes> buffer_;
};

}  // namespace parlor::bench

#endif  // PARLOR_BENCH_LIMIT_RELAY_RELAY_H_
