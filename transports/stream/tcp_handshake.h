// The TCP handshake: a hello each way, or a refusal. TCP.md has the bytes.
// Lanes are always marked.
#ifndef PARLOR_TRANSPORTS_STREAM_TCP_HANDSHAKE_H_
#define PARLOR_TRANSPORTS_STREAM_TCP_HANDSHAKE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "stream/handshake.h"

namespace parlor::stream {

inline constexpr std::uint8_t kTcpVersion = 1;
// What a hello may have behind its header: as much as an HTTP head.
inline constexpr std::size_t kTcpHelloBytesMax = 8 * 1024;
inline constexpr std::size_t kTcpProtocolsMax = 64;

// Fails, as soon as the bytes that say so are there, with
//   400  not a hello; a hello that is not exactly as long as what is in it; a
//        flag; a target that is none (IsHttpTarget); more than
//        kTcpProtocolsMax protocols, or AreDistinctTokens is not true of them
//   426  another version
//   431  more than kTcpHelloBytesMax
std::unique_ptr<ServerHandshake> MakeTcpServerHandshake();

// The target and the protocols are as a server takes them, which the caller
// sees to; only together they may be too long: the server says 431 then. The
// request's origin is not sent.
//
// When protocols are offered, an answer that names none of them is kFailed.
std::unique_ptr<ClientHandshake> MakeTcpClientHandshake(const Request& request);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_TCP_HANDSHAKE_H_
