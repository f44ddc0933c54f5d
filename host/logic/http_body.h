// HttpBody: the body of an HTTP/1.1 request (RFC 9112 sections 6 and 7.1), read
// strictly and up to a limit: where one request ends and the next begins is
// what smuggling is about.
//
// Pure: bytes in, text out. The result does not depend on how the bytes were
// cut.
//
// Of a chunked body, refused beyond what the grammar forbids:
//  - an end of line other than CR LF, control bytes other than a tab;
//  - a line of a size or a trailer above kHttpChunkLineMax, and lines above
//    kHttpChunkLinesMax together;
//  - a size whose chunk does not fit into the limit, before the chunk comes.
// Extensions and trailers are read and dropped: nothing here knows any, and a
// trailer must never be taken for a header.
#ifndef PARLOR_HOST_LOGIC_HTTP_BODY_H_
#define PARLOR_HOST_LOGIC_HTTP_BODY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parlor::host {

// Both include the line's end. Ours: no client that is known writes extensions
// or trailers, and 1 KiB in chunks of one byte needs 5 KiB of lines.
inline constexpr std::size_t kHttpChunkLineMax = 256;
inline constexpr std::size_t kHttpChunkLinesMax = 8 * 1024;

class HttpBody {
 public:
  enum class Progress : std::uint8_t {
    kMore,      // all of the input is taken
    kDone,      // whole; the rest of the input is the next request
    kTooLarge,  // above the limit: answer 413, read no more
    kBad,       // answer 400, read no more
  };

  // `length`: what Content-Length says, 0 without one; absent: chunked.
  HttpBody(std::optional<std::uint64_t> length, std::size_t bytes_max);

  // Takes what it needs off the front of `input`, and keeps nothing of it but
  // copies. Without input it says how far it is: a body of no length is kDone.
  Progress Feed(std::span<std::byte>& input);

  // What has come; after kDone, all of it.
  std::string_view text() const { return text_; }

 private:
  enum class State : std::uint8_t {
    kData,      // `left_` bytes of the body, or of a chunk
    kDataEnd,   // the CR LF behind a chunk
    kSize,      // the line with a chunk's size
    kTrailers,  // lines up to an empty one
  };

  void TakeData(std::span<std::byte>& input);
  void TakeLineByte(char c);
  void EndLine(std::string_view line);
  void EndSize(std::string_view line);
  // The next so many bytes are of the body.
  void Announce(std::uint64_t bytes);
  void EndData();

  const bool chunked_;
  const std::size_t bytes_max_;
  Progress progress_ = Progress::kMore;
  State state_;
  std::size_t left_ = 0;
  std::size_t line_bytes_ = 0;  // of all lines so far
  std::string line_;            // as far as it has come
  std::string text_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_HTTP_BODY_H_
