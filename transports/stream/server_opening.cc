#include "stream/server_opening.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/handshake.h"
#include "stream/segments.h"
#include "stream/stream_connection.h"
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
// that came in time is there to be read, and counts.
void ServerOpening::OnAlarm() {
  if (Receive()) CutOff();
}

// Whether it is still to be decided; if not, this object may be gone.
bool ServerOpening::Receive() {
  const std::span<std::byte> buffer = loop().read_buffer();
  const IoResult result = parts_.stream->Read(buffer);
  if (result.status == IoStatus::kBlocked) return true;
  if (result.status != IoStatus::kOk) {
    CutOff();  // a client that ends before it has asked is none
    return false;
  }
  std::span<std::byte> input = buffer.first(result.bytes);
  switch (parts_.handshake->Feed(input)) {
    case ServerHandshake::Progress::kMore:
      return true;
    case ServerHandshake::Progress::kFailed:
      Refuse({.status = parts_.handshake->failure()});
      break;
    case ServerHandshake::Progress::kRequest:
      Decide(input);
      break;
  }
  return false;
}

void ServerOpening::Decide(std::span<const std::byte> unread) {
  const Verdict verdict = owner_.OnKnock(*this, parts_.handshake->request());
  if (verdict.refusal.status != 0) return Refuse(verdict.refusal);
  Accept(verdict.protocol, unread);
}

void ServerOpening::Accept(std::string_view protocol,
                           std::span<const std::byte> unread) {
  std::string answer = parts_.handshake->Accept(protocol);
  parts_.codec->set_lanes_marked(parts_.handshake->lanes_marked());
  std::unique_ptr<Connection> connection =
      MakeServerConnection(loop(), options_,
                           {.stream = std::move(parts_.stream),
                            .codec = std::move(parts_.codec),
                            .answer = std::move(answer),
                            .unread = unread});
  owner_.OnConnection(*this, parts_.handshake->request(),
                      std::move(connection));
  Done();
}

void ServerOpening::Refuse(const Refusal& refusal) {
  Segments answer(loop().segments());
  answer.Append(AsBytes(parts_.handshake->Refuse(refusal)));
  loop().Drain(std::move(parts_.stream), std::move(answer),
               loop().now() + options_.linger_ms * kMillisecond);
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
