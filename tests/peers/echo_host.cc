// A server that foreign WebSocket peers are tried against. Every message comes
// back as it was; a text that begins with "do " is an order instead:
//   do close <code> [text]  closes
//   do abort                aborts
//   do state <text>         sends the text on the state lane
//   do flood <n> <size>     sends n binary messages of that size, or as many as
//                           the lane takes
// A request for /refuse/<status> is refused with it. What it says, one a line:
//   listening on <port>
//   authority, certificate, key <path>         with --tls, before that
//   open <id> <target> <subprotocol or -> <origin or ->
//   control <id> <ping or pong>
//   close <id> close <code> <us or peer> <refusal> <text, hexadecimal>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/tls.h"
#include "peers/peer_program.h"
#include "support/test_certificate.h"

namespace parlor::peers {
namespace {

class EchoHost final : public NetListenerHandler, private ConnectionHandler {
 public:
  explicit EchoHost(std::vector<std::string> protocols)
      : protocols_(std::move(protocols)) {}

  Verdict OnKnock(TimePoint, const Knock& knock) override {
    std::string_view target = knock.request.target;
    constexpr std::string_view kRefuse = "/refuse/";
    if (target.starts_with(kRefuse)) {
      target.remove_prefix(kRefuse.size());
      const auto status = TakeNumber<std::uint16_t>(target);
      return {.refusal = {.status = status, .retry_after_s = 7},
              .protocol = {}};
    }
    return {.refusal = {}, .protocol = Choose(knock.request)};
  }

  void OnConnection(TimePoint, const Knock& knock,
                    std::unique_ptr<Connection> connection) override {
    const std::string_view protocol = Choose(knock.request);
    const int id = ++last_id_;
    Say(absl::StrCat("open ", id, " ", knock.request.target, " ",
                     std::string(protocol.empty() ? "-" : protocol), " ",
                     knock.request.origin.value_or("-")));
    Connection* key = connection.get();
    connections_[key] = {id, std::move(connection)};
    key->SetHandler(this);
  }

 private:
  struct Entry {
    int id;
    std::unique_ptr<Connection> connection;
  };

  // The first offered one that we speak.
  std::string_view Choose(const Request& request) const {
    for (const std::string& offered : request.protocols) {
      if (std::ranges::count(protocols_, offered) != 0) return offered;
    }
    return {};
  }

  void OnMessage(TimePoint, Connection& connection, Lane, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    std::string_view text = AsText(bytes);
    constexpr std::string_view kOrder = "do ";
    if (kind == MessageKind::kText && text.starts_with(kOrder)) {
      text.remove_prefix(kOrder.size());
      ObeyHost(connection, text);
      return;
    }
    connection.Send(Lane::kReliable, kind, bytes);
  }

  static void ObeyHost(Connection& connection, std::string_view order) {
    const std::string_view verb = TakeWord(order);
    if (Obey(connection, verb, order)) return;
    if (verb == "state") {
      connection.Send(Lane::kState, MessageKind::kText, AsBytes(order));
    } else if (verb == "flood") {
      const auto count = TakeNumber<int>(order);
      const std::vector<std::byte> bytes(TakeNumber<std::size_t>(order));
      for (int i = 0; i < count && connection.is_open(); ++i) {
        connection.Send(Lane::kReliable, MessageKind::kBinary, bytes);
      }
    }
  }

  void OnControl(TimePoint, Connection& connection, ControlKind kind) override {
    Say(absl::StrCat("control ", connections_.at(&connection).id,
                     kind == ControlKind::kPing ? " ping" : " pong"));
  }

  void OnClose(TimePoint, Connection& connection,
               const CloseEvent& event) override {
    Say(absl::StrCat("close ", connections_.at(&connection).id, " ",
                     Describe(event)));
    connections_.erase(&connection);
  }

  const std::vector<std::string> protocols_;
  int last_id_ = 0;
  std::map<Connection*, Entry> connections_;
};

int Main(int argc, char** argv) {
  CLI::App app("Echoes WebSocket messages until its standard input ends.");
  CommonOptions common;
  bool tls = false;
  std::vector<std::string> protocols;
  common.Declare(app);
  app.add_flag("--tls", tls, "wss, with a certificate made on the spot");
  app.add_option("--protocol", protocols, "A subprotocol that it speaks");
  CLI11_PARSE(app, argc, argv);

  NetListenerOptions options;
  options.stream = common.stream;
  std::optional<test::TestAuthority> authority;
  if (tls) {
    const TlsServerFiles files = authority.emplace().IssueLocal();
    Say(absl::StrCat("authority ", authority->path()));
    Say(absl::StrCat("certificate ", files.certificate_path));
    Say(absl::StrCat("key ", files.key_path));
    auto server = TlsServer::FromFiles(files);
    if (!server.ok()) {
      std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
      return 1;
    }
    options.tls = *std::move(server);
  }

  NetLoop loop;
  EchoHost host(std::move(protocols));
  const auto listener = NetListener::Create(loop, options, &host);
  if (!listener.ok()) {
    std::fprintf(stderr, "%s\n", listener.status().ToString().c_str());
    return 1;
  }
  Say(absl::StrCat("listening on ", (*listener)->port()));
  InputLines input(loop, common.seconds, [](std::string_view) {});
  loop.Run();
  return 0;
}

}  // namespace
}  // namespace parlor::peers

int main(int argc, char** argv) {
  return parlor::peers::RunMain(parlor::peers::Main, argc, argv);
}
