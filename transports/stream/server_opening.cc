#include "stream/server_opening.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "parlor/connection.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/handshake.h"
#include "stream/server_answer.h"
#include "stream/stream_loop.h"

namespace parlor::stream {

ServerOpening::ServerOpening(StreamLoop& loop, const StreamOptions& options,
                             Parts parts, Owner& owner)
    : LoopMember(loop),
      options_(options),
      parts_(std::move(parts)),
      owner_(owner) {
  SetAlarm(loop.now() + options_.handshake_ms * kMillisecond);
  parts_.stream->SetEvents(this);
  parts_.stream->WantRead(true);
}

ServerOpening::~ServerOpening() {
  if (parts_.stream != nullptr) parts_.stream->Reset();
}

// Time is up, by a loop that may not have been turned for a while: a request
// that came in time is there to be read, and counts. One read may not take all
// of it; each takes a byte at least, and requests are bounded.
void ServerOpening::OnAlarm() {
  for (;;) {
    const Step step = Receive();
    if (step == Step::kDecided) return;
    if (step == Step::kNothing) return CutOff();
  }
}

ServerOpening::Step ServerOpening::Receive() {
  const std::span<std::byte> buffer = loop().read_buffer();
  const IoResult result = parts_.stream->Read(buffer);
  if (result.status == IoStatus::kBlocked) return Step::kNothing;
  if (result.status != IoStatus::kOk) {
    CutOff();  // a client that ends before it has asked is none
    return Step::kDecided;
  }
  std::span<std::byte> input = buffer.first(result.bytes);
  switch (parts_.handshake->Feed(input)) {
    case ServerHandshake::Progress::kMore:
      return Step::kTaken;
    case ServerHandshake::Progress::kFailed:
      Refuse({.status = parts_.handshake->failure()});
      break;
    case ServerHandshake::Progress::kRequest:
      Decide(input);
      break;
  }
  return Step::kDecided;
}

void ServerOpening::Decide(std::span<const std::byte> unread) {
  const Verdict verdict = owner_.OnKnock(*this, parts_.handshake->request());
  if (verdict.refusal.status != 0) return Refuse(verdict.refusal);
  Accept(verdict.protocol, unread);
}

void ServerOpening::Accept(std::string_view protocol,
                           std::span<const std::byte> unread) {
  std::unique_ptr<Connection> connection =
      AcceptClient(loop(), options_, parts_, protocol, unread);
  owner_.OnConnection(*this, parts_.handshake->request(),
                      std::move(connection));
  Done();
}

void ServerOpening::Refuse(const Refusal& refusal) {
  RefuseClient(loop(), options_, parts_, refusal);
  Done();
}

void ServerOpening::CutOff() {
  parts_.stream->Reset();
  parts_.stream = nullptr;
  Done();
}

void ServerOpening::Done() {
  SetAlarm(kNever);
  owner_.OnDone(*this);
}

}  // namespace parlor::stream
