// StateDelta: what changed from one saved state to the next.
//
// A new size as VarUint; then pieces, up to the end: how many blocks of 64
// words are the same before it (VarUint), a u64 whose bit i says that word i
// of the block is another one, and those words, 8 bytes each. Words beyond the
// end of a state are filled up with zeros. By words, because a game changes
// fields everywhere, and this way 320 KB take some 30 us.
#ifndef PARLOR_CORE_LOCKSTEP_STATE_DELTA_H_
#define PARLOR_CORE_LOCKSTEP_STATE_DELTA_H_

#include <cstddef>
#include <span>
#include <vector>

namespace parlor::lockstep::state {

// In place of what is in `out`. False: it would be no smaller than `to`, or
// than `bytes_max`; `out` is unspecified then. It takes no more memory than
// that.
bool MakeDelta(std::span<const std::byte> from, std::span<const std::byte> to,
               std::size_t bytes_max, std::vector<std::byte>& out);

// `state` becomes the next one. False: it is no delta, or of a state above
// `bytes_max`; `state` is unspecified then.
bool ApplyDelta(std::span<const std::byte> delta, std::size_t bytes_max,
                std::vector<std::byte>& state);

}  // namespace parlor::lockstep::state

#endif  // PARLOR_CORE_LOCKSTEP_STATE_DELTA_H_
