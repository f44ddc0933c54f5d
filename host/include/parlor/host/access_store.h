// AccessStore: what a host remembers about who may come in, beside its options:
// invite codes, which devices each pass is locked to, and which passes were
// revoked. A port: SqliteAccessStore keeps it in a file, MemoryAccessStore for
// as long as it lives, and a game may bring its own.
//
// Nothing in here is a secret: codes and device keys come as SHA-256 only.
#ifndef PARLOR_HOST_ACCESS_STORE_H_
#define PARLOR_HOST_ACCESS_STORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace parlor::host {

using Sha256 = std::array<std::byte, 32>;

// For so long after a pass has expired a store knows its devices, and whether
// it was revoked: a clock that is set back brings the pass to life again.
inline constexpr std::int64_t kKeptAfterExpiryS = 24 * 60 * 60;

// A device that shows a pass, whose signature and expiry are right.
struct PassUse {
  std::uint64_t pass = 0;        // its id
  Sha256 device{};               // of this pass's id and the device's key
  std::int64_t devices_max = 1;  // that this pass may be used from
  std::int64_t expires_s = 0;    // since 1970; see kKeptAfterExpiryS
};

enum class PassAnswer : std::uint8_t {
  kLetIn,  // and the device is one of its devices from here on
  kRevoked,
  kOtherDevice,  // as many others came first
  kFailed,       // the store cannot tell; nobody comes in
};

class AccessStore {
 public:
  using CodesHook = std::function<void(std::vector<Sha256> codes)>;
  using PassHook = std::function<void(PassAnswer answer)>;

  virtual ~AccessStore() = default;

  // `hook` is called inside with the codes that let in now, and again on any
  // thread whenever they have changed. One hook; an empty one ends it, and is
  // not called any more once that returns.
  virtual void WatchCodes(CodesHook hook) = 0;

  // Does not wait. `answer` is called once, later, on any thread; when it says
  // kLetIn, the device's lock is kept, whatever becomes of the process. A store
  // that ends first destroys it uncalled.
  virtual void UsePass(const PassUse& use, PassHook answer) = 0;

  // Looks now whether someone else has changed what is stored.
  virtual void Refresh() = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_ACCESS_STORE_H_
