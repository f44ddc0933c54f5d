// TestWorld: a World in a GoogleTest. It takes its seed from the environment,
// and whatever fails in its life prints that seed and the command that runs it
// again:
//
//   TEST(MyGameTest, StaysInSync) {
//     sim::TestWorld world({.network = sim::kMobile});
//     ...
//
//   the world's seed is 1; run it again:
//   PARLOR_SEED=1 build/my_test --gtest_filter=MyGameTest.StaysInSync
//
// PARLOR_SEED       the seed of every TestWorld, in place of its options': a
//                   number as C++ has them, from 0 to 2^64 - 1. Anything else
//                   is a failure of the test.
// PARLOR_TRACE_DIR  a folder: each TestWorld records (World::Record), and when
//                   its test has failed by the end of its life, leaves
//                   <suite>.<test>-<seed>.txt and .svg there, and says so.
//
// For whoever links GoogleTest; parlor itself does not.
#ifndef PARLOR_SIM_TESTING_H_
#define PARLOR_SIM_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "parlor/sim/world.h"

namespace parlor::sim {

// A number as C++ has them, decimal or, with 0x, hexadecimal; nothing for any
// other text.
inline std::optional<std::uint64_t> ParseSeed(std::string_view text) {
  int base = 10;
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seed, base);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return seed;
}

class TestWorld : public World {
 public:
  explicit TestWorld(const WorldOptions& options = {})
      : World(WithSeed(options)),
        trace_(__FILE__, __LINE__,
               "the world's seed is " + std::to_string(seed()) +
                   "; run it again:\n" + Command(seed())) {
    if (Folder() != nullptr) Record();
  }

  ~TestWorld() {
    if (Folder() == nullptr || !testing::Test::HasFailure()) return;
    std::string path = Folder();
    path += "/" + FileName() + "-" + std::to_string(seed());
    Write(path + ".txt", TraceText());
    Write(path + ".svg", TraceSvg());
  }

 private:
  static const char* Folder() { return std::getenv("PARLOR_TRACE_DIR"); }

  static WorldOptions WithSeed(WorldOptions options) {
    const char* const text = std::getenv("PARLOR_SEED");
    if (text == nullptr) return options;
    if (const auto seed = ParseSeed(text)) {
      options.seed = *seed;
    } else {
      ADD_FAILURE() << "PARLOR_SEED is \"" << text
                    << "\", which is no number from 0 to 18446744073709551615";
    }
    return options;
  }

  static std::string TestName() {
    const auto* const test =
        testing::UnitTest::GetInstance()->current_test_info();
    if (test == nullptr) return "*";
    return std::string(test->test_suite_name()) + "." + test->name();
  }
  // Of a test with a parameter, "Sizes/MatchTest.Ends/2".
  static std::string FileName() {
    std::string name = TestName();
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
  }

  static std::string Command(std::uint64_t seed) {
    const auto arguments = testing::internal::GetArgvs();
    return "PARLOR_SEED=" + std::to_string(seed) + " " +
           (arguments.empty() ? "<this program>" : arguments.front()) +
           " --gtest_filter=" + TestName();
  }

  static void Write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    std::printf(file ? "trace: %s\n" : "trace: cannot write %s\n",
                path.c_str());
  }

  testing::ScopedTrace trace_;
};

}  // namespace parlor::sim

#endif  // PARLOR_SIM_TESTING_H_
