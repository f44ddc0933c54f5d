#include "stream/tcp_handshake.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "stream/http_head.h"
#include "stream/length_framing.h"

namespace parlor::stream {
namespace {

constexpr std::uint8_t kFlags = 0;  // none has a meaning yet
constexpr std::size_t kRefusalBytes = 6;

// A frame of the handshake on its way in.
class HeadFrame {
 public:
  // Takes bytes off the front of `input` until there are `size` of them, the
  // header included: true then.
  bool TakeUpTo(std::size_t size, std::span<std::byte>& input) {
    if (bytes_.size() < size) {
      const std::span<const std::byte> part =
          input.first(std::min(size - bytes_.size(), input.size()));
      ByteWriter(bytes_).Bytes(part);
      input = input.subspan(part.size());
    }
    return bytes_.size() >= size;
  }

  // After one byte, and after kLengthHeaderBytes.
  bool Is(LengthType type) const {
    return bytes_[0] == static_cast<std::byte>(type);
  }
  std::size_t length() const { return LoadU32(bytes_.data()) >> 8; }

  std::byte operator[](std::size_t at) const { return bytes_[at]; }
  ByteReader payload() const {
    return ByteReader(std::span(bytes_).subspan(kLengthHeaderBytes));
  }

 private:
  std::vector<std::byte> bytes_;
};

void WriteHeader(ByteWriter& writer, LengthType type, std::size_t length) {
  writer.U32(static_cast<std::uint32_t>(length) << 8 |
             static_cast<std::uint32_t>(type));
}

void WriteText(ByteWriter& writer, std::string_view text) {
  writer.U16(static_cast<std::uint16_t>(text.size()));
  writer.Bytes(AsBytes(text));
}

std::string_view ReadText(ByteReader& reader) {
  return AsText(reader.Bytes(reader.U16()));
}

class TcpServerHandshake final : public ServerHandshake {
 public:
  Progress Feed(std::span<std::byte>& input) override;

  const Request& request() const override { return request_; }
  std::uint16_t failure() const override { return failure_; }
  bool lanes_marked() const override { return true; }

  std::string Accept(std::string_view protocol) override;
  std::string Refuse(const Refusal& refusal) override;

 private:
  Progress Fail(std::uint16_t status) {
    failure_ = status;
    return Progress::kFailed;
  }
  bool ReadRequest();

  HeadFrame frame_;
  Request request_;
  std::uint16_t failure_ = 0;
};

// Whoever speaks another protocol is told at its first byte. A later version
// may have another hello, so that nothing behind its number is looked at.
ServerHandshake::Progress TcpServerHandshake::Feed(
    std::span<std::byte>& input) {
  constexpr std::size_t kVersionAt = kLengthHeaderBytes;
  if (!frame_.TakeUpTo(1, input)) return Progress::kMore;
  if (!frame_.Is(LengthType::kHello)) return Fail(http_status::kBadRequest);
  if (!frame_.TakeUpTo(kLengthHeaderBytes, input)) return Progress::kMore;
  if (frame_.length() > kTcpHelloBytesMax)
    return Fail(http_status::kHeadTooLarge);
  if (frame_.length() == 0) return Fail(http_status::kBadRequest);
  if (!frame_.TakeUpTo(kVersionAt + 1, input)) return Progress::kMore;
  if (frame_[kVersionAt] != std::byte{kTcpVersion}) {
    return Fail(http_status::kUpgradeRequired);
  }
  if (!frame_.TakeUpTo(kLengthHeaderBytes + frame_.length(), input)) {
    return Progress::kMore;
  }
  return ReadRequest() ? Progress::kRequest : Fail(http_status::kBadRequest);
}

bool TcpServerHandshake::ReadRequest() {
  ByteReader reader = frame_.payload();
  reader.U8();  // the version
  const std::uint8_t flags = reader.U8();
  const std::string_view target = ReadText(reader);
  const std::size_t count = reader.U8();
  if (flags != kFlags || count > kTcpProtocolsMax) return false;
  std::vector<std::string_view> protocols;
  for (std::size_t i = 0; i < count; ++i) {
    protocols.push_back(ReadText(reader));
  }
  if (!reader.AtEnd() || !IsHttpTarget(target) ||
      !AreDistinctTokens(protocols)) {
    return false;
  }
  request_.target = target;
  request_.protocols.assign(protocols.begin(), protocols.end());
  return true;
}

std::string TcpServerHandshake::Accept(std::string_view protocol) {
  PARLOR_CHECK(protocol.empty() || IsOffered(protocol, request_.protocols));
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  WriteHeader(writer, LengthType::kHello, 4 + protocol.size());
  writer.U8(kTcpVersion);
  writer.U8(kFlags);
  WriteText(writer, protocol);
  return std::string(AsText(bytes));
}

std::string TcpServerHandshake::Refuse(const Refusal& refusal) {
  PARLOR_CHECK(IsRefusal(refusal.status));
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  WriteHeader(writer, LengthType::kRefused, kRefusalBytes);
  writer.U16(refusal.status);
  writer.U32(refusal.retry_after_s);
  return std::string(AsText(bytes));
}

class TcpClientHandshake final : public ClientHandshake {
 public:
  explicit TcpClientHandshake(const Request& request);

  std::string_view hello() const override { return AsText(hello_); }
  Progress Feed(std::span<std::byte>& input) override;
  std::uint16_t refusal() const override { return refusal_; }
  bool lanes_marked() const override { return true; }

 private:
  bool ReadAccepted() const;
  bool ReadRefused();

  const std::vector<std::string> offered_;
  std::vector<std::byte> hello_;
  HeadFrame frame_;
  std::uint16_t refusal_ = 0;
};

TcpClientHandshake::TcpClientHandshake(const Request& request)
    : offered_(request.protocols) {
  PARLOR_CHECK(IsHttpTarget(request.target));
  PARLOR_CHECK(offered_.size() <= kTcpProtocolsMax &&
               AreDistinctTokens({offered_.begin(), offered_.end()}));
  std::size_t length = 5 + request.target.size();
  for (const std::string& protocol : offered_) length += 2 + protocol.size();
  ByteWriter writer(hello_);
  if (length > kTcpHelloBytesMax) {
    // Somebody typed in too much. The header is enough for the server to say
    // so, and no secret leaves.
    WriteHeader(writer, LengthType::kHello, kTcpHelloBytesMax + 1);
    return;
  }
  WriteHeader(writer, LengthType::kHello, length);
  writer.U8(kTcpVersion);
  writer.U8(kFlags);
  WriteText(writer, request.target);
  writer.U8(static_cast<std::uint8_t>(offered_.size()));
  for (const std::string& protocol : offered_) WriteText(writer, protocol);
}

ClientHandshake::Progress TcpClientHandshake::Feed(
    std::span<std::byte>& input) {
  if (!frame_.TakeUpTo(1, input)) return Progress::kMore;
  const bool refused = frame_.Is(LengthType::kRefused);
  if (!refused && !frame_.Is(LengthType::kHello)) return Progress::kFailed;
  if (!frame_.TakeUpTo(kLengthHeaderBytes, input)) return Progress::kMore;
  if (frame_.length() > kTcpHelloBytesMax) return Progress::kFailed;
  if (!frame_.TakeUpTo(kLengthHeaderBytes + frame_.length(), input)) {
    return Progress::kMore;
  }
  if (refused) return ReadRefused() ? Progress::kRefused : Progress::kFailed;
  return ReadAccepted() ? Progress::kOpen : Progress::kFailed;
}

bool TcpClientHandshake::ReadAccepted() const {
  ByteReader reader = frame_.payload();
  const std::uint8_t version = reader.U8();
  const std::uint8_t flags = reader.U8();
  const std::string_view protocol = ReadText(reader);
  if (!reader.AtEnd() || version != kTcpVersion || flags != kFlags) {
    return false;
  }
  return offered_.empty() ? protocol.empty() : IsOffered(protocol, offered_);
}

bool TcpClientHandshake::ReadRefused() {
  ByteReader reader = frame_.payload();
  refusal_ = reader.U16();
  reader.U32();  // when to come back: a CloseEvent does not tell
  return reader.AtEnd() && IsRefusal(refusal_);
}

}  // namespace

std::unique_ptr<ServerHandshake> MakeTcpServerHandshake() {
  return std::make_unique<TcpServerHandshake>();
}

std::unique_ptr<ClientHandshake> MakeTcpClientHandshake(
    const Request& request) {
  return std::make_unique<TcpClientHandshake>(request);
}

}  // namespace parlor::stream
