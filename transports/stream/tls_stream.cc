#include "stream/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "stream/byte_stream.h"
#include "stream/segments.h"
#include "stream/stream_loop.h"
#include "stream/tls_context.h"

namespace parlor::stream {
namespace {

// The most plaintext that one record holds (RFC 8446 section 5.1).
constexpr std::size_t kRecordBytes = 16 * 1024;

// The most ciphertext that waits: one record and the longest flight of a
// handshake, which is our certificates, 100 KiB at most (what OpenSSL's clients
// take). Only a peer that makes us answer (TLS 1.3 key updates) and does not
// read the answers gets here.
constexpr std::size_t kWaitingBytesMax = 128 * 1024;

// What one call may read of the stream below beyond what fits its caller's
// buffer. Without an end to it, a peer that sends records without plaintext
// faster than we handle them would hold the loop in one call. More than the
// longest record, so that one that is there is read. It is read in slices of
// twice the buffer, of this at least, until there is plaintext: whoever reads
// little has little to wait for, also of records with a byte in each.
constexpr std::size_t kOverheadBytesMax = 32 * 1024;
constexpr std::size_t kSliceBytesMin = 4 * 1024;

// How often a client may change its keys (RFC 8446 section 4.6.3): each costs
// as much as many messages, and no message rate counts it. Keys are good for
// 2^24.5 records (section 5.5), so that this is more than the highest message
// rate takes in the longest match: 10,000/s for 24 h.
constexpr int kKeyUpdatesMax = 64;

// Walks over what Write was given, a record at a time.
class Records {
 public:
  explicit Records(std::span<const Bytes> pieces) : pieces_(pieces) {}

  bool empty() const { return pieces_.empty(); }

  // The next record's plaintext: where it lies, if it is one piece, or else
  // gathered into `space`.
  Bytes Next(std::span<std::byte, kRecordBytes> space) {
    const Bytes first = pieces_.front().subspan(offset_);
    if (first.size() >= kRecordBytes || pieces_.size() == 1) {
      return Take(std::min(first.size(), kRecordBytes));
    }
    std::size_t size = 0;
    while (!empty() && size < kRecordBytes) {
      const Bytes part =
          Take(std::min(pieces_.front().size() - offset_, kRecordBytes - size));
      std::memcpy(space.data() + size, part.data(), part.size());
      size += part.size();
    }
    return space.first(size);
  }

 private:
  Bytes Take(std::size_t size) {
    const Bytes part = pieces_.front().subspan(offset_, size);
    offset_ += size;
    if (offset_ == pieces_.front().size()) {
      pieces_ = pieces_.subspan(1);
      offset_ = 0;
    }
    return part;
  }

  std::span<const Bytes> pieces_;
  std::size_t offset_ = 0;  // into the first of them
};

class TlsStream final : public ByteStream,
                        public LoopMember,
                        private ByteStream::Events {
 public:
  TlsStream(StreamLoop& loop, std::unique_ptr<ByteStream> under,
            std::shared_ptr<const TlsContext> context);

  void Accept() {
    SSL_set_accept_state(tls_.ssl.get());
    SSL_set_msg_callback(tls_.ssl.get(), OnTlsMessage);
  }
  void Connect(const std::string& host);

  void SetEvents(ByteStream::Events* events) override;
  IoResult Read(std::span<std::byte> into) override;
  IoResult Write(std::span<const Bytes> pieces) override;
  void WantRead(bool wanted) override;
  void WantWrite() override;
  void EndWrite() override;
  void Reset() override { under_->Reset(); }
  std::unique_ptr<ParkedStream> Park() override;

 private:
  enum class Phase : std::uint8_t {
    kHandshake,
    kOpen,
    kFailed,  // by the protocol, or by the stream below: nothing goes any more
  };

  // What goes along to another loop, beside the stream below and what waits.
  struct Tls {
    std::shared_ptr<const TlsContext> context;
    std::unique_ptr<SSL, Frees<SSL_free>> ssl;
    Phase phase = Phase::kHandshake;
    // OpenSSL holds bytes that may make plaintext without more coming from
    // below.
    bool inside = false;
    bool peer_ended = false;
    bool write_ended = false;  // EndWrite was called
    bool end_sent = false;     // our close_notify has been made
    bool write_lost = false;   // the stream below takes nothing any more
    int key_updates = 0;       // that a client made
  };

  class Parked;

  TlsStream(StreamLoop& loop, std::unique_ptr<ByteStream> under, Tls tls);

  static Tls MakeTls(std::shared_ptr<const TlsContext> context);

  // Of what OpenSSL reads and writes, `bytes` are a message of TLS's own.
  static void OnTlsMessage(int written, int version, int type,
                           const void* bytes, std::size_t size, SSL* ssl,
                           void* unused);

  // OpenSSL reads and writes ciphertext through these, straight from and to the
  // stream below. `bio` carries the TlsStream.
  static BIO_METHOD* Method();
  static int BioWrite(BIO* bio, const char* bytes, std::size_t size,
                      std::size_t* written);
  static int BioRead(BIO* bio, char* into, std::size_t size, std::size_t* read);
  static long BioControl(BIO* bio, int command, long number, void* pointer);

  void OnReadable() override;  // the stream below
  void OnWritable() override;
  void OnTurnEnd() override;
  void OnAlarm() override {}

  bool TakeCiphertext(Bytes bytes);
  std::size_t Decrypt(std::span<std::byte> into);
  std::size_t DecryptRecord(std::span<std::byte> into);
  void Flush();
  void Handshake();
  void Fail();
  void SendEnd();
  void WantReadBelow();
  bool readable() const;
  bool writable() const;

  Tls tls_;
  std::unique_ptr<ByteStream> under_;
  ByteStream::Events* events_ = nullptr;
  // Ciphertext that the stream below has not taken. While there is some, the
  // stream below has been asked for OnWritable.
  Segments waiting_;
  bool want_read_ = false;
  bool want_write_ = false;
  bool end_told_ = false;  // Read has told kEnd or kLost since it was wanted
  // What OpenSSL may still read of the stream below in this call.
  std::size_t read_budget_ = 0;
};

TlsStream::TlsStream(StreamLoop& loop, std::unique_ptr<ByteStream> under,
                     Tls tls)
    : LoopMember(loop),
      tls_(std::move(tls)),
      under_(std::move(under)),
      waiting_(loop.segments()) {
  BIO_set_data(SSL_get_rbio(tls_.ssl.get()), this);
  under_->SetEvents(this);
}

TlsStream::TlsStream(StreamLoop& loop, std::unique_ptr<ByteStream> under,
                     std::shared_ptr<const TlsContext> context)
    : TlsStream(loop, std::move(under), MakeTls(std::move(context))) {
  under_->WantRead(true);
  Schedule();  // the handshake begins without being asked
}

TlsStream::Tls TlsStream::MakeTls(std::shared_ptr<const TlsContext> context) {
  Tls tls{.context = std::move(context), .ssl = nullptr};
  tls.ssl.reset(SSL_new(tls.context->get()));
  BIO* const bio = BIO_new(Method());
  PARLOR_CHECK(tls.ssl != nullptr &&
               bio != nullptr);  // only memory can be missing
  BIO_set_init(bio, 1);
  SSL_set_bio(tls.ssl.get(), bio, bio);  // which owns it now
  return tls;
}

void TlsStream::Connect(const std::string& host) {
  SSL* const ssl = tls_.ssl.get();
  SSL_set_connect_state(ssl);
  ERR_clear_error();
  // An empty name would be no name to verify.
  bool set = !host.empty() && host.find('\0') == std::string::npos;
  X509_VERIFY_PARAM* const verified = SSL_get0_param(ssl);
  // Names are where RFC 9525 has them, in subjectAltName.
  X509_VERIFY_PARAM_set_hostflags(verified,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
                                      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (X509_VERIFY_PARAM_set1_ip_asc(verified, host.c_str()) != 1) {
    // Without the dot that ends an absolute name (RFC 6066 section 3).
    std::string name =
        host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
    set =
        set && !name.empty() &&
        X509_VERIFY_PARAM_set1_host(verified, name.data(), name.size()) == 1 &&
        SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 name.data()) == 1;
  }
  ERR_clear_error();
  // What cannot be a name is not connected to, rather than not verified.
  if (!set) Fail();
}

void TlsStream::SetEvents(ByteStream::Events* events) {
  events_ = events;
  WantReadBelow();
  if (readable() || (want_write_ && writable())) Schedule();
}

void TlsStream::WantRead(bool wanted) {
  want_read_ = wanted;
  if (wanted) end_told_ = false;
  WantReadBelow();
  if (readable()) Schedule();
}

// With nobody to tell, the stream below would tell us for ever.
void TlsStream::WantReadBelow() {
  if (tls_.phase != Phase::kOpen || tls_.peer_ended) return;
  under_->WantRead(want_read_ && events_ != nullptr);
}

void TlsStream::WantWrite() {
  want_write_ = true;
  if (writable()) Schedule();
}

// There is something to read that the stream below would not tell of.
bool TlsStream::readable() const {
  const bool ended = tls_.phase == Phase::kFailed || tls_.peer_ended;
  return want_read_ && (tls_.inside || (ended && !end_told_));
}

bool TlsStream::writable() const {
  return tls_.phase == Phase::kFailed || tls_.write_lost ||
         (tls_.phase == Phase::kOpen && waiting_.empty());
}

IoResult TlsStream::Read(std::span<std::byte> into) {
  if (tls_.phase == Phase::kOpen && !tls_.peer_ended) {
    const std::size_t bytes = Decrypt(into);
    if (readable()) Schedule();
    if (bytes > 0) return {IoStatus::kOk, bytes};
  }
  if (tls_.phase != Phase::kFailed && !tls_.peer_ended)
    return {IoStatus::kBlocked, 0};
  end_told_ = true;
  return {tls_.phase == Phase::kFailed ? IoStatus::kLost : IoStatus::kEnd, 0};
}

// Goes on over records as long as that needs no further look below, which for
// the usual small message would be a call into the system for nothing.
std::size_t TlsStream::Decrypt(std::span<std::byte> into) {
  const std::size_t slice = std::max(2 * into.size(), kSliceBytesMin);
  std::size_t left = into.size() + kOverheadBytesMax;
  std::size_t filled = 0;
  bool more = true;
  read_budget_ = 0;
  while (more) {
    if (filled == 0 && read_budget_ == 0) {
      read_budget_ = std::min(slice, left);
      left -= read_budget_;
    }
    filled += DecryptRecord(into.subspan(filled));
    more = filled > 0 ? tls_.inside && filled < into.size()
                      : tls_.phase == Phase::kOpen && !tls_.peer_ended &&
                            read_budget_ == 0 && left > 0;
  }
  return filled;
}

// Of one record, as much as fits.
std::size_t TlsStream::DecryptRecord(std::span<std::byte> into) {
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result =
      SSL_read_ex(tls_.ssl.get(), into.data(), into.size(), &bytes);
  if (result == 1) {
    tls_.inside = SSL_has_pending(tls_.ssl.get()) == 1;
    return bytes;
  }
  tls_.inside = false;
  const int error = SSL_get_error(tls_.ssl.get(), result);
  if (error == SSL_ERROR_ZERO_RETURN) {
    tls_.peer_ended = true;
    under_->WantRead(false);
  } else if (error != SSL_ERROR_WANT_READ) {
    Fail();
  }
  return 0;
}

IoResult TlsStream::Write(std::span<const Bytes> pieces) {
  PARLOR_CHECK(!pieces.empty() && !tls_.write_ended);
  Records records(pieces);
  std::array<std::byte, kRecordBytes> space;
  std::size_t taken = 0;
  while (!records.empty() && tls_.phase == Phase::kOpen && waiting_.empty() &&
         !tls_.write_lost) {
    const Bytes record = records.Next(space);
    ERR_clear_error();
    std::size_t written = 0;
    if (SSL_write_ex(tls_.ssl.get(), record.data(), record.size(), &written) !=
        1) {
      Fail();
    }
    taken += written;
  }
  if (tls_.phase == Phase::kFailed || tls_.write_lost)
    return {IoStatus::kLost, 0};
  return {taken > 0 ? IoStatus::kOk : IoStatus::kBlocked, taken};
}

void TlsStream::EndWrite() {
  if (std::exchange(tls_.write_ended, true)) return;
  if (tls_.phase == Phase::kOpen) SendEnd();
}

void TlsStream::SendEnd() {
  ERR_clear_error();
  SSL_shutdown(tls_.ssl.get());
  ERR_clear_error();
  tls_.end_sent = true;
  Flush();
}

void TlsStream::Handshake() {
  read_budget_ = kOverheadBytesMax;
  ERR_clear_error();
  const int result = SSL_do_handshake(tls_.ssl.get());
  if (result == 1) {
    tls_.phase = Phase::kOpen;
    tls_.inside = SSL_has_pending(tls_.ssl.get()) == 1;
    WantReadBelow();
    if (tls_.write_ended) SendEnd();
    Schedule();
  } else if (tls_.write_lost ||
             SSL_get_error(tls_.ssl.get(), result) != SSL_ERROR_WANT_READ) {
    Fail();
  }
}

// An alert that says why is on its way already, where the protocol has one.
void TlsStream::Fail() {
  ERR_clear_error();
  tls_.phase = Phase::kFailed;
  tls_.inside = false;
  under_->WantRead(false);
  Schedule();
}

void TlsStream::OnReadable() {
  if (tls_.phase == Phase::kHandshake) return Handshake();
  if (want_read_ && events_ != nullptr) events_->OnReadable();
}

void TlsStream::OnWritable() {
  if (!waiting_.empty()) Flush();
  if (tls_.phase == Phase::kHandshake) {
    if (tls_.write_lost) Fail();
    return;
  }
  if (!want_write_ || !writable() || events_ == nullptr) return;
  want_write_ = false;
  events_->OnWritable();
}

void TlsStream::OnTurnEnd() {
  if (tls_.phase == Phase::kHandshake) Handshake();
  if (events_ == nullptr) return;
  const bool write = want_write_ && writable();
  if (!write && !readable()) return;
  // An event may destroy this stream, so there is one in a turn; the next turn
  // sees whether there is need for another.
  Schedule();
  if (!write) return events_->OnReadable();
  want_write_ = false;
  events_->OnWritable();
}

// False: the peer makes us talk and does not listen.
bool TlsStream::TakeCiphertext(Bytes bytes) {
  // Behind a close_notify nothing counts (RFC 8446 section 6.1).
  if (tls_.write_lost || tls_.end_sent) return true;
  if (waiting_.empty()) {
    const IoResult result = under_->Write(std::span(&bytes, 1));
    if (result.status == IoStatus::kLost) {
      tls_.write_lost = true;  // reading finds out what else there is
      return true;
    }
    bytes = bytes.subspan(result.bytes);
    if (bytes.empty()) return true;
    under_->WantWrite();
  }
  if (waiting_.wire_bytes() + bytes.size() > kWaitingBytesMax) return false;
  waiting_.Append(bytes);
  return true;
}

void TlsStream::Flush() {
  if (tls_.write_lost) return;
  const IoStatus status = waiting_.WriteTo(*under_);
  if (status == IoStatus::kBlocked) return under_->WantWrite();
  if (status == IoStatus::kLost) {
    tls_.write_lost = true;
    waiting_.Clear();
    return;
  }
  if (tls_.end_sent) under_->EndWrite();
}

class TlsStream::Parked final : public ParkedStream {
 public:
  Parked(std::unique_ptr<ParkedStream> under, Tls tls,
         std::vector<std::byte> waiting)
      : under_(std::move(under)),
        tls_(std::move(tls)),
        waiting_(std::move(waiting)) {}

  std::unique_ptr<ByteStream> Unpark(StreamLoop& loop) override {
    std::unique_ptr<TlsStream> stream(
        new TlsStream(loop, under_->Unpark(loop), std::move(tls_)));
    if (!waiting_.empty()) {
      stream->waiting_.Append(waiting_);
      stream->under_->WantWrite();
    }
    return stream;
  }

 private:
  std::unique_ptr<ParkedStream> under_;  // resets
  Tls tls_;
  const std::vector<std::byte> waiting_;
};

std::unique_ptr<ParkedStream> TlsStream::Park() {
  PARLOR_CHECK(tls_.phase != Phase::kHandshake);
  events_ = nullptr;
  // The pieces belong to the loop.
  std::vector<std::byte> waiting;
  waiting_.ForEach([&waiting](Bytes part, std::size_t /*offset*/) {
    waiting.insert(waiting.end(), part.begin(), part.end());
  });
  return std::make_unique<Parked>(under_->Park(), std::move(tls_),
                                  std::move(waiting));
}

BIO_METHOD* TlsStream::Method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* const made =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "ByteStream");
    PARLOR_CHECK(made != nullptr);
    BIO_meth_set_write_ex(made, BioWrite);
    BIO_meth_set_read_ex(made, BioRead);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  return method;
}

void TlsStream::OnTlsMessage(int written, int /*version*/, int type,
                             const void* bytes, std::size_t size, SSL* ssl,
                             void* /*unused*/) {
  if (written != 0 || type != SSL3_RT_HANDSHAKE || size == 0 ||
      *static_cast<const unsigned char*>(bytes) != SSL3_MT_KEY_UPDATE) {
    return;
  }
  ++static_cast<TlsStream*>(BIO_get_data(SSL_get_rbio(ssl)))->tls_.key_updates;
}

int TlsStream::BioWrite(BIO* bio, const char* bytes, std::size_t size,
                        std::size_t* written) {
  auto& self = *static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  *written = size;
  return self.TakeCiphertext(std::as_bytes(std::span(bytes, size))) ? 1 : 0;
}

int TlsStream::BioRead(BIO* bio, char* into, std::size_t size,
                       std::size_t* read) {
  auto& self = *static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (self.tls_.key_updates > kKeyUpdatesMax) return 0;  // which is a failure
  const auto space = std::as_writable_bytes(std::span(into, size))
                         .first(std::min(size, self.read_budget_));
  const IoResult result = space.empty() ? IoResult{} : self.under_->Read(space);
  if (result.status == IoStatus::kBlocked) BIO_set_retry_read(bio);
  self.read_budget_ -= result.bytes;
  *read = result.bytes;
  return result.status == IoStatus::kOk ? 1 : 0;
}

long TlsStream::BioControl(BIO* /*bio*/, int command, long /*number*/,
                           void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

}  // namespace

std::unique_ptr<ByteStream> MakeTlsServerStream(
    StreamLoop& loop, std::unique_ptr<ByteStream> under,
    std::shared_ptr<const TlsContext> context) {
  auto stream =
      std::make_unique<TlsStream>(loop, std::move(under), std::move(context));
  stream->Accept();
  return stream;
}

std::unique_ptr<ByteStream> MakeTlsClientStream(
    StreamLoop& loop, std::unique_ptr<ByteStream> under,
    std::shared_ptr<const TlsContext> context, const std::string& host) {
  auto stream =
      std::make_unique<TlsStream>(loop, std::move(under), std::move(context));
  stream->Connect(host);
  return stream;
}

}  // namespace parlor::stream
