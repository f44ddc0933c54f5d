// TLS for tests on the loopback: a certificate for it, made once a process, and
// a client that trusts its authority alone.
#ifndef PARLOR_TESTS_SUPPORT_LOCAL_TLS_H_
#define PARLOR_TESTS_SUPPORT_LOCAL_TLS_H_

#include "parlor/check.h"
#include "parlor/transports/tls.h"
#include "support/test_certificate.h"

namespace parlor::test {

struct LocalTls {
  TlsServer server;
  TlsClient client;
};

inline const LocalTls& SharedLocalTls() {
  static const LocalTls shared = [] {
    TestAuthority authority;
    auto server = TlsServer::FromFiles(authority.IssueLocal());
    auto client = TlsClient::Create({.ca_path = authority.path()});
    PARLOR_CHECK(server.ok() && client.ok());
    return LocalTls{*server, *client};
  }();
  return shared;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_LOCAL_TLS_H_
