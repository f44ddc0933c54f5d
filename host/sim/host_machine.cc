#include "sim/host_machine.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "parlor/check_text.h"
#include "parlor/close_reason.h"
#include "parlor/host/server.h"
#include "parlor/hosted_room.h"
#include "parlor/limits.h"
#include "parlor/lockstep/room.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "sim/host_process.h"

namespace parlor::sim {
namespace {

host::ServerOptions ToServerOptions(const HostOptions& options) {
  // A server may have none: the front's loop has the rooms too then.
  constexpr Limit kShards{"shards", 1, 1, host::kShardsMax};
  PARLOR_CHECK_OK(CheckLimit(kShards, "server.shards", options.shards));
  host::ServerOptions server;
  server.shards = options.shards;
  server.shard = options.shard;
  server.gate = options.gate;
  server.stream = options.stream;
  server.drain_ms = options.drain_ms;
  server.access_store = options.access_store;
  PARLOR_CHECK_OK(host::ValidateOptions(server));
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
  RequireProcess("Drain");
  process_->Drain();
}

void HostMachine::Stop(CloseReason reason) {
  RequireProcess("Stop");
  process_->Stop(reason);
}

void HostMachine::CrashNow(Host::Crash how) {
  RequireProcess("CrashNow");
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
  PARLOR_CHECK_TEXT(!running(), name() + ": Start: a process runs");
  process_ = nullptr;  // before the next one listens
  process_ = std::make_unique<HostProcess>(*this, random_.Next64());
}

const lockstep::Room* HostMachine::FindRoom(std::uint32_t number) const {
  return process_ == nullptr ? nullptr : process_->FindRoom(number);
}

const HostedRoom* HostMachine::FindPlayRoom(std::string_view key) const {
  return process_ == nullptr ? nullptr : process_->FindPlayRoom(key);
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

void HostMachine::RequireProcess(const char* verb) const {
  PARLOR_CHECK_TEXT(process_ != nullptr,
                    name() + ": " + verb + ": it has crashed");
}

void HostMachine::ShutPorts() {
  endpoint_.SetListener(nullptr);
  web_port_.Shut();
  tcp_port_.Shut();
}

}  // namespace parlor::sim
