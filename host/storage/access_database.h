// AccessDatabase: the codes, passes, device locks and revocations of a host, in
// a file of SQLite's. Every call waits for the disk: for the thread of
// SqliteAccessStore, and for the command line.
//
// Several processes may have one file open: a host, and the command line that
// changes it. What a call has said to be done outlives the process and the
// machine's power. One thread at a time.
//
// Beside what each call says, a status is Unavailable (the disk is full or
// fails; another process has kept the file locked for a second, or still does;
// or the file was moved, replaced or deleted; later may do) or DataLoss (the
// file is damaged); nothing has changed then. None holds a hash or a label.
//
// A file that may not become as large (RLIMIT_FSIZE) is a full disk to a thread
// that has SIGXFSZ blocked or ignored, and else the end of the process.
#ifndef PARLOR_HOST_STORAGE_ACCESS_DATABASE_H_
#define PARLOR_HOST_STORAGE_ACCESS_DATABASE_H_

#include <cstddef>
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

inline constexpr std::size_t kLabelBytesMax = 64;

// Empty: it may be a label, which is up to kLabelBytesMax bytes of UTF-8
// without control characters and without those that turn the direction of a
// line. Otherwise why not, in words that hold nothing of it.
std::string_view WhatIsWrongWithLabel(std::string_view label);

class AccessDatabase {
 public:
  // Times are seconds since 1970. Passes, locks and revocations are forgotten
  // some time after they have expired, and not within kKeptAfterExpiryS of it.
  struct Code {
    std::int64_t id = 0;  // counted from 1; never given twice
    std::string label;    // who it is for, as the operator wrote it
    std::int64_t made_s = 0;
    std::optional<std::int64_t> revoked_s{};
  };
  struct Pass {
    std::uint64_t id = 0;
    std::string label;
    std::int64_t made_s = 0;
    std::int64_t expires_s = 0;
    std::int64_t devices_max = 1;
    std::int64_t devices = 0;  // that it is locked to
    std::optional<std::int64_t> revoked_s{};
  };

  // Makes the file (mode 0600, as "-wal" and "-shm" beside it are) when there
  // is none. FailedPrecondition: it is empty, no database, another program's, a
  // later version's or damaged; nothing in it changes. InvalidArgument: the
  // path cannot be one. Statuses name the path.
  static absl::StatusOr<std::unique_ptr<AccessDatabase>> Open(
      const std::string& path);
  virtual ~AccessDatabase() = default;

  // AlreadyExists: a code that lets in has that hash. ResourceExhausted: there
  // are kCodesMax (gate_options.h) of them. InvalidArgument: the label.
  virtual absl::StatusOr<std::int64_t> AddCode(const Sha256& hash,
                                               std::string_view label,
                                               std::int64_t now_s) = 0;
  // NotFound: no code has this id. Of one that is revoked already, OK.
  virtual absl::Status RevokeCode(std::int64_t id, std::int64_t now_s) = 0;
  virtual absl::StatusOr<std::vector<Code>> Codes() = 0;  // by id
  // Of the codes that let in.
  virtual absl::StatusOr<std::vector<Sha256>> CodeHashes() = 0;

  // For the list alone: whoever has the secret makes passes without this. Its
  // `devices` and `revoked_s` do not count. AlreadyExists: the id.
  // InvalidArgument: the label, or devices_max above its ceiling.
  virtual absl::Status AddPass(const Pass& pass) = 0;
  // Of a pass that this database has never seen too. It is kept until
  // `expires_s`, which is what the pass says or the latest that any may.
  virtual absl::Status RevokePass(std::uint64_t id, std::int64_t expires_s,
                                  std::int64_t now_s) = 0;
  // What was added; by made_s, id.
  virtual absl::StatusOr<std::vector<Pass>> Passes() = 0;

  // Locks the device to the pass when there is room for it. kFailed is never
  // answered; a status is. Writes only when the device is new, so that another
  // process that keeps the file locked, or a full disk, keeps out new ones
  // only.
  virtual absl::StatusOr<PassAnswer> UsePass(const PassUse& use,
                                             std::int64_t now_s) = 0;

  // Differs from the last call's answer when another process or another
  // connection has changed the file since.
  virtual absl::StatusOr<std::int64_t> Version() = 0;

  // Writes what is there already: OK when a change would be kept now.
  virtual absl::Status TryWrite() = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_STORAGE_ACCESS_DATABASE_H_
