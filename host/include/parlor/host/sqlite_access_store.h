// SqliteAccessStore: an AccessStore in a file of SQLite's (WAL), which survives
// a process that is killed and a machine that loses power. It has a thread of
// its own, which does all the waiting for the disk, and notices within a second
// what another process (parlor-host invite, parlor-host pass) has changed. It
// is in the library parlor::host_sqlite.
//
// Any thread, but no hook may end a watch or the store: both wait for the hook.
// Answers come in the order of the uses; kFailed comes before them when more
// than kUsesMax wait.
#ifndef PARLOR_HOST_SQLITE_ACCESS_STORE_H_
#define PARLOR_HOST_SQLITE_ACCESS_STORE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/host/access_store.h"

namespace parlor::host {

// A known device takes microseconds, a new one as long as the disk does: what
// more than that wait for is not the answer that they would get in time.
inline constexpr std::size_t kUsesMax = 4'096;

class SqliteAccessStore : public AccessStore {
 public:
  // What the operator should know, once each: that codes or locks cannot be
  // read or kept any more (uses are answered kFailed, the codes stay those that
  // were read last), and OK, when all of it works again. On the store's thread.
  using StatusHook = std::function<void(const absl::Status& status)>;

  // Makes the file (mode 0600) when there is none. FailedPrecondition: it is
  // not such a file; nothing in it changes. Unavailable: it cannot be had, or
  // the system has no thread. InvalidArgument: the path cannot be one. Its end
  // waits for what the thread is at, a second or two at most.
  static absl::StatusOr<std::shared_ptr<SqliteAccessStore>> Open(
      const std::string& path, StatusHook status = {});
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_SQLITE_ACCESS_STORE_H_
