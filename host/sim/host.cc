#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "parlor/close_reason.h"
#include "parlor/hosted_room.h"
#include "parlor/lockstep/room.h"
#include "parlor/sim/world.h"
#include "sim/host_impl.h"
#include "sim/recorder.h"

namespace parlor::sim {

Host::Host(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Host::~Host() = default;

bool Host::running() const { return impl_->running(); }
bool Host::stopped() const { return impl_->stopped(); }

void Host::Drain() {
  impl_->recorder.Mark(impl_->name(), "drains");
  impl_->Drain();
}
void Host::Stop(CloseReason reason) {
  impl_->recorder.Mark(impl_->name(), "stops");
  impl_->Stop(reason);
}
void Host::CrashNow(Crash how) {
  impl_->recorder.Mark(impl_->name(),
                       how == Crash::kMachine ? "loses power" : "crashes");
  impl_->CrashNow(how);
}
void Host::Start() {
  impl_->recorder.Mark(impl_->name(), "starts");
  impl_->Start();
}

const lockstep::Room* Host::FindRoom(std::uint32_t number) const {
  return impl_->FindRoom(number);
}
const HostedRoom* Host::FindPlayRoom(std::string_view key) const {
  return impl_->FindPlayRoom(key);
}
std::size_t Host::rooms() const { return impl_->figures().rooms; }
std::size_t Host::players() const { return impl_->figures().players; }
std::size_t Host::connections() const { return impl_->figures().connections; }

}  // namespace parlor::sim
