// Opens files beneath configured folders only, and reads them from the descriptor they were opened
// by.
#ifndef LATTICE_FILES_ROOTED_FILES_H_
#define LATTICE_FILES_ROOTED_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "native/base/status.h"
#include "native/files/file_stamp.h"
#include "native/files/open_beneath.h"
#include "native/files/read_observer.h"

namespace lattice {

// Thread-safe once made. Owns one directory descriptor per root.
//
// A path is relative (looked up in each root in order) or absolute and beneath a root. Refused
// before any look-up: empty, NUL, over 4,096 bytes, a `..` component (kPathNotAllowed). Symbolic
// links are followed while they stay beneath the roots, as OpenBeneath says; of others the message
// names the link (kPathNotAllowed). A path is UTF-8: bytes that are none in it are written as %80
// to %FF, which is looked up where there is no file of that very name. Only regular files are read;
// FIFOs, devices and directories never block.
class RootedFiles {
 public:
  // Fails with kImageNotFound naming the root (by its position) that is no readable folder.
  static Result<RootedFiles> Open(const std::vector<std::string>& roots, size_t max_file_bytes);

  RootedFiles(RootedFiles&&) noexcept;
  RootedFiles& operator=(RootedFiles&&) noexcept;
  ~RootedFiles();

  // The whole file. kImageNotFound, kPathNotAllowed, kNotARegularFile, kImageUnreadable
  // (permission, I/O), kImageTooLarge, kInputChanged when its stamp moved or bytes were missing
  // while it was read, twice in a row, kCancelled when `observer` did not want its bytes,
  // kOverloaded when the process or the machine has no descriptor or memory left, or
  // kVolumeUnavailable when `observer` refused a root or its volume reports that it is gone. Such a
  // root is opened anew first, and one that lacks the file while a folder mounted over it has it: a
  // volume that was mounted again, or late, is used.
  Result<FileContent> Read(std::string_view path, ReadObserver* observer = nullptr) const;

  size_t root_count() const { return roots_.size(); }
  // kVolumeUnavailable, with the position of the root.
  Status Unavailable(size_t root) const;

 private:
  struct Candidate {
    size_t root;
    std::string beneath;
  };
  RootedFiles(std::vector<RootFolder> roots, size_t max_file_bytes);

  std::vector<Candidate> CandidatesFor(std::string_view path) const;
  std::vector<Candidate> PlacesOf(std::string_view path) const;
  struct Answer {
    Result<FileContent> content;
    int error;    // of opening it; ECANCELED where the root must not be used
    size_t root;  // in which the path ended: a link may lead to another one
  };
  Answer ReadBeneath(const Candidate& file, std::string_view path, ReadObserver& observer) const;
  bool IsMountedOver(const Candidate& file, ReadObserver& observer) const;

  std::vector<RootFolder> roots_;
  size_t max_file_bytes_;
};

}  // namespace lattice

#endif  // LATTICE_FILES_ROOTED_FILES_H_
