// RawLockstepClient: the client's end of a connection to a lockstep room,
// without a peer or a game behind it. It says what it is told to.
#ifndef PARLOR_TESTS_SUPPORT_RAW_LOCKSTEP_CLIENT_H_
#define PARLOR_TESTS_SUPPORT_RAW_LOCKSTEP_CLIENT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/lane.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"

namespace parlor::test {

class RawLockstepClient : public ConnectionHandler {
 public:
  RawLockstepClient() = default;
  virtual ~RawLockstepClient() = default;
  RawLockstepClient(const RawLockstepClient&) = delete;
  RawLockstepClient& operator=(const RawLockstepClient&) = delete;

  // In place of the connection it had.
  void Use(std::unique_ptr<Connection> connection) {
    connection_ = std::move(connection);
  }
  void Say(const lockstep::Message& message) {
    if (connection_ == nullptr) return;
    connection_->Send(Lane::kReliable, MessageKind::kBinary,
                      lockstep::Encode(message));
  }
  void Input(std::uint32_t frame) {
    Say({.kind = lockstep::Kind::kInput, .frame = frame, .value = frame});
  }
  void Leave() {
    if (connection_ != nullptr) connection_->Close(CloseReason::kNormal);
  }
  bool connected() const { return connection_ != nullptr; }
  // Of the last WELCOME; -1 and 0 before the first.
  int seat() const { return seat_; }
  std::uint32_t token() const { return token_; }

 private:
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    const auto message =
        lockstep::Decode(bytes.first<lockstep::kMessageSize>());
    if (message.kind != lockstep::Kind::kWelcome) return;
    seat_ = message.slot;
    token_ = message.value;
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override {
    connection_.reset();
  }

  std::unique_ptr<Connection> connection_;
  int seat_ = -1;
  std::uint32_t token_ = 0;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_RAW_LOCKSTEP_CLIENT_H_
