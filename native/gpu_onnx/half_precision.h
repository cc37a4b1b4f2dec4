// Half precision for runtimes that take every type from the file.
#ifndef LATTICE_GPU_ONNX_HALF_PRECISION_H_
#define LATTICE_GPU_ONNX_HALF_PRECISION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// An ONNX file of a v8-layout detector with the same network in FP16: input FLOAT16, outputs FLOAT.
// The box decode behind the last convolutions, arithmetic on sizes and what FP16 cannot hold stay
// FP32 (precision_plan.h), with a Cast where a tensor changes sides, one a tensor and
// direction; other Casts between the two types are taken out, those of weights too. Explicit
// quantisation becomes int8 about 0 (signed_quantization.h). Node order, names and
// whatever the conversion does not read (metadata) stay; the same bytes give the same bytes, and
// converting the result again gives the result. Where the file leaves the input's shape open it
// becomes `input_shape`, as OnnxValueInfo's CloseShape has it: what follows from the sides alone,
// such as the anchors' places, can then be computed once.
//
// kInvalidModel says what was found and what is needed: damaged files, data in other files, opsets
// before 11, other than one floating input, operators without a typing rule, quantisation that is
// not symmetric. Thread-safe; takes some three times the file's memory for a moment.
Result<std::string> ToHalfPrecision(std::span<const uint8_t> onnx,
                                    const std::vector<int64_t>& input_shape = {});

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_HALF_PRECISION_H_
