// TlsStream: TLS over another ByteStream, by OpenSSL through a BIO of ours, so
// that it runs over a socket, a test's stream and a simulated one alike. The
// handshake begins with the loop's next turn and needs nobody to read or write;
// until it is done both block.
//
// kEnd is the peer's close_notify. An end of the stream below without one, a
// server that is not who it should be and whatever breaks the protocol are
// kLost, the latter two with a fatal alert to the peer (none to a peer that
// does not speak TLS at all).
//
// Park is for after the handshake: once Read has given bytes, or Write has
// taken some.
//
// Write takes one record, 16 KiB, more than the stream below. An idle
// connection holds 14 KB at a server and 30 KB at a client (TLS 1.3; 13 and 19
// in 1.2), nearly all of it OpenSSL 3.0's: what 100 connections of each kind
// had allocated after 2 KB both ways, with an ECDSA P-256 certificate.
// Each read and each write of a connection allocates one buffer of 17 KiB and
// frees it again: the price of idle ones that hold none.
#ifndef PARLOR_TRANSPORTS_STREAM_TLS_STREAM_H_
#define PARLOR_TRANSPORTS_STREAM_TLS_STREAM_H_

#include <memory>
#include <string>

#include "stream/byte_stream.h"
#include "stream/stream_loop.h"
#include "stream/tls_context.h"

namespace parlor::stream {

// A server's end.
std::unique_ptr<ByteStream> MakeTlsServerStream(
    StreamLoop& loop, std::unique_ptr<ByteStream> under,
    std::shared_ptr<const TlsContext> context);

// A client's end. `host` is what the server's certificate has to be for, a name
// or a numeric address; a name is also sent to the server (SNI).
std::unique_ptr<ByteStream> MakeTlsClientStream(
    StreamLoop& loop, std::unique_ptr<ByteStream> under,
    std::shared_ptr<const TlsContext> context, const std::string& host);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_TLS_STREAM_H_
