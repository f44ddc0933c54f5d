// Any bytes as a text frame of either side, and as a binary input or ack.
// Whatever they are, nothing asserts or throws. What is taken is JSON by
// another parser too, its payload is the value that one finds, and it is
// written and read again as the same.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "parlor/authority/frames.h"
#include "parlor/authority/input.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/printable.h"

namespace parlor::authority {
namespace {

using nlohmann::json;

void CheckMember(const json& object, const char* member,
                 const std::string& text) {
  PARLOR_CHECK(object.contains(member) &&
               json::parse(text, nullptr, false) == object[member]);
}

// What was handed on as JSON text is the member's value.
void CheckTexts(const json& object, const auto& frame) {
  if constexpr (requires { frame.payload; }) {
    CheckMember(object, "payload", frame.payload);
  }
  if constexpr (requires { frame.value; }) {
    CheckMember(object, "value", frame.value);
  }
  if constexpr (requires { frame.schema; }) {
    CheckMember(object, "schema", frame.schema);
  }
  if constexpr (requires { frame.fields; }) {
    if (object.contains("fields")) CheckMember(object, "fields", frame.fields);
  }
}

template <typename Any>
void CheckFrame(std::string_view text, Any (*parse)(std::string_view)) {
  const Any any = parse(text);
  if (const auto* refusal = std::get_if<FrameRefusal>(&any)) {
    const std::string described = Describe(*refusal);
    PARLOR_CHECK(Printable(described) == described);
    return;
  }
  const json object = json::parse(text, nullptr, false);
  std::visit(
      [&](const auto& frame) {
        if constexpr (requires { Write(frame); }) {
          PARLOR_CHECK(object.is_object());
          CheckTexts(object, frame);
          const std::string written = Write(frame);
          PARLOR_CHECK(parse(written) == any);
        }
      },
      any);
}

void CheckBytes(std::span<const std::byte> bytes) {
  const auto same = [&](const auto& again) {
    return AsText(again) == AsText(bytes);
  };
  if (const auto input = DecodeInput(bytes)) {
    PARLOR_CHECK(same(EncodeInput(*input)));
    PARLOR_CHECK(ParseClientFrame(Write(*input)) == ClientFrame(*input));
  }
  if (const auto tick = DecodeAck(bytes)) PARLOR_CHECK(same(EncodeAck(*tick)));
}

}  // namespace
}  // namespace parlor::authority

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  using namespace parlor::authority;  // NOLINT: of one function
  CheckFrame<ClientFrame>(parlor::AsText(bytes), ParseClientFrame);
  CheckFrame<ServerFrame>(parlor::AsText(bytes), ParseServerFrame);
  CheckBytes(bytes);
  return 0;
}
