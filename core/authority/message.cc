#include "parlor/authority/message.h"

#include <utility>

#include "absl/status/status.h"
#include "parlor/authority/frames.h"
#include "parlor/printable.h"
#include "parlor/status.h"

namespace parlor::authority {
namespace {

// The game's code, and so the one place here where anything may be thrown.
MessageVerdict RunCheck(const MessageDefinition& definition,
                        std::string_view payload) {
  if (!definition.check) return MessageVerdict::kOk;
  try {
    return definition.check(payload) ? MessageVerdict::kOk
                                     : MessageVerdict::kRefused;
  } catch (...) {
    return MessageVerdict::kThrew;
  }
}

}  // namespace

absl::Status Messages::Define(MessageDefinition definition) {
  const std::string where = "message " + Printable(definition.name) + ": ";
  if (!IsWireName(definition.name)) {
    return InvalidArgument(where +
                           "a name is 1 to 64 letters, digits and _ - . : /");
  }
  if (definition.name.starts_with(kEnginePrefix)) {
    return InvalidArgument(where +
                           "names that begin with aos: are the engine's");
  }
  if (definition.bytes_max < 1 || definition.bytes_max > kMessageBytesMax) {
    return InvalidArgument(
        where + "bytes_max: " + std::to_string(definition.bytes_max) +
        " is not in 1.." + std::to_string(kMessageBytesMax));
  }
  if (definitions_.contains(definition.name)) {
    return MakeStatus(absl::StatusCode::kAlreadyExists,
                      where + "is defined already");
  }
  const std::string name = definition.name;
  definitions_[name] = std::move(definition);
  return absl::OkStatus();
}

MessageVerdict Messages::Check(std::string_view name,
                               std::string_view payload) const {
  if (name.starts_with(kEnginePrefix)) return MessageVerdict::kReserved;
  const auto found = definitions_.find(name);
  if (found == definitions_.end()) return MessageVerdict::kUndefined;
  if (payload.size() > found->second.bytes_max) {
    return MessageVerdict::kTooLarge;
  }
  if (!IsJsonText(payload)) return MessageVerdict::kMalformed;
  return RunCheck(found->second, payload);
}

}  // namespace parlor::authority
