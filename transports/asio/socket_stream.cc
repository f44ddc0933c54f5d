#include "asio/socket_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/basic_resolver.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/socket_base.hpp>
#include <asio/system_error.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "asio/asio_loop.h"
#include "asio/handler_memory.h"
#include "parlor/check.h"
#include "parlor/time.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"

namespace parlor::net_internal {
namespace {

using stream::Bytes;
using stream::IoResult;
using stream::IoStatus;
using Tcp = asio::ip::tcp;

// How much the system may hold that it has not sent (TCP_NOTSENT_LOWAT): what
// waits there can no longer be replaced. Measured with a reader that stalls:
// 168 KB in the system with it, 4.3 MB without.
constexpr int kNotSentLowBytes = 16 * 1024;

// As many pieces as Asio gives to one sendmsg.
constexpr std::size_t kPiecesMax = 64;

// How long one address may take to answer while there are more to try: a SYN
// that was lost is sent again after 1 s (RFC 6298 section 2), and the answer to
// that one still counts. Ours.
constexpr Duration kAttempt = 2'500 * kMillisecond;

// A sequence of Asio's buffers.
struct Gathered {
  const asio::const_buffer* begin() const { return buffers.data(); }
  const asio::const_buffer* end() const { return buffers.data() + count; }

  std::array<asio::const_buffer, kPiecesMax> buffers;
  std::size_t count = 0;
};

IoStatus StatusOf(const asio::error_code& error) {
  if (error == asio::error::would_block || error == asio::error::try_again ||
      error == asio::error::interrupted) {
    return IoStatus::kBlocked;
  }
  return error == asio::error::eof ? IoStatus::kEnd : IoStatus::kLost;
}

}  // namespace

// The way to the first address that answers.
class SocketStream::Dial final : private stream::LoopMember {
 public:
  explicit Dial(SocketStream& stream)
      : LoopMember(stream.loop_),
        stream_(stream),
        resolver_(stream.loop_.context()) {}

  void Start(const std::string& host, std::uint16_t port);
  void Start(std::vector<Tcp::endpoint> endpoints);

 private:
  void OnTurnEnd() override {}
  void OnAlarm() override { TryNext(); }
  void OnConnected(std::uint32_t attempt, bool connected);
  void TryNext();
  bool Try(const Tcp::endpoint& endpoint);

  SocketStream& stream_;
  asio::ip::basic_resolver<Tcp, asio::io_context::executor_type> resolver_;
  std::vector<Tcp::endpoint> endpoints_;
  std::size_t next_ = 0;
  std::uint32_t attempt_ = 0;  // so that an answer to an earlier one is known
};

void SocketStream::Dial::Start(const std::string& host, std::uint16_t port) {
  asio::error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (!error) return Start({Tcp::endpoint(address, port)});
  // Asio asks on a thread of its own, and answers on the loop's. It throws when
  // the system has no thread for it.
  try {
    resolver_.async_resolve(
        host, std::to_string(port), asio::ip::resolver_base::numeric_service,
        [tether = stream_.tether_](const asio::error_code& /*error*/,
                                   const Tcp::resolver::results_type& found) {
          SocketStream* const stream = tether.owner();
          if (stream == nullptr) return;
          stream->loop_.BeginTurn();
          stream->dial_->Start({found.begin(), found.end()});
        });
  } catch (const asio::system_error&) {
    Start({});
  }
}

void SocketStream::Dial::Start(std::vector<Tcp::endpoint> endpoints) {
  endpoints_ = std::move(endpoints);
  TryNext();
}

void SocketStream::Dial::TryNext() {
  while (next_ < endpoints_.size()) {
    if (Try(endpoints_[next_++])) return;
  }
  stream_.Settle(State::kLost);  // destroys this
}

bool SocketStream::Dial::Try(const Tcp::endpoint& endpoint) {
  asio::error_code error;
  Socket& socket = stream_.socket_;
  socket.close(error);
  socket.open(endpoint.protocol(), error);
  if (error) return false;
  ++attempt_;
  SetAlarm(next_ < endpoints_.size() ? loop().now() + kAttempt : kNever);
  socket.async_connect(endpoint, [tether = stream_.tether_, attempt = attempt_](
                                     const asio::error_code& failure) {
    SocketStream* const stream = tether.owner();
    if (stream == nullptr || stream->dial_ == nullptr) return;
    stream->loop_.BeginTurn();
    stream->dial_->OnConnected(attempt, !failure);
  });
  return true;
}

void SocketStream::Dial::OnConnected(std::uint32_t attempt, bool connected) {
  if (attempt != attempt_) return;
  if (!connected) return TryNext();
  stream_.Settle(State::kConnected);  // destroys this
}

// A socket that no loop knows of.
class SocketStream::Parked final : public stream::ParkedStream {
 public:
  Parked(const Tcp& protocol, Socket::native_handle_type descriptor,
         std::shared_ptr<void> companion)
      : protocol_(protocol),
        descriptor_(descriptor),
        companion_(std::move(companion)) {}
  ~Parked() override {
    if (descriptor_ < 0) return;
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(descriptor_);
  }

  std::unique_ptr<stream::ByteStream> Unpark(stream::StreamLoop& loop) override;

 private:
  const Tcp protocol_;
  Socket::native_handle_type descriptor_;  // -1: it was unparked
  std::shared_ptr<void> companion_;
};

std::unique_ptr<stream::ByteStream> SocketStream::Parked::Unpark(
    stream::StreamLoop& loop) {
  auto* const asio_loop = dynamic_cast<AsioLoop*>(&loop);
  PARLOR_CHECK(asio_loop != nullptr && descriptor_ >= 0);
  Socket socket(asio_loop->context());
  asio::error_code error;
  socket.assign(protocol_, descriptor_, error);
  if (error) {  // the socket stays here, and goes with this
    auto lost =
        std::make_unique<SocketStream>(*asio_loop, std::move(socket), nullptr);
    lost->state_ = State::kLost;
    return lost;
  }
  descriptor_ = -1;
  return std::make_unique<SocketStream>(*asio_loop, std::move(socket),
                                        std::move(companion_));
}

SocketStream::SocketStream(AsioLoop& loop, Socket socket,
                           std::shared_ptr<void> companion)
    : loop_(loop),
      state_(State::kConnected),
      companion_(std::move(companion)),
      socket_(std::move(socket)) {
  Configure();
}

SocketStream::SocketStream(AsioLoop& loop, const std::string& host,
                           std::uint16_t port)
    : loop_(loop),
      state_(State::kConnecting),
      socket_(loop.context()),
      dial_(std::make_unique<Dial>(*this)) {
  dial_->Start(host, port);
}

SocketStream::SocketStream(AsioLoop& loop, std::vector<Tcp::endpoint> addresses)
    : loop_(loop),
      state_(State::kConnecting),
      socket_(loop.context()),
      dial_(std::make_unique<Dial>(*this)) {
  dial_->Start(std::move(addresses));
}

SocketStream::~SocketStream() {
  tether_.Cut();
  // Asio's destructor would turn what Reset asked for off again.
  asio::error_code ignored;
  socket_.close(ignored);
}

void SocketStream::Configure() {
  // A socket without an option still works; one that is lost already says so
  // when it is read.
  asio::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(Tcp::no_delay(true), ignored);
  setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT,
             &kNotSentLowBytes, sizeof(kNotSentLowBytes));
}

void SocketStream::Settle(State state) {
  state_ = state;
  dial_.reset();
  if (state == State::kConnected) Configure();
  if (read_wanted_) AwaitRead();
  if (write_wanted_) AwaitWrite();
}

void SocketStream::SetEvents(Events* events) {
  events_ = events;
  if (events_ == nullptr) return;
  if (read_wanted_) AwaitRead();
  if (write_wanted_) AwaitWrite();
}

IoResult SocketStream::Read(std::span<std::byte> into) {
  if (state_ == State::kConnecting) return {IoStatus::kBlocked};
  if (state_ == State::kLost) return {IoStatus::kLost};
  asio::error_code error;
  const std::size_t bytes =
      socket_.read_some(asio::buffer(into.data(), into.size()), error);
  loop_.CountRead(bytes);
  return error ? IoResult{StatusOf(error)} : IoResult{IoStatus::kOk, bytes};
}

IoResult SocketStream::Write(std::span<const Bytes> pieces) {
  if (state_ == State::kConnecting) return {IoStatus::kBlocked};
  if (state_ == State::kLost) return {IoStatus::kLost};
  Gathered gathered;
  for (const Bytes& piece : pieces) {
    if (gathered.count == kPiecesMax) break;
    gathered.buffers[gathered.count++] =
        asio::const_buffer(piece.data(), piece.size());
  }
  asio::error_code error;
  const std::size_t bytes = socket_.write_some(gathered, error);
  return error ? IoResult{StatusOf(error)} : IoResult{IoStatus::kOk, bytes};
}

void SocketStream::WantRead(bool wanted) {
  read_wanted_ = wanted;
  if (wanted && events_ != nullptr) AwaitRead();
}

void SocketStream::WantWrite() {
  write_wanted_ = true;
  if (events_ != nullptr) AwaitWrite();
}

void SocketStream::AwaitRead() {
  if (read_awaited_ || state_ == State::kConnecting) return;
  read_awaited_ = true;
  TetheredHandler<SocketStream, &SocketStream::OnReadReady> handler(
      tether_, tether_.reading());
  if (state_ == State::kLost) {
    asio::post(loop_.context(), std::move(handler));
  } else {
    socket_.async_wait(Socket::wait_read, std::move(handler));
  }
}

void SocketStream::AwaitWrite() {
  if (write_awaited_ || state_ == State::kConnecting) return;
  write_awaited_ = true;
  TetheredHandler<SocketStream, &SocketStream::OnWriteReady> handler(
      tether_, tether_.writing());
  if (state_ == State::kLost) {
    asio::post(loop_.context(), std::move(handler));
  } else {
    socket_.async_wait(Socket::wait_write, std::move(handler));
  }
}

void SocketStream::OnReadReady() {
  read_awaited_ = false;
  if (!read_wanted_ || events_ == nullptr) return;
  loop_.BeginTurn();
  const Tether<SocketStream> tether = tether_;
  events_->OnReadable();
  if (tether.owner() == nullptr) return;
  if (read_wanted_ && events_ != nullptr) AwaitRead();
}

void SocketStream::OnWriteReady() {
  write_awaited_ = false;
  if (!write_wanted_ || events_ == nullptr) return;
  write_wanted_ = false;
  loop_.BeginTurn();
  events_->OnWritable();
}

void SocketStream::EndWrite() {
  asio::error_code ignored;  // there may be no peer any more
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void SocketStream::Reset() {
  asio::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
}

std::unique_ptr<stream::ParkedStream> SocketStream::Park() {
  PARLOR_CHECK(state_ == State::kConnected);
  events_ = nullptr;
  asio::error_code error;
  const Tcp protocol = socket_.local_endpoint(error).protocol();
  auto parked = std::make_unique<Parked>(protocol, socket_.release(error),
                                         std::move(companion_));
  PARLOR_CHECK(!error);  // it is open
  return parked;
}

}  // namespace parlor::net_internal
