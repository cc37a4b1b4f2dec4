#include "native/files/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "native/base/scoped_fd.h"

namespace lattice {
namespace {

constexpr int kOpenFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
// The number of links that the kernel itself allows in one resolution.
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

// The text of a link. Returns 0 or -errno.
int ReadLink(int link_fd, std::string* text) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = readlinkat(link_fd, "", target.data(), target.size());
  if (length < 0) return -errno;
  if (static_cast<size_t>(length) == target.size()) return -ENAMETOOLONG;
  text->assign(target.data(), static_cast<size_t>(length));
  return text->empty() ? -ENOENT : 0;
}

// The path without its last component; "" is the folder of all.
std::string ParentOf(const std::string& path) {
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

// One resolution of a path. Going up forgets the last folder, so that a folder that is moved away
// during the walk leads nowhere new.
class Walk {
 public:
  Walk(std::span<const RootFolder> roots, size_t root, ReadObserver& observer)
      : roots_(roots), observer_(observer), root_(root) {}

  OpenedFile Open(const std::string& path) {
    PushComponents(path, &pending_);
    const int fd = ToTheEnd();
    const bool of_link = fd == -EXDEV || fd == -ELOOP;
    return {fd, root_, of_link ? link_ : std::string()};
  }

 private:
  struct Folder {
    ScopedFd fd;
    std::string name;
  };

  int top() const { return folders_.empty() ? roots_[root_].fd : folders_.back().fd.get(); }

  // A descriptor or -errno.
  int ToTheEnd() {
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.back());
      pending_.pop_back();
      if (name == ".") continue;
      if (name == "..") {
        if (const int error = GoUp(); error != 0) return error;
        continue;
      }
      ScopedFd entry(openat(top(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      observer_.Progress();
      if (entry.get() < 0) return -errno;
      struct stat info;
      if (fstat(entry.get(), &info) != 0) return -errno;
      if (S_ISLNK(info.st_mode)) {
        if (const int error = Follow(entry.get(), name); error != 0) return error;
      } else if (S_ISDIR(info.st_mode)) {
        folders_.push_back({std::move(entry), name});
      } else if (!pending_.empty()) {
        return -ENOTDIR;
      } else {
        // The name may have been replaced since: O_NOFOLLOW keeps a new link from being followed.
        const int file = openat(top(), name.c_str(), kOpenFlags | O_NOFOLLOW);
        return file < 0 ? -errno : file;
      }
    }
    const int folder = openat(top(), ".", kOpenFlags);
    return folder < 0 ? -errno : folder;
  }

  int GoUp() {
    if (folders_.empty()) return EnterFrom(ParentOf(roots_[root_].real_path));
    folders_.pop_back();
    return 0;
  }

  // Puts the target in the place of the link.
  int Follow(int link_fd, const std::string& name) {
    link_.clear();
    for (const Folder& folder : folders_) link_ += folder.name + "/";
    link_ += name;
    if (++links_ > kMaxLinks) return -ELOOP;
    std::string text;
    if (const int error = ReadLink(link_fd, &text); error != 0) return error;
    PushComponents(text, &pending_);
    return text.front() == '/' ? EnterFrom("") : 0;
  }

  // The pending path counts from the folder `at`, which lies outside. Names are compared, and the
  // walk goes on in the innermost root that they lead to.
  int EnterFrom(std::string at) {
    std::optional<size_t> found;
    size_t left = 0;
    for (size_t next = pending_.size();; --next) {
      if (const auto root = RootAt(at)) {
        found = root;
        left = next;
      }
      if (next == 0) break;
      const std::string& name = pending_[next - 1];
      if (name == "..") {
        if (found) break;
        at = ParentOf(at);
      } else if (name != ".") {
        at += "/" + name;
      }
    }
    if (!found) return -EXDEV;
    if (*found != root_ && !observer_.EnterRoot(*found)) {
      root_ = *found;
      return -ECANCELED;
    }
    folders_.clear();
    root_ = *found;
    pending_.resize(left);
    return 0;
  }

  std::optional<size_t> RootAt(const std::string& path) const {
    for (size_t i = 0; i < roots_.size(); ++i) {
      if (roots_[i].path == path || roots_[i].real_path == path) return i;
    }
    return std::nullopt;
  }

  const std::span<const RootFolder> roots_;
  ReadObserver& observer_;
  size_t root_;
  std::vector<Folder> folders_;  // from the root down to where the walk stands
  Components pending_;
  int links_ = 0;
  std::string link_;  // the last one
};

}  // namespace

OpenedFile OpenBeneathByWalk(std::span<const RootFolder> roots, size_t root,
                             const std::string& path, ReadObserver& observer) {
  return Walk(roots, root, observer).Open(path);
}

OpenedFile OpenBeneath(std::span<const RootFolder> roots, size_t root, const std::string& path,
                       ReadObserver& observer) {
  open_how how = {};
  how.flags = kOpenFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0; attempt < kMaxRaces; ++attempt) {
    const long fd = syscall(__NR_openat2, roots[root].fd, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return {static_cast<int>(fd), root, {}};
    // Sandboxes that do not know the call answer EPERM. A link that leaves this root may lead to
    // another one, or back by the absolute path of this one.
    if (errno == ENOSYS || errno == EPERM || errno == EXDEV || errno == ELOOP) break;
    if (errno != EAGAIN && errno != EINTR) return {-errno, root, {}};
  }
  return OpenBeneathByWalk(roots, root, path, observer);
}

}  // namespace lattice
