// LeakHunt: what nobody may ever read, and all that was written where somebody
// could: log lines, answers, files. Find says what of the former is in the
// latter.
#ifndef PARLOR_TESTS_HOST_LEAK_HUNT_H_
#define PARLOR_TESTS_HOST_LEAK_HUNT_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace parlor::test {

// Part of all that a client of a leak test says of its own: names, values,
// payloads. In no word of any language.
inline constexpr std::string_view kLeakMark = "zqleak";

class LeakHunt {
 public:
  LeakHunt();

  // "zqleak17": kLeakMark and a number that is given once.
  std::string Mark();

  // `secret` is looked for as it is, in any case, and in hexadecimal. At least
  // six bytes: what is shorter is found by accident.
  void Forbid(std::string_view name, std::string_view secret);
  // As a number and as a client offers it. One that is found by accident is
  // not looked for (one in 4,096 of those that hosts draw).
  void ForbidToken(std::uint32_t token);

  // `allowed`: texts that may be in it, and are (a test's failure otherwise).
  // What else they are part of is looked at without them.
  void Look(std::string_view where, std::string_view text,
            std::initializer_list<std::string_view> allowed = {});

  // "the code in 'GET /x': ...", one for each secret and place.
  std::vector<std::string> Find() const;

  std::size_t looked_at() const { return texts_.size(); }
  std::size_t forbidden() const { return secrets_.size(); }

 private:
  struct Secret {
    std::string name;
    std::string text;  // in lower case
  };
  struct Text {
    std::string where;
    std::string text;  // the same
  };

  int marks_ = 0;
  std::vector<Secret> secrets_;
  std::vector<Text> texts_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_HOST_LEAK_HUNT_H_
