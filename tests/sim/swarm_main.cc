// The swarm: runs seeds in a row, and stops at the first that breaks what must
// hold. tests/swarm builds and starts it.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "parlor/printable.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "sim/swarm_play_room.h"
#include "sim/swarm_play_scenario.h"
#include "sim/swarm_run.h"
#include "sim/swarm_scenario.h"
#include "support/seed.h"

namespace {

using parlor::test::PlayScenario;
using parlor::test::SwarmFigures;
using parlor::test::SwarmKind;
using parlor::test::SwarmRun;
using parlor::test::SwarmScenario;

struct Options {
  std::uint64_t from = parlor::test::NumberFromEnv("PARLOR_SEED", 1);
  std::uint64_t seeds = 100;
  bool describe = false;   // each scenario, before it runs
  bool twice = false;      // and compares what the two runs were
  bool go_on = false;      // behind a failure
  bool cut_short = false;  // ends each in the midst of its trouble
  SwarmKind kind = SwarmKind::kLockstep;  // of the rooms
  std::string trace;  // where the last run's is put, .txt and .svg
};

constexpr std::string_view kUsage =
    "Usage: parlor-swarm [--seeds N] [--from S] [--kind KIND] [--describe]\n"
    "                    [--twice] [--go-on] [--cut-short] [--trace FILE]\n"
    "  --seeds N     how many (100), in a row\n"
    "  --from S      the first (PARLOR_SEED, or 1)\n"
    "  --kind KIND   of their rooms: lockstep, authority or both (lockstep)\n"
    "  --describe    print what each run is to be\n"
    "  --twice       run each again: both must be the same\n"
    "  --go-on       do not stop at the first failure\n"
    "  --cut-short   end each in the midst of its trouble\n"
    "  --trace FILE  write FILE.txt and FILE.svg of the last run\n";

// What a failed check or a crash says at last: which seed it was.
char last_words[128];

void OnCrash(int number) {
  // Nothing can be done where even this fails.
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, last_words, std::strlen(last_words));
  std::signal(number, SIG_DFL);
  std::raise(number);
}

struct KindName {
  std::string_view name;
  SwarmKind kind;
};
constexpr KindName kKinds[] = {{"lockstep", SwarmKind::kLockstep},
                               {"authority", SwarmKind::kAuthority},
                               {"both", SwarmKind::kBoth}};

std::string_view NameOf(SwarmKind kind) {
  return std::ranges::find(kKinds, kind, &KindName::kind)->name;
}

// What runs that seed again, as it ran.
std::string Rerun(std::uint64_t seed, const Options& options) {
  return "rerun: tests/swarm --from " + std::to_string(seed) + " --seeds 1" +
         (options.kind == SwarmKind::kLockstep
              ? std::string()
              : " --kind " + std::string(NameOf(options.kind))) +
         (options.cut_short ? " --cut-short" : "") +
         (options.twice ? " --twice" : "");
}

void SetLastWords(std::uint64_t seed, const Options& options) {
  std::snprintf(last_words, sizeof(last_words),
                "seed %" PRIu64 " crashed\n%s\n", seed,
                Rerun(seed, options).c_str());
}

bool ParseNumber(std::string_view text, std::uint64_t& number) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const char* const end = text.data() + text.size();
  const auto [rest, error] =
      std::from_chars(text.data(), end, number, hex ? 16 : 10);
  return error == std::errc() && rest == end;
}

bool* FlagOf(std::string_view name, Options& options) {
  if (name == "--describe") return &options.describe;
  if (name == "--twice") return &options.twice;
  if (name == "--go-on") return &options.go_on;
  if (name == "--cut-short") return &options.cut_short;
  return nullptr;
}

// What is wrong with it; empty: nothing. tests/swarm says the same.
std::string TakeValue(const std::string& name, const std::string& value,
                      Options& options) {
  if (name == "--trace") {
    options.trace = value;
    const bool named = !value.empty() && !value.starts_with("--");
    return named ? "" : "--trace: '" + value + "' is no file's name";
  }
  if (name == "--kind") {
    const auto* const kind =
        std::ranges::find(kKinds, std::string_view(value), &KindName::name);
    if (kind == std::end(kKinds)) {
      return "--kind: '" + value + "' is not lockstep, authority or both";
    }
    options.kind = kind->kind;
    return "";
  }
  std::uint64_t& number = name == "--seeds" ? options.seeds : options.from;
  if (!ParseNumber(value, number)) {
    return name + ": '" + value + "' is no number from 0 to 2^64 - 1";
  }
  // It would be a success, of nothing.
  const bool none = name == "--seeds" && number == 0;
  return none ? "--seeds: " + value + " is nothing to run" : "";
}

// What is wrong with the arguments; empty: nothing.
std::string Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (bool* const flag = FlagOf(name, options)) {
      *flag = true;
      continue;
    }
    if (name != "--trace" && name != "--seeds" && name != "--from" &&
        name != "--kind") {
      return "there is no option '" + name + "'";
    }
    if (++i == argc) return name + ": its value is missing";
    std::string wrong = TakeValue(name, argv[i], options);
    if (!wrong.empty()) return wrong;
  }
  if (options.trace.empty() || std::ofstream(options.trace + ".txt")) return "";
  return "--trace: cannot write " + options.trace + ".txt";
}

void Add(SwarmFigures& all, const SwarmFigures& one) {
  all.time += one.time;
  all.room_time += one.room_time;
  all.frames += one.frames;
  all.restarts += one.restarts;
  all.seen.messages += one.seen.messages;
  all.seen.matches += one.seen.matches;
  all.seen.resumes += one.seen.resumes;
  all.seen.takeovers += one.seen.takeovers;
  all.seen.refused_tokens += one.seen.refused_tokens;
  all.seen.holds_ended += one.seen.holds_ended;
  all.seen.put_out += one.seen.put_out;
  all.play.joins += one.play.joins;
  all.play.resumes += one.play.resumes;
  all.play.takeovers += one.play.takeovers;
  all.play.refused_tokens += one.play.refused_tokens;
  all.play.holds_ended += one.play.holds_ended;
  all.play.put_out += one.play.put_out;
  all.play.evicted += one.play.evicted;
  all.play.states += one.play.states;
  all.play.recoveries += one.play.recoveries;
  all.play.failed_ticks += one.play.failed_ticks;
  all.play.rooms_failed += one.play.rooms_failed;
}

void WriteTrace(const SwarmRun& run, const std::string& path) {
  std::ofstream(path + ".txt") << run.trace();
  std::ofstream(path + ".svg") << run.chart();
  std::printf("trace: %s.txt, %s.svg\n", path.c_str(), path.c_str());
}

parlor::Duration DrawEnd(const SwarmScenario& scenario) {
  parlor::Random random(scenario.seed, /*stream=*/7);
  return scenario.trouble / 1'000 * (1 + random.Below(1'000));
}

std::string Play(SwarmRun& run, const SwarmScenario& scenario,
                 const Options& options) {
  return options.cut_short ? run.RunShort(DrawEnd(scenario)) : run.Run();
}

std::string DescribeAll(std::uint64_t seed, const Options& options) {
  SwarmScenario scenario = parlor::test::DrawScenario(seed);
  const PlayScenario play = DrawPlayScenario(options.kind, scenario);
  return Describe(scenario) + Describe(play);
}

// What broke; empty: nothing.
std::string RunSeed(std::uint64_t seed, const Options& options,
                    SwarmFigures& all) {
  SetLastWords(seed, options);
  SwarmScenario scenario = parlor::test::DrawScenario(seed);
  const PlayScenario play = DrawPlayScenario(options.kind, scenario);
  if (options.describe) {
    std::printf("seed %" PRIu64 ":\n%s", seed,
                DescribeAll(seed, options).c_str());
    std::fflush(stdout);
  }
  SwarmRun run(scenario, play, !options.trace.empty());
  std::string error = Play(run, scenario, options);
  Add(all, run.figures());
  if (!options.trace.empty()) WriteTrace(run, options.trace);
  if (!error.empty() || !options.twice) return error;
  SwarmRun again(scenario, play, /*record=*/false);
  Play(again, scenario, options);
  return again.digest() == run.digest() ? "" : "not the same when run again";
}

void Report(std::uint64_t runs, const SwarmFigures& all, double seconds) {
  const auto milli_hours = all.room_time / (3'600 * parlor::kMillisecond);
  std::printf("%" PRIu64 " runs in %.1f s: %" PRId64 " s of the world, %" PRId64
              ".%03d room-hours, %" PRIu64 " frames, %" PRIu64
              " messages, %" PRIu64 " matches, %" PRIu64 " resumes, %" PRIu64
              " takeovers, %" PRIu64 " tokens turned away, %" PRIu64
              " holds ended, %" PRIu64 " put out, %" PRIu64 " host restarts\n",
              runs, seconds,
              static_cast<std::int64_t>(all.time / parlor::kSecond),
              static_cast<std::int64_t>(milli_hours / 1'000),
              static_cast<int>(milli_hours % 1'000), all.frames,
              all.seen.messages, all.seen.matches, all.seen.resumes,
              all.seen.takeovers, all.seen.refused_tokens, all.seen.holds_ended,
              all.seen.put_out, all.restarts);
}

void ReportPlay(const parlor::test::PlayFigures& all) {
  std::printf("authority rooms: %" PRIu64 " joins, %" PRIu64
              " resumes, %" PRIu64 " takeovers, %" PRIu64
              " tokens turned away, %" PRIu64 " holds ended, %" PRIu64
              " put out, %" PRIu64 " evicted, %" PRIu64
              " state frames, %" PRIu64 " recoveries, %" PRIu64
              " failed ticks, %" PRIu64 " rooms failed\n",
              all.joins, all.resumes, all.takeovers, all.refused_tokens,
              all.holds_ended, all.put_out, all.evicted, all.states,
              all.recoveries, all.failed_ticks, all.rooms_failed);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc == 2 && argv[1] == std::string_view("--help")) {
    std::fputs(kUsage.data(), stdout);
    return 0;
  }
  if (const std::string wrong = Parse(argc, argv, options); !wrong.empty()) {
    std::fprintf(stderr, "parlor-swarm: %s (--help says more)\n",
                 parlor::Printable(wrong).c_str());
    return 2;
  }
  std::signal(SIGABRT, OnCrash);
  std::signal(SIGSEGV, OnCrash);
  const auto begin = std::chrono::steady_clock::now();
  SwarmFigures all;
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    const std::uint64_t seed = options.from + i;
    const std::string error = RunSeed(seed, options, all);
    ++runs;
    if (error.empty()) continue;
    ++failures;
    std::printf("seed %" PRIu64 " broke: %s\n%s", seed, error.c_str(),
                DescribeAll(seed, options).c_str());
    std::printf("%s --trace build/swarm\n", Rerun(seed, options).c_str());
    std::fflush(stdout);
    if (!options.go_on) break;
  }
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - begin;
  Report(runs, all, passed.count());
  if (options.kind != SwarmKind::kLockstep) ReportPlay(all.play);
  return failures == 0 ? 0 : 1;
}
