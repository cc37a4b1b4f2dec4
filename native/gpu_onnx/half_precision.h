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
// The box decode after the last convolutions, arithmetic on sizes and values that FP16 cannot hold
// stay FP32 (precision_plan.h). One Cast per tensor and direction connects the two types; other
// Casts between them are removed, those of weights too. Explicit quantisation becomes int8 with a
// zero point of 0 (signed_quantization.h). Node order, names and everything that the conversion
// does not read (metadata) stay. The same bytes give the same result, and converting the result
// again does not change it. Where the file leaves the input's shape open it becomes `input_shape`,
// as by OnnxValueInfo::CloseShape: values that depend on the sides only, such as the anchors'
// positions, can then be computed once.
//
// kInvalidModel says what was found and what is needed: damaged files, data in other files, opsets
// before 11, other than one floating input, operators without a typing rule, quantisation that is
// not symmetric. Thread-safe; needs about three times the file's memory while it runs.
Result<std::string> ToHalfPrecision(std::span<const uint8_t> onnx,
                                    const std::vector<int64_t>& input_shape = {});

}  // namespace lattice

#endif  // LATTICE_GPU_ONNX_HALF_PRECISION_H_
