// Origins: what a browser says of the page that a request comes from (RFC 6454
// section 6.2, and the HTML standard).
#ifndef PARLOR_HOST_LOGIC_ORIGIN_H_
#define PARLOR_HOST_LOGIC_ORIGIN_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace parlor::host {

// "HTTPS://Play.example:443" as a browser writes it: "https://play.example".
// InvalidArgument: what is wrong with it. "null", which a browser says for
// every page without an origin of its own, is none.
absl::StatusOr<std::string> NormalOrigin(std::string_view text);

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_ORIGIN_H_
