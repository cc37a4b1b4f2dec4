// A model of nothing but one large FP16 matrix product: what a device does with it is its limit.
#ifndef LATTICE_BENCH_MATRIX_PRODUCT_H_
#define LATTICE_BENCH_MATRIX_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lattice {

// The ONNX file: images [N, 3, size, size] times fixed weights [size, size] give
// output0 [N, 3, size, size], all FLOAT16, N open. Precondition: 1 <= size <= 16384.
std::string MatrixProductModel(int size);

// Multiplications and additions of one image of that model, each counted as one.
double MatrixProductFlops(int size);

// `count` FP16 numbers between 0.5 and 1 of either sign, the same each time. Products of zeros
// would draw less power than those of a network, and let the device clock higher.
std::vector<uint16_t> SpreadHalves(size_t count);

}  // namespace lattice

#endif  // LATTICE_BENCH_MATRIX_PRODUCT_H_
