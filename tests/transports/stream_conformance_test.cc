// StreamConnections keep the rules of parlor/connection.h: both transports,
// with TLS and without, either end, bytes in pieces of every size down to one,
// in virtual time.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "parlor/transports/net_listener.h"
#include "support/connection_conformance.h"
#include "support/stream_link.h"

namespace parlor {
namespace {

using test::StreamLink;
using test::Tls;

constexpr auto kWs = NetTransport::kWebSocket;
constexpr auto kTcp = NetTransport::kTcp;
constexpr std::size_t kWhole = SIZE_MAX;

using Links = testing::Types<StreamLink<kWs, Tls::kNo, First::kClient, kWhole>,
                             StreamLink<kWs, Tls::kNo, First::kServer, 700>,
                             StreamLink<kWs, Tls::kNo, First::kClient, 1>,
                             StreamLink<kWs, Tls::kYes, First::kServer, 700>,
                             StreamLink<kTcp, Tls::kNo, First::kClient, kWhole>,
                             StreamLink<kTcp, Tls::kNo, First::kServer, 700>,
                             StreamLink<kTcp, Tls::kNo, First::kClient, 1>,
                             StreamLink<kTcp, Tls::kYes, First::kClient, 700>>;

class Names {
 public:
  template <typename Link>
  static std::string GetName(int index) {
    constexpr const char* kNames[] = {
        "WsClient",  "WsServerInPieces",  "WsClientByteByByte",  "WssServer",
        "TcpClient", "TcpServerInPieces", "TcpClientByteByByte", "TlsClient"};
    return kNames[index];
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Stream, ConnectionConformance, Links, Names);

}  // namespace
}  // namespace parlor
