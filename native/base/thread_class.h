// What a thread is called and how it shares the cores.
#ifndef LATTICE_BASE_THREAD_CLASS_H_
#define LATTICE_BASE_THREAD_CLASS_H_

#include <string_view>
#include <vector>

namespace lattice {

// All of these are about the calling thread and best effort; false where the system refuses.

// As `top -H` shows it: at most 15 bytes, the rest is cut.
bool NameThread(std::string_view name);

// Adds to its niceness.
bool LowerThread(int nice);

// It computes only while no other thread wants its core (SCHED_IDLE), for good: an unprivileged
// process cannot take that back.
bool MakeThreadIdleClass();

// It runs on these CPUs only, and so do threads that it starts from now on. None: nothing changes.
bool BindThread(const std::vector<int>& cpus);

// The CPUs that it may run on, ascending; empty where the system does not say.
std::vector<int> AllowedCpus();

}  // namespace lattice

#endif  // LATTICE_BASE_THREAD_CLASS_H_
