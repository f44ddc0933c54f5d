// SqliteAccessStore: an AccessStore in a file of SQLite's (WAL), which survives
// a process that is killed and a machine that loses power. It has a thread of
// its own, which does all the waiting for the disk, and notices within a second
// what another process (parlor-host invite, parlor-host pass) has changed.
#ifndef PARLOR_HOST_SQLITE_ACCESS_STORE_H_
#define PARLOR_HOST_SQLITE_ACCESS_STORE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/host/access_store.h"

namespace parlor::host {

class SqliteAccessStore : public AccessStore {
 public:
  // What the operator should know: OK is "works again". On the store's thread.
  using StatusHook = std::function<void(const absl::Status& status)>;

  // Makes the file (mode 0600) when there is none. FailedPrecondition: it is
  // not such a file; nothing in it changes. Unavailable: it cannot be had, or
  // the system has no thread.
  static absl::StatusOr<std::shared_ptr<SqliteAccessStore>> Open(
      const std::string& path, StatusHook status = {});
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_SQLITE_ACCESS_STORE_H_
