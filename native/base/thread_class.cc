#include "native/base/thread_class.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

namespace lattice {
bool NameThread(std::string_view name) {
  constexpr size_t kLongestName = 15;
  const std::string cut(name.substr(0, kLongestName));
  return pthread_setname_np(pthread_self(), cut.c_str()) == 0;
}

bool LowerThread(int nice) {
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  const int now = getpriority(PRIO_PROCESS, thread);
  return setpriority(PRIO_PROCESS, thread, now + nice) == 0;
}

bool MakeThreadIdleClass() {
  const sched_param parameters{};
  return sched_setscheduler(0, SCHED_IDLE, &parameters) == 0;
}

}  // namespace lattice
