// GPUs that have stopped answering this process.
#ifndef LATTICE_BASE_LEFT_GPUS_H_
#define LATTICE_BASE_LEFT_GPUS_H_

namespace lattice {

// A GPU that does not end its work may still read and write whatever that work was given, and the
// driver's calls that free memory wait for it for ever. So it is left as it is until the process
// ends: nothing that lies there is freed, no pinned memory is given back (a GPU may read all of it)
// and no further model is loaded there. Faults that CUDA reports are no such case.
//
// From the first such GPU on, exit() ends the process at once, with its status and written-out
// streams but without the destructors of libraries, since those of the driver may wait too.
//
// All are thread-safe; `gpu` is as CUDA counts in this process.
void LeaveGpu(int gpu);
bool IsGpuLeft(int gpu);
bool IsAnyGpuLeft();

}  // namespace lattice

#endif  // LATTICE_BASE_LEFT_GPUS_H_
