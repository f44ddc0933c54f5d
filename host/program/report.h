// What parlor-host says on stdout when it is ready: where it listens, and what
// its caps add up to at the worst. Lines without anything secret.
#ifndef PARLOR_HOST_PROGRAM_REPORT_H_
#define PARLOR_HOST_PROGRAM_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/host/server.h"

namespace parlor::host_program {

// "listening on http://127.0.0.1:8787", and of a TCP port "listening on
// tcp://127.0.0.1:8788"; https and tls with TLS. `port` and `tcp_port` are
// those that are listened on; tcp_port 0: there is none.
std::string ListeningText(const host::ServerOptions& options,
                          std::uint16_t port, std::uint16_t tcp_port);

// Messages a second, in and relayed.
std::string WorstCaseText(const host::ServerOptions& options);

// What the host keeps in memory at the worst: `count` of what takes `each` at
// most.
struct MemoryTerm {
  std::string_view name;
  std::uint64_t count;
  std::uint64_t each;

  std::uint64_t bytes() const { return count * each; }
};
std::vector<MemoryTerm> MemoryTerms(const host::ServerOptions& options);

// Their sum, and a line for each.
std::string MemoryText(const host::ServerOptions& options);

// Descriptors that the caps need.
std::uint64_t DescriptorsNeeded(const host::ServerOptions& options);

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_REPORT_H_
