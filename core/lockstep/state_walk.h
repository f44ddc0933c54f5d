// StateWalk: goes through the saved bytes of states by their schema.
#ifndef PARLOR_CORE_LOCKSTEP_STATE_WALK_H_
#define PARLOR_CORE_LOCKSTEP_STATE_WALK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parlor/lockstep/state_schema.h"

namespace parlor::lockstep::state {

// A schema with the sizes of its fields, which walking asks for all the time.
struct Node {
  const StateField* field;
  bool fixed;        // every value takes as many bytes
  std::size_t size;  // of a value; the least, where they differ
  std::vector<Node> fields;
};

// `schema` is right (CheckSchema), and outlives it.
Node MakeNode(const StateSchema& schema);

// A part of a state that is being read.
struct Cursor {
  std::span<const std::byte> rest;

  std::span<const std::byte> Take(std::size_t size) {
    const auto taken = rest.first(size);
    rest = rest.subspan(size);
    return taken;
  }
};

// One value. False: it is cut short; `cursor` stands where it is.
bool Skip(const Node& node, Cursor& cursor);

// A list's length: of a state that is whole.
std::uint32_t TakeCount(Cursor& cursor);

// A value without fields, in words: "17", "left (3)", "0.5 (0x3f000000)".
std::string ValueText(const StateField& field,
                      std::span<const std::byte> bytes);

// "cycles[3].x", built up and taken down while walking.
class Path {
 public:
  // Lives as long as the walk is in that field or element.
  class Step {
   public:
    Step(Path& path, const std::string& name);
    Step(Path& path, std::size_t index);
    ~Step() { path_.text_.resize(length_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Path& path_;
    std::size_t length_;
  };
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace parlor::lockstep::state

#endif  // PARLOR_CORE_LOCKSTEP_STATE_WALK_H_
