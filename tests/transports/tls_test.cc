// TlsStream over memory in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/random.h"
#include "parlor/transports/tls.h"
#include "stream/byte_stream.h"
#include "stream/tls_context.h"
#include "support/hex.h"
#include "support/memory_stream.h"
#include "support/seed.h"
#include "support/status_matchers.h"
#include "support/test_certificate.h"
#include "transports/tls_link.h"

namespace parlor::test {
namespace {

using stream::IoStatus;

// Made once: keys cost most of a case.
TestAuthority& Authority() {
  static TestAuthority authority;
  return authority;
}

TlsServer ServerOf(const TlsServerFiles& files) {
  absl::StatusOr<TlsServer> server = TlsServer::FromFiles(files);
  EXPECT_THAT(server, IsOk());
  return *std::move(server);
}
TlsServer LocalServer() {
  static const TlsServerFiles files = Authority().IssueLocal();
  return ServerOf(files);
}
TlsClient ClientOf(const TlsClientOptions& options) {
  absl::StatusOr<TlsClient> client = TlsClient::Create(options);
  EXPECT_THAT(client, IsOk());
  return *std::move(client);
}
TlsClient LocalClient() { return ClientOf({.ca_path = Authority().path()}); }

// Both of the ends have the settings of one version and no other.
template <typename Side>
void Speak(const Side& side, int version) {
  SSL_CTX* const context = side.context()->get();
  SSL_CTX_set_security_level(context, 0);  // which refuses TLS 1.1 itself
  SSL_CTX_set_cipher_list(context, "ALL");
  SSL_CTX_set_min_proto_version(context, version);
  SSL_CTX_set_max_proto_version(context, version);
}

// What OpenSSL tells of a connection, for contexts that were given to Watch.
struct Seen {
  std::vector<int> alerts;  // received: level and number, as the wire has them
  std::string protocol;     // ALPN
  SSL* ssl = nullptr;
  int records = 0;  // sent
};
Seen seen;  // by one thread

void OnInfo(const SSL* ssl, int where, int value) {
  seen.ssl = const_cast<SSL*>(ssl);
  if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT) {
    seen.alerts.push_back(value);
  }
  if ((where & SSL_CB_HANDSHAKE_DONE) == 0) return;
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &name, &size);
  seen.protocol.assign(reinterpret_cast<const char*>(name), size);
}

void OnRecord(int written, int /*version*/, int type, const void* /*bytes*/,
              std::size_t /*size*/, SSL* /*ssl*/, void* /*unused*/) {
  if (written == 1 && type == SSL3_RT_HEADER) ++seen.records;
}

template <typename Side>
void Watch(const Side& side) {
  seen = {};
  SSL_CTX_set_info_callback(side.context()->get(), OnInfo);
  SSL_CTX_set_msg_callback(side.context()->get(), OnRecord);
}

// Opens `link`, the client's end watched.
void OpenWatched(TlsLink& link) {
  const TlsClient client = LocalClient();
  Watch(client);
  link.Serve(LocalServer());
  link.Connect(client);
  link.Run();
}

int Fatal(int alert) { return SSL3_AL_FATAL << 8 | alert; }

// Says something both ways and ends; true when all of it came through.
bool Talks(TlsLink& link) {
  link.server.Send(BytesOf("from the server"));
  link.client.Send(BytesOf("from the client"));
  link.server.End();
  link.client.End();
  link.Run();
  return link.server.received() == BytesOf("from the client") &&
         link.client.received() == BytesOf("from the server") &&
         link.server.ended() == IoStatus::kEnd &&
         link.client.ended() == IoStatus::kEnd;
}

struct TransferRow {
  std::string_view name;
  int version;
  std::size_t bytes_max;
  MemoryStreamOptions below;
  std::size_t read_bytes_max;
  std::size_t piece_bytes_max;
};

class TlsTransfer : public testing::TestWithParam<TransferRow> {};

TEST_P(TlsTransfer, CarriesAllBytesAndTheEnds) {
  const TransferRow& row = GetParam();
  const std::uint64_t first = TestSeed();
  for (std::uint64_t seed = first; seed < first + 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "PARLOR_SEED=" << seed);
    TlsLink link(seed, row.below);
    const TlsServer server = LocalServer();
    Speak(server, row.version);
    Random random(seed);
    for (StreamEnd* end : {&link.server, &link.client}) {
      end->read_bytes_max = row.read_bytes_max;
      end->piece_bytes_max = row.piece_bytes_max;
    }
    link.Serve(server);
    link.Connect(LocalClient());
    const auto size = static_cast<std::uint32_t>(row.bytes_max);
    const auto down = RandomBytes(random, random.Below(size));
    const auto up = RandomBytes(random, random.Below(size));
    // Some before the handshake, some long behind it.
    const std::size_t early = down.size() / 3;
    link.server.Send(std::span(down).first(early));
    link.client.Send(up);
    link.client.End();
    link.Run();
    EXPECT_EQ(link.server.ended(), IoStatus::kEnd);
    EXPECT_EQ(link.client.ended(), IoStatus::kBlocked);
    link.server.Send(std::span(down).subspan(early));
    link.server.End();
    link.Run();
    EXPECT_EQ(link.client.ended(), IoStatus::kEnd);
    EXPECT_TRUE(link.server.received() == up);
    EXPECT_TRUE(link.client.received() == down);
  }
}

// Runs, and moves the server's end to another loop inside some of its events;
// the client goes on while it is of none. Returns how often.
int RunWithMoves(TlsLink& link, Random& random) {
  std::unique_ptr<stream::ParkedStream> parked;
  std::uint32_t events_left = random.Below(20);
  link.server.on_event = [&] {
    if (events_left > 0 || link.server.ended() != IoStatus::kBlocked) {
      --events_left;
      return true;
    }
    parked = link.server.stream()->Park();
    link.server.Destroy();
    return false;
  };
  int moves = 0;
  for (link.Run(); parked != nullptr; link.Run()) {
    events_left = random.Below(20);
    link.server.Attach(
        parked->Unpark(moves++ % 2 == 0 ? link.other_loop : link.server_loop));
    parked = nullptr;
    link.server.Send({});  // goes on with what is unsent
  }
  link.server.on_event = nullptr;
  return moves;
}

TEST_P(TlsTransfer, GoesOnOnAnotherLoop) {
  const TransferRow& row = GetParam();
  const std::uint64_t first = TestSeed();
  int moves = 0;
  for (std::uint64_t seed = first; seed < first + 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "PARLOR_SEED=" << seed);
    TlsLink link(seed, row.below);
    Random random(seed);
    for (StreamEnd* end : {&link.server, &link.client}) {
      end->read_bytes_max = row.read_bytes_max;
      end->piece_bytes_max = row.piece_bytes_max;
    }
    if (random.Below(4) == 0) {  // what is below TLS can do it too
      link.server.Attach(std::move(link.server_raw));
      link.client.Attach(std::move(link.client_raw));
    } else {
      const TlsServer server = LocalServer();
      Speak(server, row.version);
      link.Serve(server);
      link.Connect(LocalClient());
    }
    const auto size = static_cast<std::uint32_t>(row.bytes_max);
    const auto down = RandomBytes(random, random.Below(size));
    const auto up = RandomBytes(random, random.Below(size));
    link.server.Send(down);
    link.server.End();
    link.client.Send(up);
    link.client.End();
    moves += RunWithMoves(link, random);
    EXPECT_TRUE(link.server.received() == up);
    EXPECT_TRUE(link.client.received() == down);
    EXPECT_EQ(link.server.ended(), IoStatus::kEnd);
    EXPECT_EQ(link.client.ended(), IoStatus::kEnd);
  }
  EXPECT_GT(moves, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Streams, TlsTransfer,
    testing::Values(
        TransferRow{"Wide", TLS1_3_VERSION, 300'000, {}, 65'536, 40'000},
        TransferRow{"Wide12", TLS1_2_VERSION, 300'000, {}, 65'536, 40'000},
        TransferRow{"Pieces", TLS1_3_VERSION, 100'000, {4096, 700}, 3000, 50},
        TransferRow{"Pieces12", TLS1_2_VERSION, 100'000, {4096, 9}, 3000, 50},
        TransferRow{"OneByte", TLS1_3_VERSION, 3000, {1, 1}, 1, 1},
        TransferRow{"OneByte12", TLS1_2_VERSION, 3000, {1, 1}, 1, 1},
        TransferRow{"SmallReads", TLS1_3_VERSION, 50'000, {}, 10, 20'000},
        TransferRow{
            "Full", TLS1_3_VERSION, 300'000, {100, 50}, 65'536, 65'536}),
    [](const auto& row) { return std::string(row.param.name); });

struct TrustRow {
  std::string_view name;
  std::string_view host;
  TestCertificate certificate;
  int alert = 0;  // that the server hears; 0: it is accepted
  bool other_authority = false;
};

class TlsTrust : public testing::TestWithParam<TrustRow> {};

TEST_P(TlsTrust, VerifiesTheServer) {
  const TrustRow& row = GetParam();
  TestAuthority other("another authority");
  TestAuthority& issuer = row.other_authority ? other : Authority();
  const TlsServerFiles files = issuer.Issue(row.certificate);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const bool verify : {true, false}) {
      SCOPED_TRACE(testing::Message() << version << " verify " << verify);
      TlsLink link(1);
      const TlsServer server = ServerOf(files);
      Speak(server, version);
      Watch(server);
      link.Serve(server);
      link.Connect(ClientOf({.ca_path = Authority().path(), .verify = verify}),
                   std::string(row.host));
      if (!verify || row.alert == 0) {
        EXPECT_TRUE(Talks(link));
        continue;
      }
      EXPECT_FALSE(Talks(link));
      EXPECT_EQ(link.client.ended(), IoStatus::kLost);
      EXPECT_EQ(link.server.ended(), IoStatus::kLost);
      EXPECT_TRUE(link.server.received().empty());
      EXPECT_TRUE(link.client.received().empty());
      EXPECT_THAT(seen.alerts, testing::ElementsAre(Fatal(row.alert)));
    }
  }
  EXPECT_EQ(ERR_peek_error(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Certificates, TlsTrust,
    testing::Values(
        TrustRow{"Name", "a.test", {"DNS:a.test"}},
        TrustRow{"AbsoluteName", "a.test.", {"DNS:a.test"}},
        TrustRow{"SecondName", "b.test", {"DNS:a.test,DNS:b.test"}},
        TrustRow{"Wildcard", "x.a.test", {"DNS:*.a.test"}},
        TrustRow{"Address4", "127.0.0.1", {"IP:127.0.0.1"}},
        TrustRow{"Address6", "::1", {"IP:0:0:0:0:0:0:0:1"}},
        TrustRow{"OtherName", "b.test", {"DNS:a.test"}, SSL_AD_BAD_CERTIFICATE},
        TrustRow{"PartOfName",
                 "a.test.evil.test",
                 {"DNS:a.test"},
                 SSL_AD_BAD_CERTIFICATE},
        TrustRow{"PartialWildcard",
                 "xa.a.test",
                 {"DNS:x*.a.test"},
                 SSL_AD_BAD_CERTIFICATE},
        TrustRow{"OtherAddress",
                 "127.0.0.2",
                 {"IP:127.0.0.1"},
                 SSL_AD_BAD_CERTIFICATE},
        TrustRow{"AddressAsName",
                 "127.0.0.1",
                 {"DNS:127.0.0.1"},
                 SSL_AD_BAD_CERTIFICATE},
        TrustRow{
            "CommonNameOnly", "a.test", {"", "a.test"}, SSL_AD_BAD_CERTIFICATE},
        TrustRow{"Expired",
                 "a.test",
                 {"DNS:a.test", "a.test", true},
                 SSL_AD_CERTIFICATE_EXPIRED},
        TrustRow{"SelfSigned",
                 "a.test",
                 {"DNS:a.test", "a.test", false, true},
                 SSL_AD_UNKNOWN_CA},
        TrustRow{"OtherAuthority",
                 "a.test",
                 {"DNS:a.test"},
                 SSL_AD_UNKNOWN_CA,
                 true}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(TlsStream, BringsTheChainAlong) {
  TestAuthority between("between", &Authority());
  TlsLink link(1);
  link.Serve(ServerOf(between.IssueLocal()));
  link.Connect(LocalClient());
  EXPECT_TRUE(Talks(link));
}

TEST(TlsStream, TrustsWhatTheUserNamesRootOrNot) {
  TestAuthority between("between", &Authority());
  TlsLink link(1);
  link.Serve(ServerOf(between.IssueLocal()));
  link.Connect(ClientOf({.ca_path = between.path()}));
  EXPECT_TRUE(Talks(link));
}

TEST(TlsStream, VerifiesAgainstTheSystemWhenNothingIsNamed) {
  TlsLink link(1);
  link.Serve(LocalServer());
  link.Connect(ClientOf({}));
  EXPECT_FALSE(Talks(link));
  EXPECT_EQ(link.client.ended(), IoStatus::kLost);
}

TEST(TlsStream, ConnectsToNothingThatIsNoName) {
  using namespace std::string_literals;
  for (const std::string& host :
       {""s, "."s, "local\0host"s, "127.0.0.1\0x"s, std::string(300, 'a')}) {
    TlsLink link(1);
    link.Serve(LocalServer());
    link.Connect(LocalClient(), host);
    EXPECT_FALSE(Talks(link)) << host;
    EXPECT_EQ(link.client.ended(), IoStatus::kLost) << host;
    EXPECT_EQ(ERR_peek_error(), 0u);
  }
}

TEST(TlsStream, RefusesWhatIsOlderThanTls12) {
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    TlsLink link(1);
    link.Serve(LocalServer());
    const TlsClient client = LocalClient();
    Speak(client, version);
    Watch(client);
    link.Connect(client);
    EXPECT_FALSE(Talks(link));
    EXPECT_EQ(link.server.ended(), IoStatus::kLost);
    EXPECT_EQ(link.client.ended(), IoStatus::kLost);
    EXPECT_THAT(seen.alerts,
                testing::ElementsAre(Fatal(SSL_AD_PROTOCOL_VERSION)));
  }
}

TEST(TlsStream, SelectsHttp11) {
  struct Row {
    std::string_view offered, selected;
    int alert = 0;
  };
  for (const Row& row : {Row{"", ""}, Row{"\x08http/1.1", "http/1.1"},
                         Row{"\x02h2\x08http/1.1", "http/1.1"},
                         Row{"\x02h2", "", SSL_AD_NO_APPLICATION_PROTOCOL}}) {
    SCOPED_TRACE(row.offered);
    TlsLink link(1);
    link.Serve(LocalServer());
    const TlsClient client = LocalClient();
    SSL_CTX_set_alpn_protos(
        client.context()->get(),
        reinterpret_cast<const unsigned char*>(row.offered.data()),
        static_cast<unsigned>(row.offered.size()));
    Watch(client);
    link.Connect(client);
    EXPECT_EQ(Talks(link), row.alert == 0);
    EXPECT_EQ(seen.protocol, row.selected);
    if (row.alert != 0) {
      EXPECT_THAT(seen.alerts, testing::ElementsAre(Fatal(row.alert)));
    }
  }
}

TEST(TlsStream, HandshakesThoughNobodyReadsOrWrites) {
  TlsLink link(1);
  const TlsServer server = LocalServer();
  Watch(server);
  link.Serve(server);
  link.Connect(LocalClient());
  link.server.WantRead(false);
  link.client.WantRead(false);
  link.Run();
  ASSERT_NE(seen.ssl, nullptr);
  EXPECT_EQ(SSL_is_init_finished(seen.ssl), 1);
  EXPECT_EQ(link.server.events() + link.client.events(), 0);
  link.server.WantRead(true);
  link.client.WantRead(true);
  EXPECT_TRUE(Talks(link));
}

TEST(TlsStream, EndsOneDirectionAtATime) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const bool server_first : {true, false}) {
      TlsLink link(1, {4096, 1000});
      const TlsServer server = LocalServer();
      Speak(server, version);
      link.Serve(server);
      link.Connect(LocalClient());
      StreamEnd& first = server_first ? link.server : link.client;
      StreamEnd& second = server_first ? link.client : link.server;
      first.End();  // before there is a connection
      link.Run();
      EXPECT_EQ(second.ended(), IoStatus::kEnd);
      EXPECT_EQ(first.ended(), IoStatus::kBlocked);
      Random random(1);
      const auto bytes = RandomBytes(random, 50'000);
      second.Send(bytes);
      link.Run();
      EXPECT_TRUE(first.received() == bytes);
      second.End();
      link.Run();
      EXPECT_EQ(first.ended(), IoStatus::kEnd);
    }
  }
}

// A stream below that ends where TLS has not ended was cut by someone.
TEST(TlsStream, TakesAnEndWithoutTheProtocolsEndForALoss) {
  TlsLink link(1);
  link.Serve(LocalServer());
  link.Connect(LocalClient());
  link.client.Send(BytesOf("pay 1000"));
  link.Run();
  link.client_under->EndWrite();
  link.Run();
  EXPECT_EQ(link.server.received(), BytesOf("pay 1000"));
  EXPECT_EQ(link.server.ended(), IoStatus::kLost);
}

TEST(TlsStream, TellsOfAReset) {
  TlsLink link(1);
  link.Serve(LocalServer());
  link.Connect(LocalClient());
  link.Run();
  link.client.stream()->Reset();
  link.client.Destroy();
  link.Run();
  EXPECT_EQ(link.server.ended(), IoStatus::kLost);
  link.server.Send(BytesOf("x"));
  EXPECT_TRUE(link.server.write_lost());
}

TEST(TlsStream, AParkedOneThatIsDestroyedIsAReset) {
  for (const bool tls : {true, false}) {
    SCOPED_TRACE(tls);
    TlsLink link(1);
    if (tls) {
      link.Serve(LocalServer());
      link.Connect(LocalClient());
    } else {
      link.server.Attach(std::move(link.server_raw));
      link.client.Attach(std::move(link.client_raw));
    }
    link.Run();
    std::unique_ptr<stream::ParkedStream> parked = link.server.stream()->Park();
    link.server.Destroy();
    link.Run();
    EXPECT_EQ(link.client.ended(), IoStatus::kBlocked) << "the peer noticed";
    parked = nullptr;
    link.Run();
    EXPECT_EQ(link.client.ended(), IoStatus::kLost);
  }
}

// One read may give what came before the protocol was broken: who parks the
// stream then does not know yet.
TEST(TlsStream, StaysLostOnAnotherLoop) {
  TlsLink link(1);
  link.Serve(LocalServer());
  link.Connect(LocalClient());
  link.Run();
  link.server.WantRead(false);
  link.client.Send(BytesOf("a request"));
  link.Run();
  const std::string garbage(100, 'x');
  const stream::Bytes piece = std::as_bytes(std::span(garbage));
  ASSERT_EQ(link.client_under->Write(std::span(&piece, 1)).status,
            IoStatus::kOk);
  std::vector<std::byte> into(4096);
  ASSERT_EQ(link.server.stream()->Read(into).status, IoStatus::kOk);
  std::unique_ptr<stream::ParkedStream> parked = link.server.stream()->Park();
  link.server.Attach(parked->Unpark(link.other_loop));
  link.Run();
  EXPECT_EQ(link.server.ended(), IoStatus::kLost);
}

// A socket whose peer has gone refuses writes and still gives what had come.
class Deaf final : public stream::ByteStream {
 public:
  explicit Deaf(std::unique_ptr<stream::ByteStream> under)
      : under_(std::move(under)) {}

  void SetEvents(Events* events) override { under_->SetEvents(events); }
  stream::IoResult Read(std::span<std::byte> into) override {
    return under_->Read(into);
  }
  stream::IoResult Write(std::span<const stream::Bytes> pieces) override {
    if (deaf) return {IoStatus::kLost, 0};
    return under_->Write(pieces);
  }
  void WantRead(bool wanted) override { under_->WantRead(wanted); }
  void WantWrite() override { under_->WantWrite(); }
  void EndWrite() override { under_->EndWrite(); }
  void Reset() override { under_->Reset(); }
  std::unique_ptr<stream::ParkedStream> Park() override {
    return under_->Park();
  }

  bool deaf = false;

 private:
  std::unique_ptr<stream::ByteStream> under_;
};

TEST(TlsStream, ReadsToTheEndThoughWritingIsLost) {
  TlsLink link(1);
  auto deaf = std::make_unique<Deaf>(std::move(link.server_raw));
  Deaf& below = *deaf;
  link.server_raw = std::move(deaf);
  link.Serve(LocalServer());
  link.Connect(LocalClient());
  link.Run();
  link.server.WantRead(false);
  link.client.Send(BytesOf("goodbye"));
  link.client.End();
  below.deaf = true;
  link.server.Send(BytesOf("x"));
  EXPECT_TRUE(link.server.write_lost());
  link.server.WantRead(true);
  link.Run();
  EXPECT_EQ(link.server.received(), BytesOf("goodbye"));
  EXPECT_EQ(link.server.ended(), IoStatus::kEnd);
}

TEST(TlsStream, ToldAboutALossWhileItWaitsToWrite) {
  TlsLink link(1, {1000, 1000});
  link.Serve(LocalServer());
  link.Connect(LocalClient());
  link.Run();
  link.server.WantRead(false);
  link.client.Send(std::vector<std::byte>(100'000));
  link.Run();
  EXPECT_GT(link.client.unsent(), 0u);
  link.server.stream()->Reset();
  link.server.Destroy();
  link.client.WantRead(false);
  link.Run();
  EXPECT_TRUE(link.client.write_lost());
}

struct GarbageRow {
  std::string_view name;
  std::string_view bytes;
  std::string_view alert;  // hex: its level and number
};

class TlsGarbage : public testing::TestWithParam<GarbageRow> {};

// At the server from its first byte, and at the client in the server's place.
TEST_P(TlsGarbage, IsALoss) {
  for (const bool to_server : {true, false}) {
    SCOPED_TRACE(to_server);
    TlsLink link(1, {4096, 3});
    if (to_server) {
      link.Serve(LocalServer());
      link.client.Attach(std::move(link.client_raw));
    } else {
      link.Connect(LocalClient());
      link.server.Attach(std::move(link.server_raw));
    }
    StreamEnd& tls = to_server ? link.server : link.client;
    StreamEnd& raw = to_server ? link.client : link.server;
    raw.Send(BytesOf(GetParam().bytes));
    raw.End();
    tls.Send(BytesOf("secret"));
    link.Run();
    EXPECT_EQ(tls.ended(), IoStatus::kLost);
    EXPECT_TRUE(tls.write_lost());
    EXPECT_TRUE(tls.received().empty());
    const std::string answer = Hex(raw.received());
    std::string alert(GetParam().alert);
    if (!alert.empty()) {
      alert.insert(0, to_server ? "1503030002" : "1503010002");
    }
    if (to_server) {
      EXPECT_EQ(answer, alert);
    } else {
      EXPECT_THAT(answer, testing::EndsWith(alert));  // behind its hello
    }
    EXPECT_EQ(answer.find(Hex(BytesOf("secret"))), std::string::npos);
  }
  EXPECT_EQ(ERR_peek_error(), 0u);
}

using namespace std::string_view_literals;

// What is not TLS at all gets no answer of OpenSSL's: an alert would not be
// understood. What is, and breaks its rules, gets a fatal alert.
INSTANTIATE_TEST_SUITE_P(
    First, TlsGarbage,
    testing::Values(GarbageRow{"Nothing", "", ""},
                    GarbageRow{"Noise", "\xff\x00\x80noise noise noise"sv, ""},
                    GarbageRow{"Http", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", ""},
                    GarbageRow{"Cut", "\x16\x03\x01\x00\x20\x01\x00"sv, ""},
                    GarbageRow{"WrongMessage",
                               "\x16\x03\x01\x00\x04\x14\x00\x00\x00"sv,
                               "020a"},
                    GarbageRow{"TooLong", "\x16\x03\x01\xff\xff"sv, "0216"}),
    [](const auto& row) { return std::string(row.param.name); });

// The n-th event of one end destroys its stream, for all n there are.
TEST(TlsStream, MayBeDestroyedInsideItsEvents) {
  for (const bool server : {true, false}) {
    for (int last = 1;; ++last) {
      SCOPED_TRACE(testing::Message() << server << " event " << last);
      TlsLink link(static_cast<std::uint64_t>(last), {4096, 3000});
      StreamEnd& end = server ? link.server : link.client;
      end.on_event = [&] {
        if (end.events() < last) return true;
        end.Destroy();
        return false;
      };
      link.Serve(LocalServer());
      link.Connect(LocalClient());
      link.client.Send(std::vector<std::byte>(40'000));
      link.server.Send(std::vector<std::byte>(40'000));
      link.client.End();
      link.server.End();
      link.Run();
      if (end.stream() != nullptr) {
        EXPECT_GT(last, 20);
        break;
      }
      StreamEnd& other = server ? link.client : link.server;
      EXPECT_NE(other.ended(), IoStatus::kBlocked);
    }
  }
}

// A peer that does not read holds back who writes, above TLS as below.
TEST(TlsStream, TakesOneRecordMoreThanTheStreamBelow) {
  constexpr std::size_t kBelow = 10'000;
  constexpr std::size_t kRecord = 16 * 1024;
  for (const std::size_t piece : {std::size_t{100}, std::size_t{200'000}}) {
    TlsLink link(1, {kBelow});
    link.client.piece_bytes_max = piece;
    link.Serve(LocalServer());
    link.Connect(LocalClient());
    link.Run();
    link.server.WantRead(false);
    Random random(1);
    const auto bytes = RandomBytes(random, 1'000'000);
    link.client.Send(bytes);
    link.Run();
    const std::size_t taken = bytes.size() - link.client.unsent();
    EXPECT_LE(taken, kBelow + kRecord);
    EXPECT_GE(taken, kBelow / 2);
    link.server.WantRead(true);
    link.Run();
    EXPECT_TRUE(link.server.received() == bytes);
  }
}

// What OpenSSL has read already comes by events of our own when the reader goes
// on: nothing comes from below to cause one.
TEST(TlsStream, ReaderMayStopAndGoOn) {
  TlsLink link(1);
  link.server.read_bytes_max = 1;
  link.Serve(LocalServer());
  link.Connect(LocalClient());
  link.Run();
  int left = 3;
  link.server.on_event = [&] {
    if (left-- > 0) return true;
    link.server.WantRead(false);
    return false;
  };
  const auto bytes = BytesOf("three messages and more");
  link.client.Send(bytes);
  link.Run();
  for (std::size_t have = 3; have < bytes.size(); have += 3) {
    ASSERT_EQ(link.server.received().size(), have);
    left = 3;
    link.server.WantRead(true);
    link.Run();
  }
  EXPECT_EQ(link.server.received(), bytes);
}

// An event that nobody acts on comes again; one whose reader was replaced comes
// to the new one.
TEST(TlsStream, EventsAreRepeated) {
  TlsLink link(1);
  link.server.read_bytes_max = 1;
  link.Serve(LocalServer());
  link.Connect(LocalClient());
  link.Run();
  int ignored = 0;
  link.server.on_event = [&] {
    const bool first = link.server.received().empty();
    return first || ++ignored > 10;
  };
  link.client.Send(BytesOf("abc"));
  link.Run();
  EXPECT_EQ(link.server.received(), BytesOf("abc"));

  link.server.on_event = [&] {
    link.server.stream()->SetEvents(nullptr);
    return true;
  };
  link.client.Send(BytesOf("def"));
  link.client.End();
  link.Run();
  EXPECT_EQ(link.server.received().size(), 4u);
  link.server.on_event = nullptr;
  link.server.stream()->SetEvents(&link.server);
  link.Run();
  EXPECT_EQ(link.server.received(), BytesOf("abcdef"));
  EXPECT_EQ(link.server.ended(), IoStatus::kEnd);
}

TEST(TlsStream, ManyPiecesAreOneRecord) {
  TlsLink link(1);
  OpenWatched(link);
  const std::vector<std::byte> message(12);
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}}) {
    const std::vector<stream::Bytes> pieces(count, message);
    seen.records = 0;
    const stream::IoResult result = link.client.stream()->Write(pieces);
    EXPECT_EQ(result.bytes, count * message.size());
    EXPECT_EQ(seen.records, 1);
  }
  link.Run();
  EXPECT_EQ(link.server.received().size(), 1001 * message.size());
}

// Each key update asks for an answer. Who does not read the answers may not
// make us keep them. A host's updates, which are not counted otherwise.
TEST(TlsStream, LosesAPeerThatMakesItTalkAndDoesNotListen) {
  TlsLink link(1, {1000});
  const TlsServer server = LocalServer();
  Watch(server);
  link.Serve(server);
  link.Connect(LocalClient());
  link.Run();
  link.server.WantRead(false);
  int updates = 0;
  while (link.client.ended() == IoStatus::kBlocked && updates < 10'000) {
    SSL_key_update(seen.ssl, SSL_KEY_UPDATE_REQUESTED);
    link.server.Send(BytesOf("x"));
    link.Run();
    ++updates;
  }
  EXPECT_EQ(link.client.ended(), IoStatus::kLost);
  // 128 KiB by records of 27 bytes.
  EXPECT_NEAR(updates, 128 * 1024 / 27, 200);
}

// Nobody above TLS hears of its key updates, so no rate counts them.
TEST(TlsStream, LosesAClientThatChangesItsKeysWithoutEnd) {
  for (const bool says_more : {true, false}) {
    SCOPED_TRACE(says_more);
    TlsLink link(1);
    OpenWatched(link);
    int updates = 0;
    while (link.server.ended() == IoStatus::kBlocked && updates < 1'000) {
      EXPECT_EQ(link.client.unsent(), 0u);
      SSL_key_update(seen.ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
      if (says_more) {
        link.client.Send(BytesOf("x"));
      } else {
        SSL_do_handshake(seen.ssl);
      }
      link.Run();
      ++updates;
    }
    EXPECT_EQ(link.server.ended(), IoStatus::kLost);
    // What arrived with the first that is too much is read.
    EXPECT_EQ(updates, says_more ? 66 : 65);
    EXPECT_EQ(link.server.received().size(), says_more ? 65u : 0u);
  }
}

// Who looks for the last time, at the end of somebody's time, finds what came.
TEST(TlsStream, ARecordThatIsThereIsReadHoweverLittleOfIt) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const std::size_t read : {1, 100, 2'048, 40'000}) {
      SCOPED_TRACE(testing::Message() << version << " " << read);
      TlsLink link(1);
      const TlsServer server = LocalServer();
      Speak(server, version);
      link.Serve(server);
      link.Connect(LocalClient());
      link.Run();
      link.server.WantRead(false);
      link.client.Send(std::vector<std::byte>(16 * 1024));
      std::vector<std::byte> space(read);
      const stream::IoResult result = link.server.stream()->Read(space);
      EXPECT_EQ(result.status, IoStatus::kOk);
      EXPECT_GT(result.bytes, 0u);
    }
  }
}

// A caller with little space takes little of what is below: so much it costs,
// in records of one byte, that it reads them.
TEST(TlsStream, ReadsBelowAboutWhatItIsAskedFor) {
  constexpr std::size_t kRead = 2'048;
  TlsLink link(1, {1'000'000});
  link.Serve(LocalServer());
  link.Connect(LocalClient());
  link.Run();
  link.server.WantRead(false);
  for (int i = 0; i < 1'000; ++i) link.client.Send(BytesOf("x"));
  std::vector<std::byte> space(kRead);
  const stream::IoResult result = link.server.stream()->Read(space);
  ASSERT_EQ(result.status, IoStatus::kOk);
  EXPECT_GT(result.bytes, 0u);
  EXPECT_LE(result.bytes, 2 * kRead / 23);  // a record of one is 23 bytes
}

}  // namespace
}  // namespace parlor::test
