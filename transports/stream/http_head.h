// Heads of HTTP/1.1 messages (RFC 9112), read strictly: a head that two readers
// understand differently is how requests are smuggled past a proxy. For the
// WebSocket handshake of both sides and for a host's front.
//
// Pure: bytes in, fields out. Each byte is looked at once when it comes and
// each line once more when it is whole, so the result does not depend on how
// the bytes were cut and a slow sender costs no more than a fast one.
//
// What is refused, beyond what the grammar forbids:
//  - an end of line other than CR LF, a folded line, space around a header's
//    name, an empty line before the first (400);
//  - control bytes other than a tab, NUL and DEL included (400);
//  - two lines of a header that can have one value only (400): Authorization,
//    Content-Length, Content-Type, Host, Origin, Sec-WebSocket-Key,
//    Sec-WebSocket-Version, Transfer-Encoding, Upgrade; in a response
//    Content-Length, Sec-WebSocket-Accept, Sec-WebSocket-Protocol,
//    Transfer-Encoding, Upgrade. Lines of the others add up to one list, such
//    as Connection or, in a request, Sec-WebSocket-Protocol (RFC 6455 section
//    11.3.4);
//  - Content-Length together with Transfer-Encoding (400), and a
//    Transfer-Encoding that is not "chunked" alone (501);
//  - no Host, or one that is empty or no authority (400);
//  - a target that is not a path of visible ASCII, or that has a fragment
//  (400);
//  - a version that is not HTTP/1.1 (505);
//  - more than kHttpHeadBytesMax or kHttpHeadersMax (431).
#ifndef PARLOR_TRANSPORTS_STREAM_HTTP_HEAD_H_
#define PARLOR_TRANSPORTS_STREAM_HTTP_HEAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parlor::stream {

// The statuses with which this library answers of its own accord (RFC 9110
// section 15, 431: RFC 6585 section 5).
namespace http_status {
inline constexpr std::uint16_t kBadRequest = 400;
inline constexpr std::uint16_t kNotFound = 404;
inline constexpr std::uint16_t kMethodNotAllowed = 405;
inline constexpr std::uint16_t kUpgradeRequired = 426;
inline constexpr std::uint16_t kHeadTooLarge = 431;
inline constexpr std::uint16_t kNotImplemented = 501;
inline constexpr std::uint16_t kVersionNotSupported = 505;
}  // namespace http_status

// What one head may have, the empty line at its end included. A host's promise.
inline constexpr std::size_t kHttpHeadBytesMax = 8 * 1024;
inline constexpr std::size_t kHttpHeadersMax = 64;

// A token of RFC 9110 section 5.6.2: a method, a header's name, a subprotocol.
bool IsHttpToken(std::string_view text);
// Whether that is what all of `texts` are, and none is there twice: what
// subprotocols have to be. A head has room for thousands.
bool AreDistinctTokens(std::vector<std::string_view> texts);
// A target in origin form: visible ASCII that begins with a slash, no '#'.
bool IsHttpTarget(std::string_view text);
// What Host may say: the characters of a host and port (RFC 3986 section 3.2),
// one at least.
bool IsHttpAuthority(std::string_view text);
// ASCII only, as header names and the values of Connection and Upgrade compare.
bool EqualsIgnoringCase(std::string_view a, std::string_view b);
// Without the spaces and tabs at both ends.
std::string_view TrimHttpSpace(std::string_view text);

class HttpHead {
 public:
  enum class Progress : std::uint8_t {
    kMore,    // all of the input is taken
    kDone,    // whole; the rest of the input is what follows the head
    kFailed,  // failure() says how; feed no more
  };

  HttpHead(const HttpHead&) = delete;
  HttpHead& operator=(const HttpHead&) = delete;
  virtual ~HttpHead() = default;

  // Takes what it needs off the front of `input`. Holds a copy of the head, and
  // nothing of `input`.
  Progress Feed(std::span<std::byte>& input);

  // After kFailed: the status a server answers with.
  std::uint16_t failure() const { return failure_; }

  // All below is for after kDone. Views live as long as this object.

  std::size_t header_count() const { return fields_.size(); }
  std::string_view header_name(std::size_t index) const {
    return View(fields_[index].name);
  }
  // Trimmed. Bytes above ASCII may be in it.
  std::string_view header_value(std::size_t index) const {
    return View(fields_[index].value);
  }

  // The value of the first header of that name, in any case.
  std::optional<std::string_view> Find(std::string_view name) const;

  // The elements of all headers of that name as one list divided by commas:
  // trimmed, in order, without empty ones (RFC 9110 section 5.6.1).
  std::vector<std::string_view> List(std::string_view name) const;
  // Whether `element` is in that list, in any case.
  bool ListHas(std::string_view name, std::string_view element) const;

  // What the head says of a body behind it: chunked, or this many bytes.
  bool chunked() const { return chunked_; }
  std::uint64_t content_length() const { return content_length_; }
  bool has_body() const { return chunked_ || content_length_ > 0; }

 protected:
  struct Part {  // of text_
    std::uint16_t begin = 0;
    std::uint16_t size = 0;
  };

  // `single`: the headers that may come once only; at most 32, of static
  // lifetime.
  explicit HttpHead(std::span<const std::string_view> single);

  // Where `part` of text_ lies.
  Part Locate(std::string_view part) const;
  std::string_view View(Part part) const {
    return std::string_view(text_).substr(part.begin, part.size);
  }
  // 0 or a failure, as what the overridden functions return.
  static std::uint16_t CheckVersion(std::string_view version);

 private:
  struct Field {
    Part name;
    Part value;
  };

  virtual std::uint16_t ReadStartLine(std::string_view line) = 0;
  virtual std::uint16_t CheckWhole() = 0;

  void Take(char c);
  std::uint16_t EndLine();
  std::uint16_t ReadHeader(std::string_view line);
  std::uint16_t ReadBodyHeaders();

  std::span<const std::string_view> single_;
  std::uint32_t singles_seen_ = 0;  // a bit each
  std::string text_;                // all that was taken
  std::size_t line_begin_ = 0;
  bool after_cr_ = false;
  Progress progress_ = Progress::kMore;
  std::uint16_t failure_ = 0;
  std::vector<Field> fields_;
  bool chunked_ = false;
  std::uint64_t content_length_ = 0;
};

class HttpRequestHead final : public HttpHead {
 public:
  HttpRequestHead();

  // As sent; whether it is known, and allowed here, is for the caller.
  std::string_view method() const { return View(method_); }
  std::string_view target() const { return View(target_); }

 private:
  std::uint16_t ReadStartLine(std::string_view line) override;
  std::uint16_t CheckWhole() override;

  Part method_;
  Part target_;
};

class HttpResponseHead final : public HttpHead {
 public:
  HttpResponseHead();

  std::uint16_t status() const { return status_; }  // 100..599

 private:
  std::uint16_t ReadStartLine(std::string_view line) override;
  std::uint16_t CheckWhole() override { return 0; }

  std::uint16_t status_ = 0;
};

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_HTTP_HEAD_H_
