// The front's part in hosted rooms, in virtual time over streams in memory.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/front_fixture.h"
#include "logic/handover.h"
#include "parlor/host/address.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "stream/byte_stream.h"

namespace parlor::host {
namespace {

using stream::IoStatus;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::string_view kInvited = "parlor-play, invite.goodcode42";

std::string Play(std::string_view target,
                 std::string_view protocols = kInvited) {
  std::string headers(kUpgrade);
  headers.append("Sec-WebSocket-Protocol: ").append(protocols).append("\r\n");
  return Http(std::string("GET ").append(target), headers);
}

struct Row {
  const char* name;
  std::string request;
  std::string answer;
};

class FrontPlayTest : public FrontTest,
                      public ::testing::WithParamInterface<Row> {};

TEST_P(FrontPlayTest, Refuses) {
  EXPECT_EQ(Ask(GetParam().request), GetParam().answer);
  EXPECT_THAT(handovers_, IsEmpty());
  EXPECT_EQ(front_->unseated(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, FrontPlayTest,
    ::testing::Values(
        Row{"NoSuchKey", Play("/play/attic"), Last("404 Not Found")},
        Row{"NoKey", Play("/play/"), Last("404 Not Found")},
        Row{"NotAKey", Play("/play/a.b"), Last("404 Not Found")},
        Row{"KeyBeforeUpgrade", Http("GET /play/attic"), Last("404 Not Found")},
        Row{"KeyBeforeMethod", Http("POST /play/attic"), Last("404 Not Found")},
        Row{"Post", Http("POST /play/club"),
            Last("405 Method Not Allowed", "Allow: GET\r\n")},
        Row{"OtherMethod", Http("BREW /play/club"),
            Last("501 Not Implemented")},
        Row{"NoProtocol", Http("GET /play/club", kUpgrade),
            Last("400 Bad Request")},
        Row{"LockstepProtocol",
            Play("/play/club", "fizlet-rooms, invite.goodcode42"),
            Last("400 Bad Request")},
        Row{"PlayProtocolElsewhere", Play("/room/1?players=2"),
            Last("400 Bad Request")},
        Row{"NoCode", Play("/play/club", "parlor-play"), Last("403 Forbidden")},
        Row{"CodeInUrl", Play("/play/club?invite=goodcode42", "parlor-play"),
            Last("403 Forbidden")}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(FrontTest, WhoWantsToPlayUpgrades) {
  EXPECT_THAT(Ask(Http("GET /play/club")),
              StartsWith("HTTP/1.1 426 Upgrade Required\r\n"));
}

TEST_F(FrontTest, HandsOverWhoIsLetInToPlay) {
  const Request request{.target = "/play/park", .protocols = {"parlor-play"}};
  for (const bool over_http : {true, false}) {
    const std::string text =
        (over_http ? Play("/play/park", "x, parlor-play") : TcpHello(request)) +
        "join";
    const auto transport =
        over_http ? NetTransport::kWebSocket : NetTransport::kTcp;
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      SCOPED_TRACE(cut);
      const std::string address = NextAddress();
      const auto client = Connect(address, transport);
      client->Say(text.substr(0, cut));
      Run();
      client->Say(text.substr(cut));
      Run();
      ASSERT_THAT(handovers_, SizeIs(1));
      Handover handover = std::move(handovers_.front());
      handovers_.clear();
      EXPECT_EQ(handover.hello.play, "park");
      EXPECT_EQ(handover.hello.room, 1u) << "which chooses the shard";
      EXPECT_EQ(handover.hello.identity, "");
      EXPECT_EQ(handover.address, *Address::Parse(address));
      EXPECT_THAT(handover.handshake->Accept("parlor-play"),
                  StartsWith(over_http ? "HTTP/1.1 101 " : "\6"));
      const auto stream = handover.stream->Unpark(shard_loop_);
      EXPECT_EQ(TextOf(handover.unread) + ReadAll(*stream), "join");
      EXPECT_THAT(client->heard(), IsEmpty());
    }
  }
}

TEST_F(FrontTest, OverTcpTheSameIsRefusedOfThoseWhoPlay) {
  const struct {
    Request request;
    int status;
  } rows[] = {
      {{.target = "/play/attic", .protocols = {"parlor-play"}}, 404},
      {{.target = "/play/club"}, 400},
      {{.target = "/play/club", .protocols = {"parlor-play"}}, 403},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.request.target);
    const auto client = Connect("192.0.2.1", NetTransport::kTcp);
    client->Say(TcpHello(row.request));
    Run();
    std::string refusal("\7\6\0\0??\0\0\0\0", 10);
    refusal[4] = static_cast<char>(row.status & 0xff);
    refusal[5] = static_cast<char>(row.status >> 8);
    EXPECT_EQ(client->heard(), refusal);
    EXPECT_EQ(client->ended(), IoStatus::kEnd);
  }
  EXPECT_THAT(handovers_, IsEmpty());
}

// Whether he resumes is in what he says to the room.
TEST_F(FrontTest, WhileDrainingTheRoomHearsWhoWantsToPlay) {
  gate_->Drain();
  EXPECT_EQ(Ask(Play("/play/club")), "");
  EXPECT_THAT(handovers_, SizeIs(1));
  EXPECT_EQ(Ask(Play("/play/attic")), Last("404 Not Found"));
  EXPECT_EQ(Ask(Play("/play/club", "parlor-play")), Last("403 Forbidden"));
}

TEST_F(FrontTest, PlayIsBelowTheBasePath) {
  options_.base_path = "/games";
  Make();
  EXPECT_EQ(Ask(Play("/play/club")), Answer("404 Not Found"));
  EXPECT_EQ(Ask(Play("/games/play/club")), "");
  EXPECT_THAT(handovers_, SizeIs(1));
}

}  // namespace
}  // namespace parlor::host
