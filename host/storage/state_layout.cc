#include "storage/state_layout.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/host/access_store.h"
#include "parlor/limits.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/status.h"

namespace parlor::host {
namespace {

using Line = StateLayout::Line;

constexpr std::string_view kMagic = "parlor matches\r\n";
// Of the layout and of what a room writes (lockstep/room_state.h): a file of
// another is not read.
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPageBytes = 4'096;
constexpr std::size_t kSealed = 32;  // of a line; its SHA-256 comes after
static_assert(kMagic.size() == 16);
static_assert(kSealed + sizeof(Sha256) == StateLayout::kLineBytes);
static_assert(kPageBytes % StateLayout::kLineBytes == 0);

constexpr std::size_t RoundUp(std::size_t size) {
  return (size + kPageBytes - 1) / kPageBytes * kPageBytes;
}

absl::Status Damaged(std::string_view what) {
  return MakeStatus(absl::StatusCode::kDataLoss, what);
}

// What a thread hashes with. OpenSSL would look the algorithm up each time,
// under a lock that all threads share.
class Hasher {
 public:
  Hasher()
      : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)),
        context_(EVP_MD_CTX_new()) {
    PARLOR_CHECK(algorithm_ != nullptr && context_ != nullptr);
  }
  ~Hasher() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(algorithm_);
  }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  Sha256 Hash(std::span<const std::byte> first,
              std::span<const std::byte> second) {
    Sha256 digest;
    unsigned int size = 0;
    PARLOR_CHECK(
        EVP_DigestInit_ex2(context_, algorithm_, nullptr) == 1 &&
        EVP_DigestUpdate(context_, first.data(), first.size()) == 1 &&
        EVP_DigestUpdate(context_, second.data(), second.size()) == 1 &&
        EVP_DigestFinal_ex(context_,
                           reinterpret_cast<unsigned char*>(digest.data()),
                           &size) == 1 &&
        size == digest.size());
    return digest;
  }

 private:
  EVP_MD* algorithm_;
  EVP_MD_CTX* context_;
};

// Of a line's first part and the state.
Sha256 Seal(std::span<const std::byte> line, std::span<const std::byte> state) {
  static thread_local Hasher hasher;
  return hasher.Hash(line.first(kSealed), state);
}

bool IsZero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

bool Fits(const Limit& limit, std::int64_t value) {
  return value >= limit.floor && value <= limit.ceiling;
}

}  // namespace

StateLayout::StateLayout(std::int64_t rooms, std::int64_t seats)
    : rooms_(rooms), seats_(seats), half_bytes_(0) {
  PARLOR_CHECK(Fits(limits::kRooms, rooms) && Fits(limits::kSeats, seats));
  half_bytes_ = RoundUp(lockstep::StateBytesMax(static_cast<int>(seats)));
}

std::int64_t StateLayout::LineAt(std::int64_t room) const {
  return (room + 1) * std::int64_t{kLineBytes};
}

std::int64_t StateLayout::HalfAt(std::int64_t room, int half) const {
  const auto head = static_cast<std::int64_t>(
      RoundUp(static_cast<std::size_t>(head_bytes())));
  return head + (2 * room + half) * static_cast<std::int64_t>(half_bytes_);
}

Line StateLayout::Header() const {
  Line header{};
  std::ranges::copy(AsBytes(kMagic), header.begin());
  StoreU32(&header[16], kVersion);
  StoreU32(&header[20], static_cast<std::uint32_t>(rooms_));
  StoreU32(&header[24], static_cast<std::uint32_t>(seats_));
  StoreU32(&header[28], static_cast<std::uint32_t>(half_bytes_));
  std::ranges::copy(Seal(header, {}), header.begin() + kSealed);
  return header;
}

absl::StatusOr<StateLayout> StateLayout::ParseHeader(const Line& header) {
  if (AsText(header).substr(0, kMagic.size()) != kMagic) {
    return Damaged("no state file");
  }
  // Before the rest, which another version may have elsewhere.
  const std::uint32_t version = LoadU32(&header[16]);
  if (version != kVersion) {
    return Damaged("written as version " + std::to_string(version) + ", not " +
                   std::to_string(kVersion));
  }
  const std::uint32_t rooms = LoadU32(&header[20]);
  const std::uint32_t seats = LoadU32(&header[24]);
  if (!Matches(header, {}) || !Fits(limits::kRooms, rooms) ||
      !Fits(limits::kSeats, seats)) {
    return Damaged("its header is damaged");
  }
  const StateLayout layout(rooms, seats);
  if (layout.half_bytes() != LoadU32(&header[28])) {
    return Damaged("its header is damaged");
  }
  return layout;
}

Line StateLayout::MakeLine(std::uint32_t room, int half,
                           std::span<const std::byte> state) {
  Line line{};
  StoreU32(&line[0], static_cast<std::uint32_t>(half + 1));
  StoreU32(&line[4], static_cast<std::uint32_t>(state.size()));
  StoreU32(&line[8], room);
  std::ranges::copy(Seal(line, state), line.begin() + kSealed);
  return line;
}

absl::StatusOr<std::optional<StateLayout::Place>> StateLayout::ParseLine(
    std::uint32_t room, const Line& line) const {
  if (IsZero(line)) return std::optional<Place>();
  const std::uint32_t half = LoadU32(&line[0]);
  const std::uint32_t size = LoadU32(&line[4]);
  const bool sound = (half == 1 || half == 2) && size > 0 &&
                     size <= half_bytes_ && LoadU32(&line[8]) == room &&
                     IsZero(std::span(line).subspan(12, kSealed - 12));
  if (!sound) {
    return Damaged("the line of room " + std::to_string(room) + " is damaged");
  }
  return std::optional<Place>(Place{static_cast<int>(half) - 1, size});
}

bool StateLayout::Matches(const Line& line, std::span<const std::byte> state) {
  return std::ranges::equal(Seal(line, state),
                            std::span(line).subspan(kSealed));
}

}  // namespace parlor::host
