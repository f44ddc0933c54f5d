// Any bytes as a hello and as the answer to one: what is read does not depend
// on how they were cut, and a request that is taken has one encoding. The first
// byte says how long the pieces are.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "stream/tcp_handshake.h"

namespace parlor::stream {
namespace {

// Feeds pieces until the handshake knows; how many bytes it took in `*taken`.
template <typename Handshake>
typename Handshake::Progress Feed(Handshake& handshake,
                                  std::span<const std::byte> bytes,
                                  std::size_t piece, std::size_t* taken) {
  auto progress = Handshake::Progress::kMore;
  *taken = 0;
  while (*taken < bytes.size() && progress == Handshake::Progress::kMore) {
    const auto part =
        bytes.subspan(*taken, std::min(piece, bytes.size() - *taken));
    std::vector<std::byte> copy(part.begin(), part.end());
    std::span<std::byte> input(copy);
    progress = handshake.Feed(input);
    PARLOR_CHECK(progress != Handshake::Progress::kMore || input.empty());
    *taken += part.size() - input.size();
  }
  return progress;
}

void TryServer(std::span<const std::byte> bytes, std::size_t piece) {
  using Progress = ServerHandshake::Progress;
  const auto whole = MakeTcpServerHandshake();
  const auto cut = MakeTcpServerHandshake();
  std::size_t taken, taken_cut;
  const Progress progress = Feed(*whole, bytes, bytes.size(), &taken);
  PARLOR_CHECK(Feed(*cut, bytes, piece, &taken_cut) == progress);
  PARLOR_CHECK(taken == taken_cut && whole->failure() == cut->failure());
  PARLOR_CHECK((progress == Progress::kFailed) == (whole->failure() != 0));
  if (progress != Progress::kRequest) return;
  // The client's side stops the process if the request is against the rules.
  const auto client = MakeTcpClientHandshake(whole->request());
  const auto hello = AsBytes(client->hello());
  PARLOR_CHECK(std::equal(hello.begin(), hello.end(), bytes.begin(),
                          bytes.begin() + static_cast<std::ptrdiff_t>(taken)));
}

void TryClient(std::span<const std::byte> bytes, std::size_t piece) {
  using Progress = ClientHandshake::Progress;
  for (const Request& request :
       {Request{.target = "/"},
        Request{.target = "/", .protocols = {"a", "bc"}}}) {
    const auto whole = MakeTcpClientHandshake(request);
    const auto cut = MakeTcpClientHandshake(request);
    std::size_t taken, taken_cut;
    const Progress progress = Feed(*whole, bytes, bytes.size(), &taken);
    PARLOR_CHECK(Feed(*cut, bytes, piece, &taken_cut) == progress);
    PARLOR_CHECK(taken == taken_cut);
    if (progress != Progress::kRefused) continue;
    PARLOR_CHECK(whole->refusal() >= 300 && whole->refusal() <= 599);
  }
}

}  // namespace
}  // namespace parlor::stream

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::size_t piece = 1 + data[0] % 16;
  parlor::stream::TryServer(bytes, piece);
  parlor::stream::TryClient(bytes, piece);
  return 0;
}
