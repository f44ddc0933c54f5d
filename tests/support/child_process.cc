#include "support/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>

#include "parlor/check.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace parlor::test {
namespace {

// Who runs the tests may ignore signals (nohup, a shell's &): the program does
// not.
posix_spawnattr_t WithDefaultSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, one);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  return attributes;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  PARLOR_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0);
  output_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawnattr_t attributes = WithDefaultSignals();
  std::vector<std::string> words = arguments;
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  PARLOR_CHECK(posix_spawn(&pid_, argv[0], &actions, &attributes, argv.data(),
                           environ) == 0);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  reader_ = std::thread([this] { Read(); });
}

ChildProcess::~ChildProcess() {
  Signal(SIGKILL);
  reader_.join();
  close(output_);
}

// On the reader's thread, until the program has ended. Nobody reaps it before,
// so that its number stays its own.
void ChildProcess::Read() {
  std::string rest;
  std::array<char, 4096> bytes;
  while (true) {
    const ssize_t count = read(output_, bytes.data(), bytes.size());
    if (count <= 0) break;
    rest.append(bytes.data(), static_cast<std::size_t>(count));
    const std::lock_guard lock(mutex_);
    for (std::size_t end = rest.find('\n'); end != std::string::npos;
         end = rest.find('\n')) {
      lines_.push_back({rest.substr(0, end), Clock::now()});
      rest.erase(0, end + 1);
    }
    changed_.notify_all();
  }
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  const std::lock_guard lock(mutex_);
  waitpid(pid_, &status_, 0);
  ended_ = true;
  changed_.notify_all();
}

const ChildProcess::Line* ChildProcess::FindLine(
    std::string_view prefix) const {
  for (const Line& line : lines_) {
    if (line.text.starts_with(prefix)) return &line;
  }
  return nullptr;
}

int ChildProcess::CountLines(std::string_view prefix) const {
  return static_cast<int>(std::count_if(
      lines_.begin(), lines_.end(),
      [prefix](const Line& line) { return line.text.starts_with(prefix); }));
}

bool ChildProcess::AwaitCount(std::string_view prefix, int count,
                              std::chrono::seconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience,
                    [&] { return ended_ || CountLines(prefix) >= count; });
  return CountLines(prefix) >= count;
}

std::string ChildProcess::Text() const {
  std::string all;
  for (const Line& line : lines_) all.append(line.text).append("\n");
  return all;
}

bool ChildProcess::AwaitText(std::string_view text,
                             std::chrono::seconds patience) {
  std::unique_lock lock(mutex_);
  const auto there = [&] { return Text().find(text) != std::string::npos; };
  changed_.wait_for(lock, patience, [&] { return ended_ || there(); });
  return there();
}

std::optional<std::string> ChildProcess::Await(std::string_view prefix,
                                               std::chrono::seconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience,
                    [&] { return ended_ || FindLine(prefix) != nullptr; });
  const Line* line = FindLine(prefix);
  if (line == nullptr) return std::nullopt;
  return line->text.substr(prefix.size());
}

void ChildProcess::Signal(int signal) const {
  const std::lock_guard lock(mutex_);
  if (!ended_) kill(pid_, signal);
}

std::optional<int> ChildProcess::AwaitEnd(std::chrono::seconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return ended_; });
  if (!ended_) return std::nullopt;
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
}

std::optional<std::string> ChildProcess::Find(std::string_view prefix) const {
  const std::lock_guard lock(mutex_);
  const Line* line = FindLine(prefix);
  if (line == nullptr) return std::nullopt;
  return line->text.substr(prefix.size());
}

std::optional<ChildProcess::Clock::time_point> ChildProcess::When(
    std::string_view prefix) const {
  const std::lock_guard lock(mutex_);
  const Line* line = FindLine(prefix);
  if (line == nullptr) return std::nullopt;
  return line->time;
}

std::string ChildProcess::output() const {
  const std::lock_guard lock(mutex_);
  return Text();
}

}  // namespace parlor::test
