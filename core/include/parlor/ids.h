// Ids that outlive what they name: an index with a generation, so that an id
// of something gone finds nothing, even when its place is taken again.
//
// IdTable is the owner's side: it gives ids out, finds by them, and reuses
// places. One thread, no allocation on Find.
#ifndef PARLOR_IDS_H_
#define PARLOR_IDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "parlor/check.h"

namespace parlor {

template <typename Tag>
struct Id {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0 is given to nobody: a default id is null

  explicit operator bool() const { return generation != 0; }
  friend bool operator==(const Id&, const Id&) = default;
};

using RoomId = Id<struct RoomTag>;
using ConnectionId = Id<struct ConnectionTag>;

// References from Insert and Find hold until the next Insert.
template <typename IdType, typename T>
class IdTable {
 public:
  IdType Insert(T value) {
    std::uint32_t index;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(places_.size());
      places_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Place& place = places_[index];
    place.value.emplace(std::move(value));
    ++size_;
    return IdType{index, place.generation};
  }

  // Null for an id that was erased, or never given.
  T* Find(IdType id) {
    if (id.index >= places_.size()) return nullptr;
    Place& place = places_[id.index];
    if (place.generation != id.generation || !place.value) return nullptr;
    return &*place.value;
  }

  // Takes the value out; the id and its copies find nothing from now on.
  std::optional<T> Erase(IdType id) {
    T* value = Find(id);
    if (value == nullptr) return std::nullopt;
    Place& place = places_[id.index];
    std::optional<T> out(std::move(*value));
    place.value.reset();
    // A place whose generations are used up is retired: 2^32 - 1 of them at
    // most, and never one id for two things.
    if (++place.generation != 0) free_.push_back(id.index);
    PARLOR_CHECK(size_ > 0);
    --size_;
    return out;
  }

  std::size_t size() const { return size_; }

  // Calls visit(id, value) for all, in the order of their index. visit may
  // erase what it is given, and nothing else.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      if (places_[i].value) {
        visit(IdType{i, places_[i].generation}, *places_[i].value);
      }
    }
  }

 private:
  struct Place {
    std::uint32_t generation = 1;
    std::optional<T> value;
  };
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

}  // namespace parlor

#endif  // PARLOR_IDS_H_
