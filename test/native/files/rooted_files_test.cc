#include "native/files/rooted_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "native/files/open_beneath.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLimit = 1'000;

std::string TextOf(const ByteBuffer& bytes) { return {bytes.begin(), bytes.end()}; }

void Write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// root/ and second/ are image folders; outside/ lies beside them.
class RootedFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "rooted-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    base_ = pattern;
    for (const char* folder : {"root/sub", "second", "outside", "root-evil"}) {
      fs::create_directories(base_ / folder);
    }
    Write(base_ / "root/a.jpg", "first");
    Write(base_ / "root/sub/b.jpg", "deep");
    Write(base_ / "second/a.jpg", "hidden by the first root");
    Write(base_ / "second/c.jpg", "second");
    Write(base_ / "outside/secret.jpg", "secret");
    Write(base_ / "root-evil/secret.jpg", "secret");
  }
  void TearDown() override { fs::remove_all(base_); }

  RootedFiles Files(size_t limit = kLimit) const {
    Result<RootedFiles> files =
        RootedFiles::Open({(base_ / "root").string(), (base_ / "second/").string()}, limit);
    EXPECT_TRUE(files.ok()) << files.status().message();
    return *std::move(files);
  }
  StatusCode CodeOf(std::string_view path) const { return Files().Read(path).status().code(); }
  std::string ContentOf(std::string_view path) const {
    const Result<FileContent> file = Files().Read(path);
    return file.ok() ? TextOf(file->bytes) : file.status().message();
  }

  // Closed at the end of their life.
  struct Roots {
    std::vector<RootFolder> folders;
    ~Roots() {
      for (const RootFolder& root : folders) close(root.fd);
    }
  };
  Roots OpenRoots() const {
    Roots roots;
    for (const char* name : {"root", "second"}) {
      const std::string path = base_ / name;
      roots.folders.push_back({path, path, open(path.c_str(), O_RDONLY | O_DIRECTORY)});
      EXPECT_GE(roots.folders.back().fd, 0);
    }
    return roots;
  }

  struct AnyRoot : ReadObserver {
    bool EnterRoot(size_t /*root*/) override { return true; }
    void Progress() override {}
    bool TakeBytes(size_t /*bytes*/) override { return true; }
  };

  fs::path base_;
};

TEST_F(RootedFilesTest, RelativePathsAreLookedUpInEachRootInOrder) {
  EXPECT_EQ(ContentOf("a.jpg"), "first");
  EXPECT_EQ(ContentOf("./sub//b.jpg"), "deep");
  EXPECT_EQ(ContentOf("c.jpg"), "second");
  EXPECT_EQ(CodeOf("a.jpg/x"), StatusCode::kImageNotFound);
  EXPECT_EQ(CodeOf("none.jpg"), StatusCode::kImageNotFound);
  EXPECT_EQ(CodeOf("none/none.jpg"), StatusCode::kImageNotFound);
}

TEST_F(RootedFilesTest, BytesThatAreNoUtf8AreWrittenAsEscapes) {
  fs::create_directories(base_ / "root/z\xFCri");
  Write(base_ / "root/z\xFCri/\xE9%20.jpg", "latin");
  Write(base_ / "second/%E9.jpg", "this very name");
  Write(base_ / "root/\xE9.jpg", "hidden by it");
  Write(base_ / "root/\xC3\xA9!.jpg", "utf-8");
  EXPECT_EQ(ContentOf("z%FCri/%E9%20.jpg"), "latin");
  EXPECT_EQ(ContentOf((base_ / "root/z%FCri/%E9%20.jpg").string()), "latin");
  EXPECT_EQ(ContentOf("%E9.jpg"), "this very name");
  EXPECT_EQ(ContentOf("%C3%A9!.jpg"), "utf-8");
  for (const char* path : {"%61.jpg", "%e9!.jpg", "sub%2Fb.jpg", "a.jpg%", "%E", "%G0"}) {
    EXPECT_EQ(CodeOf(path), StatusCode::kImageNotFound) << path;
  }
  EXPECT_EQ(CodeOf("%2E%2E/outside/secret.jpg"), StatusCode::kImageNotFound);
  EXPECT_EQ(CodeOf("%FF/../a.jpg"), StatusCode::kPathNotAllowed);
}

TEST_F(RootedFilesTest, AbsolutePathsMustLieBeneathARoot) {
  EXPECT_EQ(ContentOf((base_ / "root/a.jpg").string()), "first");
  EXPECT_EQ(ContentOf((base_ / "second/a.jpg").string()), "hidden by the first root");
  EXPECT_EQ(ContentOf((base_ / "root").string() + "//sub/./b.jpg"), "deep");
  EXPECT_EQ(CodeOf((base_ / "outside/secret.jpg").string()), StatusCode::kPathNotAllowed);
  EXPECT_EQ(CodeOf((base_ / "root-evil/secret.jpg").string()), StatusCode::kPathNotAllowed);
  EXPECT_EQ(CodeOf("/etc/passwd"), StatusCode::kPathNotAllowed);
  EXPECT_EQ(CodeOf("/"), StatusCode::kPathNotAllowed);
  EXPECT_EQ(CodeOf((base_ / "root/").string()), StatusCode::kNotARegularFile);
}

TEST_F(RootedFilesTest, TheInnermostOfNestedRootsDecides) {
  fs::create_directory_symlink(base_ / "outside", base_ / "root/inner");
  const auto files =
      RootedFiles::Open({(base_ / "root").string(), (base_ / "root/inner").string()}, kLimit);
  ASSERT_TRUE(files.ok());
  const auto bytes = files->Read((base_ / "root/inner/secret.jpg").string());
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_EQ(TextOf(bytes->bytes), "secret");
}

TEST_F(RootedFilesTest, BadTextIsRefusedBeforeAnyLookUp) {
  for (const std::string& path :
       {std::string(), std::string("../outside/secret.jpg"), std::string("sub/../a.jpg"),
        std::string("sub/.."), std::string("a.jpg\0.png", 10), std::string(4097, 'a'),
        (base_ / "root/../outside/secret.jpg").string()}) {
    EXPECT_EQ(CodeOf(path), StatusCode::kPathNotAllowed) << path.substr(0, 40);
  }
  // Dots that are a name, and lengths just inside.
  EXPECT_EQ(CodeOf("..a/...jpg"), StatusCode::kImageNotFound);
  EXPECT_EQ(CodeOf(std::string(255, 'a')), StatusCode::kImageNotFound);
  EXPECT_EQ(CodeOf(std::string(256, 'a')), StatusCode::kImageNotFound);
  std::string longest;
  while (longest.size() + 2 <= 4096) longest += "a/";
  EXPECT_EQ(CodeOf(longest), StatusCode::kImageNotFound);
}

TEST_F(RootedFilesTest, LinksAreFollowedWhileTheyStayBeneath) {
  fs::create_symlink("sub/b.jpg", base_ / "root/inside.jpg");
  fs::create_symlink("../a.jpg", base_ / "root/sub/up.jpg");
  fs::create_directory_symlink("sub", base_ / "root/folder");
  EXPECT_EQ(ContentOf("inside.jpg"), "deep");
  EXPECT_EQ(ContentOf("sub/up.jpg"), "first");
  EXPECT_EQ(ContentOf("folder/b.jpg"), "deep");
}

// An absolute target and a way through `..` are followed into whichever image folder they lead to.
TEST_F(RootedFilesTest, LinksAreFollowedIntoEveryRoot) {
  const std::string root = (base_ / "root").string();
  const std::string second = (base_ / "second").string();
  fs::create_symlink(root + "/sub/b.jpg", base_ / "root/own.jpg");
  fs::create_symlink(second + "/./c.jpg", base_ / "root/other.jpg");
  fs::create_symlink("../second/c.jpg", base_ / "root/beside.jpg");
  fs::create_symlink("../../second/none/../c.jpg", base_ / "root/sub/absent.jpg");
  fs::create_symlink(base_.string() + "/outside/../second/c.jpg", base_ / "root/around.jpg");
  fs::create_directory_symlink(root + "/sub", base_ / "second/sub");
  fs::create_directory_symlink(second + "/", base_ / "root/all");
  fs::create_directory_symlink(root, base_ / "root/sub/top");
  EXPECT_EQ(ContentOf("own.jpg"), "deep");
  EXPECT_EQ(ContentOf("other.jpg"), "second");
  EXPECT_EQ(ContentOf("beside.jpg"), "second");
  EXPECT_EQ(CodeOf("sub/absent.jpg"), StatusCode::kImageNotFound);
  EXPECT_EQ(ContentOf("around.jpg"), "second");
  EXPECT_EQ(ContentOf("all/sub/top/all/c.jpg"), "second");
  EXPECT_EQ(ContentOf(second + "/sub/b.jpg"), "deep");
  // Names outside the roots are compared, never opened: these end at no root.
  fs::create_symlink(base_.string() + "/rooted/a.jpg", base_ / "root/beginning.jpg");
  fs::create_symlink(base_.string(), base_ / "root/above");
  EXPECT_EQ(CodeOf("beginning.jpg"), StatusCode::kPathNotAllowed);
  EXPECT_EQ(CodeOf("above/outside/secret.jpg"), StatusCode::kPathNotAllowed);
  EXPECT_EQ(ContentOf("above/root/a.jpg"), "first");
}

// A root that is itself a link: targets name it by either path.
TEST_F(RootedFilesTest, ARootThatIsALinkIsKnownByBothOfItsPaths) {
  fs::create_directory_symlink(base_ / "root", base_ / "volume");
  const auto files = RootedFiles::Open({(base_ / "volume").string()}, kLimit);
  ASSERT_TRUE(files.ok());
  fs::create_symlink(base_ / "volume/a.jpg", base_ / "root/by-link.jpg");
  fs::create_symlink(base_ / "root/a.jpg", base_ / "root/by-name.jpg");
  EXPECT_EQ(TextOf(files->Read("by-link.jpg")->bytes), "first");
  EXPECT_EQ(TextOf(files->Read("by-name.jpg")->bytes), "first");
}

TEST_F(RootedFilesTest, ALinkEntersAnotherRootOnlyIfThatAnswers) {
  struct Refusing : ReadObserver {
    bool EnterRoot(size_t root) override {
      entered.push_back(root);
      return root == 0;
    }
    void Progress() override {}
    bool TakeBytes(size_t /*bytes*/) override { return true; }
    std::vector<size_t> entered;
  };
  fs::create_symlink("../second/c.jpg", base_ / "root/beside.jpg");
  Refusing observer;
  const Status status = Files().Read("beside.jpg", &observer).status();
  EXPECT_EQ(status.code(), StatusCode::kVolumeUnavailable);
  EXPECT_EQ(status.message(), "The volume of image folder 2 of 2 does not answer.");
  EXPECT_EQ(observer.entered, (std::vector<size_t>{0, 1}));
}

TEST_F(RootedFilesTest, SoManyLinksAreFollowedAndNoMore) {
  std::string target = "a.jpg";
  for (int i = 1; i <= 41; ++i) {
    const std::string name = "link-" + std::to_string(i);
    // Every second one by an absolute path, for which the kernel counts anew.
    fs::create_symlink(i % 2 == 0 ? base_ / "root" / target : fs::path(target),
                       base_ / "root" / name);
    target = name;
  }
  EXPECT_EQ(ContentOf("link-40"), "first");
  EXPECT_EQ(CodeOf("link-41"), StatusCode::kPathNotAllowed);
}

TEST_F(RootedFilesTest, LinksThatLeaveAreRefused) {
  fs::create_symlink("../outside/secret.jpg", base_ / "root/out.jpg");
  fs::create_symlink(base_ / "outside/secret.jpg", base_ / "root/absolute.jpg");
  fs::create_directory_symlink("../../outside", base_ / "root/sub/out");
  fs::create_symlink("loop-b", base_ / "root/loop-a");
  fs::create_symlink("loop-a", base_ / "root/loop-b");
  fs::create_symlink("nowhere", base_ / "root/dangling.jpg");
  for (const char* path : {"out.jpg", "absolute.jpg", "sub/out/secret.jpg", "loop-a"}) {
    EXPECT_EQ(CodeOf(path), StatusCode::kPathNotAllowed) << path;
  }
  EXPECT_EQ(
      ContentOf("sub/out/secret.jpg"),
      "\"sub/out/secret.jpg\" is outside the image folders: the link \"sub/out\" leads out of "
      "them");
  EXPECT_EQ(ContentOf("loop-a"),
            "\"loop-a\" cannot be opened: the link \"loop-a\" leads in a circle");
  EXPECT_EQ(CodeOf("dangling.jpg"), StatusCode::kImageNotFound);
}

TEST_F(RootedFilesTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  ASSERT_EQ(mkfifo((base_ / "root/fifo.jpg").c_str(), 0644), 0);
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (base_ / "root/sock.jpg").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(socket_fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(CodeOf("fifo.jpg"), StatusCode::kNotARegularFile);
  EXPECT_EQ(CodeOf("sock.jpg"), StatusCode::kNotARegularFile);
  EXPECT_EQ(CodeOf("sub"), StatusCode::kNotARegularFile);
  EXPECT_EQ(CodeOf("."), StatusCode::kNotARegularFile);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  close(socket_fd);
}

TEST_F(RootedFilesTest, DevicesAreRefused) {
  const auto files = RootedFiles::Open({"/dev"}, kLimit);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->Read("zero").status().code(), StatusCode::kNotARegularFile);
  EXPECT_EQ(files->Read("/dev/null").status().code(), StatusCode::kNotARegularFile);
}

TEST_F(RootedFilesTest, MagicLinksAreRefused) {
  const auto files = RootedFiles::Open({"/proc/self"}, kLimit);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->Read("root/etc/passwd").status().code(), StatusCode::kPathNotAllowed);
  EXPECT_EQ(files->Read("exe").status().code(), StatusCode::kPathNotAllowed);
}

TEST_F(RootedFilesTest, SizeLimitHoldsAtItsEdge) {
  Write(base_ / "root/full.jpg", std::string(kLimit, 'x'));
  Write(base_ / "root/over.jpg", std::string(kLimit + 1, 'x'));
  Write(base_ / "root/empty.jpg", "");
  EXPECT_EQ(ContentOf("full.jpg").size(), kLimit);
  EXPECT_EQ(CodeOf("over.jpg"), StatusCode::kImageTooLarge);
  EXPECT_EQ(ContentOf("empty.jpg"), "");
  // Sparse: a terabyte by name, nothing on disk.
  ASSERT_EQ(truncate((base_ / "root/over.jpg").c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(CodeOf("over.jpg"), StatusCode::kImageTooLarge);
}

TEST_F(RootedFilesTest, PermissionIsUnreadable) {
  ASSERT_EQ(chmod((base_ / "root/a.jpg").c_str(), 0), 0);
  const RootedFiles files = Files();
  // In a child that gives up root's rights, if the tests run with them.
  const pid_t child = fork();
  if (child == 0) {
    const bool dropped = geteuid() != 0 || setuid(65534) == 0;
    const StatusCode code = files.Read("a.jpg").status().code();
    _exit(dropped && code == StatusCode::kImageUnreadable ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
}

TEST_F(RootedFilesTest, AFileThatGrowsWhileItIsReadIsRefused) {
  const fs::path path = base_ / "root/growing.jpg";
  Write(path, std::string(4'000'000, 'a'));
  std::jthread writer([&](const std::stop_token& stop) {
    std::ofstream file(path, std::ios::binary | std::ios::app);
    while (!stop.stop_requested()) {
      file << 'b' << std::flush;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  const RootedFiles files = Files(64'000'000);
  StatusCode code = StatusCode::kOk;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (code == StatusCode::kOk && std::chrono::steady_clock::now() < end) {
    code = files.Read("growing.jpg").status().code();
  }
  EXPECT_EQ(code, StatusCode::kInputChanged);
}

TEST_F(RootedFilesTest, SaysWhichFileItHasRead) {
  const fs::path path = base_ / "root/a.jpg";
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  const auto file = Files().Read("a.jpg");
  ASSERT_TRUE(file.ok());
  struct stat entry;
  ASSERT_EQ(stat(path.c_str(), &entry), 0);
  EXPECT_EQ(file->stamp, FileStamp::Of(entry));
  EXPECT_EQ(file->stamp.size, 5);
  EXPECT_EQ(file->stamp.inode, entry.st_ino);
  EXPECT_EQ(file->stamp.modified_ns / 1'000'000'000, entry.st_mtim.tv_sec);
  EXPECT_EQ(file->stamp.modified_ns % 1'000'000'000, entry.st_mtim.tv_nsec);
  EXPECT_GE(file->read_ns, std::chrono::nanoseconds(before).count());
  EXPECT_LT(file->read_ns - std::chrono::nanoseconds(before).count(), 10'000'000'000);
}

TEST_F(RootedFilesTest, TheStampMovesWithEveryChange) {
  const fs::path path = base_ / "root/a.jpg";
  const RootedFiles files = Files();
  const auto stamp = [&] { return files.Read("a.jpg")->stamp; };
  const FileStamp first = stamp();
  EXPECT_EQ(stamp(), first);
  struct stat entry;
  ASSERT_EQ(stat(path.c_str(), &entry), 0);
  // File systems count time in steps of some milliseconds.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  // The same length, and the time of modification set back.
  Write(path, "FIRST");
  const timespec times[2] = {entry.st_atim, entry.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const FileStamp changed = stamp();
  EXPECT_EQ(changed.modified_ns, first.modified_ns);
  EXPECT_EQ(changed.size, first.size);
  EXPECT_GT(changed.changed_ns, first.changed_ns);
  // Another file of the same content in its place.
  Write(base_ / "root/new.jpg", "FIRST");
  fs::rename(base_ / "root/new.jpg", path);
  EXPECT_NE(stamp().inode, changed.inode);
}

TEST_F(RootedFilesTest, AFileThatIsReplacedWhileItIsReadIsOneOfTheTwo) {
  const fs::path path = base_ / "root/replaced.jpg";
  const auto write = [&](char letter) {
    Write(base_ / "root/.new", std::string(3'000'000, letter));
    fs::rename(base_ / "root/.new", path);
  };
  write('a');
  std::jthread writer([&](const std::stop_token& stop) {
    for (char letter = 'a'; !stop.stop_requested(); letter = letter == 'z' ? 'a' : letter + 1) {
      write(letter);
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  const RootedFiles files = Files(64'000'000);
  int whole = 0;
  for (int i = 0; i < 200; ++i) {
    const auto file = files.Read("replaced.jpg");
    if (!file.ok()) {
      EXPECT_EQ(file.status().code(), StatusCode::kInputChanged) << file.status().message();
      continue;
    }
    ++whole;
    ASSERT_EQ(file->bytes.size(), 3'000'000u);
    ASSERT_EQ(file->bytes, ByteBuffer(3'000'000, file->bytes[0]));
  }
  EXPECT_GT(whole, 100);
}

TEST_F(RootedFilesTest, AFileThatIsCutWhileItIsReadIsReadAgainOnce) {
  const fs::path path = base_ / "root/cut.jpg";
  Write(path, std::string(10, 'a'));
  // Cuts it where its size was told, as often as it is told to.
  struct Cutter : ReadObserver {
    Cutter(const fs::path& file, int cuts) : path(file), left(cuts) {}
    bool EnterRoot(size_t /*root*/) override { return true; }
    void Progress() override {}
    bool TakeBytes(size_t bytes) override {
      if (left-- > 0) fs::resize_file(path, bytes - 1);
      return true;
    }
    const fs::path& path;
    int left;
  };
  Cutter once(path, 1);
  const auto file = Files().Read("cut.jpg", &once);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->bytes.size(), 9u);
  EXPECT_EQ(file->stamp.size, 9);
  Cutter twice(path, 2);
  const Status changed = Files().Read("cut.jpg", &twice).status();
  EXPECT_EQ(changed.code(), StatusCode::kInputChanged);
  EXPECT_NE(changed.message().find("was modified while it was read"), std::string::npos);
}

// For an open descriptor a folder that takes the place of another is like a mount.
TEST_F(RootedFilesTest, AVolumeThatIsMountedLateIsUsedAndAnEmptyMountPointIsNot) {
  const RootedFiles files = Files();
  fs::rename(base_ / "root", base_ / "unmounted");
  fs::create_directories(base_ / "root");
  EXPECT_EQ(files.Read("new.jpg").status().code(), StatusCode::kImageNotFound);
  EXPECT_EQ(TextOf(files.Read("sub/b.jpg")->bytes), "deep");
  Write(base_ / "root/new.jpg", "mounted");
  EXPECT_EQ(TextOf(files.Read("new.jpg")->bytes), "mounted");
  EXPECT_EQ(files.Read("sub/b.jpg").status().code(), StatusCode::kImageNotFound);
}

TEST_F(RootedFilesTest, MessagesNeverNameTheServersFolders) {
  fs::create_symlink("../outside/secret.jpg", base_ / "root/out.jpg");
  const RootedFiles files = Files();
  for (const char* path : {"none.jpg", "out.jpg", "sub", "/etc/passwd", "../x"}) {
    const std::string message = files.Read(path).status().message();
    EXPECT_EQ(message.find(base_.string()), std::string::npos) << message;
    EXPECT_NE(message.find(path), std::string::npos) << message;
  }
  const Status status = RootedFiles::Open({(base_ / "gone").string()}, 1).status();
  EXPECT_EQ(status.code(), StatusCode::kImageNotFound);
  EXPECT_EQ(status.message().find(base_.string()), std::string::npos) << status.message();
}

TEST_F(RootedFilesTest, FilesAreNoRoots) {
  EXPECT_FALSE(RootedFiles::Open({(base_ / "root/a.jpg").string()}, 1).ok());
}

TEST_F(RootedFilesTest, DescriptorsAreClosed) {
  const auto open_count = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = open_count();
  {
    RootedFiles files = Files();
    RootedFiles moved = std::move(files);
    files = std::move(moved);
    for (const char* path : {"a.jpg", "none.jpg", "sub", "../x"}) (void)files.Read(path).ok();
  }
  EXPECT_EQ(open_count(), before);
}

TEST_F(RootedFilesTest, WithoutADescriptorTheProcessIsAtFaultNotTheImage) {
  const RootedFiles files = Files();
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free = dup(STDERR_FILENO);  // the lowest number that is free
  close(free);
  const struct rlimit none = {static_cast<rlim_t>(free), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status status = files.Read("a.jpg").status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status.code(), StatusCode::kOverloaded);
  EXPECT_NE(status.message().find("Too many open files"), std::string::npos) << status.message();
  EXPECT_TRUE(files.Read("a.jpg").ok());
}

// Both ways of opening give the same answer for everything that a tree can hold.
TEST_F(RootedFilesTest, TheWalkAgreesWithTheKernel) {
  fs::create_symlink("sub/b.jpg", base_ / "root/inside.jpg");
  fs::create_symlink("../a.jpg", base_ / "root/sub/up.jpg");
  fs::create_symlink("../../outside/secret.jpg", base_ / "root/sub/out.jpg");
  fs::create_symlink("/etc/passwd", base_ / "root/absolute");
  fs::create_symlink("loop", base_ / "root/loop");
  fs::create_symlink("nowhere", base_ / "root/dangling");
  fs::create_directory_symlink("sub/", base_ / "root/folder");
  fs::create_symlink(base_ / "root/sub/b.jpg", base_ / "root/own");
  fs::create_symlink("../../second/c.jpg", base_ / "root/sub/other");
  const Roots roots = OpenRoots();
  for (const char* path :
       {"a.jpg",        "a.jpg/", "a.jpg/x",   "inside.jpg", "sub/up.jpg", "sub/out.jpg",
        "absolute",     "loop",   "loop/x",    "dangling",   "folder",     "folder/b.jpg",
        "folder/",      "sub",    ".",         "./.",        "none",       "inside.jpg/x",
        "sub/./up.jpg", "own",    "sub/other", "own/x"}) {
    AnyRoot observer;
    const int by_kernel = OpenBeneath(roots.folders, 0, path, observer).fd;
    const int by_walk = OpenBeneathByWalk(roots.folders, 0, path, observer).fd;
    if (by_kernel < 0 || by_walk < 0) {
      EXPECT_EQ(by_walk, by_kernel) << path;
      continue;
    }
    struct stat a;
    struct stat b;
    ASSERT_EQ(fstat(by_kernel, &a), 0);
    ASSERT_EQ(fstat(by_walk, &b), 0);
    EXPECT_EQ(a.st_ino, b.st_ino) << path;
    close(by_kernel);
    close(by_walk);
  }
}

// A folder, and a link into another root, that keep turning into a link to the outside: no outside
// byte is ever read.
TEST_F(RootedFilesTest, SwappedFoldersNeverLeadOutside) {
  fs::create_directories(base_ / "root/swap");
  Write(base_ / "root/swap/secret.jpg", "inside");
  Write(base_ / "second/secret.jpg", "inside");
  fs::create_directory_symlink("../outside", base_ / "root/link");
  fs::create_directory_symlink(base_ / "second", base_ / "root/linked");
  fs::create_directory_symlink(base_ / "outside", base_ / "root/linked-out");
  const auto exchange = [&](const char* one, const char* other) {
    renameat2(AT_FDCWD, (base_ / "root" / one).c_str(), AT_FDCWD, (base_ / "root" / other).c_str(),
              RENAME_EXCHANGE);
  };
  std::jthread swapper([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      exchange("swap", "link");
      exchange("linked", "linked-out");
    }
  });
  const RootedFiles files = Files();
  const Roots roots = OpenRoots();
  AnyRoot observer;
  for (const char* path : {"swap/secret.jpg", "linked/secret.jpg"}) {
    int inside = 0;
    int refused = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (std::chrono::steady_clock::now() < end || inside == 0 || refused == 0) {
      const auto bytes = files.Read(path);
      if (bytes.ok()) {
        ASSERT_EQ(TextOf(bytes->bytes), "inside");
        ++inside;
      } else {
        EXPECT_EQ(bytes.status().code(), StatusCode::kPathNotAllowed) << bytes.status().message();
        ++refused;
      }
      const int fd = OpenBeneathByWalk(roots.folders, 0, path, observer).fd;
      if (fd < 0) continue;
      char text[8] = {};
      ASSERT_EQ(read(fd, text, sizeof(text)), 6);
      ASSERT_STREQ(text, "inside");
      close(fd);
    }
  }
}

}  // namespace
}  // namespace lattice
