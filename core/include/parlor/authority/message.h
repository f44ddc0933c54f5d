// A game's own messages: each is declared once, by name, and checked the same
// way by whoever sends it and whoever gets it. What fails is dropped and
// counted by the caller, and the game never sees it.
#ifndef PARLOR_AUTHORITY_MESSAGE_H_
#define PARLOR_AUTHORITY_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "parlor/authority/frames.h"

namespace parlor::authority {

// Default and cap of a message's JSON text (contract, "Messages").
inline constexpr std::size_t kMessageBytesMax = 2'048;

// Names that begin so are the engine's own.
inline constexpr std::string_view kEnginePrefix = "aos:";

struct MessageDefinition {
  std::string name;  // IsWireName (frames.h), without kEnginePrefix
  std::size_t bytes_max = kMessageBytesMax;  // of the payload, 1 or more
  // Whether a payload is one the game can use; none: any is. It gets JSON text
  // that is valid by frames.h's rules and within bytes_max. Pure: it may run on
  // either side, any number of times. What it throws counts as false.
  std::function<bool(std::string_view payload)> check = nullptr;
};

enum class MessageVerdict : std::uint8_t {
  kOk,
  kReserved,   // an engine name: never a game's to send
  kUndefined,  // nobody declared it
  kTooLarge,   // above its bytes_max
  kMalformed,  // not JSON, nested too deep, a key twice, a number too large
  kRefused,    // its check says no
  kThrew,      // its check threw
};

class Messages {
 public:
  // InvalidArgument for a name that is none, an engine name, and a bytes_max
  // outside 1..kMessageBytesMax; AlreadyExists for a second definition of a
  // name. Nothing is changed then. The text names the message.
  absl::Status Define(MessageDefinition definition);

  // Whether `payload` may be sent, or handed to the game. Throws nothing.
  MessageVerdict Check(std::string_view name, std::string_view payload) const;

 private:
  std::map<std::string, MessageDefinition, std::less<>> definitions_;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_MESSAGE_H_
