#include "native/files/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>
#include <vector>

#include "native/base/scoped_fd.h"

namespace lattice {
namespace {

constexpr int kOpenFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
// What the kernel itself allows in one resolution.
constexpr int kMaxLinks = 40;
// A rename anywhere in the tree makes openat2 answer EAGAIN when `..` of a link is resolved.
constexpr int kMaxRaces = 64;

// The components still to be walked, next one last.
using Components = std::vector<std::string>;

void PushComponents(std::string_view path, Components* pending) {
  const bool wants_directory = !path.empty() && path.back() == '/';
  const size_t first_new = pending->size();
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty()) pending->emplace_back(part);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  if (wants_directory) pending->emplace_back(".");
  for (size_t low = first_new, high = pending->size(); low + 1 < high; ++low, --high) {
    std::swap((*pending)[low], (*pending)[high - 1]);
  }
}

// Replaces a link by the components of its target. Returns 0 or -errno.
int FollowLink(int link_fd, Components* pending) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = readlinkat(link_fd, "", target.data(), target.size());
  if (length < 0) return -errno;
  if (static_cast<size_t>(length) == target.size()) return -ENAMETOOLONG;
  const std::string_view text(target.data(), static_cast<size_t>(length));
  if (text.empty()) return -ENOENT;
  if (text.front() == '/') return -EXDEV;
  PushComponents(text, pending);
  return 0;
}

// The folders from the root down to where the walk stands. Going up means forgetting the last one,
// so a folder that is moved away during the walk leads nowhere new.
class FolderStack {
 public:
  explicit FolderStack(int root_fd) : root_fd_(root_fd) {}
  int top() const { return folders_.empty() ? root_fd_ : folders_.back().get(); }
  bool Up() {
    if (folders_.empty()) return false;
    folders_.pop_back();
    return true;
  }
  void Down(ScopedFd folder) { folders_.push_back(std::move(folder)); }

 private:
  int root_fd_;
  std::vector<ScopedFd> folders_;
};

}  // namespace

int OpenBeneathByWalk(int root_fd, const std::string& path) {
  FolderStack folders(root_fd);
  Components pending;
  PushComponents(path, &pending);
  int links = 0;
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (name == ".") continue;
    if (name == "..") {
      if (!folders.Up()) return -EXDEV;
      continue;
    }
    ScopedFd entry(openat(folders.top(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (entry.get() < 0) return -errno;
    struct stat info;
    if (fstat(entry.get(), &info) != 0) return -errno;
    if (S_ISLNK(info.st_mode)) {
      if (++links > kMaxLinks) return -ELOOP;
      if (const int error = FollowLink(entry.get(), &pending); error != 0) return error;
    } else if (S_ISDIR(info.st_mode)) {
      folders.Down(std::move(entry));
    } else if (!pending.empty()) {
      return -ENOTDIR;
    } else {
      // The name may have been replaced since: O_NOFOLLOW keeps a new link from being followed.
      const int file = openat(folders.top(), name.c_str(), kOpenFlags | O_NOFOLLOW);
      return file < 0 ? -errno : file;
    }
  }
  const int folder = openat(folders.top(), ".", kOpenFlags);
  return folder < 0 ? -errno : folder;
}

int OpenBeneath(int root_fd, const std::string& path) {
  open_how how = {};
  how.flags = kOpenFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0; attempt < kMaxRaces; ++attempt) {
    const long fd = syscall(__NR_openat2, root_fd, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return static_cast<int>(fd);
    // Sandboxes that do not know the call answer EPERM.
    if (errno == ENOSYS || errno == EPERM) break;
    if (errno != EAGAIN && errno != EINTR) return -errno;
  }
  return OpenBeneathByWalk(root_fd, path);
}

}  // namespace lattice
