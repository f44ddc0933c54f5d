// TlsContext: the settings behind parlor/transports/tls.h, as OpenSSL keeps
// them. One context serves many connections on many threads: nothing in it
// changes once it is made, and OpenSSL counts its references itself.
#ifndef PARLOR_TRANSPORTS_STREAM_TLS_CONTEXT_H_
#define PARLOR_TRANSPORTS_STREAM_TLS_CONTEXT_H_

#include <openssl/ssl.h>

#include <memory>
#include <utility>

namespace parlor::stream {

// Frees what OpenSSL made: std::unique_ptr<BIO, Frees<BIO_free>>.
template <auto kFree>
struct Frees {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using TlsContextPtr = std::unique_ptr<SSL_CTX, Frees<SSL_CTX_free>>;

class TlsContext {
 public:
  // `context` is complete: for a server with its certificate and key, for a
  // client with what it trusts.
  explicit TlsContext(TlsContextPtr context) : context_(std::move(context)) {}

  // What every context of ours begins with:
  //  - TLS 1.2 or later; in 1.2 only AEAD ciphers with forward secrecy (RFC
  //    9325 section 4.2), keys of 112 bits of security at least;
  //  - no compression (the CRIME attack), no renegotiation (clients could make
  //    a server repeat the costly part of a handshake for ever);
  //  - no session cache, whose lock all threads would share: who resumes
  //    brings a ticket;
  //  - a connection's two buffers of 17 KiB are held only while they hold
  //    something.
  static TlsContextPtr New(const SSL_METHOD* method);

  // Not const, because OpenSSL's functions that make a connection are not.
  SSL_CTX* get() const { return context_.get(); }

 private:
  TlsContextPtr context_;
};

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_TLS_CONTEXT_H_
