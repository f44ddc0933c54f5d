#include "replay_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/status.h"

namespace parlor::solo {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'P', 'A', 'R', 'L',
                                                'R', 'E', 'P', 0x1a};
constexpr std::size_t kHeaderBytes = 48;
constexpr std::size_t kHeaderHashed = 40;
constexpr std::size_t kPrefixBytes = 3;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::uint8_t kTypeFrames = 1;
constexpr std::uint8_t kTypeEnd = 2;
// The first frame and the count, every column at its worst (one run a frame),
// the hash: what bounds a record before anything of it is believed.
constexpr std::size_t kPayloadMax =
    5 + 1 + std::size_t{kReplaySeatsMax + 1} * kReplayBlockFrames * (1 + 5) + 8;
constexpr std::uint64_t kU32Max = 0xffffffff;

std::uint64_t Checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

absl::Status Damaged(std::size_t offset, const std::string& what) {
  return InvalidArgument(absl::StrCat("byte ", offset, ": ", what));
}

void WriteColumn(ByteWriter& writer, std::span<const std::uint32_t> values) {
  std::size_t at = 0;
  while (at < values.size()) {
    std::size_t end = at + 1;
    while (end < values.size() && values[end] == values[at]) ++end;
    writer.VarUint(end - at);
    writer.VarUint(values[at]);
    at = end;
  }
}

// False when the runs do not add up to the size of `out`, or two neighbours
// say the same: each column has one encoding.
bool ReadColumn(ByteReader& reader, std::span<std::uint32_t> out) {
  std::size_t at = 0;
  while (at < out.size()) {
    const std::uint64_t length = reader.VarUint(out.size() - at);
    const auto value = static_cast<std::uint32_t>(reader.VarUint(kU32Max));
    if (!reader.ok() || length == 0) return false;
    if (at > 0 && out[at - 1] == value) return false;
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at), length, value);
    at += length;
  }
  return true;
}

absl::Status FileError(const std::string& path, const char* what) {
  return MakeStatus(
      absl::StatusCode::kUnavailable,
      absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(errno)));
}

}  // namespace

std::string HashText(std::uint64_t hash) {
  return absl::StrCat("0x", absl::Hex(hash, absl::kZeroPad16));
}

ReplayEncoder::ReplayEncoder(const ReplayHeader& header)
    : columns_(static_cast<std::size_t>(header.seats) + 1),
      offset_(kHeaderBytes) {
  PARLOR_CHECK(header.seats >= 1 && header.seats <= kReplaySeatsMax);
  PARLOR_CHECK(header.size >= header.seats && header.size <= 255);
  PARLOR_CHECK(header.delay >= 1 && header.delay <= 31);
  ByteWriter writer(pending_);
  writer.Bytes(std::as_bytes(std::span(kMagic)));
  writer.U16(kReplayVersion);
  writer.U16(header.game);
  writer.U32(header.rules_version);
  writer.U32(header.seed);
  writer.U8(static_cast<std::uint8_t>(header.seats));
  writer.U8(static_cast<std::uint8_t>(header.size));
  writer.U8(header.mode);
  writer.U8(static_cast<std::uint8_t>(header.delay));
  writer.U64(0);
  writer.U64(header.start_hash);
  PARLOR_CHECK(pending_.size() == kHeaderHashed);
  writer.U64(Checksum(pending_, 0));
}

bool ReplayEncoder::Add(std::span<const std::uint32_t> inputs,
                        std::uint32_t bots) {
  PARLOR_CHECK(!finished_ && count_ < kReplayBlockFrames);
  PARLOR_CHECK(inputs.size() + 1 == columns_.size());
  const auto at = static_cast<std::size_t>(count_);
  columns_[0][at] = bots;
  for (std::size_t s = 0; s < inputs.size(); ++s) {
    columns_[s + 1][at] = inputs[s];
  }
  return ++count_ == kReplayBlockFrames;
}

void ReplayEncoder::CloseBlock(std::uint64_t hash) {
  PARLOR_CHECK(!finished_ && count_ > 0);
  payload_.clear();
  ByteWriter writer(payload_);
  writer.VarUint(frames_);
  writer.VarUint(static_cast<std::uint64_t>(count_));
  for (const Column& column : columns_) {
    WriteColumn(writer,
                std::span(column).first(static_cast<std::size_t>(count_)));
  }
  writer.U64(hash);
  WriteRecord(kTypeFrames, payload_);
  frames_ += static_cast<std::uint32_t>(count_);
  count_ = 0;
}

void ReplayEncoder::Finish(std::uint64_t hash) {
  PARLOR_CHECK(!finished_ && count_ == 0);
  payload_.clear();
  ByteWriter writer(payload_);
  writer.VarUint(frames_);
  writer.U64(hash);
  WriteRecord(kTypeEnd, payload_);
  finished_ = true;
}

void ReplayEncoder::WriteRecord(std::uint8_t type,
                                std::span<const std::byte> payload) {
  PARLOR_CHECK(payload.size() <= kPayloadMax);
  const std::size_t start = pending_.size();
  ByteWriter writer(pending_);
  writer.U8(type);
  writer.U16(static_cast<std::uint16_t>(payload.size()));
  writer.Bytes(payload);
  const std::span record = std::span(pending_).subspan(start);
  writer.U64(Checksum(record, offset_));
  offset_ += pending_.size() - start;
}

std::span<const std::byte> ReplayEncoder::TakeBytes() {
  taken_.swap(pending_);
  pending_.clear();
  return taken_;
}

absl::StatusOr<ReplayReader> ReplayReader::Open(
    std::span<const std::byte> bytes, bool partial) {
  ReplayReader reader(bytes);
  if (absl::Status s = reader.ReadHeader(); !s.ok()) return s;
  if (absl::Status s = reader.CheckRecords(partial); !s.ok()) return s;
  reader.frames_ = reader.next_frame_;
  reader.Rewind();
  return reader;
}

absl::Status ReplayReader::ReadHeader() {
  // The magic and the version first: another program's file and another
  // version's deserve a better word than "checksum".
  const std::size_t known = std::min(bytes_.size(), kMagic.size());
  const auto magic = std::as_bytes(std::span(kMagic)).first(known);
  if (known == 0 || !std::equal(magic.begin(), magic.end(), bytes_.begin())) {
    return Damaged(0, "not a parlor replay");
  }
  if (bytes_.size() < kHeaderBytes) {
    return Damaged(bytes_.size(), "the file ends inside its header");
  }
  ByteReader reader(bytes_.first(kHeaderBytes).subspan(kMagic.size()));
  const std::uint16_t version = reader.U16();
  if (version != kReplayVersion) {
    return Damaged(
        8, absl::StrCat("format version ", version,
                        ", this program reads version ", kReplayVersion));
  }
  header_.game = reader.U16();
  header_.rules_version = reader.U32();
  header_.seed = reader.U32();
  header_.seats = reader.U8();
  header_.size = reader.U8();
  header_.mode = reader.U8();
  header_.delay = reader.U8();
  const std::uint64_t zero = reader.U64();
  header_.start_hash = reader.U64();
  if (reader.U64() != Checksum(bytes_.first(kHeaderHashed), 0)) {
    return Damaged(kHeaderHashed, "the header does not match its checksum");
  }
  if (header_.seats < 1 || header_.seats > kReplaySeatsMax) {
    return Damaged(
        20, absl::StrCat(header_.seats, " seats, not 1 to ", kReplaySeatsMax));
  }
  if (header_.size < header_.seats) {
    return Damaged(21, absl::StrCat(header_.size, " players for ",
                                    header_.seats, " seats"));
  }
  if (header_.delay < 1 || header_.delay > 31) {
    return Damaged(23, absl::StrCat("delay ", header_.delay, ", not 1 to 31"));
  }
  if (zero != 0) return Damaged(24, "reserved bytes are not zero");
  columns_.resize(static_cast<std::size_t>(header_.seats) + 1);
  return absl::OkStatus();
}

// Walks through the whole file, so that Next can rely on it.
absl::Status ReplayReader::CheckRecords(bool partial) {
  Rewind();
  while (true) {
    const absl::StatusOr<Record> record = ReadRecord();
    if (!record.ok()) return record.status();
    if (*record == Record::kFrames) continue;
    if (*record == Record::kEnd) {
      if (offset_ == bytes_.size()) return absl::OkStatus();
      return Damaged(offset_, absl::StrCat(bytes_.size() - offset_,
                                           " bytes after the end record"));
    }
    if (partial) {
      torn_at_ = offset_;
      return absl::OkStatus();
    }
    return MakeStatus(
        absl::StatusCode::kDataLoss,
        absl::StrCat("byte ", bytes_.size(),
                     ": the file ends without its end record (the recording "
                     "was cut off); the ",
                     next_frame_, " frames before byte ", offset_,
                     " are intact"));
  }
}

// Reads the record at offset_ and moves past it, unless it is torn.
absl::StatusOr<ReplayReader::Record> ReplayReader::ReadRecord() {
  const std::span<const std::byte> rest = bytes_.subspan(offset_);
  ByteReader reader(rest);
  const std::uint8_t type = reader.U8();
  const std::size_t size = reader.U16();
  if (!rest.empty() && type != kTypeFrames && type != kTypeEnd) {
    return Damaged(offset_, absl::StrCat("unknown record type ", type));
  }
  if (!reader.ok()) return Record::kTorn;
  if (size > kPayloadMax) {
    return Damaged(offset_ + 1, absl::StrCat("a record of ", size,
                                             " bytes, more than there can be (",
                                             kPayloadMax, ")"));
  }
  if (reader.remaining() < size + kChecksumBytes) return Record::kTorn;
  const std::span<const std::byte> payload = reader.Bytes(size);
  if (reader.U64() != Checksum(rest.first(kPrefixBytes + size), offset_)) {
    return Damaged(offset_,
                   absl::StrCat("the record of frames from ", next_frame_,
                                " on does not match its checksum"));
  }
  const absl::Status status =
      type == kTypeFrames ? ReadFrames(payload) : ReadEnd(payload);
  if (!status.ok()) return status;
  offset_ += kPrefixBytes + size + kChecksumBytes;
  return type == kTypeFrames ? Record::kFrames : Record::kEnd;
}

absl::Status ReplayReader::ReadFrames(std::span<const std::byte> payload) {
  const std::size_t start = offset_ + kPrefixBytes;
  ByteReader reader(payload);
  const std::uint64_t first = reader.VarUint(kU32Max);
  const std::uint64_t count = reader.VarUint(kReplayBlockFrames);
  if (!reader.ok() || count == 0) {
    return Damaged(start, "no record of 1 to 30 frames");
  }
  // 0xFFFFFFFF is the last frame there is (core/lockstep/WIRE.md).
  if (first != next_frame_ || first + count > kU32Max) {
    return Damaged(start, absl::StrCat("frames from ", first, " on follow ",
                                       next_frame_, " frames"));
  }
  const auto here = [&] { return start + payload.size() - reader.remaining(); };
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::size_t column = here();
    if (ReadColumn(reader, std::span(columns_[c]).first(count))) continue;
    return Damaged(column, c == 0 ? std::string("the bots column is malformed")
                                  : absl::StrCat("the inputs of seat ", c - 1,
                                                 " are malformed"));
  }
  const std::size_t hash_at = here();
  last_hash_ = reader.U64();
  if (!reader.AtEnd()) {
    return Damaged(hash_at, "the record is longer or shorter than its frames");
  }
  next_frame_ = static_cast<std::uint32_t>(first + count);
  count_ = static_cast<int>(count);
  at_ = 0;
  return absl::OkStatus();
}

absl::Status ReplayReader::ReadEnd(std::span<const std::byte> payload) {
  const std::size_t start = offset_ + kPrefixBytes;
  ByteReader reader(payload);
  const std::uint64_t frames = reader.VarUint(kU32Max);
  const std::uint64_t hash = reader.U64();
  if (!reader.AtEnd()) return Damaged(start, "the end record is malformed");
  if (frames != next_frame_) {
    return Damaged(start,
                   absl::StrCat("the end record counts ", frames,
                                " frames, the file holds ", next_frame_));
  }
  if (hash != last_hash_) {
    return Damaged(start, absl::StrCat("the end record's hash ", HashText(hash),
                                       " is not the last frame's, ",
                                       HashText(last_hash_)));
  }
  return absl::OkStatus();
}

bool ReplayReader::Next(ReplayFrame& frame) {
  if (at_ == count_) {
    if (next_frame_ == frames_) return false;
    const absl::StatusOr<Record> record = ReadRecord();
    PARLOR_CHECK(record.ok() && *record == Record::kFrames);
  }
  const auto at = static_cast<std::size_t>(at_);
  frame.frame = next_frame_ - static_cast<std::uint32_t>(count_ - at_);
  frame.bots = columns_[0][at];
  for (std::size_t c = 1; c < columns_.size(); ++c) {
    frame.inputs[c - 1] = columns_[c][at];
  }
  ++at_;
  frame.hash.reset();
  if (at_ == count_) frame.hash = last_hash_;
  return true;
}

void ReplayReader::Rewind() {
  offset_ = kHeaderBytes;
  next_frame_ = 0;
  last_hash_ = header_.start_hash;
  count_ = 0;
  at_ = 0;
}

absl::StatusOr<ReplayWriter> ReplayWriter::Create(const std::string& path,
                                                  const ReplayHeader& header) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return FileError(path, "write");
  ReplayWriter writer(path, file, header);
  if (absl::Status s = writer.Flush(); !s.ok()) return s;
  return writer;
}

absl::Status ReplayWriter::CloseBlock(std::uint64_t hash) {
  encoder_.CloseBlock(hash);
  return Flush();
}

absl::Status ReplayWriter::Finish(std::uint64_t hash) {
  encoder_.Finish(hash);
  if (absl::Status s = Flush(); !s.ok()) return s;
  if (std::fclose(file_.release()) != 0) return FileError(path_, "write");
  return absl::OkStatus();
}

absl::Status ReplayWriter::Flush() {
  const std::span<const std::byte> bytes = encoder_.TakeBytes();
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size();
  if (!written || std::fflush(file_.get()) != 0) {
    return FileError(path_, "write");
  }
  return absl::OkStatus();
}

absl::Status ClaimReplayFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status =
      std::filesystem::status(path, error);
  // A device or a pipe has nothing to lose, and a pipe's reader takes one
  // opening and closing for the whole recording.
  if (std::filesystem::is_other(status)) return absl::OkStatus();
  if (std::filesystem::is_regular_file(status) &&
      std::filesystem::file_size(path, error) != 0) {
    return MakeStatus(absl::StatusCode::kAlreadyExists,
                      absl::StrCat(path, " exists already"));
  }
  // Appending, so that a file that came meanwhile keeps its bytes.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "abe"), std::fclose);
  return file == nullptr ? FileError(path, "write") : absl::OkStatus();
}

absl::StatusOr<std::vector<std::byte>> ReadReplayBytes(
    const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "rbe"), std::fclose);
  if (file == nullptr) return FileError(path, "read");
  std::vector<std::byte> bytes;
  std::array<std::byte, 65536> part;
  while (const std::size_t count =
             std::fread(part.data(), 1, part.size(), file.get())) {
    bytes.insert(bytes.end(), part.begin(),
                 part.begin() + static_cast<std::ptrdiff_t>(count));
    if (bytes.size() > kReplayBytesMax) {
      return InvalidArgument(absl::StrCat(path, ": byte ", kReplayBytesMax,
                                          ": larger than any replay"));
    }
  }
  if (std::ferror(file.get()) != 0) return FileError(path, "read");
  return bytes;
}

}  // namespace parlor::solo
