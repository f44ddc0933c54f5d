#include "stream/tls_context.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/check.h"
#include "parlor/status.h"
#include "parlor/transports/tls.h"

namespace parlor {
namespace stream {
namespace {

constexpr unsigned char kHttp11[] = "\x08http/1.1";

// A client that offers protocols and not this one would speak something else
// to us: it is refused, as RFC 7301 section 3.2 has it.
int SelectProtocol(SSL* /*ssl*/, const unsigned char** out,
                   unsigned char* out_size, const unsigned char* offered,
                   unsigned offered_size, void* /*unused*/) {
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(&selected, out_size, kHttp11, sizeof(kHttp11) - 1,
                            offered, offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsContextPtr TlsContext::New(const SSL_METHOD* method) {
  TlsContextPtr context(SSL_CTX_new(method));
  PARLOR_CHECK(context != nullptr);  // only memory can be missing
  SSL_CTX* const raw = context.get();
  PARLOR_CHECK(SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) == 1);
  PARLOR_CHECK(
      SSL_CTX_set_cipher_list(raw, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL") == 1);
  SSL_CTX_set_security_level(raw, 2);
  SSL_CTX_set_options(raw, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                               SSL_OP_CIPHER_SERVER_PREFERENCE |
                               SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  // A record's header and body, and the records behind it, with one read.
  SSL_CTX_set_read_ahead(raw, 1);
  SSL_CTX_set_alpn_select_cb(raw, SelectProtocol, nullptr);
  return context;
}

}  // namespace stream

namespace {

using stream::Frees;
using stream::TlsContext;
using stream::TlsContextPtr;
using BioPtr = std::unique_ptr<BIO, Frees<BIO_free>>;
using CertificatePtr = std::unique_ptr<X509, Frees<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Frees<EVP_PKEY_free>>;

// OpenSSL's errors are a queue of the thread: what one call leaves behind, the
// next one would be blamed for.
class ErrorQueue {
 public:
  ErrorQueue() { ERR_clear_error(); }
  ~ErrorQueue() { ERR_clear_error(); }
  ErrorQueue(const ErrorQueue&) = delete;
  ErrorQueue& operator=(const ErrorQueue&) = delete;

  // OpenSSL's words for the last of them. They say what kind of thing is
  // wrong, never what a file holds.
  std::string Text() const {
    const char* const text = ERR_reason_error_string(ERR_peek_last_error());
    return text == nullptr ? "no reason given" : text;
  }
};

absl::Status FileError(const std::string& path, std::string_view what) {
  return InvalidArgument(path + ": " + std::string(what));
}

absl::StatusOr<BioPtr> Open(const std::string& path) {
  // Which opens like a file, and reads like an empty one.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return FileError(path, "is a directory");
  }
  errno = 0;
  BioPtr file(BIO_new_file(path.c_str(), "r"));
  if (file != nullptr) return file;
  return FileError(path,
                   "cannot be read: " + std::generic_category().message(errno));
}

// The default would ask at the terminal.
int NoPassphrase(char* /*buffer*/, int /*size*/, int /*writing*/,
                 void* /*unused*/) {
  return -1;
}

absl::StatusOr<std::vector<CertificatePtr>> ReadCertificates(
    const std::string& path) {
  const ErrorQueue errors;
  absl::StatusOr<BioPtr> file = Open(path);
  if (!file.ok()) return file.status();
  std::vector<CertificatePtr> certificates;
  for (;;) {
    CertificatePtr certificate(
        PEM_read_bio_X509(file->get(), nullptr, NoPassphrase, nullptr));
    if (certificate == nullptr) break;
    certificates.push_back(std::move(certificate));
  }
  // The end of the file is a missing start line.
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    return FileError(path, "certificate " +
                               std::to_string(certificates.size() + 1) +
                               " in it is damaged: " + errors.Text());
  }
  if (certificates.empty()) {
    return FileError(path, "holds no certificate in PEM form");
  }
  return certificates;
}

absl::StatusOr<KeyPtr> ReadKey(const std::string& path) {
  const ErrorQueue errors;
  absl::StatusOr<BioPtr> file = Open(path);
  if (!file.ok()) return file.status();
  KeyPtr key(
      PEM_read_bio_PrivateKey(file->get(), nullptr, NoPassphrase, nullptr));
  if (key != nullptr) return key;
  if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_BAD_PASSWORD_READ) {
    return FileError(path, "is encrypted; a key without passphrase is needed");
  }
  // OpenSSL says "unsupported" to both.
  return FileError(path, "holds no private key in PEM form, or a damaged one");
}

}  // namespace

absl::StatusOr<TlsServer> TlsServer::FromFiles(const TlsServerFiles& files) {
  const auto chain = ReadCertificates(files.certificate_path);
  if (!chain.ok()) return chain.status();
  const auto key = ReadKey(files.key_path);
  if (!key.ok()) return key.status();

  const ErrorQueue errors;
  TlsContextPtr context = TlsContext::New(TLS_server_method());
  for (const CertificatePtr& certificate : *chain) {
    const bool leaf = &certificate == &chain->front();
    const auto taken =
        leaf ? SSL_CTX_use_certificate(context.get(), certificate.get())
             : SSL_CTX_add1_chain_cert(context.get(), certificate.get());
    if (taken != 1) {
      return FileError(files.certificate_path,
                       "a certificate in it cannot be used: " + errors.Text());
    }
  }
  // The first alone does not see a key of another kind than the certificate's.
  if (SSL_CTX_use_PrivateKey(context.get(), key->get()) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return FileError(files.key_path, "does not fit the certificate in " +
                                         files.certificate_path);
  }
  return TlsServer(std::make_shared<const TlsContext>(std::move(context)));
}

absl::StatusOr<TlsClient> TlsClient::Create(const TlsClientOptions& options) {
  TlsContextPtr context = TlsContext::New(TLS_client_method());
  X509_STORE* const store = SSL_CTX_get_cert_store(context.get());
  if (!options.ca_path.empty()) {
    const auto trusted = ReadCertificates(options.ca_path);
    if (!trusted.ok()) return trusted.status();
    const ErrorQueue errors;
    for (const CertificatePtr& certificate : *trusted) {
      X509_STORE_add_cert(store, certificate.get());
    }
    // What the user names is trusted, whether it is a root or not.
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  } else if (options.verify) {
    const ErrorQueue errors;
    SSL_CTX_set_default_verify_paths(context.get());
  }
  SSL_CTX_set_verify(context.get(),
                     options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                     nullptr);
  return TlsClient(std::make_shared<const TlsContext>(std::move(context)));
}

}  // namespace parlor
