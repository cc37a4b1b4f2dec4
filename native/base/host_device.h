// Marks arithmetic that the CPU path and the CUDA kernels share, so that machines without a GPU
// test it.
#ifndef LATTICE_BASE_HOST_DEVICE_H_
#define LATTICE_BASE_HOST_DEVICE_H_

#ifdef __CUDACC__
#define LATTICE_HOST_DEVICE __host__ __device__
#else
#define LATTICE_HOST_DEVICE
#endif

// Before a loop of constant length whose arrays must stay in a GPU thread's registers.
#ifdef __CUDA_ARCH__
#define LATTICE_UNROLL _Pragma("unroll")
#else
#define LATTICE_UNROLL
#endif

#endif  // LATTICE_BASE_HOST_DEVICE_H_
