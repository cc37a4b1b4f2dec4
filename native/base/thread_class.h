// The name of a thread and how it shares the cores.
#ifndef LATTICE_BASE_THREAD_CLASS_H_
#define LATTICE_BASE_THREAD_CLASS_H_

#include <string_view>

namespace lattice {

// All of these change the calling thread. They return false if the system refuses.

// The name that `top -H` shows: at most 15 bytes, the rest is cut off.
bool NameThread(std::string_view name);

// Adds to its niceness.
bool LowerThread(int nice);

// The thread computes only while no other thread needs its core (SCHED_IDLE). An unprivileged
// process cannot undo that.
bool MakeThreadIdleClass();

}  // namespace lattice

#endif  // LATTICE_BASE_THREAD_CLASS_H_
