#include "stream/stream_connection.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/lane.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/codec.h"
#include "stream/handshake.h"
#include "stream/segments.h"
#include "stream/stream_loop.h"

namespace parlor::stream {
namespace {

// From here on a shared payload is referred to; a copy of less is cheaper than
// a piece of its own in every queue.
constexpr std::size_t kShareBytesMin = 1'024;

FrameType FrameTypeOf(MessageKind kind) {
  return kind == MessageKind::kText ? FrameType::kText : FrameType::kBinary;
}

class alignas(64) StreamConnection final : public Connection,
                                           private LeavingMember,
                                           private ByteStream::Events {
 public:
  StreamConnection(StreamLoop& loop, const StreamOptions& options,
                   std::unique_ptr<ByteStream> stream,
                   std::unique_ptr<Codec> codec);
  ~StreamConnection() override;

  void StartServer(ServerStart start);
  void StartClient(std::unique_ptr<ClientHandshake> handshake,
                   ConnectionHandler* handler);

  void SetHandler(ConnectionHandler* handler) override;
  SendResult Send(Lane lane, MessageKind kind,
                  std::span<const std::byte> bytes) override;
  SendResult Send(Lane lane, const Payload& payload) override;
  std::size_t queued_bytes(Lane lane) const override;
  void Close(CloseCode code, std::string_view text) override;
  void Abort() override;
  bool is_open() const override { return state_ == State::kOpen; }

 private:
  enum class State : std::uint8_t {
    kOpen,     // messages flow, or will once the handshake is done
    kClosing,  // we closed: the queue leaves, then the peer's answer is awaited
    kEnded,    // the link is gone, and OnClose is due
    kClosed,   // OnClose has come
  };

  // What only a client has that was not let in yet.
  struct Opening {
    Opening(std::unique_ptr<ClientHandshake> client, SegmentPool& pool)
        : handshake(std::move(client)), hello(pool) {
      hello.Append(AsBytes(handshake->hello()));
    }

    std::unique_ptr<ClientHandshake> handshake;
    Segments hello;
    TimePoint deadline = kNever;
  };

  void OnTurnEnd() override;
  void OnAlarm() override;
  void CutShort() override { Abort(); }
  void OnReadable() override;
  void OnWritable() override;

  // These answer whether the link still stands. After false nothing of this
  // object may be touched: OnClose has come, and it may be gone.
  bool Receive();
  bool Process(std::span<std::byte> input);
  bool FeedHandshake(std::span<std::byte>& input);
  bool Decode(std::span<std::byte> input);
  bool Handle(const Incoming& incoming);
  bool PeerClosed(const Incoming& incoming);
  bool LinkLost(std::uint16_t refusal = 0);
  bool Finish();

  bool MayRead() const {
    return opening_ != nullptr || state_ == State::kClosing ||
           handler_ != nullptr;
  }
  void UpdateReading();
  void StartClock();
  // Of what is on its way in or out.
  TimePoint Deadline() const {
    return opening_ == nullptr ? close_deadline_
                               : std::min(opening_->deadline, close_deadline_);
  }
  void SetNextAlarm();
  void CheckLiveness();
  // A ping is on its way, and nothing was heard since.
  bool unanswered() const { return pinged_at_ > last_heard_; }
  TimePoint PingDeadline() const {
    return pinged_at_ + (options_.silence_ms - options_.ping_ms) * kMillisecond;
  }

  SendResult SendState(MessageKind kind, std::span<const std::byte> bytes,
                       const Payload* payload);
  bool TakeReliable(std::size_t size);
  void QueueShort(MessageKind kind, std::span<const std::byte> bytes);
  void QueueLong(MessageKind kind, std::span<const std::byte> bytes);
  std::size_t QueueHeader(FrameType type, Lane lane, std::size_t size);
  void QueueFrame(FrameType type, Lane lane, std::span<const std::byte> bytes);
  void QueueControl(FrameType type, std::span<const std::byte> bytes);
  void QueueClose(CloseCode code, std::string_view text);
  void QueueWaiting();
  void QueueState();
  bool Write(Segments& out);
  void Flush();
  void TellWritable();
  TimePoint DeadlineIn(std::int64_t ms) const {
    return loop().now() + ms * kMillisecond;
  }

  // What each message touches comes first, in as few lines of memory as it
  // takes: a loop that has been to thousands of others waits for each.
  State state_ = State::kOpen;
  bool clock_started_ = false;  // deadlines are set
  bool opened_ = false;         // OnOpen has come
  bool reading_ = false;        // what the stream was told last
  bool unreadable_ = false;     // the peer broke a rule: its bytes mean nothing
  bool newest_waiting_ = false;
  bool pong_waiting_ = false;
  bool above_half_ = false;     // OnWritable is due below
  bool write_blocked_ = false;  // OnWritable of the stream comes
  bool write_lost_ = false;     // reading will tell how the link ended
  bool close_queued_ = false;
  bool write_ended_ = false;
  const ShortHeaders short_headers_;  // of the codec
  ConnectionHandler* handler_ = nullptr;
  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<Codec> codec_;
  Segments queue_;  // frames, in the order in which they leave
  std::unique_ptr<Opening> opening_;
  std::vector<std::byte> unread_;  // read, and not decoded: nobody listened
  TimePoint last_heard_{};
  // Positions count all bytes that left the queue. At most one frame of the
  // state lane and one pong are in it; until then, they wait below.
  std::uint64_t written_ = 0;
  const StreamOptions options_;

  // The payload of the state lane's newest message: its frame is made when the
  // stream takes more, so that nothing is queued that a newer one replaces.
  Segments newest_;
  MessageKind newest_kind_ = MessageKind::kBinary;
  std::uint64_t state_end_ = 0;
  std::size_t state_counted_ = 0;  // of the frame that ends at state_end_
  std::vector<std::byte> pong_;
  std::uint64_t pong_end_ = 0;

  TimePoint pinged_at_ = TimePoint::min();
  TimePoint close_deadline_ = kNever;
  CloseEvent event_;
  std::string event_text_;
};

StreamConnection::StreamConnection(StreamLoop& loop,
                                   const StreamOptions& options,
                                   std::unique_ptr<ByteStream> stream,
                                   std::unique_ptr<Codec> codec)
    : LeavingMember(loop),
      short_headers_(codec->short_headers()),
      stream_(std::move(stream)),
      codec_(std::move(codec)),
      queue_(loop.segments()),
      options_(options),
      newest_(loop.segments(), Segments::Counted::kNo) {
  stream_->WantRead(false);  // whoever had it before may have wanted to
  stream_->SetEvents(this);
}

StreamConnection::~StreamConnection() {
  if (stream_ != nullptr) stream_->Reset();
}

void StreamConnection::StartServer(ServerStart start) {
  const Bytes answer = AsBytes(start.answer);
  if (!answer.empty()) {
    queue_.Append(answer);
    queue_.Count(-static_cast<std::int64_t>(answer.size()));
  }
  unread_.assign(start.unread.begin(), start.unread.end());
  Schedule();
}

void StreamConnection::StartClient(std::unique_ptr<ClientHandshake> handshake,
                                   ConnectionHandler* handler) {
  handler_ = handler;
  opening_ = std::make_unique<Opening>(std::move(handshake), loop().segments());
  Schedule();
}

void StreamConnection::SetHandler(ConnectionHandler* handler) {
  handler_ = handler;
  if (state_ != State::kClosed) Schedule();
}

// ---- Sending.

SendResult StreamConnection::Send(Lane lane, MessageKind kind,
                                  std::span<const std::byte> bytes) {
  if (state_ != State::kOpen) return SendResult::kClosed;
  if (lane == Lane::kState) return SendState(kind, bytes, nullptr);
  if (!TakeReliable(bytes.size())) return SendResult::kOverflow;
  if (bytes.size() < short_headers_.size_end) {
    QueueShort(kind, bytes);
  } else {
    QueueLong(kind, bytes);
  }
  return SendResult::kQueued;
}

SendResult StreamConnection::Send(Lane lane, const Payload& payload) {
  const std::span<const std::byte> bytes = payload.bytes();
  if (bytes.size() < kShareBytesMin || codec_->masks()) {
    return Send(lane, payload.kind(), bytes);
  }
  if (state_ != State::kOpen) return SendResult::kClosed;
  if (lane == Lane::kState) return SendState(payload.kind(), bytes, &payload);
  if (!TakeReliable(bytes.size())) return SendResult::kOverflow;
  const std::size_t size =
      QueueHeader(FrameTypeOf(payload.kind()), Lane::kReliable, bytes.size());
  queue_.Append(payload);
  queue_.Count(static_cast<std::int64_t>(kMessageOverhead) -
               static_cast<std::int64_t>(size));
  return SendResult::kQueued;
}

SendResult StreamConnection::SendState(MessageKind kind,
                                       std::span<const std::byte> bytes,
                                       const Payload* payload) {
  newest_.Clear();
  if (payload != nullptr) {
    newest_.Append(*payload);
  } else {
    newest_.Append(bytes);
  }
  newest_kind_ = kind;
  Schedule();
  return std::exchange(newest_waiting_, true) ? SendResult::kReplaced
                                              : SendResult::kQueued;
}

// Whether the reliable lane has room for a message; if not, it is too slow.
bool StreamConnection::TakeReliable(std::size_t size) {
  const std::size_t queued = queue_.counted_bytes() + size + kMessageOverhead;
  if (queued > options_.reliable_bytes_max) {
    Connection::Close(CloseReason::kTooSlow);
    return false;
  }
  if (queued > options_.reliable_bytes_max / 2) above_half_ = true;
  Schedule();
  return true;
}

std::size_t StreamConnection::queued_bytes(Lane lane) const {
  if (lane == Lane::kReliable) return queue_.counted_bytes();
  std::size_t bytes = written_ < state_end_ ? state_counted_ : 0;
  if (newest_waiting_) bytes += newest_.wire_bytes() + kMessageOverhead;
  return bytes;
}

// Nearly every message: without a call, and in line.
inline void StreamConnection::QueueShort(MessageKind kind,
                                         std::span<const std::byte> bytes) {
  const ShortHeaders::Word word = short_headers_.WordOf(kind, bytes.size());
  std::byte* const at = queue_.Reserve(sizeof(word) + bytes.size());
  StoreU32(at, word);  // what is too much of it is written over
  CopyBytes(at + short_headers_.bytes, bytes);
  queue_.Grow(short_headers_.bytes + bytes.size(),
              static_cast<std::int64_t>(kMessageOverhead) -
                  static_cast<std::int64_t>(short_headers_.bytes));
}

void StreamConnection::QueueLong(MessageKind kind,
                                 std::span<const std::byte> bytes) {
  const std::size_t before = queue_.wire_bytes();
  QueueFrame(FrameTypeOf(kind), Lane::kReliable, bytes);
  queue_.Count(static_cast<std::int64_t>(bytes.size() + kMessageOverhead) -
               static_cast<std::int64_t>(queue_.wire_bytes() - before));
}

// Returns how long the header is.
std::size_t StreamConnection::QueueHeader(FrameType type, Lane lane,
                                          std::size_t size) {
  std::array<std::byte, kHeaderMax> header;
  const std::size_t header_size = codec_->WriteHeader(type, lane, size, header);
  queue_.Append(std::span(header).first(header_size));
  return header_size;
}

void StreamConnection::QueueFrame(FrameType type, Lane lane,
                                  std::span<const std::byte> bytes) {
  QueueHeader(type, lane, bytes.size());
  if (codec_->masks()) {
    queue_.Append(bytes, [&](std::span<std::byte> part, std::size_t offset) {
      codec_->Mask(part, offset);
    });
  } else {
    queue_.Append(bytes);
  }
}

// A frame that no lane's limit counts.
void StreamConnection::QueueControl(FrameType type,
                                    std::span<const std::byte> bytes) {
  const std::size_t before = queue_.wire_bytes();
  QueueFrame(type, Lane::kReliable, bytes);
  queue_.Count(-static_cast<std::int64_t>(queue_.wire_bytes() - before));
}

void StreamConnection::QueueClose(CloseCode code, std::string_view text) {
  std::array<std::byte, kControlBytesMax> payload;
  const std::size_t size = codec_->WriteClose(code, text, payload);
  QueueControl(FrameType::kClose, std::span(payload).first(size));
}

// Moves into the queue what was waiting for the stream to take more.
void StreamConnection::QueueWaiting() {
  if (close_queued_) return;
  if (pong_waiting_ && written_ >= pong_end_) {
    pong_waiting_ = false;
    QueueControl(FrameType::kPong, pong_);
    pong_end_ = written_ + queue_.wire_bytes();
  }
  if (newest_waiting_ && written_ >= state_end_) QueueState();
  if (state_ == State::kClosing && !newest_waiting_) {
    close_queued_ = true;
    QueueClose(event_.code, event_text_);
  }
}

void StreamConnection::QueueState() {
  newest_waiting_ = false;
  const std::size_t size = newest_.wire_bytes();
  const std::size_t header_size =
      QueueHeader(FrameTypeOf(newest_kind_), Lane::kState, size);
  queue_.Count(-static_cast<std::int64_t>(header_size));
  if (codec_->masks()) {
    newest_.ForEach([&](std::span<std::byte> part, std::size_t offset) {
      codec_->Mask(part, offset);
    });
  }
  queue_.Splice(newest_);
  state_end_ = written_ + queue_.wire_bytes();
  state_counted_ = size + kMessageOverhead;
}

// Writes until `out` is empty (true) or the stream takes no more.
bool StreamConnection::Write(Segments& out) {
  const std::size_t before = out.wire_bytes();
  const IoStatus status = out.WriteTo(*stream_);
  written_ += before - out.wire_bytes();
  if (status == IoStatus::kBlocked) {
    write_blocked_ = true;
    stream_->WantWrite();
  }
  // What the peer said last may still be there to be read.
  write_lost_ = status == IoStatus::kLost;
  return status == IoStatus::kOk;
}

void StreamConnection::Flush() {
  if (write_blocked_ || write_lost_) return;
  if (opening_ != nullptr) {
    Write(opening_->hello);
    return;
  }
  for (;;) {
    QueueWaiting();
    if (queue_.empty()) break;
    if (!Write(queue_)) return;
  }
  // Our end follows the peer's answer (in PeerClosed), as RFC 6455
  // section 7.1.1 has it: a proxy takes the end of one direction for that of
  // both, and may lose our close frame over what it has not read. A peer that
  // we do not understand any more can answer by its own end alone.
  if (unreadable_ && close_queued_ && !std::exchange(write_ended_, true)) {
    stream_->EndWrite();
  }
}

void StreamConnection::TellWritable() {
  if (!above_half_ || state_ != State::kOpen || handler_ == nullptr ||
      !opened_ || queue_.counted_bytes() > options_.reliable_bytes_max / 2) {
    return;
  }
  above_half_ = false;
  handler_->OnWritable(loop().now(), *this, Lane::kReliable);
}

void StreamConnection::OnWritable() {
  write_blocked_ = false;
  Flush();
  TellWritable();
}

void StreamConnection::OnTurnEnd() {
  if (state_ == State::kClosed) return;
  if (state_ == State::kEnded) {
    Finish();
    return;
  }
  if (!clock_started_) StartClock();
  if (opening_ == nullptr && MayRead() && (!opened_ || !unread_.empty())) {
    // It may come to be unread again, and a view of it outlives this object.
    std::vector<std::byte> kept = std::exchange(unread_, {});
    if (!Decode(kept)) return;
  }
  if (stream_ == nullptr) return;  // aborted in there
  UpdateReading();
  Flush();
  TellWritable();
}

// ---- Receiving.

void StreamConnection::UpdateReading() {
  const bool may_read = MayRead() && unread_.empty() && !discard_paused();
  if (may_read == reading_) return;
  reading_ = may_read;
  // Silence counts only while somebody listens.
  if (may_read) last_heard_ = loop().now();
  stream_->WantRead(may_read);
}

void StreamConnection::OnReadable() { Receive(); }

bool StreamConnection::Receive() {
  std::span<std::byte> buffer = loop().read_buffer();
  // Nothing but the peer's own close is heard any more, however much it says.
  const bool discards = state_ == State::kClosing;
  if (discards) buffer = buffer.first(kDiscardBytes);
  // Fetched while the system works: a message needs them next.
  __builtin_prefetch(codec_.get());
  __builtin_prefetch(handler_);
  const IoResult result = stream_->Read(buffer);
  if (discards) {
    CountDiscard(result.bytes);
    UpdateReading();
    SetNextAlarm();
  }
  if (result.status == IoStatus::kBlocked) return true;
  if (result.status != IoStatus::kOk) return LinkLost();
  last_heard_ = loop().now();
  return Process(buffer.first(result.bytes));
}

bool StreamConnection::Process(std::span<std::byte> input) {
  if (opening_ != nullptr && !FeedHandshake(input)) return false;
  if (opening_ != nullptr) return true;
  return Decode(input);
}

bool StreamConnection::FeedHandshake(std::span<std::byte>& input) {
  switch (opening_->handshake->Feed(input)) {
    case ClientHandshake::Progress::kMore:
      return true;
    case ClientHandshake::Progress::kOpen:
      codec_->set_lanes_marked(opening_->handshake->lanes_marked());
      opening_.reset();
      SetNextAlarm();
      Schedule();
      return true;
    case ClientHandshake::Progress::kRefused:
      return LinkLost(opening_->handshake->refusal());
    case ClientHandshake::Progress::kFailed:
      break;
  }
  return LinkLost();
}

bool StreamConnection::Decode(std::span<std::byte> input) {
  while (state_ == State::kOpen || state_ == State::kClosing) {
    if (unreadable_) return true;
    if (!MayRead()) {
      unread_.assign(input.begin(), input.end());
      UpdateReading();
      return true;
    }
    if (state_ == State::kOpen && !std::exchange(opened_, true)) {
      handler_->OnOpen(loop().now(), *this);
      continue;
    }
    // Nothing is found in nothing: the codec takes all it can at once.
    if (input.empty()) return true;
    const Incoming incoming = codec_->Next(input);
    if (incoming.kind == Incoming::Kind::kNothing) return true;
    if (!Handle(incoming)) return false;
  }
  return true;
}

bool StreamConnection::Handle(const Incoming& incoming) {
  const bool open = state_ == State::kOpen;
  switch (incoming.kind) {
    case Incoming::Kind::kNothing:
      return true;
    case Incoming::Kind::kMessage:
      if (!open) return true;
      handler_->OnMessage(loop().now(), *this, incoming.lane, incoming.message,
                          incoming.bytes);
      return true;
    case Incoming::Kind::kPing:
      if (!open) return true;
      // The newest is the one to answer (RFC 6455 section 5.5.3).
      pong_.assign(incoming.bytes.begin(), incoming.bytes.end());
      pong_waiting_ = true;
      Schedule();
      handler_->OnControl(loop().now(), *this, ControlKind::kPing);
      return true;
    case Incoming::Kind::kPong:
      if (open) handler_->OnControl(loop().now(), *this, ControlKind::kPong);
      return true;
    case Incoming::Kind::kClose:
      return PeerClosed(incoming);
    case Incoming::Kind::kError:
      // Read on, to the end, so that the peer gets to hear why.
      unreadable_ = true;
      Connection::Close(incoming.error);
      return true;
  }
  return true;
}

// ---- The end.

void StreamConnection::Close(CloseCode code, std::string_view text) {
  PARLOR_CHECK(IsSendableClose(code, text));
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  event_ = {.code = code, .by_us = true};
  event_text_ = text;
  clock_started_ = false;
  Schedule();
}

void StreamConnection::Abort() {
  if (stream_ == nullptr) return;
  if (state_ == State::kOpen) {
    event_ = {.code = close_code::kDropped, .by_us = true};
  }
  StopLeaving();
  stream_->Reset();
  stream_.reset();
  state_ = State::kEnded;
  queue_.Clear();
  Schedule();
}

bool StreamConnection::PeerClosed(const Incoming& incoming) {
  if (state_ == State::kOpen) {
    event_ = {.code = incoming.code};
    event_text_ = AsText(incoming.bytes);
    newest_waiting_ = false;  // nobody takes it any more
  }
  if (!write_lost_) {
    // Behind what is on its way, in part perhaps: our close frame, if it has
    // not left yet, and the end. The peer discards the rest.
    if (!std::exchange(close_queued_, true)) {
      QueueClose(event_.code, event_text_);
    }
    loop().Drain(std::move(stream_), std::move(queue_),
                 DeadlineIn(options_.linger_ms));
  }
  return Finish();
}

// The link ended without a close of the peer's.
bool StreamConnection::LinkLost(std::uint16_t refusal) {
  if (state_ == State::kOpen) {
    event_ = {.code = close_code::kDropped, .refusal = refusal};
  }
  return Finish();
}

// Says the last word, now or when somebody listens. Always false.
bool StreamConnection::Finish() {
  state_ = State::kEnded;
  StopLeaving();
  stream_.reset();
  opening_.reset();
  queue_.Clear();
  newest_.Clear();
  newest_waiting_ = false;
  unread_.clear();
  SetAlarm(kNever);
  if (handler_ == nullptr) return false;
  state_ = State::kClosed;
  const std::string text = std::move(event_text_);
  event_.text = text;
  const CloseEvent event = event_;
  handler_->OnClose(loop().now(), *this, event);
  return false;
}

// ---- Deadlines.

// They count from the first turn that has them, not from the call: between two
// turns the loop does not know the time.
void StreamConnection::StartClock() {
  clock_started_ = true;
  if (opening_ != nullptr && opening_->deadline == kNever) {
    opening_->deadline = DeadlineIn(options_.handshake_ms);
  }
  if (state_ == State::kClosing) {
    close_deadline_ = DeadlineIn(options_.linger_ms);
    BeginLeaving();  // whose close frame is written now, as far as it can be
  } else {
    last_heard_ = loop().now();
  }
  SetNextAlarm();
}

void StreamConnection::SetNextAlarm() {
  if (opening_ != nullptr || state_ == State::kClosing) {
    SetAlarm(AlarmBefore(Deadline()));
  } else {
    SetAlarm(unanswered() ? PingDeadline()
                          : last_heard_ + options_.ping_ms * kMillisecond);
  }
}

// Time is up, by a loop that may not have been turned for a while: what came in
// time is there to be read, and counts.
void StreamConnection::OnAlarm() {
  if (stream_ == nullptr) return;
  if (opening_ == nullptr && state_ == State::kOpen) return CheckLiveness();
  if (loop().now() < Deadline()) {
    UpdateReading();
    SetNextAlarm();
    return;
  }
  const bool opening = opening_ != nullptr;
  if (!Receive()) return;
  if (stream_ == nullptr) return;  // aborted in there
  if (opening && opening_ == nullptr) return;
  stream_->Reset();
  LinkLost();
}

void StreamConnection::CheckLiveness() {
  const TimePoint now = loop().now();
  if (!reading_) last_heard_ = now;
  if (unanswered()) {
    // It had as long to answer as the two limits are apart, however late the
    // ping was.
    if (now >= PingDeadline()) {
      if (!Receive() || stream_ == nullptr) return;
      if (last_heard_ < now) {
        stream_->Reset();
        LinkLost();
        return;
      }
    }
  } else if (now - last_heard_ >= options_.ping_ms * kMillisecond) {
    pinged_at_ = now;
    QueueControl(FrameType::kPing, {});
    Schedule();
    // Idle: what was kept for a busy time is of no use.
    codec_->Trim();
    pong_.shrink_to_fit();
  }
  SetNextAlarm();
}

}  // namespace

std::unique_ptr<Connection> MakeServerConnection(StreamLoop& loop,
                                                 const StreamOptions& options,
                                                 ServerStart start) {
  auto connection = std::make_unique<StreamConnection>(
      loop, options, std::move(start.stream), std::move(start.codec));
  connection->StartServer(std::move(start));
  return connection;
}

std::unique_ptr<Connection> MakeClientConnection(StreamLoop& loop,
                                                 const StreamOptions& options,
                                                 ClientStart start,
                                                 ConnectionHandler* handler) {
  auto connection = std::make_unique<StreamConnection>(
      loop, options, std::move(start.stream), std::move(start.codec));
  connection->StartClient(std::move(start.handshake), handler);
  return connection;
}

}  // namespace parlor::stream
