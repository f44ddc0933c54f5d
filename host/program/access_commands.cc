#include "program/access_commands.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "counted.h"
#include "logic/access_codes.h"
#include "logic/pass.h"
#include "parlor/check.h"
#include "parlor/host/gate_options.h"
#include "parlor/limits.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "program/secret_file.h"
#include "storage/access_database.h"

namespace parlor::host_program {
namespace {

using host::AccessDatabase;
using Database = std::unique_ptr<AccessDatabase>;

constexpr std::int64_t kDay = 24 * 60 * 60;

// None that is taken for another one (0 and O; 1, I and L).
constexpr std::string_view kCodeDigits = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
// 31^16 is more than 2^79.
constexpr int kCodeGroups = 4;
constexpr int kCodeGroupSize = 4;

constexpr Limit kCount{"count", 1, 1, host::kCodesMax};

constexpr std::string_view kShownOnce =
    " This is the only time that it is shown.";
constexpr std::string_view kRevokedText =
    " is revoked. A running host refuses it within a second; whoever is in a "
    "match stays until it ends.";

absl::StatusOr<Database> OpenDatabase(const Call& call, bool make) {
  if (!call.settings.access) {
    return InvalidArgument(
        "needs --access FILE, the host's own, or --config FILE with \"access\" "
        "in it");
  }
  const std::string& path = *call.settings.access;
  // A name with a mistake in it is to be no new file.
  if (!make && access(path.c_str(), F_OK) != 0) {
    const int error = errno;
    return InvalidArgument(
        call.places.Where("access") + ": " + Printable(path) +
        ": cannot read it: " + std::system_category().message(error) +
        (error == ENOENT ? "; the host makes it, or 'parlor-host invite new'"
                         : ""));
  }
  return AccessDatabase::Open(path);
}

absl::StatusOr<std::string> Label(const Call& call) {
  const auto found = call.own.find("for");
  if (found == call.own.end()) return std::string();
  const std::string_view wrong = host::WhatIsWrongWithLabel(found->second);
  if (!wrong.empty()) return InvalidArgument("--for: " + std::string(wrong));
  return found->second;
}

std::string ForText(std::string_view label) {
  return label.empty() ? "" : ", for " + std::string(label);
}

// Of a command's own flag; `limit.fallback` when it was not given.
absl::StatusOr<std::int64_t> Number(const Call& call, std::string_view name,
                                    const Limit& limit) {
  const auto found = call.own.find(name);
  if (found == call.own.end()) return limit.fallback;
  return ReadNumber(limit, Flag(name), found->second);
}

// The same, where a row says how much there may be.
absl::StatusOr<std::int64_t> NumberWithin(const Call& call,
                                          std::string_view name,
                                          std::string_view row,
                                          std::int64_t most) {
  const Limit limit{"", most, 1, most};
  absl::StatusOr<std::int64_t> value = Number(call, name, limit);
  if (value.ok()) return value;
  return InvalidArgument(std::string(StatusText(value.status())) + " (" +
                         call.places.Where(row) + ")");
}

std::string MakeCode(Entropy& entropy) {
  std::string code;
  int left = kCodeGroups * kCodeGroupSize;
  while (left > 0) {
    std::byte byte{};
    entropy.Fill(std::span(&byte, 1));
    // Of 32 values one is nobody's: all digits are as likely.
    const auto index = std::to_integer<std::size_t>(byte) % 32;
    if (index >= kCodeDigits.size()) continue;
    code.push_back(kCodeDigits[index]);
    --left;
    if (left > 0 && left % kCodeGroupSize == 0) code.push_back('-');
  }
  PARLOR_CHECK(host::WhatIsWrongWithCode(code).empty());
  return code;
}

// "2026-11-30 14:05", in UTC.
std::string TimeText(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (gmtime_r(&time, &parts) == nullptr) return "?";
  return absl::StrFormat("%04d-%02d-%02d %02d:%02d", parts.tm_year + 1900,
                         parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                         parts.tm_min);
}

// What the file holds may have been written by another.
std::string LabelText(const std::string& label) {
  return host::WhatIsWrongWithLabel(label).empty() ? label : Printable(label);
}

// Columns as wide as they have to be, two apart; the last one ends the line.
std::string TableText(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size() + 2);
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size(), ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string RevokedText(std::int64_t revoked_s) {
  return "revoked " + TimeText(revoked_s);
}

std::string StateText(const AccessDatabase::Pass& pass, std::int64_t now_s) {
  if (pass.revoked_s) return RevokedText(*pass.revoked_s);
  return pass.expires_s <= now_s ? "expired" : "lets in";
}

Exit Said(std::string out, std::string_view err) {
  return {.code = kExitOk,
          .out = std::move(out),
          .err = "parlor-host: " + std::string(err) + "\n"};
}

// What was made, and on stderr why there is no more of it, if so.
Exit Made(const std::vector<std::int64_t>& ids, const std::string& out,
          std::string_view label, const absl::Status& status) {
  Exit failure = Failure(status);
  if (ids.empty()) return failure;
  std::string text = ids.size() == 1 ? "code " : "codes ";
  text += std::to_string(ids.front());
  if (ids.size() > 1) text += " to " + std::to_string(ids.back());
  text += ForText(label) + ".";
  if (ids.size() == 1) {
    text += kShownOnce;
    text += " A running host takes it within a second.";
  } else {
    text +=
        " This is the only time that they are shown. A running host takes "
        "them within a second.";
  }
  Exit exit = Said(out, text);
  if (!status.ok()) {
    exit.code = failure.code;
    exit.err += failure.err;
  }
  return exit;
}

}  // namespace

Exit NewInvites(const Call& call, Entropy& entropy) {
  const absl::StatusOr<std::int64_t> count = Number(call, "count", kCount);
  if (!count.ok()) return Failure(count.status());
  const absl::StatusOr<std::string> label = Label(call);
  if (!label.ok()) return Failure(label.status());
  const absl::StatusOr<Database> database = OpenDatabase(call, /*make=*/true);
  if (!database.ok()) return Failure(database.status());

  std::vector<std::int64_t> ids;
  std::string out;
  absl::Status status;
  while (status.ok() && std::ssize(ids) < *count) {
    const std::string code = MakeCode(entropy);
    const absl::StatusOr<std::int64_t> id =
        (*database)->AddCode(host::HashCode(code), *label, call.now_s);
    status = id.status();
    if (!status.ok()) break;
    ids.push_back(*id);
    out += code + "\n";
  }
  return Made(ids, out, *label, status);
}

Exit ListInvites(const Call& call, Entropy& /*entropy*/) {
  const absl::StatusOr<Database> database = OpenDatabase(call, /*make=*/false);
  if (!database.ok()) return Failure(database.status());
  const auto codes = (*database)->Codes();
  if (!codes.ok()) return Failure(codes.status());
  std::vector<std::vector<std::string>> rows = {
      {"ID", "MADE (UTC)", "STATE", "FOR"}};
  for (const AccessDatabase::Code& code : *codes) {
    rows.push_back({std::to_string(code.id), TimeText(code.made_s),
                    code.revoked_s ? RevokedText(*code.revoked_s) : "lets in",
                    LabelText(code.label)});
  }
  return {.code = kExitOk, .out = TableText(rows), .err = {}};
}

Exit RevokeInvite(const Call& call, Entropy& /*entropy*/) {
  // What is wrong may be a code that went astray: it is not shown.
  std::int64_t id = 0;
  const char* const end = call.operand.data() + call.operand.size();
  const auto [read, error] = std::from_chars(call.operand.data(), end, id);
  if (read != end || error != std::errc() || id < 1) {
    return Failure(kExitRefused,
                   "ID: is a number that 'parlor-host invite list' shows");
  }
  const absl::StatusOr<Database> database = OpenDatabase(call, /*make=*/false);
  if (!database.ok()) return Failure(database.status());
  const absl::Status status = (*database)->RevokeCode(id, call.now_s);
  if (absl::IsNotFound(status)) {
    return Failure(kExitFailed,
                   "there is no code " + std::to_string(id) + " in " +
                       *call.settings.access +
                       "; 'parlor-host invite list' shows those there are");
  }
  if (!status.ok()) return Failure(status);
  return Said({}, "code " + std::to_string(id) + std::string(kRevokedText));
}

Exit NewPass(const Call& call, Entropy& entropy) {
  const absl::StatusOr<std::int64_t> days =
      NumberWithin(call, "days", "pass-days", call.settings.pass_days);
  if (!days.ok()) return Failure(days.status());
  const absl::StatusOr<std::int64_t> devices =
      NumberWithin(call, "devices", "pass-devices", call.settings.pass_devices);
  if (!devices.ok()) return Failure(devices.status());
  const absl::StatusOr<std::string> label = Label(call);
  if (!label.ok()) return Failure(label.status());
  if (!call.settings.pass_secret) {
    return Failure(kExitRefused,
                   "needs --pass-secret FILE, the host's own, or --config FILE "
                   "with \"pass-secret\" in it");
  }
  const absl::StatusOr<std::string> secret =
      ReadSecret(*call.settings.pass_secret);
  if (!secret.ok()) {
    return Failure(kExitRefused, call.places.Where("pass-secret") + ": " +
                                     std::string(StatusText(secret.status())));
  }
  const absl::StatusOr<Database> database = OpenDatabase(call, /*make=*/true);
  if (!database.ok()) return Failure(database.status());

  std::uint64_t id = 0;
  entropy.Fill(std::as_writable_bytes(std::span(&id, 1)));
  const std::int64_t expires_s = call.now_s + *days * kDay;
  const absl::Status status = (*database)->AddPass({.id = id,
                                                    .label = *label,
                                                    .made_s = call.now_s,
                                                    .expires_s = expires_s,
                                                    .devices_max = *devices});
  if (!status.ok()) return Failure(status);
  return Said(
      host::WritePass({.id = id, .expires_s = expires_s, .devices = *devices},
                      *secret) +
          "\n",
      "pass " + host::PassIdText(id) + ForText(*label) + ", until " +
          TimeText(expires_s) + " UTC, for " +
          host::Counted(*devices, "device", "devices") + "." +
          std::string(kShownOnce) +
          " A host with --passes, this secret and this file takes it at once.");
}

Exit ListPasses(const Call& call, Entropy& /*entropy*/) {
  const absl::StatusOr<Database> database = OpenDatabase(call, /*make=*/false);
  if (!database.ok()) return Failure(database.status());
  const auto passes = (*database)->Passes();
  if (!passes.ok()) return Failure(passes.status());
  std::vector<std::vector<std::string>> rows = {
      {"ID", "MADE (UTC)", "UNTIL (UTC)", "DEVICES", "STATE", "FOR"}};
  for (const AccessDatabase::Pass& pass : *passes) {
    rows.push_back({host::PassIdText(pass.id), TimeText(pass.made_s),
                    TimeText(pass.expires_s),
                    std::to_string(pass.devices) + " of " +
                        std::to_string(pass.devices_max),
                    StateText(pass, call.now_s), LabelText(pass.label)});
  }
  return {.code = kExitOk, .out = TableText(rows), .err = {}};
}

Exit RevokePass(const Call& call, Entropy& /*entropy*/) {
  // What is wrong may be a pass that went astray: it is not shown.
  std::uint64_t id = 0;
  const char* const end = call.operand.data() + call.operand.size();
  const auto [read, error] = std::from_chars(call.operand.data(), end, id, 16);
  if (call.operand.size() != 16 || read != end || error != std::errc()) {
    return Failure(kExitRefused,
                   "ID: is 16 hexadecimal digits, as 'parlor-host pass new' "
                   "and 'parlor-host pass list' show");
  }
  const absl::StatusOr<Database> database = OpenDatabase(call, /*make=*/false);
  if (!database.ok()) return Failure(database.status());
  const auto passes = (*database)->Passes();
  if (!passes.ok()) return Failure(passes.status());
  const auto pass = std::find_if(
      passes->begin(), passes->end(),
      [&](const AccessDatabase::Pass& each) { return each.id == id; });
  const bool known = pass != passes->end();
  // Longer than that no host lets a pass last, whoever made it.
  const std::int64_t latest_s = call.now_s + limits::kPassDays.ceiling * kDay;
  const absl::Status status = (*database)->RevokePass(
      id, known ? pass->expires_s : latest_s, call.now_s);
  if (!status.ok()) return Failure(status);
  return Said({}, "pass " + host::PassIdText(id) +
                      (known ? "" : ", which was not made with this file,") +
                      std::string(kRevokedText));
}

Exit NewPassSecret(const Call& call, Entropy& entropy) {
  const absl::Status status = MakeSecret(call.operand, entropy);
  if (!status.ok()) return Failure(status);
  return Said({}, "made " + Printable(call.operand) +
                      ": who can read it can make passes. Name it in "
                      "--pass-secret.");
}

}  // namespace parlor::host_program
