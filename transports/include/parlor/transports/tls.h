// TLS settings, made once and shared by many connections. OpenSSL's; TLS 1.2 is
// the least that is spoken.
#ifndef PARLOR_TRANSPORTS_TLS_H_
#define PARLOR_TRANSPORTS_TLS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace parlor {

namespace stream {
class TlsContext;
}

// A server's certificate chain and key, both PEM.
struct TlsServerFiles {
  std::string certificate_path;
  std::string key_path;
};

struct TlsClientOptions {
  // A file of certificates to trust, PEM, instead of the system's. Empty: the
  // system's.
  std::string ca_path{};
  // Off only to reach a server of your own in development: anyone in between
  // can then read and change everything.
  bool verify = true;
};

// Copies share one setting. Immutable; may be used from many threads.
class TlsServer {
 public:
  // InvalidArgument names the file that cannot be read, is not PEM, or does not
  // fit the other. Never the key's content.
  static absl::StatusOr<TlsServer> FromFiles(const TlsServerFiles& files);

  const std::shared_ptr<const stream::TlsContext>& context() const {
    return context_;
  }

 private:
  explicit TlsServer(std::shared_ptr<const stream::TlsContext> context)
      : context_(std::move(context)) {}

  std::shared_ptr<const stream::TlsContext> context_;
};

// The same for clients.
class TlsClient {
 public:
  // InvalidArgument when `ca_path` cannot be read or holds no certificate.
  static absl::StatusOr<TlsClient> Create(const TlsClientOptions& options);

  const std::shared_ptr<const stream::TlsContext>& context() const {
    return context_;
  }

 private:
  explicit TlsClient(std::shared_ptr<const stream::TlsContext> context)
      : context_(std::move(context)) {}

  std::shared_ptr<const stream::TlsContext> context_;
};

}  // namespace parlor

#endif  // PARLOR_TRANSPORTS_TLS_H_
