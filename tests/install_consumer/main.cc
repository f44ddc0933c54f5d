// A program of someone else's: two connections joined in memory, one message.
#include <iostream>
#include <string_view>

#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/transports/memory_pipe.h"

namespace {

class Printer final : public parlor::ConnectionHandler {
 public:
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
};

}  // namespace

int main() {
  parlor::PipePump pump;
  parlor::PipePair pipe = parlor::MakePipe(pump, pump);
  Printer printer;
  pipe.first->SetHandler(&printer);
  pipe.second->SetHandler(&printer);
  pipe.first->Send(parlor::Lane::kReliable, parlor::MessageKind::kText,
                   parlor::AsBytes("hello"));
  while (pump.has_ready()) pump.Pump(parlor::TimePoint{});
}
