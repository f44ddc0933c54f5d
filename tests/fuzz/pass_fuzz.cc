// A fuzzer's bytes are a pass as a client shows it, and as one whose secret is
// known. What is read is written the same again, so each pass has one spelling;
// without the signature nothing is.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "logic/pass.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::host {
namespace {

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kOther = "0123456789abcdef0123456789abcdeF";

void Check(std::string_view text) {
  const std::optional<Pass> pass = ReadPass(text, kSecret);
  PARLOR_CHECK(!pass || WritePass(*pass, kSecret) == text);
  PARLOR_CHECK(!pass || !ReadPass(text, kOther));
  if (IsDeviceKey(text)) PARLOR_CHECK(text.size() >= 16 && text.size() <= 64);
  HashDevice(0, text);
}

// Its first bytes as the fields of one that is right, and the rest in place of
// some of its text.
void CheckDamaged(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const Pass pass{.id = reader.U64(),
                  .expires_s = static_cast<std::int64_t>(reader.U64()),
                  .devices = 1 + reader.U8() % 16};
  std::string text = WritePass(pass, kSecret);
  PARLOR_CHECK(ReadPass(text, kSecret) == pass);
  const std::size_t at = reader.U8() % text.size();
  if (!reader.ok()) return;
  const std::string right = text;
  text.replace(at, reader.remaining(), AsText(bytes.last(reader.remaining())));
  PARLOR_CHECK(ReadPass(text, kSecret).has_value() == (text == right));
}

}  // namespace
}  // namespace parlor::host

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  parlor::host::Check(parlor::AsText(bytes));
  parlor::host::CheckDamaged(bytes);
  return 0;
}
