// The rest of LeakTour: what asks for a seat, and has one.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "leak_tour.h"
#include "parlor/lockstep/wire.h"

namespace parlor::test {
namespace {

using lockstep::Kind;
using lockstep::Message;

// An INPUT with "zqleak" in what a room relays as it was sent.
constexpr Message kMarkedInput{.kind = Kind::kInput,
                               .slot = 'x',
                               .players = 'z',
                               .mode = 'q',
                               .frame = 'l' | 'e' << 8 | 'a' << 16 | 'k' << 24,
                               .value = 0x11223344};

std::string ResumeProtocol(std::uint32_t token) {
  return "resume." + lockstep::TokenText(token);
}

void Append(std::string& out, std::size_t number, int bytes) {
  for (; bytes > 0; --bytes, number >>= 8) out += static_cast<char>(number);
}

std::string Record(unsigned type, std::string_view payload) {
  std::string out(1, static_cast<char>(type));
  Append(out, payload.size(), 3);
  return out.append(payload);
}

}  // namespace

void LeakTour::Checks() {
  const std::string origin = "Origin: " + std::string(kTourOrigin) + "\r\n";
  const std::string stranger = "Origin: https://" + hunt_.Mark() + "\r\n";
  const auto pass = [](const std::string& text, const std::string& device) {
    return text + "\n" + device;
  };
  Ask("a right code", Post(secrets_.code), 200);
  Ask("a right code of a page", Post(secrets_.code, origin), 200,
      {kTourOrigin});
  Ask("a right code of another page", Post(secrets_.code, stranger), 403);
  Ask("a wrong code", Post("WRONG-" + hunt_.Mark()), 403);
  Ask("a wrong code of a page", Post("WRONG-" + hunt_.Mark(), origin), 403,
      {kTourOrigin});
  Ask("a right pass", Post(pass(secrets_.pass, secrets_.device)), 200);
  Ask("another device", Post(pass(secrets_.pass, secrets_.other_device)), 403);
  Ask("an expired pass", Post(pass(secrets_.expired, secrets_.device)), 403);
  Ask("a revoked pass", Post(pass(secrets_.revoked, secrets_.device)), 403);
  Ask("a forged pass", Post(pass(secrets_.forged, secrets_.device)), 403);
  Ask("no device", Post(secrets_.pass), 403);
  Ask("no device's key", Post(pass(secrets_.pass, hunt_.Mark() + " x")), 403);
  Ask("three lines", Post("a\nb\n" + hunt_.Mark()), 403);
  std::string much;
  while (much.size() <= 1'024) much += hunt_.Mark();
  Ask("too much", Post(much), 413);
  Ask("a broken chunk",
      "POST /invite HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
          hunt_.Mark() + "\r\n",
      400);
}

void LeakTour::Refusals() {
  const std::string room = "fizlet-rooms";
  const auto refused = [&](std::string_view what, const Protocols& protocols,
                           int status, std::string_view more = {}) {
    Ask(what, Upgrade(rooms_, 2, protocols, more), status);
  };
  refused("no room's protocol", {"invite." + secrets_.code}, 400);
  refused("a protocol twice", {room, "invite.A", "invite." + secrets_.code},
          400);
  refused("no access", {room, hunt_.Mark()}, 403);
  refused("a wrong code", {room, "invite." + hunt_.Mark()}, 403);
  refused("another page", WithCode(), 403,
          "Origin: https://" + hunt_.Mark() + "\r\n");
  refused("no device", {room, "pass." + secrets_.pass}, 403);
  refused("another device",
          {room, "pass." + secrets_.pass, "device." + secrets_.other_device},
          403);
  for (const std::string& pass :
       {secrets_.expired, secrets_.revoked, secrets_.forged, hunt_.Mark()}) {
    refused("a wrong pass", {room, "pass." + pass, "device." + secrets_.device},
            403);
  }
  Ask("no players", Upgrade(0, 0, WithCode()), 400);
  Ask("more players than seats", Upgrade(0, 32, WithCode()), 400);
  const Visitor late = Visit();
  late->Send(Upgrade(0, 2, WithCode()).substr(0, 300));
  late->Reset();
}

void LeakTour::Match() {
  const std::uint32_t room = rooms_++;
  const Visitor first = Join(room, 2, WithCode());
  Ask("another size", Upgrade(room, 3, WithCode()), 409);
  const Visitor second = Join(room, 2, WithPass());
  const std::uint32_t token = Hear(*first, Kind::kWelcome).value;
  const std::uint32_t other = Hear(*second, Kind::kWelcome).value;
  EXPECT_NE(token, other);
  const Visitor third = Join(room, 2, WithCode());
  ClosedWith(*third, 4000);

  first->SendLockstep(kMarkedInput);
  Message relayed = kMarkedInput;
  relayed.slot = 0;
  EXPECT_EQ(Hear(*second, Kind::kInput), relayed);
  ++seen_["relayed"];
  const std::string ping = hunt_.Mark();
  first->SendFrame(0x89, ping);
  const auto pong = first->ReadFrame();
  ASSERT_TRUE(pong && pong->type == 10);
  hunt_.Look("a pong", pong->payload, {ping});
  ++seen_["ping answered"];

  Resumes(room, other);
  ClosedWith(*second, 4001);
  const std::string reason = hunt_.Mark();
  first->SendFrame(0x88, "\x0b\xb9" + reason);
  ClosedWith(*first, 3001, reason);
}

// Of a seat that is taken over.
void LeakTour::Resumes(std::uint32_t room, std::uint32_t token) {
  const auto with = [&](const std::string& resume) {
    Protocols protocols = WithPass();
    protocols.push_back(resume);
    return protocols;
  };
  ClosedWith(*Join(room, 2, with("resume." + hunt_.Mark())), 4002);
  ClosedWith(*Join(room, 2, with("resume.")), 4002);
  ClosedWith(*Join(room, 2, with(ResumeProtocol(token ^ 1))), 4002);
  ClosedWith(*Join(kTourRooms - 2, 2, with(ResumeProtocol(token))), 4002);
  const Visitor back = Join(room, 2, with(ResumeProtocol(token)));
  EXPECT_EQ(Hear(*back, Kind::kWelcome).value, token);
  ++seen_["resumed"];
}

void LeakTour::Kicks() {
  struct Row {
    unsigned first;
    std::string payload;
    int code;
    bool answered = false;  // with what it said
  };
  const std::string mark = hunt_.Mark();
  const Row rows[] = {
      {0x81, mark, 1009},               // text
      {0x82, mark + "12345678", 1009},  // not a message's size
      {0x82, std::string(300, 'z') + mark, 1009},
      {0x81, "\xff\xfe" + mark, 1007},        // not UTF-8
      {0x83, mark, 1002},                     // no such frame
      {0xc2, mark, 1002},                     // a reserved bit
      {0x09, mark, 1002},                     // a ping in two
      {0x88, "\x03\xed" + mark, 1002},        // a code that is never sent
      {0x88, "\x03\xe8" + mark, 1000, true},  // a goodbye
      {0x88, "\x0b\xb8" + mark, 3000, true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.first);
    const Visitor visitor = Join(rooms_++, 1, WithCode());
    visitor->SendFrame(row.first, row.payload);
    ClosedWith(*visitor, row.code, row.answered ? mark : "");
  }
  const Visitor plain = Join(rooms_++, 1, WithCode());
  plain->Send("\x82\x0c" + mark + mark);  // not masked
  ClosedWith(*plain, 1002);
  const Visitor fast = Join(rooms_++, 1, WithCode());
  for (int i = 0; i < 2'000; ++i) fast->SendLockstep(kMarkedInput);
  ClosedWith(*fast, 1008);
}

std::string LeakTour::Hello(std::uint32_t room, int players,
                            const Protocols& protocols) {
  const std::string target =
      "/room/" + std::to_string(room) + "?players=" + std::to_string(players) +
      "&name=" + hunt_.Mark() + "&invite=" + secrets_.code;
  std::string hello = {1, 0};
  Append(hello, target.size(), 2);
  hello += target;
  Append(hello, protocols.size(), 1);
  for (const std::string& protocol : protocols) {
    Append(hello, protocol.size(), 2);
    hello += protocol;
  }
  return Record(6, hello);
}

void LeakTour::RefusedOverTcp(const std::string& bytes, int status) {
  const Visitor visitor = Visit(LeakVisitor::Port::kTcp);
  visitor->Send(bytes);
  const auto answer = visitor->ReadRecord();
  ASSERT_TRUE(answer.has_value());
  hunt_.Look("an answer over TCP", answer->payload);
  ASSERT_EQ(answer->type, 7u);
  const int told = static_cast<unsigned char>(answer->payload[0]) |
                   static_cast<unsigned char>(answer->payload[1]) << 8;
  EXPECT_EQ(told, status);
  ++seen_["refused " + std::to_string(told)];
}

void LeakTour::TcpSeat(const Protocols& protocols) {
  const Visitor visitor = Visit(LeakVisitor::Port::kTcp);
  visitor->Send(Hello(rooms_++, 1, protocols));
  const auto hello = visitor->ReadRecord();
  ASSERT_TRUE(hello.has_value());
  ASSERT_EQ(hello->type, 6u);
  hunt_.Look("a hello over TCP", hello->payload);
  std::optional<Message> welcome;
  while (!welcome) {
    const auto record = visitor->ReadRecord();
    ASSERT_TRUE(record.has_value());
    welcome = record->lockstep();
    if (welcome && welcome->kind != Kind::kWelcome) welcome.reset();
  }
  hunt_.ForbidToken(welcome->value);
  ++seen_["seated over TCP"];
  visitor->Send(Record(1, hunt_.Mark()));
  while (const auto record = visitor->ReadRecord()) {
    hunt_.Look("a record over TCP", record->payload);
    if (record->type != 5) continue;
    ++seen_["closed over TCP"];
    return;
  }
}

void LeakTour::Tcp() {
  const std::string room = "fizlet-rooms";
  TcpSeat(WithCode());
  TcpSeat(WithPass());
  RefusedOverTcp(Hello(rooms_, 2, {room, "invite." + hunt_.Mark()}), 403);
  RefusedOverTcp(
      Hello(rooms_, 2,
            {room, "pass." + secrets_.pass, "device." + secrets_.other_device}),
      403);
  RefusedOverTcp(
      Hello(rooms_, 2,
            {room, "pass." + secrets_.forged, "device." + secrets_.device}),
      403);
  RefusedOverTcp(Hello(4'000'000'000u, 2, WithCode()), 404);
  RefusedOverTcp(Hello(rooms_, 2, {"invite." + secrets_.code}), 400);
  RefusedOverTcp(Record(6, hunt_.Mark()), 426);
  RefusedOverTcp(Record(6, std::string("\x01\x00", 2) + hunt_.Mark()), 400);
  for (const std::string& garbage :
       {hunt_.Mark() + hunt_.Mark(), Record(2, hunt_.Mark()),
        Record(6, std::string(9'000, 'z') + hunt_.Mark()),
        std::string("GET / HTTP/1.1\r\n\r\n") + hunt_.Mark()}) {
    const Visitor visitor = Visit(LeakVisitor::Port::kTcp);
    visitor->Send(garbage);
    hunt_.Look("an answer to garbage", visitor->ReadToEnd());
    ++seen_["garbage over TCP"];
  }
}

void LeakTour::Rates() {
  const std::string address = NextAddress();
  for (int i = 0; i < 2 * kTourJoinRate; ++i) {
    LeakVisitor visitor(door_, address);
    visitor.Send(
        i % 2 == 0
            ? Post("WRONG-" + hunt_.Mark())
            : Upgrade(rooms_, 2, {"fizlet-rooms", "invite." + hunt_.Mark()}));
    const std::string answer = visitor.ReadToEnd();
    Answered("one of many", answer,
             answer.starts_with("HTTP/1.1 429") ? 429 : 403);
  }
}

void LeakTour::Proxies() {
  const auto from = [&](const std::string& proxy, const std::string& said,
                        const std::string& body, int status) {
    LeakVisitor visitor(door_, proxy);
    visitor.Send(Post(body, "X-Forwarded-For: " + said +
                                "\r\nForwarded: for=203.0.113.9\r\n"));
    Answered("behind a proxy", visitor.ReadToEnd(), status);
  };
  for (int i = 1; i <= 20; ++i) {
    const std::string client = "203.0.113." + std::to_string(i);
    from("127.84.7.1", client, "WRONG-" + hunt_.Mark(), 403);
    from("127.84.7.1",
         hunt_.Mark() + ", 2001:db8:0:" + std::to_string(i) + "::1",
         "WRONG-" + hunt_.Mark(), 403);
  }
  from("127.84.7.2", hunt_.Mark(), secrets_.code, 200);
  from("127.84.7.3", "203.0.113.77, 127.84.7.4", secrets_.code, 200);
  from(NextAddress(), "203.0.113.78", secrets_.code, 200);
}

void LeakTour::All() {
  Requests();
  Checks();
  Refusals();
  Match();
  Kicks();
  Tcp();
  Rates();
  Proxies();
  for (int seat = 0; seat < 2; ++seat) {
    kept_.push_back(Join(kTourKeptRoom, 2, WithCode()));
  }
  kept_token_ = Hear(*kept_[0], Kind::kWelcome).value;
  Hear(*kept_[1], Kind::kWelcome);
  kept_[0]->SendLockstep(kMarkedInput);
  Hear(*kept_[1], Kind::kInput);
}

void LeakTour::TakenBack(std::uint32_t token) {
  Protocols protocols = WithCode();
  protocols.push_back(ResumeProtocol(token));
  const Visitor back = Join(kTourKeptRoom, 2, protocols);
  EXPECT_EQ(Hear(*back, Kind::kWelcome).value, token);
  ++seen_["resumed"];
}

void LeakTour::Drained() {
  const std::string health =
      "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  constexpr int kPatience = 1'000;
  for (int tries = 0; count("HTTP 503") == 0 && tries < kPatience; ++tries) {
    const Visitor visitor = Visit();
    visitor->Send(health);
    const std::string answer = visitor->ReadToEnd();
    const bool begun = answer.starts_with("HTTP/1.1 503");
    Answered("a health check", answer, begun ? 503 : 200);
  }
  Ask("a join while it drains", Upgrade(rooms_, 2, WithCode()), 503);
}

void LeakTour::Closed() {
  for (const Visitor& one : kept_) ClosedWith(*one, 1012);
  kept_.clear();
}

}  // namespace parlor::test
