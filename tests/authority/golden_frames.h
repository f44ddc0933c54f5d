// One text of every frame, and one of each that has optional members without
// them: what frames_test.cc pins and wire_json_test.cc holds against the
// description for machines.
#ifndef PARLOR_TESTS_AUTHORITY_GOLDEN_FRAMES_H_
#define PARLOR_TESTS_AUTHORITY_GOLDEN_FRAMES_H_

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "parlor/authority/frames.h"

namespace parlor::test {

template <typename Any>
struct GoldenFrame {
  const char* name;  // of the test
  Any frame;
  std::string text;
};

inline authority::ResumeToken GoldenToken() {
  authority::ResumeToken token;
  for (std::size_t i = 0; i < token.size(); ++i) {
    token[i] = static_cast<std::byte>(0x11 * i);
  }
  return token;
}

inline std::vector<GoldenFrame<authority::ClientFrame>> GoldenClientFrames() {
  using namespace authority;  // NOLINT: a table of its structs
  return {
      {"Join", JoinFrame{.protocol = "arena-1", .name = "Zoë"},
       R"({"t":"join","protocol":"arena-1","name":"Zoë"})"},
      {"JoinWithAll",
       JoinFrame{.protocol = "arena-1",
                 .name = "\"Al\"",
                 .fields = R"({"hat": 3})",
                 .codecs = {"binary", "json"},
                 .resume = GoldenToken()},
       R"({"t":"join","protocol":"arena-1","name":"\"Al\"","fields":{"hat": 3},)"
       R"("codecs":["binary","json"],)"
       R"("resume":"00112233445566778899aabbccddeeff"})"},
      {"Input", InputFrame{.seq = 1}, R"({"t":"input","seq":1})"},
      {"InputWithAll",
       InputFrame{.seq = 0xffffffff,
                  .held = 0x8000000000000005,
                  .pressed = 4,
                  .axes = {-32768, 32767, 0, 1},
                  .summed = {3, -4, 0, 0}},
       R"({"t":"input","seq":4294967295,"held":[5,2147483648],"pressed":[4,0],)"
       R"("axes":[-32768,32767,0,1],"summed":[3,-4,0,0]})"},
      {"Ack", AckFrame{.tick = 1'203}, R"({"t":"ack","tick":1203})"},
      {"Msg", MsgFrame{.name = "buy", .payload = R"({"item": 4, "n": 1.50})"},
       R"({"t":"msg","name":"buy","payload":{"item": 4, "n": 1.50}})"},
      {"Publish", PublishFrame{.key = "cursor", .value = "[1,2]"},
       R"({"t":"publish","key":"cursor","value":[1,2]})"},
      {"Unpublish", UnpublishFrame{.key = "cursor"},
       R"({"t":"unpublish","key":"cursor"})"},
      {"Chat", ChatFrame{.text = "hi \\o/"},
       R"({"t":"chat","text":"hi \\o/"})"},
      {"PingHere", PingFrame{.kind = PingKind::kHere},
       R"({"t":"ping","kind":"here"})"},
      {"PingHelp", PingFrame{.kind = PingKind::kHelp},
       R"({"t":"ping","kind":"help"})"},
      {"PingBall", PingFrame{.kind = PingKind::kBall},
       R"({"t":"ping","kind":"ball"})"},
      {"ModLock", ModFrame{.action = ModAction::kLock},
       R"({"t":"mod","action":"lock"})"},
      {"ModUnlock", ModFrame{.action = ModAction::kUnlock},
       R"({"t":"mod","action":"unlock"})"},
      {"ModKick", ModFrame{.action = ModAction::kKick, .target = "p2"},
       R"({"t":"mod","action":"kick","target":"p2"})"},
      {"ModBan", ModFrame{.action = ModAction::kBan, .target = "p4000000000"},
       R"({"t":"mod","action":"ban","target":"p4000000000"})"},
      {"Rtt", RttFrame{.at = 17}, R"({"t":"rtt","at":17})"},
      {"RttFraction", RttFrame{.at = -1234.5}, R"({"t":"rtt","at":-1234.5})"},
      {"Resync", ResyncFrame{}, R"({"t":"resync"})"},
      {"Leave", LeaveFrame{}, R"({"t":"leave"})"},
  };
}

inline std::vector<GoldenFrame<authority::ServerFrame>> GoldenServerFrames() {
  using namespace authority;  // NOLINT: a table of its structs
  return {
      {"Welcome",
       WelcomeFrame{.player = "p3",
                    .seat = 1,
                    .token = GoldenToken(),
                    .protocol = "arena-1",
                    .codec = "binary",
                    .schema = R"({"kinds":[]})",
                    .tick_hz = 60,
                    .snapshot_hz = 20,
                    .epoch = 2,
                    .tick = 1'200,
                    .entity = 12,
                    .grace_ms = 15'000},
       R"({"t":"welcome","player":"p3","seat":1,)"
       R"("token":"00112233445566778899aabbccddeeff","protocol":"arena-1",)"
       R"("codec":"binary","schema":{"kinds":[]},"tickHz":60,"snapshotHz":20,)"
       R"("epoch":2,"tick":1200,"entity":12,"graceMs":15000})"},
      {"RosterOfNobody", RosterFrame{},
       R"({"t":"roster","players":[],"locked":false})"},
      {"Roster",
       RosterFrame{
           .players = {{.id = "p1",
                        .seat = 0,
                        .name = "Al",
                        .connected = false,
                        .host = false},
                       {.id = "p3", .seat = 1, .name = "Zoë", .host = true}},
           .locked = true},
       R"({"t":"roster","players":[)"
       R"({"id":"p1","seat":0,"name":"Al","connected":false,"host":false},)"
       R"({"id":"p3","seat":1,"name":"Zoë","connected":true,"host":true}],)"
       R"("locked":true})"},
      {"Tick", TickFrame{.tick = 1'203, .ack = 77, .entity = 12},
       R"({"t":"tick","tick":1203,"ack":77,"entity":12})"},
      {"TickWithEvents",
       TickFrame{.tick = 1,
                 .events = {{.kind = TickEvent::Kind::kCamera,
                             .value = R"({"zoom":2})"},
                            {.kind = TickEvent::Kind::kHud, .value = "null"}}},
       R"({"t":"tick","tick":1,"ack":0,"entity":0,"events":[)"
       R"({"kind":"camera","value":{"zoom":2}},{"kind":"hud","value":null}]})"},
      {"Msg", RoomMsgFrame{.from = 255, .name = "shop:buy", .payload = "7"},
       R"({"t":"msg","from":255,"name":"shop:buy","payload":7})"},
      {"MsgOfTheAuthority", RoomMsgFrame{.name = "goal", .payload = R"("red")"},
       R"({"t":"msg","from":-1,"name":"goal","payload":"red"})"},
      {"Chat",
       RoomChatFrame{
           .id = 9, .from = "p1", .name = "Al", .text = "gg", .at = 61'500},
       R"({"t":"chat","id":9,"from":"p1","name":"Al","text":"gg","at":61500})"},
      {"Ping",
       RoomPingFrame{.from = "p1",
                     .kind = PingKind::kBall,
                     .position = {-1'500, 0, 2'147'483'647},
                     .expires_at = 69'500},
       R"({"t":"ping","from":"p1","kind":"ball",)"
       R"("position":[-1500,0,2147483647],"expiresAt":69500})"},
      {"Rtt", RoomRttFrame{.at = 0.25, .server = 61'501},
       R"({"t":"rtt","at":0.25,"server":61501})"},
      {"Error", ErrorFrame{.code = ErrorCode::kFull, .message = "room is full"},
       R"({"t":"error","code":"full","message":"room is full"})"},
  };
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_AUTHORITY_GOLDEN_FRAMES_H_
