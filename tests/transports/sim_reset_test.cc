// A stream that ends at any byte: whatever is lost then, each end hears of it
// once, and of no message in part.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "parlor/connection.h"
#include "parlor/executor.h"
#include "parlor/lane.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/stream_options.h"
#include "support/connection_conformance.h"
#include "support/stream_net.h"

namespace parlor {

// Of its header only what an end checks of what it hears.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ConnectionConformance);

}  // namespace parlor

namespace parlor::test {
namespace {

enum class Fault : std::uint8_t {
  kLinkReset,
  kClientGone,
  kServerGone,
  kCut,  // for good
};

struct Row {
  const char* name;
  NetTransport transport;
  Tls tls;
  Fault fault;
};

// A TLS handshake is some thousand bytes.
std::size_t PieceOf(const Row& row) {
  if (row.tls == Tls::kYes) return 100;
  return row.fault == Fault::kLinkReset ? 1 : 3;
}

// What each says before the client closes.
const std::vector<std::string>& Texts() {
  static const std::vector<std::string> texts = {"one", "",
                                                 std::string(200, 't'), "four"};
  return texts;
}

bool IsPrefix(const std::vector<std::string>& part,
              const std::vector<std::string>& all) {
  return part.size() <= all.size() &&
         std::equal(part.begin(), part.end(), all.begin());
}

// A short exchange, of which `events` events happen before the fault.
class Exchange {
 public:
  explicit Exchange(const Row& row)
      : fault_(row.fault),
        net_(1, {.transport = row.transport,
                 .tls = row.tls,
                 .piece_bytes_max = PieceOf(row)}) {
    client_.connection = net_.Call(StreamOptions(), &client_);
    for (const std::string& text : Texts()) client_.Send(text);
    client_.on_message = [this] {
      if (client_.messages.size() == Texts().size()) client_.Close(4001);
    };
    server_.on_open = [this] {
      for (const std::string& text : Texts()) server_.Send(text);
    };
  }

  // False: all of it was over before.
  bool Run(std::size_t events) {
    for (std::size_t i = 0; i < events; ++i) {
      if (!Step()) return false;
    }
    switch (fault_) {
      case Fault::kLinkReset:
        net_.link().Reset();
        break;
      case Fault::kClientGone:
        client_.Destroy();
        break;
      case Fault::kServerGone:
        server_.Destroy();
        break;
      case Fault::kCut:
        net_.link().Cut();
        break;
    }
    while (Step()) {
    }
    // Pings, silences and lingers.
    for (int i = 0; i < 120; ++i) {
      net_.executor().RunFor(kSecond);
      Accept();
    }
    return true;
  }

  // How many messages, by both.
  std::size_t heard() const {
    return client_.messages.size() + server_.messages.size();
  }

  void Check() {
    EXPECT_FALSE(net_.opening());
    EXPECT_TRUE(IsPrefix(server_.reliable(), Texts()));
    EXPECT_TRUE(IsPrefix(client_.reliable(), Texts()));
    for (const ConformanceEnd* end : {&client_, &server_}) {
      if (end->connection == nullptr) continue;  // it was never, or is gone
      ASSERT_EQ(end->closes.size(), 1u);
      const CloseCode code = end->closes[0].code;
      EXPECT_TRUE(code == 1006 || code == 4001) << code;
      // Who heard of the close in order heard all that was before it.
      EXPECT_TRUE(code == 1006 || end->reliable() == Texts());
    }
  }

 private:
  bool Step() {
    const bool more = net_.executor().RunNext(net_.executor().now());
    Accept();
    return more;
  }
  void Accept() {
    std::unique_ptr<Connection> accepted = net_.TakeAccepted();
    if (accepted == nullptr) return;
    server_.connection = std::move(accepted);
    server_.SetHandler(&server_);
  }

  const Fault fault_;
  int calls_ = 0;
  StreamNet net_;
  ConformanceEnd client_{calls_}, server_{calls_};
};

class SimReset : public testing::TestWithParam<Row> {};

TEST_P(SimReset, AtAnyByteIsHeardOnceByEach) {
  std::size_t events = 0;
  std::set<std::size_t> heard;
  for (;; ++events) {
    SCOPED_TRACE(testing::Message() << "after " << events << " events");
    Exchange exchange(GetParam());
    if (!exchange.Run(events)) break;
    exchange.Check();
    if (HasFailure()) break;
    heard.insert(exchange.heard());
  }
  EXPECT_GT(events, 50u);
  // It ended before the first message, between some, and behind the last.
  EXPECT_EQ(*heard.begin(), 0u);
  EXPECT_EQ(*heard.rbegin(), 2 * Texts().size());
  if (GetParam().tls == Tls::kNo) {
    EXPECT_GT(heard.size(), 3u);
  }
}

constexpr auto kWs = NetTransport::kWebSocket;
constexpr auto kTcp = NetTransport::kTcp;

INSTANTIATE_TEST_SUITE_P(
    Of, SimReset,
    testing::Values(Row{"ws_link", kWs, Tls::kNo, Fault::kLinkReset},
                    Row{"ws_client", kWs, Tls::kNo, Fault::kClientGone},
                    Row{"ws_server", kWs, Tls::kNo, Fault::kServerGone},
                    Row{"ws_cut", kWs, Tls::kNo, Fault::kCut},
                    Row{"tcp_link", kTcp, Tls::kNo, Fault::kLinkReset},
                    Row{"tcp_client", kTcp, Tls::kNo, Fault::kClientGone},
                    Row{"tcp_server", kTcp, Tls::kNo, Fault::kServerGone},
                    Row{"tcp_cut", kTcp, Tls::kNo, Fault::kCut},
                    Row{"wss_link", kWs, Tls::kYes, Fault::kLinkReset},
                    Row{"tls_client", kTcp, Tls::kYes, Fault::kClientGone},
                    Row{"tls_server", kTcp, Tls::kYes, Fault::kServerGone},
                    Row{"wss_cut", kWs, Tls::kYes, Fault::kCut}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace parlor::test
