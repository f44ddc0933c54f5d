#include "stream/http_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::stream {
namespace {

using http_status::kBadRequest;
using http_status::kHeadTooLarge;

constexpr std::string_view kLineEnd = "\r\n";

constexpr std::array<std::string_view, 9> kSingleInRequest = {
    "Authorization",
    "Content-Length",
    "Content-Type",
    "Host",
    "Origin",
    "Sec-WebSocket-Key",
    "Transfer-Encoding",
    "Sec-WebSocket-Version",
    "Upgrade"};

constexpr std::array<std::string_view, 5> kSingleInResponse = {
    "Content-Length", "Sec-WebSocket-Accept", "Sec-WebSocket-Protocol",
    "Transfer-Encoding", "Upgrade"};

constexpr bool IsSpace(char c) { return c == ' ' || c == '\t'; }
// No control byte but a tab. Bytes above ASCII are none.
constexpr bool IsPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= ' ' && byte != 0x7f) || c == '\t';
}

// Not empty, and of alphanumeric characters and those in `others`.
bool ConsistsOf(std::string_view text, std::string_view others) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return absl::ascii_isalnum(c) || others.find(c) != std::string_view::npos;
  });
}

}  // namespace

bool IsHttpToken(std::string_view text) {
  return ConsistsOf(text, "!#$%&'*+-.^_`|~");
}

bool AreDistinctTokens(std::vector<std::string_view> texts) {
  std::sort(texts.begin(), texts.end());
  return std::all_of(texts.begin(), texts.end(), IsHttpToken) &&
         std::adjacent_find(texts.begin(), texts.end()) == texts.end();
}

bool IsHttpTarget(std::string_view text) {
  return text.starts_with('/') &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c <= '~' && c != '#'; });
}

bool IsHttpAuthority(std::string_view text) {
  return ConsistsOf(text, "-._~!$&'()*+,;=%[]:");
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return absl::ascii_tolower(x) == absl::ascii_tolower(y);
  });
}

std::string_view TrimHttpSpace(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

HttpHead::HttpHead(std::span<const std::string_view> single) : single_(single) {
  PARLOR_CHECK(single.size() <= 32);
}

HttpHead::Progress HttpHead::Feed(std::span<std::byte>& input) {
  while (progress_ == Progress::kMore && !input.empty()) {
    // What only has to be kept is kept at once. The last byte that there is
    // room for is left to Take, which decides.
    const std::size_t room = kHttpHeadBytesMax - 1 - text_.size();
    const std::string_view text = AsText(input).substr(0, room);
    const auto end = after_cr_
                         ? text.begin()
                         : std::find_if_not(text.begin(), text.end(), IsPlain);
    text_.append(text.begin(), end);
    input = input.subspan(static_cast<std::size_t>(end - text.begin()));
    if (input.empty()) break;
    Take(std::to_integer<char>(input.front()));
    input = input.subspan(1);
  }
  return progress_;
}

void HttpHead::Take(char c) {
  text_.push_back(c);
  const bool ends_line = c == '\n';
  const bool is_control = !IsPlain(c) && c != '\r' && !ends_line;
  // A CR is followed by an LF, and an LF preceded by a CR, always.
  if (std::exchange(after_cr_, c == '\r') != ends_line || is_control) {
    failure_ = kBadRequest;
  } else if (ends_line) {
    failure_ = EndLine();
  }
  if (failure_ == 0 && progress_ == Progress::kMore &&
      text_.size() == kHttpHeadBytesMax) {
    failure_ = kHeadTooLarge;
  }
  if (failure_ != 0) progress_ = Progress::kFailed;
}

std::uint16_t HttpHead::EndLine() {
  std::string_view line = std::string_view(text_).substr(line_begin_);
  line.remove_suffix(kLineEnd.size());
  if (std::exchange(line_begin_, text_.size()) == 0) return ReadStartLine(line);
  if (!line.empty()) return ReadHeader(line);
  if (const std::uint16_t failure = ReadBodyHeaders(); failure != 0) {
    return failure;
  }
  if (const std::uint16_t failure = CheckWhole(); failure != 0) return failure;
  progress_ = Progress::kDone;
  return 0;
}

std::uint16_t HttpHead::ReadHeader(std::string_view line) {
  if (fields_.size() == kHttpHeadersMax) return kHeadTooLarge;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return kBadRequest;
  const std::string_view name = line.substr(0, colon);
  // A folded line, and space before the colon, are no token.
  if (!IsHttpToken(name)) return kBadRequest;
  for (std::size_t i = 0; i < single_.size(); ++i) {
    if (!EqualsIgnoringCase(name, single_[i])) continue;
    const std::uint32_t bit = std::uint32_t{1} << i;
    if ((singles_seen_ & bit) != 0) return kBadRequest;
    singles_seen_ |= bit;
  }
  const std::string_view value = TrimHttpSpace(line.substr(colon + 1));
  fields_.push_back({Locate(name), Locate(value)});
  return 0;
}

std::uint16_t HttpHead::ReadBodyHeaders() {
  const auto length = Find("Content-Length");
  const auto coding = Find("Transfer-Encoding");
  if (length && coding) return kBadRequest;
  if (coding) {
    if (!EqualsIgnoringCase(*coding, "chunked"))
      return http_status::kNotImplemented;
    chunked_ = true;
  }
  if (length) {
    // For an unsigned type from_chars takes digits only: no sign, no space.
    const char* const end = length->data() + length->size();
    const auto [at, error] =
        std::from_chars(length->data(), end, content_length_);
    if (error != std::errc{} || at != end) return kBadRequest;
  }
  return 0;
}

HttpHead::Part HttpHead::Locate(std::string_view part) const {
  return {static_cast<std::uint16_t>(part.data() - text_.data()),
          static_cast<std::uint16_t>(part.size())};
}

std::uint16_t HttpHead::CheckVersion(std::string_view version) {
  constexpr std::string_view kName = "HTTP/";
  if (version.size() != kName.size() + 3 || !version.starts_with(kName) ||
      !absl::ascii_isdigit(version[5]) || version[6] != '.' ||
      !absl::ascii_isdigit(version[7])) {
    return kBadRequest;
  }
  return version == "HTTP/1.1" ? 0 : http_status::kVersionNotSupported;
}

std::optional<std::string_view> HttpHead::Find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (EqualsIgnoringCase(View(field.name), name)) return View(field.value);
  }
  return std::nullopt;
}

std::vector<std::string_view> HttpHead::List(std::string_view name) const {
  std::vector<std::string_view> elements;
  for (const Field& field : fields_) {
    if (!EqualsIgnoringCase(View(field.name), name)) continue;
    std::string_view rest = View(field.value);
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view element = TrimHttpSpace(rest.substr(0, comma));
      if (!element.empty()) elements.push_back(element);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return elements;
}

bool HttpHead::ListHas(std::string_view name, std::string_view element) const {
  const std::vector<std::string_view> elements = List(name);
  return std::any_of(elements.begin(), elements.end(),
                     [&](std::string_view candidate) {
                       return EqualsIgnoringCase(candidate, element);
                     });
}

HttpRequestHead::HttpRequestHead() : HttpHead(kSingleInRequest) {}

std::uint16_t HttpRequestHead::ReadStartLine(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == last) return kBadRequest;  // one space, or none
  const std::uint16_t failure = CheckVersion(line.substr(last + 1));
  if (failure != 0) return failure;
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!IsHttpToken(method) || !IsHttpTarget(target)) return kBadRequest;
  method_ = Locate(method);
  target_ = Locate(target);
  return 0;
}

std::uint16_t HttpRequestHead::CheckWhole() {
  const auto host = Find("Host");
  return host && IsHttpAuthority(*host) ? 0 : kBadRequest;
}

HttpResponseHead::HttpResponseHead() : HttpHead(kSingleInResponse) {}

std::uint16_t HttpResponseHead::ReadStartLine(std::string_view line) {
  // "HTTP/1.1 101 " and a reason, which may be missing.
  constexpr std::size_t kVersionSize = 8;
  constexpr std::size_t kStatusEnd = kVersionSize + 1 + 3;
  if (line.size() <= kStatusEnd || line[kVersionSize] != ' ' ||
      line[kStatusEnd] != ' ') {
    return kBadRequest;
  }
  const std::uint16_t failure = CheckVersion(line.substr(0, kVersionSize));
  if (failure != 0) return failure;
  const char* const end = line.data() + kStatusEnd;
  const auto [at, error] = std::from_chars(end - 3, end, status_);
  if (error != std::errc{} || at != end) return kBadRequest;
  return status_ >= 100 && status_ <= 599 ? 0 : kBadRequest;
}

}  // namespace parlor::stream
