// What this device is known by to hosts that hand out passes: a pass is locked
// to the first devices that use it. Secret: who has it passes for this device.
#ifndef PARLOR_SOLO_DEVICE_KEY_H_
#define PARLOR_SOLO_DEVICE_KEY_H_

#include <string>

#include "absl/status/statusor.h"
#include "parlor/entropy.h"

namespace parlor::solo {

// $XDG_STATE_HOME/parlor/device-key, or $HOME/.local/state/parlor/device-key
// where the former is unset or no absolute path (XDG Base Directory
// Specification 0.8). Null and empty are unset. FailedPrecondition: neither.
absl::StatusOr<std::string> DeviceKeyPath(const char* xdg_state_home,
                                          const char* home);

// The key in that file. When there is none, it is drawn, 144 bits of `entropy`,
// and the file made (0600) with the directories above it that are missing
// (0700). Of players who are started at once all get the same key.
//
// FailedPrecondition: the file cannot be read or made, or holds no key; it is
// left as it is, since it may be the only thing that some pass lets in.
absl::StatusOr<std::string> DeviceKey(const std::string& path,
                                      Entropy& entropy);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_DEVICE_KEY_H_
