// The command line of parlor-solo, apart from the process: what the arguments
// ask for, or what to print and the exit code.
#ifndef PARLOR_SOLO_OPTIONS_H_
#define PARLOR_SOLO_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "cycles/state.h"
#include "room_url.h"

namespace parlor::solo {

// Exit codes; --help lists them.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;   // a match or a replay went wrong
inline constexpr int kExitRefused = 2;  // bad arguments, no replay file

// Headless play runs on a virtual clock, and a room lives 24 hours of it at
// most (limits.h): 5,184,000 frames at 60 a second.
inline constexpr std::uint32_t kHeadlessFramesMax = 5'000'000;
inline constexpr std::uint32_t kHeadlessFramesDefault = 3'600;

// Where --listen listens without a number.
inline constexpr std::uint16_t kListenPort = 7777;

struct Options {
  bool headless = false;
  std::uint32_t frames = kHeadlessFramesDefault;  // of headless play
  cycles::Options game;
  bool size_given = false;  // else the terminal chooses one that fits
  std::optional<std::uint32_t> seed;
  std::string program = "parlor-solo";  // as it was started
  std::string record;                   // a file to write, or empty
  std::string desync;                   // one to write on a desync, or empty
  std::string replay;                   // a file to play, or empty
  bool partial = false;                 // of a torn replay, play what is there
  std::optional<std::uint16_t> listen;  // a port for friends, 0: picked
  std::optional<RoomUrl> join;          // a friend's room
  std::string invite;                   // the code, or empty; secret
  std::string pass;                     // or empty; not with a code; secret
  // Whichever of both there is came from, or empty.
  std::string secret_file;
  // Of DeviceKey, with a pass; not of the command line. Secret.
  std::string device;
  int wait = 0;        // headless: starts with so many seats; 0: when full
  int hold_s = 20;     // how long a seat waits for who was cut off
  std::string notice;  // one line for stderr, or empty

  bool with_friends() const { return listen.has_value() || join.has_value(); }
};

// The arguments end the program: print and exit.
struct Exit {
  int code = kExitOk;
  std::string out;
  std::string err;
};

// `has_terminal`: both stdin and stdout are one. Reads the files that a code or
// a pass is in, and nothing else.
std::variant<Options, Exit> ParseOptions(int argc, const char* const* argv,
                                         bool has_terminal);

std::string_view LevelName(cycles::Level level);
// "76x40"
std::string SizeName(int width, int height);
std::string SizeName(int size);

// One word of a shell's command line, in quotes where it needs them.
std::string ShellWord(std::string_view text);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_OPTIONS_H_
