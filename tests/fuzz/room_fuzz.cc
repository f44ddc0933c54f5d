// A fuzzer's bytes choose what happens to a room: joins, messages, closes,
// tokens, time. Whatever they are, nothing may assert, and the room and its
// model must agree on every byte.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "core/room_duel.h"

namespace parlor::test {
namespace {

// As many bytes a choice as its bound needs; 0 when there are no more.
class ByteChoices final : public Choices {
 public:
  explicit ByteChoices(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  std::uint32_t Below(std::uint32_t bound) override {
    std::uint32_t value = 0;
    for (std::uint32_t most = bound - 1; most > 0; most >>= 8) {
      if (rest_.empty()) break;
      value = (value << 8) | rest_.front();
      rest_ = rest_.subspan(1);
    }
    return value % bound;
  }

  bool done() const { return rest_.empty(); }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace
}  // namespace parlor::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  parlor::test::ByteChoices choices({data, size});
  parlor::test::RoomDuel duel(choices);
  while (!choices.done()) {
    if (duel.Step()) continue;
    for (const std::string& action : duel.history()) {
      std::fprintf(stderr, "  %s\n", action.c_str());
    }
    std::fprintf(stderr, "%s\n", duel.error().c_str());
    std::abort();
  }
  return 0;
}
