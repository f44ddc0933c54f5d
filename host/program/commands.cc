#include "program/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/check.h"
#include "program/access_commands.h"
#include "program/arguments.h"
#include "program/merger.h"
#include "program/settings.h"

namespace parlor::host_program {
namespace {

struct OwnFlag {
  std::string_view name;
  std::string_view value;
  std::string_view help;
};

constexpr OwnFlag kFor{"for", "NAME", "Who it is for, shown in the list"};
constexpr OwnFlag kInviteFlags[] = {
    kFor, {"count", "N", "So many codes at once [1]"}};
constexpr OwnFlag kPassFlags[] = {
    kFor,
    {"days", "N", "How long it lasts [as long as --pass-days lets]"},
    {"devices", "N",
     "From how many devices it may be used [as many as --pass-devices lets]"}};

constexpr std::string_view kAccessRow[] = {"access"};
constexpr std::string_view kPassRows[] = {"access", "pass-secret", "pass-days",
                                          "pass-devices"};

struct Command {
  std::string_view group;
  std::string_view name;
  std::string_view help;
  std::span<const OwnFlag> own;
  std::span<const std::string_view> rows;  // none: nor --config
  std::string_view operand;                // "" where it takes none
  Exit (*run)(const Call& call, Entropy& entropy);
};

const Command kCommands[] = {
    {"invite", "new", "Make a code that lets in, and print it", kInviteFlags,
     kAccessRow, "", NewInvites},
    {"invite",
     "list",
     "Show the codes that were made, without the codes",
     {},
     kAccessRow,
     "",
     ListInvites},
    {"invite",
     "revoke",
     "End the code that the list shows as ID",
     {},
     kAccessRow,
     "ID",
     RevokeInvite},
    {"pass", "new", "Make a pass, and print it", kPassFlags, kPassRows, "",
     NewPass},
    {"pass",
     "list",
     "Show the passes that were made, without the passes",
     {},
     kAccessRow,
     "",
     ListPasses},
    {"pass",
     "revoke",
     "End a pass, whoever made it",
     {},
     kAccessRow,
     "ID",
     RevokePass},
    {"pass",
     "secret",
     "Make FILE (mode 0600) with a secret to sign passes with",
     {},
     {},
     "FILE",
     NewPassSecret},
};

struct Group {
  std::string_view name;
  std::string_view help;
};
constexpr Group kGroups[] = {
    {"invite", "Codes that let in, in the host's file of --access."},
    {"pass",
     "Passes, which let in for a time, and from their first devices only."},
};

// Null: there is none of that name.
const Group* FindGroup(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kGroups), std::end(kGroups),
                   [&](const Group& group) { return group.name == name; });
  return found == std::end(kGroups) ? nullptr : found;
}

constexpr const char* kFooter =
    "Exit codes:\n"
    "  0  done\n"
    "  1  no such ID, or the file is locked or cannot be written\n"
    "  2  a bad flag or file; nothing has changed\n";

// What CLI11 fills for one command.
struct Words {
  Raw raw;
  std::string operand;
};

CLI::App* Declare(CLI::App& parent, const Command& command, Words& words) {
  CLI::App* const app = parent.add_subcommand(std::string(command.name),
                                              std::string(command.help));
  app->set_help_flag("-h,--help", "Print this and end");
  app->footer(kFooter);
  app->allow_extras();
  for (const OwnFlag& flag : command.own) {
    DeclareValue(*app, words.raw, flag.name, flag.value,
                 std::string(flag.help));
  }
  for (const std::string_view name : command.rows) {
    DeclareRow(*app, words.raw, *FindRow(name), Settings());
  }
  if (!command.rows.empty()) DeclareConfig(*app, words.raw);
  if (!command.operand.empty()) {
    app->add_option(std::string(command.operand), words.operand)
        ->required()
        ->type_name("");
  }
  return app;
}

// A group's commands as CLI11 knows them: all of them, for the group's help.
class GroupApp {
 public:
  explicit GroupApp(const Group& group) : root_("", "parlor-host") {
    root_.formatter(std::make_shared<Help>());
    CLI::App* const parent =
        root_.add_subcommand(std::string(group.name), std::string(group.help));
    parent->set_help_flag("-h,--help", "Print this and end");
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (kCommands[i].group != group.name) continue;
      apps_[i] = Declare(*parent, kCommands[i], words_[i]);
    }
  }

  CLI::App& root() { return root_; }
  // Of kCommands[index], which is one of the group's.
  const CLI::App& app(std::size_t index) const { return *apps_[index]; }
  const Words& words(std::size_t index) const { return words_[index]; }

 private:
  CLI::App root_;
  std::array<Words, std::size(kCommands)> words_;
  std::array<CLI::App*, std::size(kCommands)> apps_{};
};

// The file and the flags, and what the command asks for itself.
absl::StatusOr<Call> ReadCall(const Command& command, const CLI::App& app,
                              const Words& words, int argc,
                              const char* const* argv) {
  if (absl::Status status = CheckExtras(app, argc, argv); !status.ok()) {
    return status;
  }
  const absl::StatusOr<const std::string*> config =
      OnlyValue(words.raw, "config");
  if (!config.ok()) return config.status();
  Merger merger{Settings()};
  absl::Status status;
  if (*config != nullptr) status = merger.TakeFile(**config);
  const absl::StatusOr<GivenRows> rows = RowsGiven(words.raw);
  if (status.ok()) status = rows.status();
  if (status.ok()) status = merger.Take(*rows);
  if (!status.ok()) return status;

  Call call;
  call.operand = words.operand;
  call.settings = merger.settings();
  call.places = merger.places();
  for (const OwnFlag& flag : command.own) {
    const absl::StatusOr<const std::string*> value =
        OnlyValue(words.raw, flag.name);
    if (!value.ok()) return value.status();
    if (*value != nullptr) call.own[flag.name] = **value;
  }
  return call;
}

// "invite: new, list or revoke"
Exit Unknown(std::string_view group) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    if (command.group == group) names.push_back(command.name);
  }
  std::string text(group);
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? ": " : i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return Failure(kExitRefused, text + " (--help says more)");
}

}  // namespace

bool IsCommand(int argc, const char* const* argv) {
  return argc > 1 && FindGroup(argv[1]) != nullptr;
}

Exit RunCommand(int argc, const char* const* argv, std::int64_t now_s,
                Entropy& entropy) {
  const Group* const group = FindGroup(argv[1]);
  PARLOR_CHECK(group != nullptr);
  const std::string_view verb = argc > 2 ? argv[2] : "";
  const auto* const command = std::find_if(
      std::begin(kCommands), std::end(kCommands), [&](const Command& each) {
        return each.group == group->name && each.name == verb;
      });
  const bool help = verb == "--help" || verb == "-h";
  if (command == std::end(kCommands) && !help) return Unknown(group->name);

  GroupApp app(*group);
  const auto index = static_cast<std::size_t>(command - kCommands);
  if (!help) {
    absl::Status status = CheckEquals(app.app(index), argc, argv);
    if (!status.ok()) return Failure(status);
  }
  try {
    app.root().parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {.code = kExitOk, .out = app.root().help(), .err = {}};
  } catch (const CLI::ParseError& error) {
    return Failure(kExitRefused, error.what());
  }
  absl::StatusOr<Call> call =
      ReadCall(*command, app.app(index), app.words(index), argc, argv);
  if (!call.ok()) return Failure(call.status());
  call->now_s = now_s;
  return command->run(*call, entropy);
}

}  // namespace parlor::host_program
