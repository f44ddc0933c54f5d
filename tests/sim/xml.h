// Whether a text is well-formed XML, as far as a chart uses it: elements,
// attributes, text and the five entities; no comments, no declarations.
#ifndef PARLOR_TESTS_SIM_XML_H_
#define PARLOR_TESTS_SIM_XML_H_

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace parlor::test {

class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : rest_(text) {}

  // One element, and nothing but space behind it.
  bool Document() {
    if (!Element()) return false;
    Space();
    return rest_.empty();
  }

 private:
  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void Space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) {
      rest_.remove_prefix(1);
    }
  }
  std::string_view Name() {
    std::size_t size = 0;
    while (
        size < rest_.size() &&
        (std::string_view("-:").find(rest_[size]) != std::string_view::npos ||
         (rest_[size] >= 'a' && rest_[size] <= 'z') ||
         (rest_[size] >= 'A' && rest_[size] <= 'Z') ||
         (size > 0 && rest_[size] >= '0' && rest_[size] <= '9'))) {
      ++size;
    }
    const std::string_view name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return name;
  }

  // Up to `end`, which stays.
  bool Text(char end) {
    static constexpr std::array<std::string_view, 5> kEntities = {
        "&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    while (!rest_.empty() && rest_[0] != end) {
      const char c = rest_[0];
      if (c == '<' || (c < ' ' && c != '\n')) return false;
      if (c != '&') {
        rest_.remove_prefix(1);
        continue;
      }
      bool known = false;
      for (const std::string_view entity : kEntities) {
        if ((known = Take(entity))) break;
      }
      if (!known) return false;
    }
    return !rest_.empty();
  }

  bool Attributes() {
    std::set<std::string_view> names;
    while (true) {
      const std::size_t before = rest_.size();
      Space();
      const std::string_view name = Name();
      if (name.empty()) return true;
      if (before == rest_.size() + name.size()) return false;  // no space
      if (!names.insert(name).second || !Take("=\"") || !Text('"') ||
          !Take("\"")) {
        return false;
      }
    }
  }

  // Without recursion: depth is the text's to choose.
  bool Element() {
    std::vector<std::string_view> open;
    do {
      if (Take("</")) {
        if (open.empty() || Name() != open.back() || !Take(">")) return false;
        open.pop_back();
      } else if (Take("<")) {
        const std::string_view name = Name();
        if (name.empty() || !Attributes()) return false;
        if (!Take("/>")) {
          if (!Take(">")) return false;
          open.push_back(name);
        }
      } else {
        return false;
      }
      if (!open.empty() && !Text('<')) return false;
    } while (!open.empty());
    return true;
  }

  std::string_view rest_;
};

inline bool IsWellFormed(std::string_view xml) {
  return XmlReader(xml).Document();
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_XML_H_
