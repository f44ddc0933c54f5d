#include "net/socket_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/epoll_loop.h"
#include "net/look_ups.h"
#include "net/socket_address.h"
#include "net/socket_set.h"
#include "parlor/check.h"
#include "parlor/time.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"

namespace parlor::net_internal {
namespace {

using stream::Bytes;
using stream::IoResult;
using stream::IoStatus;

// How much the system may hold that it has not sent (TCP_NOTSENT_LOWAT): what
// waits there can no longer be replaced. Measured with a reader that stalls:
// 168 KB in the system with it, 4.3 MB without.
constexpr int kNotSentLowBytes = 16 * 1024;

// As many pieces as go into one call.
constexpr std::size_t kPiecesMax = 64;

// How long one address may take to answer while there are more to try: a SYN
// that was lost is sent again after 1 s (RFC 6298 section 2), and the answer to
// that one still counts. Ours.
constexpr Duration kAttempt = 2'500 * kMillisecond;

void ResetOnClose(int socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

// What a call that moves bytes returned.
IoResult ResultOf(ssize_t moved) {
  if (moved > 0) return {IoStatus::kOk, static_cast<std::size_t>(moved)};
  if (moved == 0) return {IoStatus::kEnd};
  const bool blocked = errno == EAGAIN || errno == EINTR;
  return {blocked ? IoStatus::kBlocked : IoStatus::kLost};
}

}  // namespace

// A socket without an option still works; one that is lost already says so when
// it is read.
void Configure(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kNotSentLowBytes,
             sizeof(kNotSentLowBytes));
}

void CloseWithReset(int socket) {
  ResetOnClose(socket);
  close(socket);
}

// The way to the first address that answers.
class SocketStream::Dial final : private stream::LoopMember,
                                 private SocketSet::Member {
 public:
  explicit Dial(SocketStream& stream)
      : LoopMember(stream.loop_),
        Member(stream.loop_.sockets()),
        stream_(stream) {}

  void Start(const std::string& host, std::uint16_t port);
  void Start(std::vector<SocketAddress> addresses);

 private:
  void OnTurnEnd() override {}
  void OnAlarm() override { TryNext(); }
  void OnReadReady() override {}
  void OnWriteReady() override;
  void TryNext();
  bool Try(const SocketAddress& address);

  SocketStream& stream_;
  // Tells what was looked up whether this still lives.
  std::shared_ptr<Dial*> self_ = std::make_shared<Dial*>(this);
  std::vector<SocketAddress> addresses_;
  std::size_t next_ = 0;
};

void SocketStream::Dial::Start(const std::string& host, std::uint16_t port) {
  if (const auto address = SocketAddress::Parse(host, port)) {
    return Start({*address});
  }
  stream_.loop_.look_ups().Start(
      host, port,
      [weak = std::weak_ptr(self_)](const LookUps::Addresses& found) {
        const std::shared_ptr<Dial*> self = weak.lock();
        if (self == nullptr) return;
        (*self)->stream_.loop_.BeginTurn();
        (*self)->Start(found);
      });
}

void SocketStream::Dial::Start(std::vector<SocketAddress> addresses) {
  addresses_ = std::move(addresses);
  TryNext();
}

void SocketStream::Dial::TryNext() {
  while (next_ < addresses_.size()) {
    if (Try(addresses_[next_++])) return;
  }
  stream_.Lost();  // destroys this
}

bool SocketStream::Dial::Try(const SocketAddress& address) {
  Close();
  const int socket =
      ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  Adopt(socket);
  if (connect(socket, address.data(), address.size()) != 0 &&
      errno != EINPROGRESS) {
    return false;
  }
  SetAlarm(next_ < addresses_.size() ? loop().now() + kAttempt : kNever);
  return Watch(/*read=*/false, /*write=*/true);
}

void SocketStream::Dial::OnWriteReady() {
  stream_.loop_.BeginTurn();
  int failure = 0;
  socklen_t size = sizeof(failure);
  getsockopt(descriptor(), SOL_SOCKET, SO_ERROR, &failure, &size);
  if (failure != 0) return TryNext();
  stream_.Connected(Release());  // destroys this
}

// Tells of a loss in the place of a socket: at the end of each turn in which it
// is still wanted.
class SocketStream::Loss final : public stream::LoopMember {
 public:
  explicit Loss(SocketStream& stream)
      : LoopMember(stream.loop_), stream_(stream) {}

 private:
  void OnAlarm() override {}
  void OnTurnEnd() override;

  SocketStream& stream_;
};

void SocketStream::Loss::OnTurnEnd() {
  Events* const events = stream_.events_;
  if (events == nullptr) return;
  if (stream_.write_wanted_) {
    if (stream_.read_wanted_) Schedule();
    stream_.write_wanted_ = false;
    events->OnWritable();
  } else if (stream_.read_wanted_) {
    Schedule();
    events->OnReadable();
  }
}

// A socket that no loop knows of.
class SocketStream::Parked final : public stream::ParkedStream {
 public:
  Parked(int socket, std::shared_ptr<void> companion)
      : socket_(socket), companion_(std::move(companion)) {}
  ~Parked() override {
    if (socket_ >= 0) CloseWithReset(socket_);
  }

  std::unique_ptr<stream::ByteStream> Unpark(stream::StreamLoop& loop) override;

 private:
  int socket_;  // -1: it was unparked
  std::shared_ptr<void> companion_;
};

std::unique_ptr<stream::ByteStream> SocketStream::Parked::Unpark(
    stream::StreamLoop& loop) {
  auto* const epoll_loop = dynamic_cast<EpollLoop*>(&loop);
  PARLOR_CHECK(epoll_loop != nullptr && socket_ >= 0);
  return std::make_unique<SocketStream>(*epoll_loop, std::exchange(socket_, -1),
                                        std::move(companion_));
}

SocketStream::SocketStream(EpollLoop& loop, int socket,
                           std::shared_ptr<void> companion)
    : Member(loop.sockets()),
      loop_(loop),
      connected_(true),
      companion_(std::move(companion)) {
  Adopt(socket);
}

SocketStream::SocketStream(EpollLoop& loop, const std::string& host,
                           std::uint16_t port)
    : Member(loop.sockets()),
      loop_(loop),
      dial_(std::make_unique<Dial>(*this)) {
  dial_->Start(host, port);
}

SocketStream::SocketStream(EpollLoop& loop,
                           std::vector<SocketAddress> addresses)
    : Member(loop.sockets()),
      loop_(loop),
      dial_(std::make_unique<Dial>(*this)) {
  dial_->Start(std::move(addresses));
}

// Before the companion goes.
SocketStream::~SocketStream() { Close(); }

void SocketStream::Connected(int socket) {
  dial_.reset();
  Configure(socket);
  Adopt(socket);
  connected_ = true;
  Await();
}

void SocketStream::Lost() {
  connected_ = false;
  dial_.reset();
  loss_ = std::make_unique<Loss>(*this);
  Await();
}

// The set may be told of more than is wanted: what is not wanted any more is
// taken back when it comes, since most of it is wanted again before.
void SocketStream::Await() {
  if (dial_ != nullptr) return;
  if (loss_ != nullptr) return loss_->Schedule();
  const bool heard = events_ != nullptr;
  if (!Watch(heard && read_wanted_, heard && write_wanted_)) Lost();
}

void SocketStream::SetEvents(Events* events) {
  events_ = events;
  if (events_ != nullptr) Await();
}

// What comes of reading or writing without a socket that could.
IoResult SocketStream::Unmoved() const {
  return {dial_ != nullptr ? IoStatus::kBlocked : IoStatus::kLost};
}

IoResult SocketStream::Read(std::span<std::byte> into) {
  if (!connected_) return Unmoved();
  const IoResult result =
      ResultOf(recv(descriptor(), into.data(), into.size(), 0));
  loop_.CountRead(result.bytes);
  return result;
}

IoResult SocketStream::Write(std::span<const Bytes> pieces) {
  if (!connected_) return Unmoved();
  // The system does less for one piece that is no list.
  if (pieces.size() == 1) {
    return ResultOf(
        send(descriptor(), pieces[0].data(), pieces[0].size(), MSG_NOSIGNAL));
  }
  std::array<iovec, kPiecesMax> list;
  msghdr message{};
  message.msg_iov = list.data();
  for (const Bytes& piece : pieces.first(std::min(pieces.size(), kPiecesMax))) {
    // The type is shared with readv, which writes.
    list[message.msg_iovlen++] = {
        .iov_base = const_cast<std::byte*>(piece.data()),
        .iov_len = piece.size()};
  }
  return ResultOf(sendmsg(descriptor(), &message, MSG_NOSIGNAL));
}

void SocketStream::WantRead(bool wanted) {
  read_wanted_ = wanted;
  if (wanted && events_ != nullptr) Await();
}

void SocketStream::WantWrite() {
  write_wanted_ = true;
  if (events_ != nullptr) Await();
}

void SocketStream::OnReadReady() {
  if (!read_wanted_ || events_ == nullptr) return Await();
  loop_.BeginTurn();
  events_->OnReadable();
}

void SocketStream::OnWriteReady() {
  if (!write_wanted_ || events_ == nullptr) return Await();
  write_wanted_ = false;
  loop_.BeginTurn();
  events_->OnWritable();
}

void SocketStream::EndWrite() { shutdown(descriptor(), SHUT_WR); }

void SocketStream::Reset() { ResetOnClose(descriptor()); }

std::unique_ptr<stream::ParkedStream> SocketStream::Park() {
  PARLOR_CHECK(descriptor() >= 0);
  events_ = nullptr;
  return std::make_unique<Parked>(Release(), std::move(companion_));
}

}  // namespace parlor::net_internal
