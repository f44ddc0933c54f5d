// SocketSet: tells the streams of a loop that their sockets are ready. An epoll
// set of the loop's own, which Asio waits on as on one descriptor: Asio's is
// edge-triggered, and each wait for a socket would tell the system anew that it
// is waited for, one call a message. This one is level-triggered and told only
// when what is wanted changes.
//
// One thread. Outlives its members.
#ifndef PARLOR_TRANSPORTS_ASIO_SOCKET_SET_H_
#define PARLOR_TRANSPORTS_ASIO_SOCKET_SET_H_

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parlor::net_internal {

class SocketSet {
 public:
  class Member;

  // Throws std::system_error when the system has no descriptor for it.
  SocketSet();
  ~SocketSet();
  SocketSet(const SocketSet&) = delete;
  SocketSet& operator=(const SocketSet&) = delete;

  // Readable while one of the members is ready.
  int descriptor() const { return epoll_; }

  // Calls the members that are ready, `most` of them and 128 at the most; the
  // next call begins with others. Returns how many there were. Not inside one.
  std::size_t Dispatch(std::size_t most);

 private:
  // As many as Asio takes from the system at once.
  static constexpr std::size_t kReadyMax = 128;

  // `member` is not called any more.
  void Forget(const Member& member);

  int epoll_;
  std::array<epoll_event, kReadyMax> ready_;
  std::size_t ready_count_ = 0;  // of the Dispatch that runs
};

// Owns a socket, or none yet.
class SocketSet::Member {
 public:
  explicit Member(SocketSet& set) : set_(set) {}
  // Closes the socket.
  virtual ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

 protected:
  int socket() const { return socket_; }  // -1: none

  // Owns `socket` from here on; it has none.
  void Adopt(int socket) { socket_ = socket; }
  // Owns none from here on, and returns the one it had.
  int Release();
  // Owns none from here on.
  void Close();

  // What the set is to call it for. False: the system has no memory to watch
  // this socket, and it is not called at all.
  [[nodiscard]] bool Watch(bool read, bool write);

  // Something can be read, or written, or the connection was lost, which either
  // would find. Comes again as long as it is so and watched; once more if it is
  // not watched any more, or for the other of the two. May destroy the member.
  virtual void OnReadReady() = 0;
  virtual void OnWriteReady() = 0;

 private:
  friend class SocketSet;

  SocketSet& set_;
  int socket_ = -1;
  std::uint32_t watched_ = 0;  // epoll's events; 0: not in the set
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_ASIO_SOCKET_SET_H_
