// Field numbers in onnx.proto of the messages that the core reads or writes.
#ifndef LATTICE_MODEL_ONNX_FIELDS_H_
#define LATTICE_MODEL_ONNX_FIELDS_H_

#include <cstdint>

namespace lattice::onnx {

inline constexpr uint32_t kGraph = 7;
inline constexpr uint32_t kOpsetImport = 8;
inline constexpr uint32_t kOpsetDomain = 1;
inline constexpr uint32_t kOpsetVersion = 2;
inline constexpr uint32_t kGraphNode = 1;
inline constexpr uint32_t kGraphInitializer = 5;
inline constexpr uint32_t kGraphInput = 11;
inline constexpr uint32_t kGraphOutput = 12;
inline constexpr uint32_t kGraphValueInfo = 13;
inline constexpr uint32_t kNodeInput = 1;
inline constexpr uint32_t kNodeOutput = 2;
inline constexpr uint32_t kNodeName = 3;
inline constexpr uint32_t kNodeOp = 4;
inline constexpr uint32_t kNodeAttribute = 5;
inline constexpr uint32_t kNodeDomain = 7;
inline constexpr uint32_t kAttributeName = 1;
inline constexpr uint32_t kAttributeFloat = 2;
inline constexpr uint32_t kAttributeInteger = 3;
inline constexpr uint32_t kAttributeTensor = 5;
inline constexpr uint32_t kAttributeGraph = 6;
inline constexpr uint32_t kAttributeFloats = 7;
inline constexpr uint32_t kAttributeIntegers = 8;
inline constexpr uint32_t kAttributeTensors = 10;
inline constexpr uint32_t kAttributeGraphs = 11;
inline constexpr uint32_t kAttributeType = 20;
inline constexpr uint64_t kTypeIsInteger = 2;
inline constexpr uint64_t kTypeIsIntegers = 7;
inline constexpr uint32_t kTensorName = 8;
inline constexpr uint32_t kRawData = 9;
inline constexpr uint32_t kExternalData = 13;  // of a tensor: entries of text
inline constexpr uint32_t kDataLocation = 14;
inline constexpr uint32_t kEntryKey = 1;  // of metadata too
inline constexpr uint32_t kEntryValue = 2;
inline constexpr uint32_t kMetadataProps = 14;
inline constexpr uint32_t kValueName = 1;
inline constexpr uint32_t kValueType = 2;
inline constexpr uint32_t kTensorType = 1;
inline constexpr uint32_t kElementType = 1;
inline constexpr uint32_t kTensorShape = 2;
inline constexpr uint32_t kShapeDimension = 1;
inline constexpr uint32_t kDimensionValue = 1;

// Messages inside messages; ends a walk through a file that was made to be deep.
inline constexpr int kMostNested = 64;

}  // namespace lattice::onnx

#endif  // LATTICE_MODEL_ONNX_FIELDS_H_
