// The TCP handshake: a hello each way, or a refusal. TCP.md has the bytes.
#ifndef PARLOR_TRANSPORTS_STREAM_TCP_HANDSHAKE_H_
#define PARLOR_TRANSPORTS_STREAM_TCP_HANDSHAKE_H_

#include <memory>

#include "stream/handshake.h"

namespace parlor::stream {

std::unique_ptr<ServerHandshake> MakeTcpServerHandshake();
std::unique_ptr<ClientHandshake> MakeTcpClientHandshake(const Request& request);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_TCP_HANDSHAKE_H_
