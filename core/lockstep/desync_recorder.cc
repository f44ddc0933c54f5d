#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lockstep/state_ring.h"
#include "parlor/check.h"
#include "parlor/lockstep/desync.h"
#include "parlor/lockstep/state_description.h"
#include "parlor/status.h"

namespace parlor::lockstep {
namespace {

constexpr std::size_t kBytesLeast = std::size_t{1} << 16;
constexpr std::size_t kBytesMost = std::size_t{1} << 30;
constexpr int kStateEveryMost = 1'000;

absl::Status OutOfRange(std::string_view option, std::uint64_t value,
                        std::uint64_t least, std::uint64_t most) {
  return InvalidArgument(std::string(option) + ": " + std::to_string(value) +
                         " is not in " + std::to_string(least) + ".." +
                         std::to_string(most));
}

}  // namespace

struct DesyncRecorder::Ring : state::StateRing {
  using StateRing::StateRing;
};

absl::Status ValidateOptions(const DesyncOptions& options) {
  if (options.bytes_max < kBytesLeast || options.bytes_max > kBytesMost) {
    return OutOfRange("bytes_max", options.bytes_max, kBytesLeast, kBytesMost);
  }
  if (options.state_every < 1 || options.state_every > kStateEveryMost) {
    return InvalidArgument(
        "state_every: " + std::to_string(options.state_every) +
        " is not in 1.." + std::to_string(kStateEveryMost));
  }
  if (options.game.size() > kStateNameMax) {
    return InvalidArgument("game: a name of more than 64 characters");
  }
  for (const char c : options.game) {
    if (c < ' ' || c > '~') {
      return InvalidArgument("game: a name that is not printable ASCII");
    }
  }
  return absl::OkStatus();
}

DesyncRecorder::DesyncRecorder(Game& game, const DesyncOptions& options)
    : game_(game), options_(options) {
  PARLOR_CHECK(ValidateOptions(options).ok());
}

DesyncRecorder::~DesyncRecorder() = default;

void DesyncRecorder::Follow(const Peer* peer) {
  seen_ = Look();
  peer_ = peer;
}

void DesyncRecorder::Freeze() { frozen_ = true; }

DesyncRecorder::Seen DesyncRecorder::Look() const {
  if (peer_ == nullptr) return seen_;
  // Then the hashes of frame 0 differed, and nothing else can have.
  if (peer_->end() == PeerEnd::kOtherBuild) return {.desync = 0};
  if (peer_->desync() < 0) return {};
  return {.desync = peer_->desync(),
          .seat = peer_->desync_seat(),
          .agreed = peer_->agreed(peer_->desync_seat())};
}

bool DesyncRecorder::frozen() const { return frozen_ || Look().desync >= 0; }

void DesyncRecorder::OnStart(const Match& match) {
  match_ = match;
  next_ = 0;
  frozen_ = false;
  ring_ = std::make_unique<Ring>(options_.bytes_max, match.players);
  game_.OnStart(match);
  Keep();
}

std::uint32_t DesyncRecorder::Input(std::uint32_t frame) {
  return game_.Input(frame);
}

void DesyncRecorder::Step(std::uint32_t frame,
                          std::span<const std::uint32_t> inputs,
                          std::uint32_t bots) {
  if (!frozen_) ring_->SetInputs(inputs, bots);
  frozen_ = frozen();
  game_.Step(frame, inputs, bots);
  next_ = frame + 1;
  Keep();
}

std::uint32_t DesyncRecorder::Hash() { return hash_; }

void DesyncRecorder::Keep() {
  hash_ = game_.Hash();
  if (frozen_) return;
  const bool due =
      next_ % static_cast<std::uint32_t>(options_.state_every) == 0;
  const DescribedState* const described = due ? game_.described() : nullptr;
  const bool saved =
      described != nullptr &&
      described->Save(ring_->present(), ring_->state_bytes_max());
  ring_->Add(next_, hash_, saved);
}

DesyncDump DesyncRecorder::Dump() const {
  DesyncDump dump;
  dump.game = options_.game;
  const Seen seen = Look();
  dump.desync = seen.desync;
  dump.desync_seat = seen.seat;
  dump.agreed = seen.agreed;
  if (!match_) return dump;
  dump.match = *match_;
  if (const DescribedState* described = game_.described()) {
    dump.schema = described->schema();
  }
  // What differed first came after `agreed`.
  dump.frames = ring_->Unpack(
      seen.desync < 0 ? std::nullopt
                      : std::optional(std::max<std::int64_t>(seen.agreed, 0)));
  return dump;
}

std::size_t DesyncRecorder::frames() const {
  return ring_ == nullptr ? 0 : ring_->frames();
}

std::size_t DesyncRecorder::bytes() const {
  return sizeof(*this) + options_.game.capacity() +
         (ring_ == nullptr ? 0 : ring_->bytes());
}

}  // namespace parlor::lockstep
