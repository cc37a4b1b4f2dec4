// Loaded with LD_PRELOAD: while the file FAULT_FILE exists, writes or syncs of files whose path begins with FAULT_PREFIX
// fail. FAULT_FILE holds `CALL ERRNO TIMES`: CALL is write, sync or synced, the moment after a sync; with the ERRNO 0 the
// process is killed there; TIMES is on, or a number N: the N-th such call of the process, and the file is then removed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(int fd, const char *call) {
  const char *switch_file = getenv("FAULT_FILE");
  const char *prefix = getenv("FAULT_PREFIX");
  if (switch_file == NULL || prefix == NULL) return 0;
  const int saved = errno;
  char order[64] = {0}, link[64], path[4096] = {0}, asked[8] = {0}, times[8] = {0};
  static int seen = 0;
  int error = 0, failed = 0;
  const int order_fd = open(switch_file, O_RDONLY | O_CLOEXEC);
  if (order_fd >= 0) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (read(order_fd, order, sizeof order - 1) > 0 && readlink(link, path, sizeof path - 1) > 0 &&
        sscanf(order, "%7s %d %7s", asked, &error, times) == 3 && strcmp(asked, call) == 0 &&
        strncmp(path, prefix, strlen(prefix)) == 0) {
      failed = strcmp(times, "on") == 0 || (++seen == atoi(times) && unlink(switch_file) == 0);
      if (failed) seen = 0;
    }
    close(order_fd);
  }
  if (failed && error == 0) kill(getpid(), SIGKILL);
  errno = failed ? error : saved;
  return failed;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  return fails(fd, "write") ? -1 : syscall(SYS_pwrite64, fd, bytes, count, offset);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  return pwrite64(fd, bytes, count, offset);
}

static int sync_with(long call, int fd) {
  if (fails(fd, "sync")) return -1;
  const int failed = (int)syscall(call, fd);
  if (failed == 0) (void)fails(fd, "synced");
  return failed;
}
int fsync(int fd) { return sync_with(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }
