// The state of a process whose GPU faulted or hangs.
#ifndef LATTICE_BASE_ABANDONED_GPU_H_
#define LATTICE_BASE_ABANDONED_GPU_H_

namespace lattice {

// A process uses one GPU. After a fault, or when the GPU stops answering, the process cannot use it
// any more: the engine answers kGpuLost and the service exits, to be started again.
//
// Until then nothing may call the driver, because such a call can block forever. Destructors of
// GPU memory, pinned memory, CUDA handles and objects of TensorRT and nvJPEG therefore do nothing:
// they leak what they own, and the system frees it when the process ends. Buffers that the host
// uses again may hold wrong bytes for a GPU that still reads them; no result of it is used.
//
// From the first call on, exit() writes out its streams and ends the process with its status, but
// runs no exit handlers that were registered before: those of the driver may block too.
//
// Both are thread-safe. There is no way back.
void AbandonGpu();
bool IsGpuAbandoned();

}  // namespace lattice

#endif  // LATTICE_BASE_ABANDONED_GPU_H_
