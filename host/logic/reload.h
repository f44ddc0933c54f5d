// What a server's options may become while it runs.
#ifndef PARLOR_HOST_LOGIC_RELOAD_H_
#define PARLOR_HOST_LOGIC_RELOAD_H_

#include "absl/status/status.h"
#include "parlor/host/server.h"

namespace parlor::host {

// OK, or InvalidArgument: `next` is not valid, or the first field in which it
// may not differ from `present` and does.
absl::Status CheckReload(const ServerOptions& present,
                         const ServerOptions& next);

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_RELOAD_H_
