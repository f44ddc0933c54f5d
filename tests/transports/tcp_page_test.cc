// TCP.md against the code: the bytes on the page, in their order, are what the
// codec and the handshakes write.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/byte_io.h"
#include "stream/length_framing.h"
#include "stream/tcp_handshake.h"
#include "support/hex.h"

namespace parlor::stream {
namespace {

// The blocks of hex on the page: lines that are indented by four and not
// between fences, without their spaces.
std::vector<std::string> ReadPage() {
  std::ifstream page(PARLOR_TCP_PAGE);
  EXPECT_TRUE(page.is_open()) << PARLOR_TCP_PAGE;
  std::vector<std::string> blocks;
  bool in_fence = false;
  bool in_block = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) in_fence = !in_fence;
    const bool is_hex = !in_fence && line.starts_with("    ");
    if (is_hex && !in_block) blocks.emplace_back();
    in_block = is_hex;
    if (!is_hex) continue;
    for (const char c : line) {
      if (c != ' ') blocks.back() += c;
    }
  }
  return blocks;
}

std::string Frame(FrameType type, std::span<const std::byte> payload,
                  Lane lane = Lane::kReliable) {
  std::array<std::byte, kHeaderMax> header;
  const std::size_t size =
      MakeLengthFraming(1024)->WriteHeader(type, lane, payload.size(), header);
  return test::Hex(std::span(header).first(size)) + test::Hex(payload);
}

std::string Frame(FrameType type, std::string_view payload,
                  Lane lane = Lane::kReliable) {
  return Frame(type, AsBytes(payload), lane);
}

std::string Close(CloseCode code, std::string_view text) {
  std::array<std::byte, kControlBytesMax> payload;
  const std::size_t size =
      MakeLengthFraming(1024)->WriteClose(code, text, payload);
  return Frame(FrameType::kClose, std::span(payload).first(size));
}

std::string Close(CloseReason reason) {
  return Close(Describe(reason).code, Describe(reason).text);
}

std::string Hello(const Request& request) {
  return test::Hex(AsBytes(MakeTcpClientHandshake(request)->hello()));
}

std::string Accept(const Request& request, std::string_view protocol) {
  const std::unique_ptr<ServerHandshake> server = MakeTcpServerHandshake();
  std::string hello(MakeTcpClientHandshake(request)->hello());
  std::span<std::byte> input = std::as_writable_bytes(std::span(hello));
  EXPECT_EQ(server->Feed(input), ServerHandshake::Progress::kRequest);
  return test::Hex(AsBytes(server->Accept(protocol)));
}

std::string Refuse(std::uint16_t status, std::uint32_t retry_after_s) {
  return test::Hex(
      AsBytes(MakeTcpServerHandshake()->Refuse({status, retry_after_s})));
}

TEST(TcpPageTest, ShowsWhatTheCodeWrites) {
  const std::string_view lockstep = kLockstepProtocol;
  const Request invited{.target = "/room/3?players=2",
                        .protocols = {std::string(lockstep), "invite.abc"}};
  const Request arena{.target = "/play/arena", .protocols = {"parlor-play"}};
  const Request plain{.target = "/"};
  const std::vector<std::string> expected = {
      Frame(FrameType::kText, "Hello") +
          Frame(FrameType::kText, "Hello", Lane::kState) +
          Frame(FrameType::kBinary, std::string_view("\0\xff", 2)) +
          Frame(FrameType::kPing, "hi") + Frame(FrameType::kPong, "hi"),
      Hello(invited),
      Hello(arena),
      Accept(invited, lockstep) + Accept(plain, ""),
      Refuse(404, 0) + Refuse(503, 30),
      Close(1000, "bye") + Close(close_code::kNoCode, "") +
          Close(CloseReason::kTooSlow),
      Hello(plain),
      Accept(plain, "") + Frame(FrameType::kText, "hi"),
      Frame(FrameType::kBinary, "*", Lane::kState) + Close(1000, ""),
      Close(1000, ""),
  };
  EXPECT_EQ(ReadPage(), expected);
}

// The hellos on the page are what the rooms' clients send.
TEST(TcpPageTest, TheExamplesAreOfRooms) {
  const parlor::Hello hello{.room = 3, .players = 2, .access = "invite.abc"};
  EXPECT_EQ(ReadPage().at(1), Hello(RequestForRoom(hello)));
  EXPECT_EQ(ReadPage().at(2), Hello(RequestForRoom({.play = "arena"})));
}

}  // namespace
}  // namespace parlor::stream
