// TcpProxy: stands between a client and a port of this machine, passes bytes
// both ways, and can cut its connections off.
#ifndef PARLOR_TESTS_SOLO_TCP_PROXY_H_
#define PARLOR_TESTS_SOLO_TCP_PROXY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace parlor {

class TcpProxy {
 public:
  // Passes on to 127.0.0.1:`target`.
  explicit TcpProxy(std::uint16_t target);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  std::uint16_t port() const { return port_; }
  // Resets all connections, and those that come until Pass.
  void Cut() { cut_ = true; }
  void Pass() { cut_ = false; }

 private:
  struct End {
    int socket = -1;
    bool done = false;  // has said its last byte
  };
  struct Pair {
    End client;
    End server;
    bool open = true;
  };

  void Run();
  void Accept();
  static void Move(Pair& pair, End& from, const End& to);
  static void Reset(Pair& pair);

  const std::uint16_t target_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> end_ = false;
  std::vector<Pair> pairs_;  // of the thread alone
  std::thread thread_;
};

}  // namespace parlor

#endif  // PARLOR_TESTS_SOLO_TCP_PROXY_H_
