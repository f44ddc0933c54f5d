// A host: what world.h says of it, from the inside.
#ifndef PARLOR_HOST_SIM_HOST_IMPL_H_
#define PARLOR_HOST_SIM_HOST_IMPL_H_

#include <string>
#include <utility>

#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "sim/host_machine.h"
#include "sim/recorder.h"

namespace parlor::sim {

struct Host::Impl final : HostMachine {
  // As HostMachine's; `records` outlives it.
  Impl(Network& network, Recorder& records, const HostOptions& options,
       std::string name)
      : HostMachine(network, options, std::move(name)), recorder(records) {}

  Recorder& recorder;
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_HOST_IMPL_H_
