// NestedJson: a list in the configuration file that has objects in it, put
// together from a parser's tokens, and where in it a token is.
#ifndef PARLOR_HOST_PROGRAM_NESTED_JSON_H_
#define PARLOR_HOST_PROGRAM_NESTED_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace parlor::host_program {

class NestedJson {
 public:
  // Levels below the list.
  static constexpr std::size_t kDepthMax = 32;

  // A list has begun, and has not ended yet.
  bool is_open() const { return !levels_.empty(); }
  // Where the next value stands, below the list: "/1/key" (RFC 6901).
  std::string Path() const;

  // A list or an object begins. False: too deep.
  bool Begin(bool is_list);
  // An object's member comes next. False: there is one of that name.
  bool Key(const std::string& name);
  void Value(nlohmann::ordered_json value);
  // The innermost ends.
  void End();

  // The list as JSON, once it has ended.
  const std::string& text() const { return text_; }

 private:
  struct Level {
    nlohmann::ordered_json value;
    std::string key;  // of an object: whose value comes next
  };

  std::vector<Level> levels_;
  std::string text_;
};

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_NESTED_JSON_H_
