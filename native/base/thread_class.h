// Names of threads, and which of them step aside for the rest of the machine.
#ifndef LATTICE_BASE_THREAD_CLASS_H_
#define LATTICE_BASE_THREAD_CLASS_H_

#include <string_view>

namespace lattice {

// The calling thread's name, as `top -H` shows it: at most 15 bytes, the rest is cut. Threads that
// it starts inherit the name until they take one of their own.
void NameThread(std::string_view name);

// Adds `nice` to the niceness of the calling thread. Best effort: false where it is refused.
bool LowerThread(int nice);

// Every thread of this process with that name computes only while no other thread wants its core
// (SCHED_IDLE), for good: an unprivileged process cannot take that back. Returns how many were
// reached.
int MakeThreadsIdleClass(std::string_view name);

}  // namespace lattice

#endif  // LATTICE_BASE_THREAD_CLASS_H_
