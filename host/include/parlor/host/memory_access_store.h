// MemoryAccessStore: an AccessStore for as long as it lives, for a game that
// hosts a few friends, for tests and for the simulator. Any thread.
#ifndef PARLOR_HOST_MEMORY_ACCESS_STORE_H_
#define PARLOR_HOST_MEMORY_ACCESS_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/host/access_store.h"

namespace parlor::host {

class MemoryAccessStore final : public AccessStore {
 public:
  // Seconds since 1970.
  using WallClock = std::function<std::int64_t()>;
  // Runs a task once, not inside the call and on any thread (NetLoop::Post does
  // so, or what a game does every frame); or destroys it.
  using Post = std::function<void(std::function<void()> task)>;

  // Called from any thread that calls the store.
  MemoryAccessStore(WallClock wall_clock, Post post);
  ~MemoryAccessStore() override;

  // InvalidArgument: it may not be a code (gate_options.h), which is told
  // without it. AlreadyExists: it lets in. ResourceExhausted: kCodesMax do.
  absl::Status AddCode(std::string_view code);
  // NotFound: it does not let in.
  absl::Status RevokeCode(std::string_view code);
  // Of a pass that was never used too. `expires_s` is what the pass says or the
  // latest that any may.
  void RevokePass(std::uint64_t id, std::int64_t expires_s);

  // The hook must not call into the store.
  void WatchCodes(CodesHook hook) override;
  // kFailed: it has expired.
  void UsePass(const PassUse& use, PassHook answer) override;
  void Refresh() override {}  // nobody else can change it

  // Passes it remembers anything of.
  std::size_t passes() const;

 private:
  struct Pass {
    std::int64_t expires_s = 0;
    bool revoked = false;
    std::vector<Sha256> devices;
  };
  // What was asked and waits for its task, which may outlive the store.
  struct Questions;

  // All with the lock held.
  void TellCodes() const;
  void ForgetExpired();
  Pass& Remember(std::uint64_t id, std::int64_t expires_s);
  PassAnswer Use(const PassUse& use);

  const WallClock wall_clock_;
  const Post post_;
  const std::shared_ptr<Questions> questions_;

  mutable std::mutex mutex_;
  CodesHook codes_hook_;
  std::vector<Sha256> codes_;
  std::map<std::uint64_t, Pass> passes_;                       // by id
  std::set<std::pair<std::int64_t, std::uint64_t>> expiries_;  // and id
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_MEMORY_ACCESS_STORE_H_
