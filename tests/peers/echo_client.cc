// A client that is tried against foreign WebSocket servers. It opens one
// connection to the given URL and does what it is told, one order a line:
//   send <reliable or state> <text or binary> [bytes, hexadecimal]
//   close <code> [text]
//   abort
// and says what happens, one event a line:
//   open
//   sent <queued, replaced, overflow or closed>
//   message <text or binary> [bytes, hexadecimal]
//   control <ping or pong>
//   close <code> <us or peer> <refusal> <text, hexadecimal>
// An order that it does not know ends it with an error.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/host/os_entropy.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/tls.h"
#include "peers/peer_program.h"
#include "support/hex.h"

namespace parlor::peers {
namespace {

class Events final : public ConnectionHandler {
 private:
  void OnOpen(TimePoint, Connection&) override { Say("open"); }

  void OnMessage(TimePoint, Connection&, Lane, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    Say(absl::StrCat("message ", std::string(KindName(kind)), " ",
                     test::Hex(bytes)));
  }

  void OnControl(TimePoint, Connection&, ControlKind kind) override {
    Say(kind == ControlKind::kPing ? "control ping" : "control pong");
  }

  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    Say(Describe(event));
  }
};

void ObeyClient(Connection& connection, std::string_view order) {
  const std::string_view verb = TakeWord(order);
  if (Obey(connection, verb, order)) return;
  if (verb != "send") {
    std::fprintf(stderr, "no such order: %s\n", std::string(verb).c_str());
    std::exit(2);
  }
  const Lane lane = TakeWord(order) == "state" ? Lane::kState : Lane::kReliable;
  const MessageKind kind =
      TakeWord(order) == "text" ? MessageKind::kText : MessageKind::kBinary;
  const SendResult result = connection.Send(lane, kind, test::FromHex(order));
  Say(absl::StrCat("sent ", std::string(SendResultName(result))));
}

int Main(int argc, char** argv) {
  CLI::App app("Opens a connection and obeys its standard input.");
  CommonOptions common;
  std::string url;
  std::string authority;
  Hello hello;
  common.Declare(app);
  app.add_option("url", url)->required();
  app.add_option("--authority", authority, "PEM file of whom to trust");
  app.add_option("--room", hello.room);
  app.add_option("--players", hello.players);
  app.add_option("--access", hello.access);
  app.add_option("--resume", hello.resume);
  CLI11_PARSE(app, argc, argv);

  NetConnectorOptions options;
  options.stream = common.stream;
  if (!authority.empty()) {
    auto tls = TlsClient::Create({.ca_path = authority});
    if (!tls.ok()) {
      std::fprintf(stderr, "%s\n", tls.status().ToString().c_str());
      return 1;
    }
    options.tls = *std::move(tls);
  }

  NetLoop loop;
  host::OsEntropy entropy;
  const auto connector = MakeNetConnector(loop, entropy, url, options);
  if (!connector.ok()) {
    std::fprintf(stderr, "%s\n", connector.status().ToString().c_str());
    return 1;
  }
  Events events;
  std::unique_ptr<Connection> connection;
  // On the loop, so that its time is that of a turn.
  loop.Post(
      [&] { connection = (*connector)->Connect(loop.now(), hello, &events); });
  InputLines input(loop, common.seconds, [&](std::string_view line) {
    ObeyClient(*connection, line);
  });
  loop.Run();
  return 0;
}

}  // namespace
}  // namespace parlor::peers

int main(int argc, char** argv) {
  return parlor::peers::RunMain(parlor::peers::Main, argc, argv);
}
