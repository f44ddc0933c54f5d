// ChildProcess: a program that a test runs, and the lines it prints.
#ifndef PARLOR_TESTS_SUPPORT_CHILD_PROCESS_H_
#define PARLOR_TESTS_SUPPORT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace parlor::test {

class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts it with stdin from /dev/null; stdout and stderr are read as one.
  // `arguments` begins with the program's path.
  explicit ChildProcess(const std::vector<std::string>& arguments);
  // Kills it if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // What follows `prefix` in the first line that begins with it, printed or
  // still to come; nullopt when it ended or `patience` is over before that.
  std::optional<std::string> Await(std::string_view prefix,
                                   std::chrono::seconds patience);
  // The same, for `count` such lines; false in place of nullopt.
  bool AwaitCount(std::string_view prefix, int count,
                  std::chrono::seconds patience);
  // The same, for a text that is anywhere in the lines, the ends of lines in it
  // included.
  bool AwaitText(std::string_view text, std::chrono::seconds patience);
  void Signal(int signal) const;
  // How it ended: its exit code, or minus the signal; nullopt when it still
  // runs after `patience`.
  std::optional<int> AwaitEnd(std::chrono::seconds patience);

  // Once it has ended, or of what came until now.
  std::optional<std::string> Find(std::string_view prefix) const;
  // When that line came.
  std::optional<Clock::time_point> When(std::string_view prefix) const;
  std::string output() const;

 private:
  struct Line {
    std::string text;
    Clock::time_point time;
  };

  void Read();
  // Under mutex_, as is all that they look at.
  const Line* FindLine(std::string_view prefix) const;
  int CountLines(std::string_view prefix) const;
  std::string Text() const;

  pid_t pid_ = -1;
  int output_ = -1;  // the pipe's end to read from
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Line> lines_;
  bool ended_ = false;  // no more lines
  int status_ = 0;      // waitpid's
  std::thread reader_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_CHILD_PROCESS_H_
