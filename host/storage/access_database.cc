#include "storage/access_database.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/check.h"
#include "parlor/host/access_store.h"
#include "parlor/host/gate_options.h"
#include "parlor/limits.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "parlor/utf8.h"
#include "storage/whole_file.h"

namespace parlor::host {
namespace {

// Another process writes for milliseconds. Whoever waits for an answer has ten
// seconds for a whole handshake.
constexpr int kBusyMs = 1'000;
// And while a lock has been waited for in vain: others wait behind, who need
// none.
constexpr int kBusyAgainMs = 5;

// In the file's first 100 bytes, so that it is known before SQLite touches it.
// "prlr".
constexpr std::uint32_t kApplicationId = 1'886'547'058;
constexpr std::uint32_t kVersion = 1;

// An id of a pass is stored with its 64 bits taken as a signed number. A code's
// id is never given again because no code is ever deleted.
constexpr const char* kSchema = R"sql(
PRAGMA application_id = 1886547058;
PRAGMA user_version = 1;
CREATE TABLE codes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  label TEXT NOT NULL CHECK (length(CAST(label AS BLOB)) <= 64),
  made_s INTEGER NOT NULL,
  revoked_s INTEGER
) STRICT;
CREATE UNIQUE INDEX codes_that_let_in ON codes (hash) WHERE revoked_s IS NULL;
CREATE TABLE passes (
  id INTEGER PRIMARY KEY,
  label TEXT NOT NULL CHECK (length(CAST(label AS BLOB)) <= 64),
  made_s INTEGER NOT NULL,
  expires_s INTEGER NOT NULL,
  devices_max INTEGER NOT NULL CHECK (devices_max BETWEEN 1 AND 16)
) STRICT;
CREATE INDEX passes_expire ON passes (expires_s);
CREATE TABLE revocations (
  pass INTEGER PRIMARY KEY,
  revoked_s INTEGER NOT NULL,
  expires_s INTEGER NOT NULL
) STRICT;
CREATE INDEX revocations_expire ON revocations (expires_s);
CREATE TABLE devices (
  pass INTEGER NOT NULL,
  device BLOB NOT NULL CHECK (length(device) = 32),
  expires_s INTEGER NOT NULL,
  PRIMARY KEY (pass, device)
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_expire ON devices (expires_s);
)sql";

struct CloseDatabase {
  void operator()(sqlite3* database) const {
    PARLOR_CHECK(sqlite3_close(database) == SQLITE_OK);
  }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
  }
};
struct FreeBytes {
  void operator()(unsigned char* bytes) const { sqlite3_free(bytes); }
};
using Handle = std::unique_ptr<sqlite3, CloseDatabase>;
using Prepared = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// One use of a prepared statement. Ends what the statement has open, so that no
// read lasts longer than it has to. What is bound lives as long as the query.
class Query {
 public:
  explicit Query(const Prepared& statement) : statement_(statement.get()) {}
  ~Query() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // The next parameter.
  Query& Bind(std::int64_t value) {
    return Bound(sqlite3_bind_int64(statement_, ++parameter_, value));
  }
  Query& Bind(const Sha256& hash) {
    return Bound(sqlite3_bind_blob(statement_, ++parameter_, hash.data(),
                                   static_cast<int>(hash.size()), nullptr));
  }
  Query& Bind(std::string_view text) {
    // A null pointer would be NULL.
    return Bound(sqlite3_bind_text(statement_, ++parameter_,
                                   text.empty() ? "" : text.data(),
                                   static_cast<int>(text.size()), nullptr));
  }

  // SQLITE_ROW, SQLITE_DONE, or what is wrong.
  int Step() { return sqlite3_step(statement_); }

  // Columns of the row.
  std::int64_t Integer(int column) const {
    return sqlite3_column_int64(statement_, column);
  }
  std::optional<std::int64_t> MaybeInteger(int column) const {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return {};
    return Integer(column);
  }
  std::span<const std::byte> Bytes(int column) const {
    const void* bytes = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return {static_cast<const std::byte*>(bytes),
            static_cast<std::size_t>(size)};
  }
  std::string Text(int column) const {
    const std::span<const std::byte> bytes = Bytes(column);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  Query& Bound(int code) {
    PARLOR_CHECK(code == SQLITE_OK);
    return *this;
  }

  sqlite3_stmt* const statement_;
  int parameter_ = 0;
};

// A status that begins with the path.
absl::Status About(std::string_view path, absl::StatusCode code,
                   std::string_view what) {
  return MakeStatus(code, Printable(path) + ": " + std::string(what));
}

// errno's.
absl::Status SystemError(std::string_view path, int error) {
  return About(path, absl::StatusCode::kUnavailable,
               std::generic_category().message(error));
}

// Never sqlite3_errmsg, which may hold what a row holds.
absl::Status SqliteError(std::string_view path, int code) {
  const int kind = code & 0xff;
  const bool damaged = kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB ||
                       kind == SQLITE_ERROR || kind == SQLITE_CONSTRAINT ||
                       kind == SQLITE_MISMATCH;
  return About(
      path,
      damaged ? absl::StatusCode::kDataLoss : absl::StatusCode::kUnavailable,
      sqlite3_errstr(code));
}

struct Image {
  std::unique_ptr<unsigned char, FreeBytes> bytes;
  std::size_t size = 0;
};

// The bytes of a database without rows.
Image EmptyDatabase() {
  sqlite3* opened = nullptr;
  PARLOR_CHECK(sqlite3_open(":memory:", &opened) == SQLITE_OK);
  const Handle database(opened);
  PARLOR_CHECK(sqlite3_exec(opened, kSchema, nullptr, nullptr, nullptr) ==
               SQLITE_OK);
  sqlite3_int64 size = 0;
  std::unique_ptr<unsigned char, FreeBytes> bytes(
      sqlite3_serialize(opened, "main", &size, 0));
  PARLOR_CHECK(bytes != nullptr && size > 100);
  // WAL from the first byte on: to change to it later needs the file for
  // oneself (https://sqlite.org/fileformat.html, section 1.3.3).
  bytes.get()[18] = 2;
  bytes.get()[19] = 2;
  return {std::move(bytes), static_cast<std::size_t>(size)};
}

// Where another process is first, its file stays.
int MakeFile(const std::string& path) {
  const Image image = EmptyDatabase();
  const std::span<const unsigned char> bytes(image.bytes.get(), image.size);
  const int error = MakeWholeFile(path, std::as_bytes(bytes));
  return error == EEXIST ? 0 : error;
}

std::uint32_t BigEndian(std::span<const unsigned char, 4> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

absl::Status LaterVersion(std::string_view path, std::int64_t version) {
  return About(path, absl::StatusCode::kFailedPrecondition,
               "is an access database of version " + std::to_string(version) +
                   ", and this program knows version " +
                   std::to_string(kVersion) + " only");
}

// Whether the file is ours, before SQLite does anything at all with it. Read
// with SQLite's own descriptor: to close another one on the same file would
// free the locks that this process has on it.
absl::Status CheckHeader(sqlite3* database, std::string_view path) {
  sqlite3_file* file = nullptr;
  PARLOR_CHECK(sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER,
                                    &file) == SQLITE_OK);
  std::array<unsigned char, 100> header{};
  const int code = file->pMethods->xRead(file, header.data(),
                                         static_cast<int>(header.size()), 0);
  // What is missing of a short one is zero.
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) {
    return SqliteError(path, code);
  }
  const std::span<const unsigned char, 100> bytes(header);
  if (std::memcmp(header.data(), "SQLite format 3", 16) != 0 ||
      BigEndian(bytes.subspan<68, 4>()) != kApplicationId) {
    return About(path, absl::StatusCode::kFailedPrecondition,
                 "is no access database of parlor-host's; it stays as it is");
  }
  const std::uint32_t version = BigEndian(bytes.subspan<60, 4>());
  return version == kVersion ? absl::OkStatus() : LaterVersion(path, version);
}

class Database final : public AccessDatabase {
 public:
  explicit Database(std::string path) : path_(std::move(path)) {}

  absl::Status Connect(const std::string& name);

  absl::StatusOr<std::int64_t> AddCode(const Sha256& hash,
                                       std::string_view label,
                                       std::int64_t now_s) override;
  absl::Status RevokeCode(std::int64_t id, std::int64_t now_s) override;
  absl::StatusOr<std::vector<Code>> Codes() override;
  absl::StatusOr<std::vector<Sha256>> CodeHashes() override;
  absl::Status AddPass(const Pass& pass) override;
  absl::Status RevokePass(std::uint64_t id, std::int64_t expires_s,
                          std::int64_t now_s) override;
  absl::StatusOr<std::vector<Pass>> Passes() override;
  absl::StatusOr<PassAnswer> UsePass(const PassUse& use,
                                     std::int64_t now_s) override;
  absl::StatusOr<std::int64_t> Version() override;
  absl::Status TryWrite() override;

 private:
  absl::Status Failed(int code) const { return SqliteError(path_, code); }
  absl::StatusOr<Prepared> Prepare(const char* sql);
  absl::Status PrepareAll();
  absl::Status UseWal();
  // Of a statement without rows.
  absl::Status Run(Query& query);
  // The same of one that another process may keep from writing.
  absl::Status RunWaiting(Query& query);
  // Unavailable: the file is not where it was opened.
  absl::Status CheckPlace();
  // The first column of a statement's only row.
  absl::StatusOr<std::int64_t> Ask(Query& query);
  // What `read` makes of each row.
  template <typename Row, typename Read>
  absl::StatusOr<std::vector<Row>> List(Query& query, Read read);
  // Calls `change` inside a transaction, which is kept when that says OK.
  template <typename Change>
  absl::Status Write(std::int64_t now_s, Change change);
  // Some of what has expired.
  absl::Status Forget(std::int64_t now_s);
  // Nothing when the device is new and there is room for it.
  absl::StatusOr<std::optional<PassAnswer>> Look(const PassUse& use);

  const std::string path_;  // as it was given
  Handle database_;         // outlives the statements
  Prepared begin_;
  Prepared commit_;
  Prepared rollback_;
  Prepared data_version_;
  Prepared write_version_;
  Prepared count_codes_;
  Prepared add_code_;
  Prepared revoke_code_;
  Prepared list_codes_;
  Prepared list_hashes_;
  Prepared add_pass_;
  Prepared has_pass_;
  Prepared revoke_pass_;
  Prepared list_passes_;
  Prepared look_at_use_;
  Prepared add_device_;
  Prepared forget_devices_;
  Prepared forget_passes_;
  Prepared forget_revocations_;
};

absl::StatusOr<Prepared> Database::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(
      database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return Failed(code);
  return Prepared(statement);
}

absl::Status Database::Run(Query& query) {
  const int code = query.Step();
  return code == SQLITE_DONE ? absl::OkStatus() : Failed(code);
}

absl::Status Database::RunWaiting(Query& query) {
  const int code = query.Step();
  const bool in_vain = (code & 0xff) == SQLITE_BUSY;
  sqlite3_busy_timeout(database_.get(), in_vain ? kBusyAgainMs : kBusyMs);
  return code == SQLITE_DONE ? absl::OkStatus() : Failed(code);
}

// SQLite goes on with what it has open, which nobody finds any more: what the
// command line revokes would let in, and what is locked be lost.
absl::Status Database::CheckPlace() {
  int moved = 0;
  const int code = sqlite3_file_control(database_.get(), "main",
                                        SQLITE_FCNTL_HAS_MOVED, &moved);
  if (code != SQLITE_OK) return Failed(code);
  if (moved == 0) return absl::OkStatus();
  return About(path_, absl::StatusCode::kUnavailable,
               "was moved, replaced or deleted while it was open; put it back, "
               "or start again with what is there now");
}

absl::StatusOr<std::int64_t> Database::Ask(Query& query) {
  const int code = query.Step();
  if (code == SQLITE_ROW) return query.Integer(0);
  return Failed(code == SQLITE_DONE ? SQLITE_CORRUPT : code);
}

template <typename Row, typename Read>
absl::StatusOr<std::vector<Row>> Database::List(Query& query, Read read) {
  std::vector<Row> rows;
  int code = query.Step();
  for (; code == SQLITE_ROW; code = query.Step()) rows.push_back(read());
  if (code != SQLITE_DONE) return Failed(code);
  return rows;
}

template <typename Change>
absl::Status Database::Write(std::int64_t now_s, Change change) {
  if (absl::Status status = CheckPlace(); !status.ok()) return status;
  {
    // Immediate: whoever reads first and then finds another writing has lost.
    Query begin(begin_);
    if (absl::Status status = RunWaiting(begin); !status.ok()) return status;
  }
  absl::Status status = Forget(now_s);
  if (status.ok()) status = change();
  if (status.ok()) {
    Query commit(commit_);
    status = Run(commit);
  }
  // Some errors have ended the transaction already.
  if (!status.ok() && sqlite3_get_autocommit(database_.get()) == 0) {
    Query(rollback_).Step();
  }
  return status;
}

absl::Status Database::Forget(std::int64_t now_s) {
  for (const Prepared* forget :
       {&forget_devices_, &forget_passes_, &forget_revocations_}) {
    Query query(*forget);
    query.Bind(now_s - kKeptAfterExpiryS);
    if (absl::Status status = Run(query); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Database::UseWal() {
  // A copy that was restored from a backup may have another mode.
  absl::StatusOr<Prepared> mode = Prepare("PRAGMA journal_mode = WAL");
  if (!mode.ok()) return mode.status();
  Query wal(*mode);
  if (const int code = wal.Step(); code != SQLITE_ROW) return Failed(code);
  if (wal.Text(0) != "wal") return Failed(SQLITE_IOERR_SHMOPEN);
  // A commit is on the disk before it returns.
  absl::StatusOr<Prepared> full = Prepare("PRAGMA synchronous = FULL");
  if (!full.ok()) return full.status();
  Query synchronous(*full);
  return Run(synchronous);
}

absl::Status Database::Connect(const std::string& name) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(
      name.c_str(), &opened,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  database_.reset(opened);
  if (code != SQLITE_OK) return Failed(code);
  if (absl::Status status = CheckHeader(opened, path_); !status.ok()) {
    return status;
  }
  if (sqlite3_db_readonly(opened, "main") != 0) return Failed(SQLITE_READONLY);
  sqlite3_busy_timeout(opened, kBusyMs);
  // A later version may have written its number to the WAL only, so far.
  {
    absl::StatusOr<Prepared> sql = Prepare("PRAGMA user_version");
    if (!sql.ok()) return sql.status();
    Query query(*sql);
    const absl::StatusOr<std::int64_t> version = Ask(query);
    if (!version.ok()) return version.status();
    if (*version != kVersion) return LaterVersion(path_, *version);
  }
  if (absl::Status status = UseWal(); !status.ok()) return status;
  return PrepareAll();
}

absl::Status Database::PrepareAll() {
  const std::pair<Prepared&, const char*> all[] = {
      {begin_, "BEGIN IMMEDIATE"},
      {commit_, "COMMIT"},
      {rollback_, "ROLLBACK"},
      {data_version_, "PRAGMA data_version"},
      {write_version_, "PRAGMA user_version = 1"},
      {count_codes_,
       "SELECT count(*), coalesce(sum(hash = ?1), 0) FROM codes"
       " WHERE revoked_s IS NULL"},
      {add_code_,
       "INSERT INTO codes (hash, label, made_s) VALUES (?1, ?2, ?3)"},
      {revoke_code_,
       "UPDATE codes SET revoked_s = coalesce(revoked_s, ?2) WHERE id = ?1"},
      {list_codes_,
       "SELECT id, label, made_s, revoked_s FROM codes ORDER BY id"},
      {list_hashes_, "SELECT hash FROM codes WHERE revoked_s IS NULL"},
      {add_pass_,
       "INSERT INTO passes (id, label, made_s, expires_s, devices_max)"
       " VALUES (?1, ?2, ?3, ?4, ?5)"},
      {has_pass_, "SELECT count(*) FROM passes WHERE id = ?1"},
      {revoke_pass_,
       "INSERT INTO revocations (pass, revoked_s, expires_s)"
       " VALUES (?1, ?2, ?3) ON CONFLICT (pass)"
       " DO UPDATE SET expires_s = max(expires_s, excluded.expires_s)"},
      // "id < 0": the later half of what has 64 bits without a sign.
      {list_passes_,
       "SELECT id, label, made_s, expires_s, devices_max,"
       " (SELECT count(*) FROM devices WHERE pass = id),"
       " (SELECT revoked_s FROM revocations WHERE pass = id)"
       " FROM passes ORDER BY made_s, id < 0, id"},
      {look_at_use_,
       "SELECT (SELECT count(*) FROM revocations WHERE pass = ?1),"
       " count(*), coalesce(sum(device = ?2), 0) FROM devices"
       " WHERE pass = ?1"},
      {add_device_,
       "INSERT INTO devices (pass, device, expires_s) VALUES (?1, ?2, ?3)"},
      // Some at a time, so that no write takes long.
      {forget_devices_,
       "DELETE FROM devices WHERE (pass, device) IN (SELECT pass, device"
       " FROM devices WHERE expires_s < ?1 LIMIT 64)"},
      {forget_passes_,
       "DELETE FROM passes WHERE id IN (SELECT id FROM passes"
       " WHERE expires_s < ?1 LIMIT 64)"},
      {forget_revocations_,
       "DELETE FROM revocations WHERE pass IN (SELECT pass FROM revocations"
       " WHERE expires_s < ?1 LIMIT 64)"},
  };
  for (const auto& [statement, sql] : all) {
    absl::StatusOr<Prepared> prepared = Prepare(sql);
    if (!prepared.ok()) return prepared.status();
    statement = std::move(*prepared);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> Database::AddCode(const Sha256& hash,
                                               std::string_view label,
                                               std::int64_t now_s) {
  if (const std::string_view wrong = WhatIsWrongWithLabel(label);
      !wrong.empty()) {
    return InvalidArgument(wrong);
  }
  std::int64_t id = 0;
  absl::Status status = Write(now_s, [&] {
    Query count(count_codes_);
    if (const int code = count.Bind(hash).Step(); code != SQLITE_ROW) {
      return Failed(code);
    }
    if (count.Integer(1) != 0) {
      return absl::AlreadyExistsError("there is such a code already");
    }
    if (count.Integer(0) >= static_cast<std::int64_t>(kCodesMax)) {
      return absl::ResourceExhaustedError(
          "there are " + std::to_string(kCodesMax) +
          " codes already, the most that a host has; revoke some");
    }
    Query add(add_code_);
    add.Bind(hash).Bind(label).Bind(now_s);
    absl::Status added = Run(add);
    id = sqlite3_last_insert_rowid(database_.get());
    return added;
  });
  if (!status.ok()) return status;
  return id;
}

absl::Status Database::RevokeCode(std::int64_t id, std::int64_t now_s) {
  return Write(now_s, [&] {
    Query revoke(revoke_code_);
    revoke.Bind(id).Bind(now_s);
    absl::Status status = Run(revoke);
    if (status.ok() && sqlite3_changes(database_.get()) == 0) {
      return absl::NotFoundError("there is no code " + std::to_string(id));
    }
    return status;
  });
}

absl::StatusOr<std::vector<AccessDatabase::Code>> Database::Codes() {
  Query query(list_codes_);
  return List<Code>(query, [&query] {
    return Code{.id = query.Integer(0),
                .label = query.Text(1),
                .made_s = query.Integer(2),
                .revoked_s = query.MaybeInteger(3)};
  });
}

absl::StatusOr<std::vector<Sha256>> Database::CodeHashes() {
  Query query(list_hashes_);
  bool whole = true;
  absl::StatusOr<std::vector<Sha256>> hashes = List<Sha256>(query, [&] {
    const std::span<const std::byte> bytes = query.Bytes(0);
    Sha256 hash{};
    whole = whole && bytes.size() == hash.size();
    if (whole) std::memcpy(hash.data(), bytes.data(), hash.size());
    return hash;
  });
  if (!whole) return Failed(SQLITE_CORRUPT);
  return hashes;
}

absl::Status Database::AddPass(const Pass& pass) {
  if (const std::string_view wrong = WhatIsWrongWithLabel(pass.label);
      !wrong.empty()) {
    return InvalidArgument(wrong);
  }
  if (absl::Status status =
          CheckLimit(limits::kPassDevices, "devices", pass.devices_max);
      !status.ok()) {
    return status;
  }
  const auto id = static_cast<std::int64_t>(pass.id);
  return Write(pass.made_s, [&] {
    Query has(has_pass_);
    const absl::StatusOr<std::int64_t> count = Ask(has.Bind(id));
    if (!count.ok()) return count.status();
    if (*count != 0) {
      return absl::AlreadyExistsError("there is such a pass already");
    }
    Query add(add_pass_);
    return Run(add.Bind(id)
                   .Bind(pass.label)
                   .Bind(pass.made_s)
                   .Bind(pass.expires_s)
                   .Bind(pass.devices_max));
  });
}

absl::Status Database::RevokePass(std::uint64_t id, std::int64_t expires_s,
                                  std::int64_t now_s) {
  return Write(now_s, [&] {
    Query revoke(revoke_pass_);
    return Run(
        revoke.Bind(static_cast<std::int64_t>(id)).Bind(now_s).Bind(expires_s));
  });
}

absl::StatusOr<std::vector<AccessDatabase::Pass>> Database::Passes() {
  Query query(list_passes_);
  return List<Pass>(query, [&query] {
    return Pass{.id = static_cast<std::uint64_t>(query.Integer(0)),
                .label = query.Text(1),
                .made_s = query.Integer(2),
                .expires_s = query.Integer(3),
                .devices_max = query.Integer(4),
                .devices = query.Integer(5),
                .revoked_s = query.MaybeInteger(6)};
  });
}

absl::StatusOr<std::optional<PassAnswer>> Database::Look(const PassUse& use) {
  Query look(look_at_use_);
  look.Bind(static_cast<std::int64_t>(use.pass)).Bind(use.device);
  if (const int code = look.Step(); code != SQLITE_ROW) return Failed(code);
  const bool revoked = look.Integer(0) != 0;
  const bool known = look.Integer(2) != 0;
  if (revoked) return PassAnswer::kRevoked;
  if (known) return PassAnswer::kLetIn;
  if (look.Integer(1) >= use.devices_max) return PassAnswer::kOtherDevice;
  return std::nullopt;
}

absl::StatusOr<PassAnswer> Database::UsePass(const PassUse& use,
                                             std::int64_t now_s) {
  if (absl::Status status = CheckPlace(); !status.ok()) return status;
  absl::StatusOr<std::optional<PassAnswer>> answer = Look(use);
  if (!answer.ok()) return answer.status();
  if (*answer) return **answer;
  absl::Status status = Write(now_s, [&] {
    // Another process may have been quicker.
    answer = Look(use);
    if (!answer.ok() || *answer) return answer.status();
    Query add(add_device_);
    return Run(add.Bind(static_cast<std::int64_t>(use.pass))
                   .Bind(use.device)
                   .Bind(use.expires_s));
  });
  if (!status.ok()) return status;
  return answer->value_or(PassAnswer::kLetIn);
}

absl::StatusOr<std::int64_t> Database::Version() {
  if (absl::Status status = CheckPlace(); !status.ok()) return status;
  Query query(data_version_);
  return Ask(query);
}

absl::Status Database::TryWrite() {
  if (absl::Status status = CheckPlace(); !status.ok()) return status;
  Query query(write_version_);
  return RunWaiting(query);
}

// The first character of `text`, which is UTF-8 and not empty.
char32_t TakeCharacter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                                          : 4;
  char32_t character = size == 1 ? first : first & (0x7fU >> size);
  for (const char byte : text.substr(1, size - 1)) {
    character = character << 6 | (static_cast<unsigned char>(byte) & 0x3fU);
  }
  text.remove_prefix(size);
  return character;
}

// A control character, or one that ends a line or turns its direction.
bool BreaksLine(char32_t character) {
  return character < 0x20 || (character >= 0x7f && character <= 0x9f) ||
         character == 0x061c || character == 0x200e || character == 0x200f ||
         (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069);
}

}  // namespace

std::string_view WhatIsWrongWithLabel(std::string_view label) {
  if (label.size() > kLabelBytesMax) return "a label has at most 64 bytes";
  if (!IsUtf8(std::as_bytes(std::span(label)))) return "a label is UTF-8";
  while (!label.empty()) {
    if (BreaksLine(TakeCharacter(label))) {
      return "a label has no control characters";
    }
  }
  return {};
}

absl::StatusOr<std::unique_ptr<AccessDatabase>> AccessDatabase::Open(
    const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return InvalidArgument("an access database needs the path of a file");
  }
  // SQLite gives names such as ":memory:" a meaning of their own.
  const std::string name = path.front() == '/' ? path : "./" + path;
  struct stat found {};
  if (stat(name.c_str(), &found) != 0) {
    if (errno != ENOENT) return SystemError(path, errno);
    if (const int error = MakeFile(name); error != 0) {
      return SystemError(path, error);
    }
  } else if (!S_ISREG(found.st_mode)) {
    return About(path, absl::StatusCode::kFailedPrecondition, "is no file");
  }
  auto database = std::make_unique<Database>(path);
  absl::Status status = database->Connect(name);
  if (absl::IsDataLoss(status)) {
    return MakeStatus(absl::StatusCode::kFailedPrecondition,
                      StatusText(status));
  }
  if (!status.ok()) return status;
  return database;
}

}  // namespace parlor::host
