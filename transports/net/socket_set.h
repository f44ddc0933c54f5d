// SocketSet: what a loop waits for, sockets and other descriptors that are
// ready. Level-triggered, so that the system is told only when what is wanted
// changes, and not once a message.
//
// One thread. Outlives its members.
#ifndef PARLOR_TRANSPORTS_NET_SOCKET_SET_H_
#define PARLOR_TRANSPORTS_NET_SOCKET_SET_H_

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "parlor/time.h"

namespace parlor::net_internal {

class SocketSet {
 public:
  class Member;

  // Throws std::system_error when the system has no descriptor for it.
  SocketSet();
  ~SocketSet();
  SocketSet(const SocketSet&) = delete;
  SocketSet& operator=(const SocketSet&) = delete;

  // Waits until a member is ready, `longest` at the most; 0 and less: not at
  // all, Duration::max(): for ever. Returns how many were found, `most` of them
  // and 128 at the most; the next look begins with others.
  std::size_t Wait(std::size_t most, Duration longest);
  // Calls those that were found and still live. Once behind each Wait.
  void Dispatch();

 private:
  // What is ready beyond it waits for the end of this turn. Ours.
  static constexpr std::size_t kReadyMax = 128;

  int EpollWait(int most, Duration longest);
  // `member` is not called any more.
  void Forget(const Member& member);

  int epoll_;
  std::array<epoll_event, kReadyMax> ready_;
  std::size_t ready_count_ = 0;
};

// Owns a descriptor, or none yet.
class SocketSet::Member {
 public:
  explicit Member(SocketSet& set) : set_(set) {}
  // Closes it.
  virtual ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

 protected:
  int descriptor() const { return descriptor_; }  // -1: none

  // Owns `descriptor` from here on; it has none.
  void Adopt(int descriptor) { descriptor_ = descriptor; }
  // Owns none from here on, and returns the one it had.
  int Release();
  // Owns none from here on.
  void Close();

  // What the set is to call it for. False: the system has no memory to watch
  // the descriptor (errno), and it is not called at all.
  [[nodiscard]] bool Watch(bool read, bool write);

  // Something can be read, or written, or the connection was lost, which either
  // would find. They come again as long as it is so and one of them is watched;
  // each may come for the loss while only the other is. May destroy the member.
  virtual void OnReadReady() = 0;
  virtual void OnWriteReady() = 0;

 private:
  friend class SocketSet;

  SocketSet& set_;
  int descriptor_ = -1;
  std::uint32_t watched_ = 0;  // epoll's events; 0: not in the set
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_NET_SOCKET_SET_H_
