// LeakVisitor: one client of a leak test, from an address of its own: a
// blocking socket that says any bytes, over TLS where the door has it.
#ifndef PARLOR_TESTS_HOST_LEAK_VISITOR_H_
#define PARLOR_TESTS_HOST_LEAK_VISITOR_H_

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parlor/lockstep/wire.h"

namespace parlor::test {

// Where a host of a leak test listens.
struct LeakDoor {
  std::uint16_t port = 0;
  std::uint16_t tcp_port = 0;
  bool tls = false;
};

// One frame of a WebSocket, or one message over TCP.
struct LeakMessage {
  unsigned type = 0;
  std::string payload;

  // Of a binary one of 12 bytes.
  std::optional<lockstep::Message> lockstep() const;
};

class LeakVisitor {
 public:
  enum class Port : std::uint8_t { kWeb, kTcp };

  // Connected from `address`, as "127.83.0.1".
  LeakVisitor(const LeakDoor& door, const std::string& address,
              Port port = Port::kWeb);
  ~LeakVisitor();
  LeakVisitor(const LeakVisitor&) = delete;
  LeakVisitor& operator=(const LeakVisitor&) = delete;

  // False once the host has ended.
  bool Send(std::string_view bytes);
  void SendFrame(unsigned first, std::string_view payload);
  void SendLockstep(const lockstep::Message& message);

  // Until the host has ended it; all that came and was not taken yet. A host
  // that does not within 20 s is a failure.
  std::string ReadToEnd();
  // As long as a head is, which is taken; empty when the host ended before.
  std::string ReadHead();
  // The next one, which is taken; nullopt once the host has ended. Of a
  // WebSocket, and of TCP.
  std::optional<LeakMessage> ReadFrame();
  std::optional<LeakMessage> ReadRecord();

  // Ends as a process that was killed does.
  void Reset();

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };

  // So many are there; false when it ended before.
  bool Fill(std::size_t bytes);
  // Some more; false at the end.
  bool Read();
  std::string Take(std::size_t bytes);

  int socket_ = -1;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> tls_;
  std::string in_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_HOST_LEAK_VISITOR_H_
