// A host: what world.h says of it, from the inside.
#ifndef PARLOR_HOST_SIM_HOST_IMPL_H_
#define PARLOR_HOST_SIM_HOST_IMPL_H_

#include "parlor/sim/world.h"
#include "sim/host_machine.h"

namespace parlor::sim {

struct Host::Impl final : HostMachine {
  using HostMachine::HostMachine;
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_HOST_IMPL_H_
