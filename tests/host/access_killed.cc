// Changes an access database for as long as it lives, and prints each change
// once it is acknowledged: access_killed_test kills it.
//
//   access_killed change FILE NUMBER   codes, locks and revocations of numbers
//                                      from NUMBER on
//   access_killed make FILE NUMBER     files of the names FILE<n>, with a code
//                                      each, from NUMBER on
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "parlor/check.h"
#include "parlor/host/access_store.h"
#include "storage/access_database.h"
#include "support/numbered_hash.h"

namespace parlor::host {
namespace {

using test::NumberedHash;

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::int64_t kLater = 4'000'000'000;
// Ends by itself, should nobody kill it.
constexpr std::uint32_t kChangesMax = 10'000;

// Also when the reader is gone: that ends this process.
void Print(const std::string& line) {
  const std::string bytes = line + "\n";
  PARLOR_CHECK(write(STDOUT_FILENO, bytes.data(), bytes.size()) ==
               static_cast<ssize_t>(bytes.size()));
}

std::unique_ptr<AccessDatabase> Open(const std::string& path) {
  auto database = AccessDatabase::Open(path);
  PARLOR_CHECK(database.ok());
  return std::move(*database);
}

void AddCode(AccessDatabase& database, std::uint32_t number) {
  const auto id =
      database.AddCode(NumberedHash(number), std::to_string(number), kNow);
  PARLOR_CHECK(id.ok());
  Print("code " + std::to_string(*id) + " " + std::to_string(number));
}

void RevokeLastCode(AccessDatabase& database) {
  const auto codes = database.Codes();
  PARLOR_CHECK(codes.ok());
  if (codes->empty()) return;
  const std::int64_t id = codes->back().id;
  PARLOR_CHECK(database.RevokeCode(id, kNow).ok());
  Print("revoked-code " + std::to_string(id));
}

void UsePass(AccessDatabase& database, std::uint32_t pass,
             std::uint32_t device) {
  const auto answer = database.UsePass({.pass = pass,
                                        .device = NumberedHash(device),
                                        .devices_max = 3,
                                        .expires_s = kLater},
                                       kNow);
  PARLOR_CHECK(answer.ok());
  if (*answer != PassAnswer::kLetIn) return;
  Print("device " + std::to_string(pass) + " " + std::to_string(device));
}

void RevokePass(AccessDatabase& database, std::uint32_t pass) {
  PARLOR_CHECK(database.RevokePass(pass, kLater, kNow).ok());
  Print("revoked-pass " + std::to_string(pass));
}

void Change(const std::string& path, std::uint32_t start) {
  std::minstd_rand random(start + 1);
  auto database = Open(path);
  for (std::uint32_t number = start; number < start + kChangesMax; ++number) {
    // Several uses a pass.
    const std::uint32_t pass = number - number % 8;
    switch (random() % 8) {
      case 0:
        RevokeLastCode(*database);
        break;
      case 1:
        RevokePass(*database, pass);
        break;
      case 2:
        // The last to close it takes the WAL into the file.
        database.reset();
        database = Open(path);
        break;
      case 3:
      case 4:
        AddCode(*database, number);
        break;
      default:
        UsePass(*database, pass, number);
    }
  }
}

void Make(const std::string& path, std::uint32_t start) {
  for (std::uint32_t number = start; number < start + kChangesMax; ++number) {
    const auto database = Open(path + std::to_string(number));
    const auto id = database->AddCode(NumberedHash(number), "", kNow);
    PARLOR_CHECK(id.ok());
    Print("made " + std::to_string(number));
  }
}

}  // namespace
}  // namespace parlor::host

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::string_view what = arguments[1];
  const auto start =
      static_cast<std::uint32_t>(std::strtoul(arguments[3], nullptr, 10));
  if (what == "change") parlor::host::Change(arguments[2], start);
  if (what == "make") parlor::host::Make(arguments[2], start);
  return 0;
}
