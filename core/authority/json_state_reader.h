// The reading half of the JSON state codec, and the words both halves share.
#ifndef PARLOR_CORE_AUTHORITY_JSON_STATE_READER_H_
#define PARLOR_CORE_AUTHORITY_JSON_STATE_READER_H_

#include <string_view>

#include "parlor/authority/row_table.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/wire_state_codec.h"

namespace parlor::authority {

// The value of `t`: "baseline", "delta", "recovery".
std::string_view NameOf(StateKind kind);

// As WireStateCodec::Decode. Members that are not known are passed over, in the
// message and in its rows; kinds and fields that are not known are refused, and
// so are numbers beyond a double, keys that come twice and nesting deeper than
// kDepthMax (frames.h).
DecodeResult ReadJsonState(std::string_view text, const RowTable& table,
                           StateEdits& edits);

}  // namespace parlor::authority

#endif  // PARLOR_CORE_AUTHORITY_JSON_STATE_READER_H_
