#include "parlor/authority/wire_state_codec.h"

namespace parlor::authority {

std::size_t BaselineBytesMax(const Schema& schema,
                             const WireStateCodec& codec) {
  std::size_t bytes = codec.BaselineOverheadMax();
  for (const KindLayout& kind : schema.kinds()) {
    bytes +=
        static_cast<std::size_t>(kind.rows_max) * codec.WholeBytesMax(kind);
  }
  return bytes;
}

}  // namespace parlor::authority
