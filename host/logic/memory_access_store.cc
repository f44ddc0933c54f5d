#include "parlor/host/memory_access_store.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "logic/access_codes.h"
#include "parlor/host/access_store.h"
#include "parlor/host/gate_options.h"
#include "parlor/status.h"

namespace parlor::host {

struct MemoryAccessStore::Questions {
  std::mutex mutex;
  std::uint64_t last = 0;
  std::map<std::uint64_t, PassHook> hooks;

  std::uint64_t Add(PassHook hook) {
    const std::lock_guard lock(mutex);
    hooks.emplace(++last, std::move(hook));
    return last;
  }

  // Empty: the store has ended.
  PassHook Take(std::uint64_t number) {
    const std::lock_guard lock(mutex);
    const auto node = hooks.extract(number);
    return node.empty() ? PassHook() : std::move(node.mapped());
  }

  // Outside of the lock: what a hook holds may do anything when it ends.
  std::map<std::uint64_t, PassHook> TakeAll() {
    const std::lock_guard lock(mutex);
    return std::exchange(hooks, {});
  }
};

MemoryAccessStore::MemoryAccessStore(WallClock wall_clock, Post post)
    : wall_clock_(std::move(wall_clock)),
      post_(std::move(post)),
      questions_(std::make_shared<Questions>()) {}

MemoryAccessStore::~MemoryAccessStore() { questions_->TakeAll(); }

absl::Status MemoryAccessStore::AddCode(std::string_view code) {
  const std::string_view wrong = WhatIsWrongWithCode(code);
  if (!wrong.empty()) return InvalidArgument(std::string(wrong));
  const Sha256 hash = HashCode(code);
  const std::lock_guard lock(mutex_);
  if (std::find(codes_.begin(), codes_.end(), hash) != codes_.end()) {
    return absl::AlreadyExistsError("this code lets in");
  }
  if (codes_.size() >= kCodesMax) {
    return absl::ResourceExhaustedError("there are too many codes");
  }
  codes_.push_back(hash);
  TellCodes();
  return absl::OkStatus();
}

absl::Status MemoryAccessStore::RevokeCode(std::string_view code) {
  const Sha256 hash = HashCode(code);
  const std::lock_guard lock(mutex_);
  if (std::erase(codes_, hash) == 0) {
    return absl::NotFoundError("this code does not let in");
  }
  TellCodes();
  return absl::OkStatus();
}

void MemoryAccessStore::RevokePass(std::uint64_t id, std::int64_t expires_s) {
  const std::lock_guard lock(mutex_);
  Remember(id, expires_s).revoked = true;
  ForgetExpired();
}

void MemoryAccessStore::WatchCodes(CodesHook hook) {
  const std::lock_guard lock(mutex_);
  codes_hook_ = std::move(hook);
  TellCodes();
}

void MemoryAccessStore::UsePass(const PassUse& use, PassHook answer) {
  PassAnswer said = PassAnswer::kFailed;
  {
    const std::lock_guard lock(mutex_);
    said = Use(use);
  }
  const std::uint64_t number = questions_->Add(std::move(answer));
  post_([questions = questions_, number, said] {
    if (const PassHook hook = questions->Take(number)) hook(said);
  });
}

std::size_t MemoryAccessStore::passes() const {
  const std::lock_guard lock(mutex_);
  return passes_.size();
}

void MemoryAccessStore::TellCodes() const {
  if (codes_hook_) codes_hook_(codes_);
}

void MemoryAccessStore::ForgetExpired() {
  const std::int64_t before_s = wall_clock_() - kKeptAfterExpiryS;
  while (!expiries_.empty() && expiries_.begin()->first < before_s) {
    passes_.erase(expiries_.begin()->second);
    expiries_.erase(expiries_.begin());
  }
}

// Of two times that are told of a pass, the later counts.
MemoryAccessStore::Pass& MemoryAccessStore::Remember(std::uint64_t id,
                                                     std::int64_t expires_s) {
  Pass& pass = passes_[id];
  const std::int64_t later = std::max(pass.expires_s, expires_s);
  expiries_.erase({pass.expires_s, id});
  expiries_.emplace(later, id);
  pass.expires_s = later;
  return pass;
}

PassAnswer MemoryAccessStore::Use(const PassUse& use) {
  ForgetExpired();
  if (use.expires_s <= wall_clock_()) return PassAnswer::kFailed;
  Pass& pass = Remember(use.pass, use.expires_s);
  if (pass.revoked) return PassAnswer::kRevoked;
  const bool known = std::find(pass.devices.begin(), pass.devices.end(),
                               use.device) != pass.devices.end();
  if (known) return PassAnswer::kLetIn;
  if (static_cast<std::int64_t>(pass.devices.size()) >= use.devices_max) {
    return PassAnswer::kOtherDevice;
  }
  pass.devices.push_back(use.device);
  return PassAnswer::kLetIn;
}

}  // namespace parlor::host
