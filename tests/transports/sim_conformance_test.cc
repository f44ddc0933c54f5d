// The simulated network keeps the rules of every connection, over a link that
// is perfect and over those that are not.
#include "parlor/sim/network.h"
#include "support/connection_conformance.h"
#include "support/sim_link.h"

namespace parlor {
namespace {

using sim::Endpoint;
using test::SimLink;

using Transports = testing::Types<
    SimLink<sim::kPerfect, Endpoint::Turn::kEvents, First::kClient>,
    SimLink<sim::kPerfect, Endpoint::Turn::kPolled, First::kServer>,
    SimLink<sim::kLan, Endpoint::Turn::kEvents, First::kServer>,
    SimLink<sim::kLan, Endpoint::Turn::kPolled, First::kClient>,
    SimLink<sim::kMobile, Endpoint::Turn::kEvents, First::kClient>,
    SimLink<sim::kMobile, Endpoint::Turn::kPolled, First::kServer>>;

INSTANTIATE_TYPED_TEST_SUITE_P(Sim, ConnectionConformance, Transports);

}  // namespace
}  // namespace parlor
