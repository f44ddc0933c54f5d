// A server and a client of TLS, and the input between them: it says what is
// relayed, changed, lost and made up. Whatever it does, an end receives nothing
// but the first of what the other end sent, sees an end only where the other
// one ended, and does not say more than it was given cause for.
#define OPENSSL_SUPPRESS_DEPRECATED  // RAND_METHOD: runs are to be repeatable

#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "parlor/check.h"
#include "parlor/executor.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "parlor/transports/tls.h"
#include "stream/byte_stream.h"
#include "stream/tls_context.h"
#include "stream/tls_stream.h"
#include "support/memory_stream.h"
#include "support/test_certificate.h"

namespace parlor::test {
namespace {

using stream::IoStatus;

Random openssl_random(1);

int FillRandom(unsigned char* out, int size) {
  for (unsigned char& byte : std::span(out, static_cast<std::size_t>(size))) {
    byte = static_cast<unsigned char>(openssl_random.Next());
  }
  return 1;
}
int IsReady() { return 1; }

struct Settings {
  TlsServer server;
  TlsClient client;
};

Settings MakeSettings() {
  static const RAND_METHOD method = {nullptr, FillRandom, nullptr,
                                     nullptr, FillRandom, IsReady};
  PARLOR_CHECK(RAND_set_rand_method(&method) == 1);
  TestAuthority authority;
  absl::StatusOr<TlsServer> server =
      TlsServer::FromFiles(authority.IssueLocal());
  absl::StatusOr<TlsClient> client =
      TlsClient::Create({.ca_path = authority.path()});
  PARLOR_CHECK(server.ok() && client.ok());
  return {*std::move(server), *std::move(client)};
}

class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }
  std::uint8_t Byte() {
    const auto byte = Bytes(1);
    return byte.empty() ? 0 : std::to_integer<std::uint8_t>(byte.front());
  }
  std::size_t Size() {
    const std::size_t high = Byte();
    return high << 8 | Byte();
  }
  std::span<const std::byte> Bytes(std::size_t size) {
    const auto taken = left_.first(std::min(size, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::byte> left_;
};

// One end, and the stream below whose other side the input holds.
class End final : stream::ByteStream::Events {
 public:
  End(VirtualLoop& loop, std::unique_ptr<stream::ByteStream> wire)
      : loop_(loop), wire_(std::move(wire)) {}

  void Attach(std::unique_ptr<stream::ByteStream> stream) {
    stream_ = std::move(stream);
    stream_->SetEvents(this);
    stream_->WantRead(true);
  }
  bool alive() const { return stream_ != nullptr; }
  void Destroy() { stream_.reset(); }
  void Reset() { stream_->Reset(); }
  void WantRead(bool wanted) { stream_->WantRead(wanted); }
  void EndWrite() {
    if (!std::exchange(write_ended_, true)) stream_->EndWrite();
  }
  void Write(std::size_t size) {
    if (write_ended_) return;
    std::vector<std::byte> bytes(size + 1);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      bytes[at] = At(sent_ + at);
    }
    const std::array<stream::Bytes, 3> pieces = {
        std::span(bytes).first(1), std::span(bytes).first(size / 2).subspan(1),
        std::span(bytes).subspan(size / 2)};
    const bool whole = size < 4;
    const stream::Bytes all = bytes;
    const stream::IoResult result =
        whole ? stream_->Write(std::span(&all, 1)) : stream_->Write(pieces);
    sent_ += result.bytes;
    if (result.status == IoStatus::kBlocked) stream_->WantWrite();
  }
  // The next event destroys the stream.
  void Doom() { doomed_ = true; }

  // What this end has put on the wire, into `out`.
  void Hear(std::vector<std::byte>& out) {
    std::array<std::byte, 4096> space;
    for (;;) {
      const stream::IoResult result = wire_->Read(space);
      if (result.status != IoStatus::kOk) break;
      out.insert(out.end(), space.begin(),
                 space.begin() + static_cast<std::ptrdiff_t>(result.bytes));
      heard_ += result.bytes;
    }
    // A flight, what records add to plaintext, and an answer of a record to
    // each record.
    PARLOR_CHECK(heard_ <= 16'384 + 64 * sent_ + 64 * told_);
  }
  // Returns how much of it was taken.
  std::size_t Tell(std::span<const std::byte> bytes) {
    if (bytes.empty() || wire_ended_) return 0;
    const std::size_t taken = wire_->Write(std::span(&bytes, 1)).bytes;
    told_ += taken;
    return taken;
  }
  void EndWire() {
    wire_ended_ = true;
    wire_->EndWrite();
  }

  void Check(const End& other) const {
    PARLOR_CHECK(received_ <= other.sent_);
    if (ended_ != IoStatus::kEnd) return;
    PARLOR_CHECK(other.write_ended_ && received_ == other.sent_);
  }

 private:
  static std::byte At(std::size_t index) {
    return static_cast<std::byte>(index * 7 + index / 251);
  }

  void OnReadable() override {
    if (doomed_) return Destroy();
    const std::span<std::byte> into = loop_.read_buffer().first(1000);
    const stream::IoResult result = stream_->Read(into);
    for (const std::byte byte : into.first(result.bytes)) {
      PARLOR_CHECK(byte == At(received_++));
    }
    if (result.status == IoStatus::kOk || result.status == IoStatus::kBlocked) {
      return;
    }
    PARLOR_CHECK(ended_ != IoStatus::kLost || result.status != IoStatus::kEnd);
    ended_ = result.status;
    stream_->WantRead(false);
  }
  void OnWritable() override {
    if (doomed_) return Destroy();
    Write(100);
  }

  VirtualLoop& loop_;
  std::unique_ptr<stream::ByteStream> wire_, stream_;
  std::size_t sent_ = 0;      // plaintext that Write took
  std::size_t received_ = 0;  // plaintext
  std::size_t heard_ = 0;     // ciphertext
  std::size_t told_ = 0;      // ciphertext, or what the input takes for it
  IoStatus ended_ = IoStatus::kBlocked;
  bool write_ended_ = false;
  bool wire_ended_ = false;
  bool doomed_ = false;
};

// Both ends and the wires between, of which each step of the input does one
// thing.
class Middle {
 public:
  Middle(const Settings& settings, std::uint8_t seed,
         const MemoryStreamOptions& options)
      : executor_(seed, Executor::Ties::kShuffled) {
    MemoryStreamPair up =
        MakeMemoryStreams(executor_, server_loop_, client_loop_, options);
    MemoryStreamPair down =
        MakeMemoryStreams(executor_, client_loop_, server_loop_, options);
    server_ = std::make_unique<End>(server_loop_, std::move(up.second));
    client_ = std::make_unique<End>(client_loop_, std::move(down.second));
    server_->Attach(stream::MakeTlsServerStream(
        server_loop_, std::move(up.first), settings.server.context()));
    client_->Attach(
        stream::MakeTlsClientStream(client_loop_, std::move(down.first),
                                    settings.client.context(), "localhost"));
  }

  void Step(Input& input) {
    const std::uint8_t what = input.Byte();
    const bool to_server = (what & 1) != 0;
    End& end = to_server ? *server_ : *client_;
    std::vector<std::byte>& wire = to_server ? to_server_ : to_client_;
    switch ((what >> 1) % 8) {
      case 0:  // what is made up
        end.Tell(input.Bytes(input.Byte()));
        break;
      case 1:  // a change to what is under way
        if (const std::size_t at = input.Size(); at < wire.size()) {
          wire[at] ^= static_cast<std::byte>(input.Byte());
        }
        break;
      case 2: {  // a loss
        const std::size_t size =
            std::min<std::size_t>(input.Byte(), wire.size());
        wire.erase(wire.begin(),
                   wire.begin() + static_cast<std::ptrdiff_t>(size));
        break;
      }
      case 3: {  // a repetition
        const std::size_t size =
            std::min<std::size_t>(input.Byte(), wire.size());
        end.Tell(std::span(wire).first(size));
        break;
      }
      case 4:
        Relay(end, wire, input.Size());
        break;
      case 5:
        Converse(1 + input.Byte() % 8);
        break;
      case 6:
        if (end.alive()) end.Write(input.Size());
        break;
      default:
        Do(end, input.Byte());
        break;
    }
    Run();
  }

  // The rest goes as it should.
  void Finish() {
    Converse(8);
    if (server_->alive()) server_->EndWrite();
    if (client_->alive()) client_->EndWrite();
    Converse(8);
  }

 private:
  static void Do(End& end, std::uint8_t what) {
    if (what % 8 == 0) return end.EndWire();
    if (!end.alive()) return;
    switch (what % 8) {
      case 1:
        return end.EndWrite();
      case 2:
        return end.WantRead(false);
      case 3:
        return end.WantRead(true);
      case 4:
        return end.Doom();
      case 5:
        return end.Destroy();
      case 6:
        return end.Reset();
      default:
        return;
    }
  }

  static void Relay(End& end, std::vector<std::byte>& wire, std::size_t most) {
    const std::size_t taken =
        end.Tell(std::span(wire).first(std::min(most, wire.size())));
    wire.erase(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(taken));
  }

  void Converse(int turns) {
    for (; turns > 0; --turns) {
      Relay(*server_, to_server_, SIZE_MAX);
      Relay(*client_, to_client_, SIZE_MAX);
      Run();
    }
  }

  void Run() {
    executor_.RunUntil(executor_.now() + kMillisecond, 1'000'000);
    PARLOR_CHECK(executor_.pending() == 0);
    server_->Hear(to_client_);
    client_->Hear(to_server_);
    server_->Check(*client_);
    client_->Check(*server_);
  }

  Executor executor_;
  VirtualLoop server_loop_{executor_}, client_loop_{executor_};
  std::unique_ptr<End> server_, client_;
  std::vector<std::byte> to_server_, to_client_;  // under way
};

void Try(std::span<const std::byte> bytes) {
  static const Settings settings = MakeSettings();
  openssl_random = Random(1);
  Input input(bytes);
  constexpr std::array<MemoryStreamOptions, 3> kOptions = {
      {{64 * 1024}, {2000, 1000}, {10, 3}}};
  const MemoryStreamOptions options = kOptions[input.Byte() % kOptions.size()];
  SSL_CTX_set_max_proto_version(
      settings.server.context()->get(),
      input.Byte() % 2 == 0 ? TLS1_2_VERSION : TLS1_3_VERSION);
  Middle middle(settings, input.Byte(), options);
  for (int steps = 0; steps < 200 && !input.empty(); ++steps) {
    middle.Step(input);
  }
  middle.Finish();
}

}  // namespace
}  // namespace parlor::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  parlor::test::Try(std::as_bytes(std::span(data, size)));
  return 0;
}
