// Seeded scripts for the parity of authority rooms (parity_script.h says what
// is compared).
#ifndef PARLOR_TESTS_SUPPORT_PARITY_AUTHORITY_SCRIPT_H_
#define PARLOR_TESTS_SUPPORT_PARITY_AUTHORITY_SCRIPT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "support/parity_script.h"

namespace parlor::test {

// Up to six clients of the authority rooms of a real shard, by either state
// codec: joins right and wrong, resumes with tokens of theirs, of others and of
// nobody; inputs, messages, acks and their absence; kicks, locks, new worlds,
// drains and ends; games that fail; floods, frames that are none; every way to
// lose a link.
//
// What a client has applied of the state is in the trace as well: the rows that
// it shows whenever things are at rest.
std::vector<std::string> RunAuthorityScript(std::uint64_t seed,
                                            const MakeParityRooms& make_rooms);

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_AUTHORITY_SCRIPT_H_
