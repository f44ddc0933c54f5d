#include "leak_tour.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "parlor/byte_io.h"

namespace parlor::test {

using lockstep::Kind;
using lockstep::Message;

LeakTour::LeakTour(LeakHunt& hunt, const LeakDoor& door,
                   const TourSecrets& secrets)
    : hunt_(hunt), door_(door), secrets_(secrets) {
  hunt_.Forbid("a code", secrets_.code);
  hunt_.Forbid("a device's key", secrets_.device);
  hunt_.Forbid("another device's key", secrets_.other_device);
  for (const std::string& pass :
       {secrets_.pass, secrets_.expired, secrets_.revoked, secrets_.forged}) {
    hunt_.Forbid("a pass", pass);
    const std::size_t dot = pass.find('.');
    hunt_.Forbid("a pass's signature", pass.substr(dot + 1));
  }
  // Of clients, of proxies, and of who is behind those.
  for (const std::string network :
       {"127.83.", "127.84.7.", "203.0.113.", "2001:db8:"}) {
    hunt_.Forbid("an address, " + network, network);
  }
}

std::string LeakTour::NextAddress() {
  ++addresses_;
  return "127.83." + std::to_string(1 + addresses_ / 200) + "." +
         std::to_string(1 + addresses_ % 200);
}

LeakTour::Visitor LeakTour::Visit(LeakVisitor::Port port) {
  return std::make_unique<LeakVisitor>(door_, NextAddress(), port);
}

int LeakTour::count(const std::string& what) const {
  const auto found = seen_.find(what);
  return found == seen_.end() ? 0 : found->second;
}

std::string LeakTour::Upgrade(std::uint32_t room, int players,
                              const Protocols& protocols,
                              std::string_view more) {
  std::string list;
  for (const std::string& protocol : protocols) {
    list.append(list.empty() ? "" : ", ").append(protocol);
  }
  return "GET /room/" + std::to_string(room) +
         "?players=" + std::to_string(players) + "&name=" + hunt_.Mark() +
         "&invite=" + secrets_.code + " HTTP/1.1\r\nHost: " + hunt_.Mark() +
         "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
         "User-Agent: " +
         hunt_.Mark() + "\r\nCookie: name=" + hunt_.Mark() + "\r\nX-" +
         hunt_.Mark() + ": " + secrets_.pass +
         "\r\nSec-WebSocket-Protocol: " + list + "\r\n" + std::string(more) +
         "\r\n";
}

LeakTour::Protocols LeakTour::WithCode() const {
  return {"fizlet-rooms", "invite." + secrets_.code};
}

LeakTour::Protocols LeakTour::WithPass() const {
  return {"fizlet-rooms", "pass." + secrets_.pass, "device." + secrets_.device};
}

void LeakTour::Answered(std::string_view what, const std::string& answer,
                        int status,
                        std::initializer_list<std::string_view> allowed) {
  SCOPED_TRACE(what);
  hunt_.Look(what, answer, allowed);
  const std::string seen = answer.substr(0, 12);
  EXPECT_EQ(seen, "HTTP/1.1 " + std::to_string(status)) << answer;
  ++seen_["HTTP " + std::to_string(status)];
  if (allowed.size() > 0) ++seen_["origin told"];
}

void LeakTour::Ask(std::string_view what, const std::string& request,
                   int status,
                   std::initializer_list<std::string_view> allowed) {
  const Visitor visitor = Visit();
  visitor->Send(request);
  Answered(what, visitor->ReadToEnd(), status, allowed);
}

LeakTour::Visitor LeakTour::Join(std::uint32_t room, int players,
                                 const Protocols& protocols) {
  Visitor visitor = Visit();
  visitor->Send(Upgrade(room, players, protocols));
  Answered("a join", visitor->ReadHead(), 101);
  return visitor;
}

// Others are LOBBY, and what a seat is told of others.
Message LeakTour::Hear(LeakVisitor& visitor, Kind kind) {
  while (const auto frame = visitor.ReadFrame()) {
    const auto message = frame->lockstep();
    if (message && message->kind == kind) {
      // To its own seat: the only place for it.
      if (kind == Kind::kWelcome) hunt_.ForbidToken(message->value);
      return *message;
    }
    hunt_.Look("a frame", frame->payload);
    if (frame->type == 8) break;
  }
  ADD_FAILURE() << "closed without " << static_cast<int>(kind);
  return {};
}

void LeakTour::ClosedWith(LeakVisitor& visitor, int code,
                          std::string_view said) {
  while (const auto frame = visitor.ReadFrame()) {
    if (frame->type != 8) continue;
    hunt_.Look("a close " + std::to_string(code), frame->payload, {said});
    if (!said.empty()) ++seen_["goodbye answered"];
    ASSERT_GE(frame->payload.size(), 2u);
    const int told = static_cast<unsigned char>(frame->payload[0]) << 8 |
                     static_cast<unsigned char>(frame->payload[1]);
    EXPECT_EQ(told, code) << frame->payload.substr(2);
    ++seen_["close " + std::to_string(told)];
    return;
  }
  ADD_FAILURE() << "no close " << code;
}

void LeakTour::Requests() {
  const std::string mark = hunt_.Mark();
  const std::string close = "Host: " + mark + "\r\nConnection: close\r\nX-" +
                            mark + ": " + mark + "\r\n\r\n";
  const std::string secrets = "?invite=" + secrets_.code +
                              "&pass=" + secrets_.pass +
                              "&device=" + secrets_.device + "&name=" + mark;
  const auto get = [&](const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\n" + close;
  };
  Ask("a health check", get("/healthz" + secrets), 200);
  Ask("an unknown page", get("/" + mark + "/" + secrets_.code + secrets), 404);
  Ask("metrics", get("/metrics" + secrets), 404);
  Ask("a room without an upgrade", get("/room/0" + secrets + "&players=2"),
      426);
  Ask("a room of no number", get("/room/" + mark + "?players=2"), 404);
  Ask("a room too many", get("/room/4000000000?players=2"), 404);
  Ask("no such method", mark + " / HTTP/1.1\r\n" + close, 501);
  Ask("a method too many",
      "DELETE /healthz" + secrets + " HTTP/1.1\r\n" + close, 405);
  Ask("no request line", mark + "\r\n\r\n", 400);
  Ask("no version", "GET /" + mark + "\r\n\r\n", 400);
  Ask("a later version", "GET /" + mark + " HTTP/9.1\r\n" + close, 505);
  Ask("a bare line feed", "GET /" + mark + " HTTP/1.1\nHost: a\n\n", 400);
  Ask("no colon", "GET / HTTP/1.1\r\n" + mark + "\r\n\r\n", 400);
  Ask("a folded line", "GET / HTTP/1.1\r\nX: a\r\n " + mark + "\r\n\r\n", 400);
  Ask("a byte of none", "GET / HTTP/1.1\r\nX: " + mark + "\x01\r\n\r\n", 400);
  std::string lines;
  for (int i = 0; i < 65; ++i) lines.append("X: ").append(mark).append("\r\n");
  Ask("too many lines", "GET / HTTP/1.1\r\n" + lines + "\r\n", 431);
  std::string much;
  while (much.size() < 9'000) much += mark;
  Ask("too long a head", "GET / HTTP/1.1\r\nX: " + much + "\r\n\r\n", 431);
  Ask("two lengths",
      "POST /invite HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: "
      "chunked\r\n" +
          close,
      400);
}

std::string LeakTour::Post(const std::string& body, std::string_view more) {
  return "POST /invite?name=" + hunt_.Mark() +
         " HTTP/1.1\r\nHost: " + hunt_.Mark() +
         "\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(more) + "\r\n" +
         body;
}

}  // namespace parlor::test
