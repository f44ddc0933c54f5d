#include "support/connection_conformance.h"
#include "support/pipe_link.h"

namespace parlor {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(OnePump, ConnectionConformance, PipeLink<1>);
INSTANTIATE_TYPED_TEST_SUITE_P(TwoPumps, ConnectionConformance, PipeLink<2>);

}  // namespace
}  // namespace parlor
