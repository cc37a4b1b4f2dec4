#include "native/base/thread_class.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

namespace lattice {
namespace {

// A set of CPUs that also holds those beyond the 1,024 of the system's own type.
class CpuSet {
 public:
  static constexpr size_t kCpus = 8'192;
  static constexpr size_t kBytes = CPU_ALLOC_SIZE(kCpus);

  CpuSet() : set_(CPU_ALLOC(kCpus)) {}
  ~CpuSet() { CPU_FREE(set_); }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;

  cpu_set_t* get() const { return set_; }

 private:
  cpu_set_t* set_;
};

}  // namespace

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

bool BindThread(const std::vector<int>& cpus) {
  if (cpus.empty()) return true;
  const CpuSet set;
  if (set.get() == nullptr) return false;
  CPU_ZERO_S(CpuSet::kBytes, set.get());
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), CpuSet::kBytes, set.get());
  return sched_setaffinity(0, CpuSet::kBytes, set.get()) == 0;
}

std::vector<int> AllowedCpus() {
  const CpuSet set;
  std::vector<int> cpus;
  if (set.get() == nullptr || sched_getaffinity(0, CpuSet::kBytes, set.get()) != 0) return cpus;
  for (size_t cpu = 0; cpu < CpuSet::kCpus; ++cpu) {
    if (CPU_ISSET_S(cpu, CpuSet::kBytes, set.get())) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

}  // namespace lattice
