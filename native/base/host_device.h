// Marks arithmetic that the CPU path and the CUDA kernels share, so that it is tested without a
// GPU.
#ifndef LATTICE_BASE_HOST_DEVICE_H_
#define LATTICE_BASE_HOST_DEVICE_H_

#ifdef __CUDACC__
#define LATTICE_HOST_DEVICE __host__ __device__
#else
#define LATTICE_HOST_DEVICE
#endif

// Unrolls loops of constant length whose arrays must stay in registers of a GPU thread.
#ifdef __CUDA_ARCH__
#define LATTICE_UNROLL _Pragma("unroll")
#else
#define LATTICE_UNROLL
#endif

#endif  // LATTICE_BASE_HOST_DEVICE_H_
