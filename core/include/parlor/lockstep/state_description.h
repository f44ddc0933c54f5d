// How a game describes its state: its fields, with names, a few lines a struct.
// The same lines save it, load it, hash it (state_hash.h), compare it and show
// it (state_schema.h).
//
//   struct Cycle { std::uint8_t x, y; Heading heading; float speed; };
//   struct Arena { Random random; std::array<Cycle, 8> cycles;
//                  std::vector<Bomb> bombs; };
//
//   inline constexpr std::array<std::string_view, 4> kHeadings = {
//       "up", "right", "down", "left"};
//
//   template <class Fields>
//   void DescribeState(Fields& fields, Cycle& cycle) {
//     fields("x", cycle.x)("y", cycle.y)("speed", cycle.speed);
//     fields("heading", cycle.heading, kHeadings);
//   }
//   template <class Fields>
//   void DescribeState(Fields& fields, Arena& arena) {
//     fields.Block("random", arena.random);
//     fields("cycles", arena.cycles)("bombs", arena.bombs);
//   }
//
// In the namespace of the struct, or as its friend. A field is an integer, a
// bool, an enum (with the names of 0, 1, ... or without), a float or double, a
// struct that is described, or an array or std::vector of these. Block takes
// the bytes of anything that is trivially copyable and has no padding.
//
// The rules: the same fields for every value of a type, with the same names, in
// the same order; everything that decides what Step does is among them. Nothing
// is changed by it: the reference is not const because the same lines load.
// What is described is default-constructible.
//
// The bytes of a state depend on its fields alone: not on the machine, the
// compiler, padding or addresses. An array whose elements lie in memory as they
// are saved (all fields described, in order, without padding) is copied or
// hashed whole, four times as fast as field by field. That is looked up once a
// type, and changes no byte.
#ifndef PARLOR_LOCKSTEP_STATE_DESCRIPTION_H_
#define PARLOR_LOCKSTEP_STATE_DESCRIPTION_H_

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/lockstep/state_schema.h"
#include "parlor/status.h"

namespace parlor::lockstep {

// What a recorder, a seek or a test needs of a game's state, whatever its type.
class DescribedState {
 public:
  virtual ~DescribedState() = default;
  virtual const StateSchema& schema() const = 0;
  // Replaces `out`. False: the state is larger than `bytes_max`; `out` is
  // unspecified then. It allocates nothing where `out` was this large before.
  bool Save(std::vector<std::byte>& out,
            std::size_t bytes_max = kStateBytesMax) const {
    return SaveUpTo(bytes_max, out);
  }
  // InvalidArgument, and nothing changed: no state of this description, a bool
  // that is neither 0 nor 1, an enum without a name where it has names, or one
  // that the game's IsValidState refuses.
  virtual absl::Status Load(std::span<const std::byte> bytes) = 0;

 private:
  virtual bool SaveUpTo(std::size_t bytes_max,
                        std::vector<std::byte>& out) const = 0;
};

namespace state {

template <class T>
inline constexpr bool kIsScalar =
    std::is_integral_v<T> || std::is_enum_v<T> || std::is_same_v<T, float> ||
    std::is_same_v<T, double>;

// The element of a std::array, an array or a std::vector.
template <class T>
struct Elements {
  static constexpr bool kAny = false;
};
template <class T, std::size_t N>
struct Elements<std::array<T, N>> {
  using Type = T;
  static constexpr bool kAny = true;
  static constexpr bool kFixed = true;
  static constexpr std::size_t kSize = N;
};
template <class T, std::size_t N>
struct Elements<T[N]> : Elements<std::array<T, N>> {};
template <class T>
struct Elements<std::vector<T>> {
  static_assert(!std::is_same_v<T, bool>, "has no bools: take std::uint8_t");
  using Type = T;
  static constexpr bool kAny = true;
  static constexpr bool kFixed = false;
};

// A value to describe where there is none; an array is one, too.
template <class T>
struct One {
  T value{};
};

template <class T>
inline constexpr bool kIsBlock = std::is_trivially_copyable_v<T>&&
    std::has_unique_object_representations_v<T>;

// Of an enum, or of the elements of an array of enums.
using ValueNames = std::span<const std::string_view>;

template <std::size_t kSize>
using Bits = std::conditional_t<
    kSize == 1, std::uint8_t,
    std::conditional_t<
        kSize == 2, std::uint16_t,
        std::conditional_t<kSize == 4, std::uint32_t, std::uint64_t>>>;

// As memcpy: in pieces, because that of glibc 2.36 is ten times as slow above
// some KB, on EPYC, where the two are not aligned alike.
inline void CopyBytes(std::byte* to, const std::byte* from, std::size_t size) {
  constexpr std::size_t kPiece = 1'024;
  for (; size > kPiece; size -= kPiece, to += kPiece, from += kPiece) {
    std::memcpy(to, from, kPiece);
  }
  if (size != 0) std::memcpy(to, from, size);
}

template <class T>
bool LiesAsSaved();

// Whether the fields of one struct follow each other without a gap.
class LayoutProbe {
 public:
  explicit LayoutProbe(const void* base) : next_(Address(base)) {}

  template <class T>
  LayoutProbe& operator()(std::string_view, T& value, ValueNames = {}) {
    return Take(&value, sizeof(T), LiesAsSaved<T>());
  }
  template <class T>
  LayoutProbe& Block(std::string_view, T& value) {
    return Take(&value, sizeof(T), true);
  }
  bool EndsAt(const void* end) const { return whole_ && next_ == Address(end); }

 private:
  static std::uintptr_t Address(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at);
  }
  LayoutProbe& Take(const void* at, std::size_t size, bool lies) {
    whole_ = whole_ && lies && Address(at) == next_;
    next_ += size;
    return *this;
  }

  std::uintptr_t next_;
  bool whole_ = true;
};

template <class T>
bool LiesAsSaved() {
  if constexpr (std::endian::native != std::endian::little ||
                !std::is_trivially_copyable_v<T>) {
    return false;
  } else if constexpr (kIsScalar<T>) {
    return true;
  } else if constexpr (Elements<T>::kAny) {
    return LiesAsSaved<typename Elements<T>::Type>();
  } else {
    static const bool lies = [] {
      const auto value = std::make_unique<T>();
      LayoutProbe probe(value.get());
      DescribeState(probe, *value);
      return probe.EndsAt(value.get() + 1);
    }();
    return lies;
  }
}

// Bytes of a saved value of a type that has no lists.
template <class T>
std::size_t SavedSize();

class SizeProbe {
 public:
  template <class T>
  SizeProbe& operator()(std::string_view, T&, ValueNames = {}) {
    size_ += SavedSize<T>();
    return *this;
  }
  template <class T>
  SizeProbe& Block(std::string_view, T&) {
    size_ += sizeof(T);
    return *this;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

template <class T>
std::size_t SavedSize() {
  if constexpr (kIsScalar<T>) {
    return sizeof(T);
  } else if constexpr (Elements<T>::kAny) {
    return Elements<T>::kSize * SavedSize<typename Elements<T>::Type>();
  } else {
    static const std::size_t size = [] {
      const auto value = std::make_unique<T>();
      SizeProbe probe;
      DescribeState(probe, *value);
      return probe.size();
    }();
    return size;
  }
}

// By its bytes: a bool that a fault made 2 is saved as 2.
template <class T>
void StoreScalar(std::byte* to, const T& value) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(to, &value, sizeof(T));
  } else {
    Bits<sizeof(T)> bits;
    std::memcpy(&bits, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      to[i] = static_cast<std::byte>(bits >> (8 * i));
    }
  }
}

// Writes an element for which there is room: so little a field that compilers
// make one piece of it.
class ElementWriter {
 public:
  explicit ElementWriter(std::byte* next) : next_(next) {}

  template <class T>
  ElementWriter& operator()(std::string_view, T& value, ValueNames = {}) {
    if constexpr (kIsScalar<T>) {
      StoreScalar(next_, value);
      next_ += sizeof(T);
    } else if constexpr (Elements<T>::kAny) {
      using Element = typename Elements<T>::Type;
      if constexpr (kIsScalar<Element> &&
                    std::endian::native == std::endian::little) {
        std::memcpy(next_, &value, sizeof(T));
        next_ += sizeof(T);
      } else {
        for (auto& element : value) (*this)("", element);
      }
    } else {
      DescribeState(*this, value);
    }
    return *this;
  }
  template <class T>
  ElementWriter& Block(std::string_view, T& value) {
    static_assert(kIsBlock<T>);
    std::memcpy(next_, &value, sizeof(T));
    next_ += sizeof(T);
    return *this;
  }
  std::byte* next() const { return next_; }

 private:
  std::byte* next_;
};

}  // namespace state

// ---- Saving and hashing

// Where saved bytes go: memory that is written to, from one room to the next.
class StateSink {
 public:
  static constexpr std::size_t kRoomMax = 256;

  struct Room {
    std::byte* next;
    std::byte* end;
  };
  // The room was written to below `next`, and what is left is not enough for
  // `size` bytes more, at most kRoomMax. The answer is.
  virtual Room MakeRoom(std::byte* next, std::size_t size) = 0;
  // As MakeRoom, where what follows are `size` bytes, any number.
  virtual Room Take(std::byte* next, const std::byte* bytes,
                    std::size_t size) = 0;

 protected:
  ~StateSink() = default;
};

// Fields as saved bytes.
class StateWriter {
 public:
  StateWriter(StateSink& sink, StateSink::Room room)
      : sink_(&sink), next_(room.next), end_(room.end) {}

  template <class T>
  StateWriter& operator()(std::string_view, T& value, state::ValueNames = {}) {
    Put(value);
    return *this;
  }
  template <class T>
  StateWriter& Block(std::string_view, T& value) {
    static_assert(state::kIsBlock<T>);
    PutBytes(&value, sizeof(T));
    return *this;
  }

  // What the room was written to up to.
  std::byte* next() const { return next_; }

 private:
  template <class T>
  void Put(T& value) {
    if constexpr (state::kIsScalar<T>) {
      PutScalar(value);
    } else if constexpr (!state::Elements<T>::kAny) {
      DescribeState(*this, value);
    } else {
      if constexpr (!state::Elements<T>::kFixed) {
        PutScalar(static_cast<std::uint32_t>(value.size()));
      }
      if (state::LiesAsSaved<typename state::Elements<T>::Type>()) {
        PutBytes(std::data(value),
                 std::size(value) * sizeof(*std::data(value)));
      } else {
        PutElements(value);
      }
    }
  }

  template <class T>
  void PutScalar(const T& value) {
    if (static_cast<std::size_t>(end_ - next_) < sizeof(T)) {
      Use(sink_->MakeRoom(next_, sizeof(T)));
    }
    state::StoreScalar(next_, value);
    next_ += sizeof(T);
  }
  // With all that it calls in one piece, a description that a compiler thinks
  // long as well: three times as fast.
  template <class T>
  [[gnu::flatten]] void PutElements(T& elements) {
    using Element = typename state::Elements<T>::Type;
    if constexpr (std::is_trivially_copyable_v<Element>) {
      const std::size_t size = state::SavedSize<Element>();
      if (size <= StateSink::kRoomMax) {
        for (auto& element : elements) {
          if (static_cast<std::size_t>(end_ - next_) < size) {
            Use(sink_->MakeRoom(next_, size));
          }
          state::ElementWriter writer(next_);
          writer("", element);
          next_ = writer.next();
        }
        return;
      }
    }
    for (auto& element : elements) Put(element);
  }
  void PutBytes(const void* from, std::size_t size) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    if (static_cast<std::size_t>(end_ - next_) < size) {
      return Use(sink_->Take(next_, bytes, size));
    }
    state::CopyBytes(next_, bytes, size);
    next_ += size;
  }
  void Use(StateSink::Room room) {
    next_ = room.next;
    end_ = room.end;
  }

  StateSink* sink_;
  std::byte* next_;
  std::byte* end_;
};

namespace state {

// Into a vector, whose memory it uses.
class VectorSink final : public StateSink {
 public:
  VectorSink(std::vector<std::byte>& out, std::size_t bytes_max);

  Room Begin();
  // False: it was more than bytes_max.
  bool Finish(const std::byte* next);

 private:
  Room MakeRoom(std::byte* next, std::size_t size) override;
  Room Take(std::byte* next, const std::byte* bytes, std::size_t size) override;

  std::vector<std::byte>& out_;
  const std::size_t bytes_max_;
  bool fits_ = true;
  std::array<std::byte, kRoomMax> spill_;  // where bytes beyond bytes_max go
};

}  // namespace state

// ---- Loading

// Fields out of saved bytes. After the first that cannot be read the rest is
// left as it is.
class StateReader {
 public:
  explicit StateReader(std::span<const std::byte> bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  template <class T>
  StateReader& operator()(std::string_view, T& value,
                          state::ValueNames names = {}) {
    Take(value, names);
    return *this;
  }
  template <class T>
  StateReader& Block(std::string_view, T& value) {
    static_assert(state::kIsBlock<T>);
    TakeBytes(&value, sizeof(T));
    return *this;
  }

  // Nothing failed and nothing is left.
  bool AtEnd() const { return ok_ && next_ == end_; }

 private:
  template <class T>
  void Take(T& value, state::ValueNames names) {
    if constexpr (state::kIsScalar<T>) {
      TakeScalar(value);
      if constexpr (std::is_enum_v<T>) {
        const bool named = static_cast<std::uint64_t>(value) < names.size();
        if (!names.empty() && !named) ok_ = false;
      }
    } else if constexpr (!state::Elements<T>::kAny) {
      if (ok_) DescribeState(*this, value);
    } else {
      if constexpr (!state::Elements<T>::kFixed) {
        std::uint32_t count = 0;
        TakeScalar(count);
        // Each element has a byte at least, so that a number allocates
        // nothing that did not come.
        if (count > Left()) ok_ = false;
        value.clear();
        if (ok_) value.resize(count);
      }
      for (auto& element : value) {
        if (!ok_) return;
        Take(element, names);
      }
    }
  }

  template <class T>
  void TakeScalar(T& value) {
    if (Left() < sizeof(T)) ok_ = false;
    if (!ok_) return;
    if constexpr (std::is_same_v<T, bool>) {
      const auto bits = std::to_integer<unsigned>(*next_++);
      if (bits > 1) ok_ = false;
      value = bits == 1;
    } else {
      std::array<std::byte, sizeof(T)> bytes;
      for (std::size_t i = 0; i < sizeof(T); ++i) {
        const bool little = std::endian::native == std::endian::little;
        bytes[little ? i : sizeof(T) - 1 - i] = next_[i];
      }
      std::memcpy(&value, bytes.data(), sizeof(T));
      next_ += sizeof(T);
    }
  }
  void TakeBytes(void* to, std::size_t size) {
    if (Left() < size) ok_ = false;
    if (!ok_) return;
    std::memcpy(to, next_, size);
    next_ += size;
  }
  std::size_t Left() const { return static_cast<std::size_t>(end_ - next_); }

  const std::byte* next_;
  const std::byte* end_;
  bool ok_ = true;
};

// ---- The schema

namespace state {

class SchemaMaker {
 public:
  explicit SchemaMaker(StateField& into) : into_(into) {}

  template <class T>
  SchemaMaker& operator()(std::string_view name, T& value,
                          ValueNames names = {}) {
    Describe(Add(name), value, names);
    return *this;
  }
  template <class T>
  SchemaMaker& Block(std::string_view name, T&) {
    StateField& field = Add(name);
    field.type = StateType::kBytes;
    field.size = sizeof(T);
    return *this;
  }

  template <class T>
  static void Describe(StateField& field, T& value, ValueNames names) {
    if constexpr (kIsScalar<T>) {
      field.type = ScalarType<T>();
      field.size = sizeof(T);
      PARLOR_CHECK(names.empty() || std::is_enum_v<T>);
      field.values.assign(names.begin(), names.end());
    } else if constexpr (Elements<T>::kAny) {
      using Element = typename Elements<T>::Type;
      if constexpr (Elements<T>::kFixed) {
        field.type = StateType::kArray;
        field.size = static_cast<std::uint32_t>(Elements<T>::kSize);
      } else {
        field.type = StateType::kList;
      }
      const auto element = std::make_unique<One<Element>>();
      Describe(field.fields.emplace_back(), element->value, names);
    } else {
      PARLOR_CHECK(names.empty());
      field.type = StateType::kStruct;
      SchemaMaker maker(field);
      DescribeState(maker, value);
    }
  }

 private:
  template <class T>
  static constexpr StateType ScalarType() {
    if constexpr (std::is_same_v<T, bool>) {
      return StateType::kBool;
    } else if constexpr (std::is_floating_point_v<T>) {
      return StateType::kFloat;
    } else if constexpr (std::is_enum_v<T>) {
      return ScalarType<std::underlying_type_t<T>>();
    } else {
      return std::is_signed_v<T> ? StateType::kSigned : StateType::kUnsigned;
    }
  }
  StateField& Add(std::string_view name) {
    StateField& field = into_.fields.emplace_back();
    field.name = name;
    return field;
  }

  StateField& into_;
};

}  // namespace state

// The schema of a type, made once.
template <class T>
const StateSchema& SchemaOf() {
  static const StateSchema schema = [] {
    StateSchema made;
    const auto value = std::make_unique<T>();
    state::SchemaMaker::Describe(made, *value, {});
    PARLOR_CHECK(CheckSchema(made).ok());
    return made;
  }();
  return schema;
}

// `value` as saved bytes, in place of what is in `out`. False: they are more
// than `bytes_max`.
template <class T>
bool SaveState(const T& value, std::vector<std::byte>& out,
               std::size_t bytes_max = kStateBytesMax) {
  state::VectorSink sink(out, bytes_max);
  StateWriter writer(sink, sink.Begin());
  writer("", const_cast<T&>(value));
  return sink.Finish(writer.next());
}

// As DescribedState::Load. A game refuses states that its Step cannot run by
//   bool IsValidState(const Arena& arena);
// beside DescribeState.
template <class T>
absl::Status LoadState(std::span<const std::byte> bytes, T& value) {
  const auto loaded = std::make_unique<T>();
  StateReader reader(bytes);
  reader("", *loaded);
  if (!reader.AtEnd()) return InvalidArgument("not a state of this game");
  if constexpr (requires { IsValidState(std::as_const(*loaded)); }) {
    if (!IsValidState(std::as_const(*loaded))) {
      return InvalidArgument("a state that this game cannot be in");
    }
  }
  value = std::move(*loaded);
  return absl::OkStatus();
}

// A described struct as a DescribedState: what Game::described() answers.
// `value` outlives it.
template <class T>
class StateView final : public DescribedState {
 public:
  explicit StateView(T& value) : value_(value) {}

  const StateSchema& schema() const override { return SchemaOf<T>(); }
  absl::Status Load(std::span<const std::byte> bytes) override {
    return LoadState(bytes, value_);
  }

 private:
  bool SaveUpTo(std::size_t bytes_max,
                std::vector<std::byte>& out) const override {
    return SaveState(value_, out, bytes_max);
  }

  T& value_;
};

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_STATE_DESCRIPTION_H_
