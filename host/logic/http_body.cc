#include "logic/http_body.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "parlor/byte_io.h"
#include "stream/http_head.h"

namespace parlor::host {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// No control byte but a tab.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte != 0x7f) || c == '\t';
  });
}

// A trailer is written as a header is.
bool IsField(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos &&
         stream::IsHttpToken(line.substr(0, colon));
}

}  // namespace

HttpBody::HttpBody(std::optional<std::uint64_t> length, std::size_t bytes_max)
    : chunked_(!length),
      bytes_max_(bytes_max),
      state_(chunked_ ? State::kSize : State::kData) {
  if (length) Announce(*length);
}

HttpBody::Progress HttpBody::Feed(std::span<std::byte>& input) {
  while (progress_ == Progress::kMore && !input.empty()) {
    if (state_ == State::kData) {
      TakeData(input);
    } else {
      TakeLineByte(std::to_integer<char>(input.front()));
      input = input.subspan(1);
    }
  }
  return progress_;
}

void HttpBody::TakeData(std::span<std::byte>& input) {
  const std::size_t part = std::min(left_, input.size());
  text_ += AsText(input.first(part));
  input = input.subspan(part);
  left_ -= part;
  if (left_ == 0) EndData();
}

void HttpBody::EndData() {
  if (chunked_) {
    state_ = State::kDataEnd;
  } else {
    progress_ = Progress::kDone;
  }
}

void HttpBody::TakeLineByte(char c) {
  const bool after_cr = line_.ends_with('\r');
  line_ += c;
  ++line_bytes_;
  // A CR is followed by an LF, and an LF preceded by a CR, always.
  const bool broken = after_cr != (c == '\n');
  const bool too_long =
      line_.size() >= kHttpChunkLineMax || line_bytes_ >= kHttpChunkLinesMax;
  if (broken || (too_long && !after_cr)) {
    progress_ = Progress::kBad;
  } else if (after_cr) {
    line_.resize(line_.size() - kLineEnd.size());
    EndLine(line_);
    line_.clear();
  }
}

void HttpBody::EndLine(std::string_view line) {
  bool good = IsPlain(line);
  switch (state_) {
    case State::kSize:
      if (good) return EndSize(line);
      break;
    case State::kDataEnd:
      good = line.empty();
      state_ = State::kSize;
      break;
    case State::kTrailers:
      if (line.empty()) {
        progress_ = Progress::kDone;
        return;
      }
      good = good && IsField(line);
      break;
    case State::kData:
      break;  // has no lines
  }
  if (!good) progress_ = Progress::kBad;
}

// "1a", "1a;name=value". Space before the semicolon is bad but to be taken (RFC
// 9112 section 7.1.1); elsewhere it is not.
void HttpBody::EndSize(std::string_view line) {
  const std::size_t semicolon = std::min(line.find(';'), line.size());
  std::string_view digits = line.substr(0, semicolon);
  if (semicolon < line.size()) {
    digits = digits.substr(0, digits.find_last_not_of(" \t") + 1);
  }
  std::uint64_t size = 0;
  const char* const end = digits.data() + digits.size();
  // For an unsigned type from_chars takes digits only: no sign, no space, no
  // "0x".
  const auto [at, error] = std::from_chars(digits.data(), end, size, 16);
  if (at != end || error == std::errc::invalid_argument) {
    progress_ = Progress::kBad;
  } else if (error == std::errc::result_out_of_range) {
    progress_ = Progress::kTooLarge;
  } else if (size == 0) {
    state_ = State::kTrailers;
  } else {
    state_ = State::kData;
    Announce(size);
  }
}

void HttpBody::Announce(std::uint64_t bytes) {
  if (bytes > bytes_max_ - text_.size()) {
    progress_ = Progress::kTooLarge;
    return;
  }
  left_ = static_cast<std::size_t>(bytes);
  if (left_ == 0) EndData();
}

}  // namespace parlor::host
