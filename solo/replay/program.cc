#include "replay/program.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "parlor/lockstep/replay_log.h"
#include "replay/commands.h"
#include "replay/recording.h"

namespace parlor::replay_program {
namespace {

constexpr const char* kFooter =
    "A file that was cut off is read as far as it goes, with a warning; one\n"
    "that is damaged is refused, with the byte, unless --partial takes what\n"
    "is before the damage (verify always does). Of Cycles the state is played\n"
    "again; of other games there are the inputs and the hashes. "
    "core/lockstep/\n"
    "REPLAY.md has the format.\n\n"
    "Exit codes:\n"
    "  0  all is as it should be\n"
    "  1  verify: a file is damaged or was cut off, seats do not agree, or\n"
    "     Cycles plays otherwise. diff: they differ. seek: on the way there\n"
    "     Cycles plays otherwise than a seat said. Or stdout cannot be "
    "written\n"
    "  2  bad arguments, or a file that cannot be read or is no replay\n";

// Every value comes in as text: see solo/options.cc.
struct Raw {
  InfoOptions info;
  std::vector<std::string> files;
  SeekOptions seek;
  std::string frame, time;
};

struct BadArgument {
  std::string text;
};

std::uint32_t ParseFrame(const std::string& text) {
  std::uint32_t frame = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), frame);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw BadArgument{absl::StrCat("--frame: ", text, " is no frame's number")};
  }
  return frame;
}

void TakeMoment(Raw& raw) {
  if (raw.frame.empty() == raw.time.empty()) {
    throw BadArgument{"seek: one of --frame and --time says where to"};
  }
  if (!raw.frame.empty()) {
    raw.seek.frame = ParseFrame(raw.frame);
    return;
  }
  raw.seek.time = ParseTime(raw.time);
  if (!raw.seek.time) {
    throw BadArgument{absl::StrCat("--time: ", raw.time,
                                   " is no time, as 90, 1:30.5 or 1:02:03")};
  }
}

CLI::App* Declare(CLI::App& app, const char* name, const char* what) {
  CLI::App* const command = app.add_subcommand(name, what);
  command->footer("");
  return command;
}

void Declare(CLI::App& app, Raw& raw) {
  app.set_version_flag(
      "--version",
      absl::StrCat("parlor-replay " PARLOR_VERSION " (replay log, version ",
                   lockstep::kReplayVersion, ")"));
  app.require_subcommand(1);
  const char* const partial = "Of a damaged file, take what is before it";
  CLI::App* command =
      Declare(app, "info", "What a recording is of, and what happened in it");
  command->add_option("FILE", raw.info.file, "A recording")->required();
  command->add_flag("--json", raw.info.json, "As JSON");
  command->add_flag("--partial", raw.info.partial, partial);
  command = Declare(app, "verify",
                    "Checks sums, what the seats say, and what Cycles plays");
  command
      ->add_option("FILE", raw.files,
                   "A recording, and those of the same match after restarts")
      ->required();
  command = Declare(app, "seek", "Inputs and state at one moment");
  command->add_option("FILE", raw.seek.file, "A recording")->required();
  command->add_option("--frame", raw.frame, "Before this frame runs")
      ->type_name("N");
  command->add_option("--time", raw.time, "Since it began: [[H:]M:]S[.mmm]")
      ->type_name("T");
  command->add_flag("--partial", raw.seek.partial, partial);
  command = Declare(app, "diff",
                    "The first frame in which two recordings of one match "
                    "differ, and how; or the dumps of its seats");
  command
      ->add_option("FILE", raw.files,
                   "Two recordings, or desync dumps, one of each seat; one "
                   "alone is compared with what Cycles plays")
      ->required();
}

Outcome RunCommand(const CLI::App& app, Raw& raw) {
  if (app.got_subcommand("info")) return Info(raw.info);
  if (app.got_subcommand("verify")) return Verify(raw.files);
  if (app.got_subcommand("diff")) return Diff(raw.files);
  TakeMoment(raw);
  return Seek(raw.seek);
}

Outcome Refusal(std::string_view text) {
  return {kRefused, "",
          ErrorLine(absl::StrCat(std::string(text), " (--help says more)"))};
}

}  // namespace

Outcome Run(int argc, const char* const* argv) {
  Raw raw;
  CLI::App app("Looks into recordings of matches (replay logs).",
               "parlor-replay");
  Declare(app, raw);
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
    return RunCommand(app, raw);
  } catch (const CLI::CallForHelp&) {
    return {kFine, app.help(), ""};
  } catch (const CLI::CallForVersion& version) {
    return {kFine, absl::StrCat(version.what(), "\n"), ""};
  } catch (const CLI::ParseError& error) {
    return Refusal(error.what());
  } catch (const BadArgument& bad) {
    return Refusal(bad.text);
  }
}

}  // namespace parlor::replay_program
