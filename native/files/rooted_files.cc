#include "native/files/rooted_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "native/files/quoted_path.h"

namespace lattice {
namespace {

constexpr size_t kMaxPathBytes = 4096;
// Small enough for a slow volume to show progress.
constexpr size_t kBytesPerCall = 1 << 20;

class NoObserver : public ReadObserver {
 public:
  bool EnterRoot(size_t /*root*/) override { return true; }
  void Progress() override {}
  bool TakeBytes(size_t /*bytes*/) override { return true; }
};

// An error of the volume, not of the file: its server or its process is gone, or it was mounted
// anew since the root was opened.
bool IsVolumeError(int error) {
  switch (error) {
    case ESTALE:
    case ENOTCONN:
    case ETIMEDOUT:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETUNREACH:
    case ECONNABORTED:
    case ECONNREFUSED:
    case ECONNRESET:
    case ENOLINK:
    case EREMOTEIO:
      return true;
    default:
      return false;
  }
}

// The process or the machine has no descriptor or no memory left.
bool IsShortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

// Says what is wrong with the text of a path, before the file system is asked.
Status CheckPathText(std::string_view path) {
  const auto refuse = [](std::string reason) {
    return Status(StatusCode::kPathNotAllowed, std::move(reason));
  };
  if (path.empty()) return refuse("the image path is empty");
  if (path.size() > kMaxPathBytes) return refuse("the image path is longer than 4,096 bytes");
  if (path.find('\0') != std::string_view::npos) return refuse("the image path holds a NUL byte");
  bool too_long = false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view component = path.substr(begin, end - begin);
    if (component == "..") return refuse(QuotedPath(path) + " holds a `..` component");
    too_long = too_long || component.size() > NAME_MAX;
    begin = end + 1;
  }
  if (!too_long) return Status();
  return Status(StatusCode::kImageNotFound,
                QuotedPath(path) + " holds a name longer than 255 bytes, so no such file exists");
}

Status NotFound(std::string_view path) {
  return Status(StatusCode::kImageNotFound,
                QuotedPath(path) + " was not found beneath the image folders");
}

Status OutsideRoots(std::string_view path) {
  return Status(StatusCode::kPathNotAllowed, QuotedPath(path) + " is outside the image folders");
}

Status NotRegular(std::string_view path) {
  return Status(StatusCode::kNotARegularFile, QuotedPath(path) + " is not a regular file");
}

Status Unreadable(std::string_view path, int error) {
  const std::string reason = std::generic_category().message(error);
  if (IsShortage(error)) {
    return {StatusCode::kOverloaded, QuotedPath(path) + " cannot be read now: " + reason};
  }
  return Status(
      IsVolumeError(error) ? StatusCode::kVolumeUnavailable : StatusCode::kImageUnreadable,
      QuotedPath(path) + " cannot be read: " + reason);
}

Status Refused(std::string_view path, const OpenedFile& opened) {
  if (opened.link.empty()) return OutsideRoots(path);
  const std::string link = "the link " + QuotedPath(opened.link);
  return Status(
      StatusCode::kPathNotAllowed,
      opened.fd == -ELOOP
          ? QuotedPath(path) + " cannot be opened: " + link + " leads in a circle"
          : QuotedPath(path) + " is outside the image folders: " + link + " leads out of them");
}

Status FromOpenError(std::string_view path, const OpenedFile& opened) {
  switch (-opened.fd) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
      return NotFound(path);
    case EXDEV:
    case ELOOP:
      return Refused(path, opened);
    case ENXIO:  // a socket, or a device without a driver
    case ENODEV:
    case EBUSY:
    case ENOMEDIUM:
      return NotRegular(path);
    default:
      return Unreadable(path, -opened.fd);
  }
}

// Closes on every way out.
struct OpenFile {
  int fd;
  ~OpenFile() { close(fd); }
};

int64_t NanosecondsNow() {
  using std::chrono::system_clock;
  return std::chrono::nanoseconds(system_clock::now().time_since_epoch()).count();
}

Result<FileContent> ReadOpenFile(int fd, std::string_view path, size_t max_bytes,
                                 ReadObserver& observer) {
  FileContent content{.bytes = {}, .stamp = {}, .read_ns = NanosecondsNow()};
  struct stat before;
  if (fstat(fd, &before) != 0) return Unreadable(path, errno);
  observer.Progress();
  if (!S_ISREG(before.st_mode)) return NotRegular(path);
  const auto size = static_cast<size_t>(before.st_size);
  if (size > max_bytes) {
    return Status(StatusCode::kImageTooLarge, QuotedPath(path) + " has " + std::to_string(size) +
                                                  " bytes; the limit is " +
                                                  std::to_string(max_bytes));
  }
  if (!observer.TakeBytes(size)) {
    return Status(StatusCode::kCancelled, QuotedPath(path) + " is not wanted now");
  }
  content.stamp = FileStamp::Of(before);
  content.bytes.resize(size);
  size_t done = 0;
  while (done < size) {
    const size_t wanted = std::min(size - done, kBytesPerCall);
    const ssize_t count = pread(fd, content.bytes.data() + done, wanted, static_cast<off_t>(done));
    observer.Progress();
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Unreadable(path, errno);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  struct stat after;
  if (fstat(fd, &after) != 0) return Unreadable(path, errno);
  if (done != size || FileStamp::Of(after) != content.stamp) {
    return Status(StatusCode::kInputChanged, QuotedPath(path) + " was modified while it was read");
  }
  return content;
}

// The part of an absolute path after the root; nothing when it is not beneath the root.
std::optional<std::string_view> BeneathRoot(std::string_view path, std::string_view root) {
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return path;
}

// The value of two hexadecimal digits in capitals from 80 on, which are no byte of ASCII; else 0.
unsigned char EscapedByte(std::string_view digits) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (digits.size() < 2) return 0;
  const size_t high = kDigits.find(digits[0]);
  const size_t low = kDigits.find(digits[1]);
  if (high == std::string_view::npos || low == std::string_view::npos || high < 8) return 0;
  return static_cast<unsigned char>(high * 16 + low);
}

// The path with the bytes that it writes as %80 to %FF.
std::string WithEscapedBytes(std::string_view path) {
  std::string bytes;
  for (size_t i = 0; i < path.size(); ++i) {
    const unsigned char escaped = path[i] == '%' ? EscapedByte(path.substr(i + 1, 2)) : 0;
    bytes += escaped == 0 ? path[i] : static_cast<char>(escaped);
    if (escaped != 0) i += 2;
  }
  return bytes;
}

std::string AbsoluteWithoutSlash(const std::string& root) {
  std::error_code error;
  std::string path = std::filesystem::absolute(root, error).lexically_normal().string();
  while (path.ends_with('/')) path.pop_back();
  return path;
}

std::string RealPath(const std::string& root) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(root, error).string();
  return AbsoluteWithoutSlash(error ? root : path);
}

int OpenFolder(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// The descriptor keeps its number, for all threads at once.
bool OpenAnew(const std::string& path, int fd) {
  const int fresh = OpenFolder(path);
  if (fresh < 0) return false;
  const OpenFile closed_after{fresh};
  return dup3(fresh, fd, O_CLOEXEC) == fd;
}

}  // namespace

RootedFiles::RootedFiles(std::vector<RootFolder> roots, size_t max_file_bytes)
    : roots_(std::move(roots)), max_file_bytes_(max_file_bytes) {}

RootedFiles::RootedFiles(RootedFiles&& other) noexcept
    : roots_(std::exchange(other.roots_, {})), max_file_bytes_(other.max_file_bytes_) {}

RootedFiles& RootedFiles::operator=(RootedFiles&& other) noexcept {
  std::swap(roots_, other.roots_);
  max_file_bytes_ = other.max_file_bytes_;
  return *this;
}

RootedFiles::~RootedFiles() {
  for (const RootFolder& root : roots_) close(root.fd);
}

Result<RootedFiles> RootedFiles::Open(const std::vector<std::string>& roots,
                                      size_t max_file_bytes) {
  RootedFiles files({}, max_file_bytes);
  files.roots_.reserve(roots.size());
  for (size_t i = 0; i < roots.size(); ++i) {
    const int fd = OpenFolder(roots[i]);
    if (fd < 0) {
      return Status(StatusCode::kImageNotFound,
                    "image folder " + std::to_string(i + 1) + " of " +
                        std::to_string(roots.size()) +
                        " cannot be opened: " + std::generic_category().message(errno));
    }
    files.roots_.push_back({AbsoluteWithoutSlash(roots[i]), RealPath(roots[i]), fd});
  }
  return files;
}

// The candidates for the path in the order of looking: a name that contains an escape comes first.
std::vector<RootedFiles::Candidate> RootedFiles::CandidatesFor(std::string_view path) const {
  std::vector<Candidate> candidates = PlacesOf(path);
  const std::string bytes = WithEscapedBytes(path);
  if (bytes != path) {
    for (Candidate& candidate : PlacesOf(bytes)) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

std::vector<RootedFiles::Candidate> RootedFiles::PlacesOf(std::string_view path) const {
  std::vector<Candidate> candidates;
  if (path.front() != '/') {
    for (size_t i = 0; i < roots_.size(); ++i) candidates.push_back({i, std::string(path)});
    return candidates;
  }
  // Nested roots: the innermost one decides, so that the outer one cannot be a way around it.
  for (size_t i = 0; i < roots_.size(); ++i) {
    const auto rest = BeneathRoot(path, roots_[i].path);
    if (!rest) continue;
    if (!candidates.empty()) {
      if (roots_[i].path.size() <= roots_[candidates[0].root].path.size()) continue;
      candidates.clear();
    }
    candidates.push_back({i, rest->empty() ? "." : std::string(*rest)});
  }
  return candidates;
}

RootedFiles::Answer RootedFiles::ReadBeneath(const Candidate& candidate, std::string_view path,
                                             ReadObserver& observer) const {
  if (!observer.EnterRoot(candidate.root)) {
    return {Unavailable(candidate.root), ECANCELED, candidate.root};
  }
  const OpenedFile opened = OpenBeneath(roots_, candidate.root, candidate.beneath, observer);
  observer.Progress();
  if (opened.fd == -ECANCELED) return {Unavailable(opened.root), ECANCELED, opened.root};
  if (opened.fd < 0) return {FromOpenError(path, opened), -opened.fd, opened.root};
  const OpenFile file{opened.fd};
  return {ReadOpenFile(file.fd, path, max_file_bytes_, observer), 0, opened.root};
}

// Whether the path of the root names another folder than the open one, and the file is in it: a
// volume was mounted over the open folder. Without the file the open folder is kept: it may be a
// volume whose mount point is an empty folder by now.
bool RootedFiles::IsMountedOver(const Candidate& candidate, ReadObserver& observer) const {
  const RootFolder& root = roots_[candidate.root];
  struct stat named;
  struct stat opened;
  if (stat(root.path.c_str(), &named) != 0 || fstat(root.fd, &opened) != 0) return false;
  if (named.st_dev == opened.st_dev && named.st_ino == opened.st_ino) return false;
  const int fresh = OpenFolder(root.path);
  if (fresh < 0) return false;
  const OpenFile folder{fresh};
  std::vector<RootFolder> roots = roots_;
  roots[candidate.root].fd = fresh;
  const int found = OpenBeneath(roots, candidate.root, candidate.beneath, observer).fd;
  if (found < 0) return false;
  const OpenFile closed_after{found};
  return true;
}

Result<FileContent> RootedFiles::Read(std::string_view path, ReadObserver* observer) const {
  if (Status text = CheckPathText(path); !text.ok()) return text;
  const std::vector<Candidate> candidates = CandidatesFor(path);
  if (candidates.empty() && path.front() == '/') return OutsideRoots(path);
  NoObserver no_observer;
  ReadObserver& told = observer != nullptr ? *observer : no_observer;
  for (const Candidate& candidate : candidates) {
    const auto read = [&] { return ReadBeneath(candidate, path, told); };
    const auto is_absent = [](int error) { return error == ENOENT || error == ENOTDIR; };
    Answer answer = read();
    if (answer.content.status().code() == StatusCode::kVolumeUnavailable) {
      const RootFolder& gone = roots_[answer.root];
      if (answer.error != ECANCELED && OpenAnew(gone.path, gone.fd)) answer = read();
      if (answer.content.status().code() == StatusCode::kVolumeUnavailable) {
        return Unavailable(answer.root);
      }
    }
    const RootFolder& root = roots_[candidate.root];
    if (is_absent(answer.error) && IsMountedOver(candidate, told) && OpenAnew(root.path, root.fd)) {
      answer = read();
    }
    // Most changes are a file's last: the end of a copy, or another file in its place.
    if (answer.content.status().code() == StatusCode::kInputChanged) answer = read();
    if (!is_absent(answer.error)) return std::move(answer.content);
  }
  return NotFound(path);
}

Status RootedFiles::Unavailable(size_t root) const {
  return {StatusCode::kVolumeUnavailable, "The volume of image folder " + std::to_string(root + 1) +
                                              " of " + std::to_string(roots_.size()) +
                                              " does not answer."};
}

}  // namespace lattice
