// What the two programs share that foreign peers are tried against: they are
// told what to do by lines on standard input, say what happens in lines on
// standard output, and end when that input ends or their time is up, so that
// none of them outlives its test.
#ifndef PARLOR_TESTS_PEERS_PEER_PROGRAM_H_
#define PARLOR_TESTS_PEERS_PEER_PROGRAM_H_

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/stream_options.h"
#include "support/hex.h"

namespace parlor::peers {

// One line; whoever reads them waits for it.
inline void Say(std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

inline std::string_view KindName(MessageKind kind) {
  return kind == MessageKind::kText ? "text" : "binary";
}

inline std::string_view SendResultName(SendResult result) {
  constexpr std::array<std::string_view, 4> kNames = {"queued", "replaced",
                                                      "overflow", "closed"};
  return kNames[static_cast<std::size_t>(result)];
}

// "close <code> <us or peer> <refusal> <text, hexadecimal>"
inline std::string Describe(const CloseEvent& event) {
  return absl::StrCat("close ", event.code, event.by_us ? " us " : " peer ",
                      event.refusal, " ", test::Hex(AsBytes(event.text)));
}

// The word at the front of `text`, which loses it and the space behind it.
inline std::string_view TakeWord(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// 0 for what is no number.
template <typename Number>
Number TakeNumber(std::string_view& text) {
  const std::string_view word = TakeWord(text);
  Number number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

// The orders that both know, of which `verb` is the first word:
//   close <code> [text]
//   abort
// False for any other.
inline bool Obey(Connection& connection, std::string_view verb,
                 std::string_view rest) {
  if (verb == "close") {
    const auto code = TakeNumber<CloseCode>(rest);
    connection.Close(code, rest);
    return true;
  }
  if (verb == "abort") {
    connection.Abort();
    return true;
  }
  return false;
}

// The options that both have.
struct CommonOptions {
  StreamOptions stream;
  int seconds = 60;

  void Declare(CLI::App& app) {
    app.add_option("--seconds", seconds, "Ends after that time at the latest")
        ->check(CLI::Range(1, 600));
    app.add_option("--reliable-bytes", stream.reliable_bytes_max);
    app.add_option("--message-bytes", stream.message_bytes_max);
    app.add_option("--linger-ms", stream.linger_ms);
    app.add_option("--ping-ms", stream.ping_ms);
    app.add_option("--silence-ms", stream.silence_ms);
  }
};

// Reads standard input on a thread of its own, hands each line to `on_line` on
// the loop's thread, and stops the loop at the end or when time is up.
class InputLines {
 public:
  InputLines(NetLoop& loop, int seconds,
             std::function<void(std::string_view)> on_line)
      : loop_(loop),
        end_(Clock::now() + std::chrono::seconds(seconds)),
        on_line_(std::move(on_line)),
        thread_([this] { Read(); }) {}

  // After the loop's Run has returned.
  ~InputLines() { thread_.join(); }
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void Read() {
    std::string rest;
    std::array<char, 65'536> buffer;
    while (Readable()) {
      const ssize_t size = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (size <= 0) break;
      rest.append(buffer.data(), static_cast<std::size_t>(size));
      std::size_t begin = 0;
      while (true) {
        const std::size_t end = rest.find('\n', begin);
        if (end == std::string::npos) break;
        loop_.Post(
            [this, line = rest.substr(begin, end - begin)] { on_line_(line); });
        begin = end + 1;
      }
      rest.erase(0, begin);
    }
    loop_.Stop();
  }

  bool Readable() const {
    pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end_ - Clock::now());
    return left.count() > 0 &&
           poll(&input, 1, static_cast<int>(left.count())) > 0;
  }

  NetLoop& loop_;
  const Clock::time_point end_;
  const std::function<void(std::string_view)> on_line_;
  std::thread thread_;
};

// What main is to do: CLI11 throws.
inline int RunMain(int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace parlor::peers

#endif  // PARLOR_TESTS_PEERS_PEER_PROGRAM_H_
