// AccessDatabase: the codes, passes, device locks and revocations of a host, in
// a file of SQLite's. Every call waits for the disk: for the thread of
// SqliteAccessStore, and for the command line.
//
// Several processes may have one file open: a host, and the command line that
// changes it. What a call has said to be done outlives the process and the
// machine's power. One thread at a time.
#ifndef PARLOR_HOST_STORAGE_ACCESS_DATABASE_H_
#define PARLOR_HOST_STORAGE_ACCESS_DATABASE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/host/access_store.h"

namespace parlor::host {

class AccessDatabase {
 public:
  // Times are seconds since 1970.
  struct Code {
    std::int64_t id = 0;  // counted from 1; never given twice
    std::string label;    // who it is for, as the operator wrote it
    std::int64_t made_s = 0;
    std::optional<std::int64_t> revoked_s;
  };
  struct Pass {
    std::uint64_t id = 0;
    std::string label;
    std::int64_t made_s = 0;
    std::int64_t expires_s = 0;
    std::int64_t devices_max = 1;
    std::int64_t devices = 0;  // that it is locked to
    std::optional<std::int64_t> revoked_s;
  };

  // Makes the file (mode 0600) when there is none. FailedPrecondition: it is no
  // database, another program's or a later version's; nothing in it changes.
  static absl::StatusOr<std::unique_ptr<AccessDatabase>> Open(
      const std::string& path);
  virtual ~AccessDatabase() = default;

  // AlreadyExists: a code that lets in has that hash. ResourceExhausted: there
  // are kCodesMax of them.
  virtual absl::StatusOr<std::int64_t> AddCode(const Sha256& hash,
                                               std::string_view label,
                                               std::int64_t now_s) = 0;
  // NotFound: no code has this id. Of one that is revoked already, OK.
  virtual absl::Status RevokeCode(std::int64_t id, std::int64_t now_s) = 0;
  virtual absl::StatusOr<std::vector<Code>> Codes() = 0;  // by id
  // Of the codes that let in.
  virtual absl::StatusOr<std::vector<Sha256>> CodeHashes() = 0;

  // For the list alone: whoever has the secret makes passes without this.
  virtual absl::Status AddPass(const Pass& pass) = 0;
  // Of a pass that this database has never seen too. It is kept until
  // `expires_s`, which is what the pass says or the latest that any may.
  virtual absl::Status RevokePass(std::uint64_t id, std::int64_t expires_s,
                                  std::int64_t now_s) = 0;
  virtual absl::StatusOr<std::vector<Pass>> Passes() = 0;  // by made_s, id

  // Locks the device to the pass when there is room for it. kFailed is never
  // answered; a status is. What has expired at now_s is forgotten some time.
  virtual absl::StatusOr<PassAnswer> UsePass(const PassUse& use,
                                             std::int64_t now_s) = 0;

  // Differs from the last call's answer when another process or another
  // connection has changed the file since.
  virtual absl::StatusOr<std::int64_t> Version() = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_STORAGE_ACCESS_DATABASE_H_
