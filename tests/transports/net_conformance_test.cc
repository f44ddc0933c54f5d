// Sockets keep the rules of parlor/connection.h: every transport, either end,
// over the loopback.
#include <gtest/gtest.h>

#include <string>

#include "support/connection_conformance.h"
#include "support/net_link.h"
#include "support/net_sides.h"

namespace parlor {
namespace {

using test::NetLink;
using test::NetScheme;

using Links = testing::Types<NetLink<NetScheme::kWs, First::kClient>,
                             NetLink<NetScheme::kWs, First::kServer>,
                             NetLink<NetScheme::kWss, First::kClient>,
                             NetLink<NetScheme::kTcp, First::kClient>,
                             NetLink<NetScheme::kTcp, First::kServer>,
                             NetLink<NetScheme::kTls, First::kServer>>;

class Names {
 public:
  template <typename Link>
  static std::string GetName(int index) {
    constexpr const char* kNames[] = {"WsClient",  "WsServer",  "WssClient",
                                      "TcpClient", "TcpServer", "TlsServer"};
    return kNames[index];
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Net, ConnectionConformance, Links, Names);

}  // namespace
}  // namespace parlor
