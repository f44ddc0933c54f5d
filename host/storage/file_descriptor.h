// FileDescriptor: owns one. WriteAt, WriteOn and ReadAt: all of it or an errno.
#ifndef PARLOR_HOST_STORAGE_FILE_DESCRIPTOR_H_
#define PARLOR_HOST_STORAGE_FILE_DESCRIPTOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace parlor::host {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

// The errno of what failed, or 0. Beyond the process's limit of a file's size
// nothing is written, EFBIG: the system would raise SIGXFSZ, which ends a
// process that does not know it.
int WriteAt(const FileDescriptor& file, std::span<const std::byte> bytes,
            std::int64_t at);
// The same where the file stands, also of a pipe or a device. `at`: how much
// was written before, for the limit.
int WriteOn(const FileDescriptor& file, std::span<const std::byte> bytes,
            std::int64_t at);
// The same for the size that a file is given.
int Resize(const FileDescriptor& file, std::int64_t size);
// ENODATA: the file ends before.
int ReadAt(const FileDescriptor& file, std::span<std::byte> bytes,
           std::int64_t at);

}  // namespace parlor::host

#endif  // PARLOR_HOST_STORAGE_FILE_DESCRIPTOR_H_
