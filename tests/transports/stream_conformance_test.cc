// StreamConnections keep the rules of parlor/connection.h: both transports,
// with TLS and without, either end, bytes in pieces of every size down to one,
// over a network that is perfect and one that is not.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "parlor/sim/network.h"
#include "parlor/transports/net_listener.h"
#include "support/connection_conformance.h"
#include "support/stream_link.h"

namespace parlor {
namespace {

using sim::kMobile;
using sim::kPerfect;
using test::StreamLink;
using test::Tls;

constexpr auto kWs = NetTransport::kWebSocket;
constexpr auto kTcp = NetTransport::kTcp;
constexpr std::size_t kWhole = SIZE_MAX;

using Links = testing::Types<
    StreamLink<kWs, Tls::kNo, First::kClient, kWhole, kPerfect>,
    StreamLink<kWs, Tls::kNo, First::kServer, 700, kPerfect>,
    StreamLink<kWs, Tls::kNo, First::kClient, 1, kPerfect>,
    StreamLink<kWs, Tls::kYes, First::kServer, 700, kPerfect>,
    StreamLink<kTcp, Tls::kNo, First::kClient, kWhole, kPerfect>,
    StreamLink<kTcp, Tls::kNo, First::kServer, 700, kPerfect>,
    StreamLink<kTcp, Tls::kNo, First::kClient, 1, kPerfect>,
    StreamLink<kTcp, Tls::kYes, First::kClient, 700, kPerfect>,
    StreamLink<kWs, Tls::kNo, First::kServer, kWhole, kMobile>,
    StreamLink<kWs, Tls::kYes, First::kClient, kWhole, kMobile>,
    StreamLink<kTcp, Tls::kNo, First::kClient, kWhole, kMobile>,
    StreamLink<kTcp, Tls::kYes, First::kServer, kWhole, kMobile>>;

class Names {
 public:
  template <typename Link>
  static std::string GetName(int index) {
    constexpr const char* kNames[] = {"WsClient",
                                      "WsServerInPieces",
                                      "WsClientByteByByte",
                                      "WssServer",
                                      "TcpClient",
                                      "TcpServerInPieces",
                                      "TcpClientByteByByte",
                                      "TlsClient",
                                      "WsServerMobile",
                                      "WssClientMobile",
                                      "TcpClientMobile",
                                      "TlsServerMobile"};
    return kNames[index];
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Stream, ConnectionConformance, Links, Names);

}  // namespace
}  // namespace parlor
