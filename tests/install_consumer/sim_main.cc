// A program of someone else's: two machines in virtual time, one message
// between them over a simulated network.
#include <iostream>
#include <memory>
#include <span>

#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/executor.h"
#include "parlor/sim/network.h"

namespace {

class Printer final : public parlor::ConnectionHandler,
                      public parlor::sim::Listener {
 public:
  void OnOpening(parlor::TimePoint,
                 std::unique_ptr<parlor::sim::Opening> opening) override {
    accepted = opening->Accept();
    accepted->SetHandler(this);
  }
  void OnMessage(parlor::TimePoint, parlor::Connection& connection,
                 parlor::Lane, parlor::MessageKind,
                 std::span<const std::byte> bytes) override {
    std::cout << "received " << parlor::AsText(bytes) << "\n";
    connection.Close(parlor::CloseReason::kNormal);
  }
  void OnClose(parlor::TimePoint, parlor::Connection&,
               const parlor::CloseEvent& event) override {
    std::cout << "closed " << event.code << "\n";
  }

  std::unique_ptr<parlor::Connection> accepted;
};

}  // namespace

int main() {
  using parlor::sim::Endpoint;
  parlor::Executor executor(/*seed=*/1);
  parlor::sim::Network network(executor);
  parlor::sim::Link link(network, parlor::sim::kMobile, "link");
  Endpoint client(network, Endpoint::Turn::kEvents, {}, "client");
  Endpoint host(network, Endpoint::Turn::kEvents, {}, "host");
  Printer printer;
  host.SetListener(&printer);
  const auto connection = client.Connect(link, host, {}, &printer);
  connection->Send(parlor::Lane::kReliable, parlor::MessageKind::kText,
                   parlor::AsBytes("hello"));
  executor.RunFor(5 * parlor::kSecond);
  printer.accepted.reset();
}
