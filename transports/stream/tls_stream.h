// TlsStream: TLS over another ByteStream, by OpenSSL on memory BIOs, so that it
// runs over a socket, a test's stream and a simulated one alike. The handshake
// happens by itself as the stream is read and written.
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
