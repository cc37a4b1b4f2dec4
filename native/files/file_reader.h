// Reads files on its own threads, and gives up reads whose volume does not answer.
#ifndef LATTICE_FILES_FILE_READER_H_
#define LATTICE_FILES_FILE_READER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/files/file_stamp.h"
#include "native/files/root_health.h"
#include "native/files/rooted_files.h"

namespace lattice {

// The functions are called on the reader's threads and must neither block nor throw.
struct FileRequest {
  std::string path;
  // Whether this many bytes may be taken into memory; asked when the size is known, and again where
  // the file is opened anew; never after the answer. Empty: any number.
  std::function<bool(size_t bytes)> may_take = {};
  // Called once, with the whole file or a code of RootedFiles::Read: kCancelled where `may_take`
  // refused, kVolumeUnavailable also where a root that has to be used hangs. kOverloaded where the
  // system has no memory, no descriptor or no thread for it.
  std::function<void(Result<FileContent>)> on_read;
};

// Many files are read at a time: on a remote volume each takes long, and together they take no
// longer than one.
//
// A system call on a network volume whose server is gone returns when the server does, if ever, and
// nothing ends it sooner. So a read without progress for VolumePatience::without_progress is
// abandoned, with its thread, and answered kVolumeUnavailable. From then on the root hangs: reads
// there are refused at once, except for the trials that find out when it answers again. Other roots
// are not affected.
//
// Thread-safe. Has as many threads as files were wanted at the same time, and one per abandoned
// read.
class FileReader {
 public:
  // At most `most_threads` files are read at a time, abandoned ones not counted; 1 or more.
  explicit FileReader(RootedFiles files, VolumePatience patience = {}, size_t most_threads = 64);
  ~FileReader();  // as Close
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // Never waits. Files are read in the order of the calls, as far as threads are free. After Close
  // the answer is kShuttingDown, on the calling thread.
  void Read(FileRequest request) const;

  // Positions of the roots that hang, ascending.
  std::vector<size_t> HangingRoots() const;

  // Waits until every request is answered, but not for abandoned reads: what those use lives until
  // they return. Idempotent; not to be called from a request's function.
  void Close() const;

 private:
  class Volumes;

  std::shared_ptr<Volumes> volumes_;
};

}  // namespace lattice

#endif  // LATTICE_FILES_FILE_READER_H_
