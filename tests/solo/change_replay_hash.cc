// change_replay_hash FILE RECORD: makes a recorded hash a wrong one, with
// right checksums around it, so that the file is a good replay of a match that
// went otherwise. RECORD 0 is the header with the start's hash; 1 is the first
// block of frames.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "replay_seal.h"

namespace {

constexpr std::size_t kStartHash = 32;
constexpr std::size_t kFirstRecord = 48;
constexpr std::size_t kPrefix = 3;  // type and size
constexpr std::size_t kHash = 8;    // ends the payload; so long is a checksum

// 0 when the file ends before.
std::size_t FindHash(const std::string& bytes, int record) {
  if (record == 0) return kStartHash;
  std::size_t at = kFirstRecord;
  while (at + kPrefix <= bytes.size()) {
    const auto low = static_cast<unsigned char>(bytes[at + 1]);
    const auto high = static_cast<unsigned char>(bytes[at + 2]);
    const std::size_t end = at + kPrefix + (low | high << 8);
    if (--record == 0) return end - kHash;
    at = end + kHash;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::size_t at = FindHash(bytes, std::atoi(argv[2]));
  if (at == 0 || at >= bytes.size()) {
    std::cerr << argv[1] << ": no record " << argv[2] << "\n";
    return 1;
  }
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  const std::vector<std::byte> sealed =
      parlor::solo::Resealed({data, data + bytes.size()});
  std::ofstream out(argv[1], std::ios::binary);
  out.write(reinterpret_cast<const char*>(sealed.data()),
            static_cast<std::streamsize>(sealed.size()));
  return out.flush() ? 0 : 1;
}
