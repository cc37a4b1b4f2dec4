// Which file was read, and in what state.
#ifndef LATTICE_FILES_FILE_STAMP_H_
#define LATTICE_FILES_FILE_STAMP_H_

#include <sys/stat.h>

#include <cstdint>

#include "native/base/byte_buffer.h"

namespace lattice {

// The numbers that fstat gives for the open descriptor: those of the very bytes that were read,
// whatever the path names by then. Times are nanoseconds since 1970. A writer can set the time of
// modification back, but not the time of change.
struct FileStamp {
  int64_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  uint64_t device = 0;
  uint64_t inode = 0;

  static FileStamp Of(const struct stat& entry) {
    constexpr int64_t kNanoseconds = 1'000'000'000;
    return {.size = entry.st_size,
            .modified_ns = entry.st_mtim.tv_sec * kNanoseconds + entry.st_mtim.tv_nsec,
            .changed_ns = entry.st_ctim.tv_sec * kNanoseconds + entry.st_ctim.tv_nsec,
            .device = entry.st_dev,
            .inode = entry.st_ino};
  }

  bool operator==(const FileStamp&) const = default;
};

// A whole file: `stamp` was the same before its first and after its last byte was read.
struct FileContent {
  ByteBuffer bytes;
  FileStamp stamp;
  int64_t read_ns = 0;  // when the reading began, since 1970, by the clock of this machine
};

}  // namespace lattice

#endif  // LATTICE_FILES_FILE_STAMP_H_
