// Lockstep messages and connection logs as text, one to one: a test compares
// the text and has compared every byte.
#ifndef PARLOR_TESTS_SUPPORT_LOCKSTEP_TEXT_H_
#define PARLOR_TESTS_SUPPORT_LOCKSTEP_TEXT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parlor/lockstep/wire.h"
#include "support/hex.h"
#include "support/recording_connection.h"

namespace parlor::test {

inline constexpr std::array<const char*, 9> kKindNames = {
    "KIND0",  "INPUT", "HASH",  "WELCOME", "LEAVE",
    "RESUME", "AWAY",  "START", "LOBBY"};

// "INPUT 1 0 0 30 7": the kind, then slot, players, mode, frame and value,
// without the zeros at the end. Bytes that are no message are given as hex.
inline std::string MessageText(std::span<const std::byte> bytes) {
  if (bytes.size() != lockstep::kMessageSize) return "bytes " + Hex(bytes);
  const lockstep::Message message =
      lockstep::Decode(bytes.first<lockstep::kMessageSize>());
  const auto kind = static_cast<std::size_t>(message.kind);
  std::string text = kind < kKindNames.size() ? kKindNames[kind]
                                              : "KIND" + std::to_string(kind);
  const std::array<std::uint32_t, 5> fields = {message.slot, message.players,
                                               message.mode, message.frame,
                                               message.value};
  std::size_t count = fields.size();
  while (count > 1 && fields[count - 1] == 0) --count;
  for (std::size_t i = 0; i < count; ++i) {
    text += ' ';
    text += std::to_string(fields[i]);
  }
  return text;
}

// A lane or a kind that no lockstep room uses is shown; the usual is not.
inline std::string EntryText(const RecordingConnection::Entry& entry) {
  if (entry.is_close) {
    return "closed " + std::to_string(entry.code) + " " + entry.text;
  }
  std::string text = MessageText(entry.bytes);
  if (entry.lane != Lane::kReliable) text += " (state lane)";
  if (entry.kind != MessageKind::kBinary) text += " (text)";
  return text;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_LOCKSTEP_TEXT_H_
