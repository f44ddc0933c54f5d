#include "storage/file_descriptor.h"

#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parlor::host {
namespace {

static_assert(sizeof(off_t) == sizeof(std::int64_t));

bool IsBeyondLimit(std::int64_t size) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  return limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(size) > limit.rlim_cur;
}

// `write` answers as the system's: how much of `bytes` it took.
template <typename Write>
int WriteAll(std::span<const std::byte> bytes, Write write) {
  while (!bytes.empty()) {
    const ssize_t written = write(bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;  // no system says why
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

int WriteAt(const FileDescriptor& file, std::span<const std::byte> bytes,
            std::int64_t at) {
  if (IsBeyondLimit(at + static_cast<std::int64_t>(bytes.size()))) return EFBIG;
  return WriteAll(bytes, [&](std::span<const std::byte> rest) {
    const ssize_t written = pwrite(file.get(), rest.data(), rest.size(), at);
    if (written > 0) at += written;
    return written;
  });
}

int WriteOn(const FileDescriptor& file, std::span<const std::byte> bytes,
            std::int64_t at) {
  if (IsBeyondLimit(at + static_cast<std::int64_t>(bytes.size()))) return EFBIG;
  return WriteAll(bytes, [&](std::span<const std::byte> rest) {
    return write(file.get(), rest.data(), rest.size());
  });
}

int Resize(const FileDescriptor& file, std::int64_t size) {
  if (IsBeyondLimit(size)) return EFBIG;
  int result = -1;
  do {
    result = ftruncate(file.get(), size);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

int ReadAt(const FileDescriptor& file, std::span<std::byte> bytes,
           std::int64_t at) {
  while (!bytes.empty()) {
    const ssize_t read = pread(file.get(), bytes.data(), bytes.size(), at);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return errno;
    if (read == 0) return ENODATA;
    bytes = bytes.subspan(static_cast<std::size_t>(read));
    at += read;
  }
  return 0;
}

}  // namespace parlor::host
