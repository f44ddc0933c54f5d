#include "sim/host_machine.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/host/server.h"
#include "parlor/lockstep/room.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/status.h"
#include "sim/host_process.h"

namespace parlor::sim {
namespace {

host::ServerOptions ToServerOptions(const HostOptions& options) {
  PARLOR_CHECK(options.shards >= 1);
  host::ServerOptions server;
  server.shards = options.shards;
  server.shard = options.shard;
  server.gate = options.gate;
  server.stream = options.stream;
  server.drain_ms = options.drain_ms;
  server.access_store = options.access_store;
  const absl::Status status = host::ValidateOptions(server);
  if (!status.ok()) {
    CheckFailed(__FILE__, __LINE__, std::string(StatusText(status)).c_str());
  }
  return server;
}

}  // namespace

HostMachine::HostMachine(Network& network, const HostOptions& options,
                         std::string name)
    : network_(network),
      options_(ToServerOptions(options)),
      keeps_matches_(options.keeps_matches),
      records_(options.records),
      random_(network.executor().random().Next64()),
      endpoint_(network, Endpoint::Turn::kEvents, options.stream,
                std::move(name)) {
  Start();
}

HostMachine::~HostMachine() { ShutPorts(); }

void HostMachine::Drain() {
  PARLOR_CHECK(process_ != nullptr);
  process_->Drain();
}

void HostMachine::Stop(CloseReason reason) {
  PARLOR_CHECK(process_ != nullptr);
  process_->Stop(reason);
}

void HostMachine::CrashNow(Host::Crash how) {
  PARLOR_CHECK(process_ != nullptr);
  if (how == Host::Crash::kMachine) {
    endpoint_.Unplug();
    web_port_.Unplug();
    tcp_port_.Unplug();
  } else {
    ShutPorts();
  }
  process_ = nullptr;
}

void HostMachine::Start() {
  PARLOR_CHECK(!running());
  process_ = nullptr;  // before the next one listens
  process_ = std::make_unique<HostProcess>(*this, random_.Next64());
}

const lockstep::Room* HostMachine::FindRoom(std::uint32_t number) const {
  return process_ == nullptr ? nullptr : process_->FindRoom(number);
}

host::ServerFigures HostMachine::figures() const {
  return process_ == nullptr ? host::ServerFigures{} : process_->figures();
}

std::string HostMachine::AddressOf(const Link& link) {
  // From 10.0.0.1 on.
  const auto next = static_cast<std::uint32_t>(addresses_.size() + 1);
  const std::uint32_t number =
      addresses_.try_emplace(&link, next).first->second;
  std::string text = "10";
  for (const int shift : {16, 8, 0}) {
    text += '.' + std::to_string((number >> shift) & 0xff);
  }
  return text;
}

void HostMachine::ShutPorts() {
  endpoint_.SetListener(nullptr);
  web_port_.Shut();
  tcp_port_.Shut();
}

}  // namespace parlor::sim
